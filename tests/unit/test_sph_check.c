/* sph: the checking build names the stage that made a value of a step not finite, and the array. */
#include <math.h>

#include "scene_sim.h"
#include "sim/sim.h"
#include "sph/sph.h"
#include "stage_check.h"

enum { COUNT = 3 };

/* Three particles, of which the sort has the last two. */
typedef struct Case {
    WadiParticles particles;
    WadiSph sph;
    WadiSphStep step;
    float pressure[COUNT];
    WadiF4 velocity[COUNT];
} Case;

static void make_case(Case *c)
{
    WadiError error;
    int32_t first;
    *c = (Case){ .step = { .count = 2, .sort = { .first = 1 } } };
    CHECK_OK(wadi_particles_init(&c->particles, &error), error);
    CHECK_OK(wadi_particles_append(&c->particles, COUNT, &first, &error), error);
    c->particles.x[2] = 0.5;
    c->sph.context.particles = &c->particles;
    c->step.pressure = c->pressure;
    c->step.velocity = c->velocity;
}

/* `expected`: as expect_stage. */
static void check_case(const Case *c, const char *stage, const char *expected)
{
    WadiError error = { 0 };
    const WadiStatus status = wadi_sph_check_stage(&c->sph, &c->step, stage, &error);
    expect_stage(status, &error, stage, expected);
}

static void the_stage_and_the_array_are_named(void **unused)
{
    (void)unused;
    Case c;
    make_case(&c);
    check_case(&c, "forces", NULL);
    c.velocity[0][3] = NAN; /* the fourth number is not defined */
    check_case(&c, "forces", NULL);
    c.velocity[0][2] = -INFINITY;
    check_case(&c, "forces", "the velocity of particle 1 -inf at (0, 0, 0) m");
    c.velocity[0][2] = 0.0f;
    c.pressure[1] = NAN;
    check_case(&c, "pressure", "the pressure of particle 2 nan at (0.5, 0, 0) m");
    wadi_particles_free(&c.particles);
}

/* Every array of the solves is searched, under a name of its own. */
static void each_array_has_a_name(void **unused)
{
    (void)unused;
    Case c;
    make_case(&c);
    float values[COUNT] = { 0.0f, NAN };
    WadiSphStep *s = &c.step;
    const struct {
        float **array;
        const char *what;
    } arrays[] = {
        { &s->size, "the size" },
        { &s->volume, "the volume" },
        { &s->inverse_density, "the inverse density" },
        { &s->density, "the density" },
        { &s->pore_pressure, "the pressure in pores" },
        { &s->viscosity, "the viscosity" },
        { &s->solve.inverse, "the inverse diagonal" },
        { &s->solve.source, "the source of the pressure" },
        { &s->solve.laplacian, "the Laplacian of the pressure" },
        { &s->solve.carried, "the Laplacian of the weight" },
        { &s->solve.tension, "the tension of the pressure" },
        { &s->solve.chord, "the rate of straight paths" },
        { &s->sand.slope, "the slope of the yield law" },
        { &s->sand.cohesion, "the cohesion" },
        { &s->sand.tension, "the tension of bonds" },
        { &s->sand.mean_pressure, "the mean pressure" },
        { &s->sand.friction.mean, "the isotropic stress" },
        { &s->sand.friction.stress[4], "the stress zx" },
    };
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; ++n) {
        char expected[128];
        snprintf(expected, sizeof expected, "%s of particle 2 nan at (0.5, 0, 0) m", arrays[n].what);
        *arrays[n].array = values;
        check_case(&c, "friction", expected);
        *arrays[n].array = NULL;
    }
    wadi_particles_free(&c.particles);
}

/* Steps of 10^30 times the right length make the pressures overflow. */
static void a_pressure_that_overflows_is_one_of_the_pressure(void **unused)
{
    (void)unused;
#ifdef WADI_CHECKS
    static const char *const materials[] = { "{kind: water}", "{kind: sand}" };
    for (int n = 0; n < 2; ++n) {
        char text[512];
        snprintf(text, sizeof text,
                 "{wadi: 1, solver: sph, frames: 9, cell_size: 0.02, domain: {min: [0, 0, 0], max: [0.1, 0.1,"
                 " 0.1]}, materials: {m: %s}, bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: "
                 "[0.06, 0.1, 0.06]}}}]}",
                 materials[n]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 1);
        ((WadiSph *)sim->solver)->largest = 1e-38;
        WadiError error = { 0 };
        assert_int_equal(wadi_sim_step_frame(sim, &error), WADI_ERR_NUMERIC);
        print_message("%s\n", error.text);
        assert_non_null(strstr(error.text, "stage 'pressure' made"));
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stage_and_the_array_are_named),
        cmocka_unit_test(each_array_has_a_name),
        cmocka_unit_test(a_pressure_that_overflows_is_one_of_the_pressure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
