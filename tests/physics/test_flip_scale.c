/* The same scene in other units of length: lengths times 4^n, times and speeds 2^n, at the same gravity.
 * Powers of two do not round, so where every number of the solver scales the bits of all positions are the
 * same, and a number that does not scale is found at once. */
#include <stdlib.h>
#include <string.h>

#include "scene_sim.h"
#include "sim/sim.h"

typedef struct Made {
    const char *name;
    const char *text; /* $L, $V, $T, $C, $M, $S: 1 m, 1 m/s, 1/s, 1 Pa, 1 Pa s and 1 N/m of the scene */
    int frames;
    int largest; /* n; the scene language knows no grains of a metre */
} Made;

#define HEAD "wadi: 1\nsolver: flip\ncell_size: 0.02$L\nfps: 24$T\n"
#define BOX "domain: {min: [0, 0, 0], max: [0.64$L, 0.08$L, 0.4$L], walls: {friction: 0.6}}\n"

static const Made scenes[] = {
    { "column of sand",
      HEAD BOX "materials: {sand: {kind: sand, friction_angle: 30}}\n"
               "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.2$L, 0.08$L, 0.3$L]}}}]\n",
      24, 5 },
    { "cohesive cut",
      HEAD BOX "materials: {sand: {kind: sand, friction_angle: 30, cohesion: 600$C}}\n"
               "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.3$L, 0.08$L, 0.33$L]}}}]\n",
      24, 5 },
    { "poured sand that grows firm and hits a ball",
      HEAD BOX
      "materials: {sand: {kind: sand, friction_angle_fast: 45, grain_size: 0.0005$L}}\n"
      "colliders: [{shape: {sphere: {center: [0.3$L, 0.04$L, 0.1$L], radius: 0.05$L}}}]\n"
      "emitters: [{material: sand, shape: {box: {min: [0.25$L, 0, 0.36$L], max: [0.35$L, 0.08$L, 0.38$L]}},"
      " velocity: [0, 0, -0.5$V], rate: 0.002$R}]\n",
      18, 5 },
    { "sand that sleeps",
      HEAD BOX "materials: {sand: {kind: sand, friction_angle: 35}}\n"
               "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.64$L, 0.08$L, 0.1$L]}}}]\n",
      30, 5 },
    { "water that falls",
      HEAD BOX "materials: {water: {kind: water}}\n"
               "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.2$L, 0.08$L, 0.3$L]}}}]\n",
      18, 5 },
    { "honey with surface tension",
      HEAD BOX
      "materials: {honey: {kind: water, viscosity: 10$M, surface_tension: 3$S}}\n"
      "bodies: [{material: honey, shape: {box: {min: [0.2$L, 0, 0.1$L], max: [0.4$L, 0.08$L, 0.2$L]}}}]\n",
      8, 1 },
    { "sand and water",
      HEAD BOX "materials: {sand: {kind: sand, density: 2000}, water: {kind: water}}\nbodies:\n"
               "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.3$L, 0.08$L, 0.2$L]}}}\n"
               "  - {material: water, shape: {box: {min: [0.4$L, 0, 0], max: [0.64$L, 0.08$L, 0.1$L]}}}\n",
      12, 5 },
};

/* Every number that a unit follows, times the unit. */
static void write_scene(const char *text, int n, char *out, size_t size)
{
    size_t used = 0;
    for (const char *at = text; *at != '\0';) {
        char *end = NULL;
        const bool is_number = (*at >= '0' && *at <= '9') || (*at == '-' && at[1] >= '0' && at[1] <= '9');
        double value = is_number ? strtod(at, &end) : 0.0;
        assert_true(used + 40 < size);
        if (is_number && *end == '$') {
            int halves = 0; /* the unit is 2^(n halves) */
            switch (end[1]) {
            case 'L':
            case 'C': halves = 2; break;
            case 'V': halves = 1; break;
            case 'T': halves = -1; break;
            case 'M': halves = 3; break;
            case 'S': halves = 4; break;
            case 'R': halves = 5; break;
            default: fail_msg("no unit %c", end[1]);
            }
            used += (size_t)snprintf(out + used, size - used, "%.17g", ldexp(value, n * halves));
            at = end + 2;
        } else if (is_number) {
            memcpy(out + used, at, (size_t)(end - at));
            used += (size_t)(end - at);
            at = end;
        } else {
            out[used++] = *at++;
        }
    }
    out[used] = '\0';
}

typedef struct Result {
    int64_t steps;
    WadiSim *sim;
    WadiScene *scene;
} Result;

static Result run_scaled(const Made *made, int n)
{
    static char text[4096];
    write_scene(made->text, n, text, sizeof text);
    Result result = { .scene = load_scene(text) };
    result.sim = start_sim(result.scene, 1);
    run_frames(result.sim, made->frames);
    result.steps = wadi_sim_steps(result.sim);
    return result;
}

static void free_result(Result *result)
{
    wadi_sim_destroy(result->sim);
    wadi_scene_destroy(result->scene);
}

/* From a millimetre to some hundred metres. */
static void size_does_not_matter(void **state)
{
    const Made *made = *state;
    Result plain = run_scaled(made, 0);
    const WadiParticles *a = &plain.sim->particles;
    assert_true(a->count > 500);
    for (int n = -4; n <= made->largest; n += made->largest + 4) {
        Result scaled = run_scaled(made, n);
        const WadiParticles *b = &scaled.sim->particles;
        double apart = 0.0;
        assert_int_equal(a->count, b->count);
        for (int32_t i = 0; i < a->count; ++i) {
            apart = fmax(apart, fabs(ldexp(b->x[i], -2 * n) - a->x[i]) / 0.02);
            apart = fmax(apart, fabs(ldexp(b->z[i], -2 * n) - a->z[i]) / 0.02);
        }
        print_message("%s, times %g: %lld steps, %lld plain; farthest apart %g cells\n", made->name,
                      ldexp(1.0, 2 * n), (long long)scaled.steps, (long long)plain.steps, apart);
        assert_int_equal(scaled.steps, plain.steps);
        CHECK_AT_MOST(apart, 0.0);
        free_result(&scaled);
    }
    free_result(&plain);
}

/* Mean way, in heights, of a vertical cut `height` metres high whose cohesion is `strength` times the weight
 * above its foot, at 24 frames a second, which cut the steps of each size differently. */
static double cut_moves(double height, double strength)
{
    char text[1024];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: flip\ncell_size: %.17g\nfps: 24\n"
             "domain: {min: [0, 0, 0], max: [%.17g, %.17g, %.17g], walls: {friction: 0.6}}\n"
             "materials: {sand: {kind: sand, friction_angle: 30, cohesion: %.17g}}\n"
             "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [%.17g, %.17g, %.17g]}}}]\n",
             height / 16.0, 3.0 * height, height / 4.0, 1.3 * height, strength * 1600.0 * 9.81 * height,
             height, height / 4.0, height);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const WadiParticles *p = &sim->particles;
    double before = 0.0, after = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        before += p->x[i] / p->count;
    }
    run_frames(sim, (int)ceil(24.0 * 8.0 * sqrt(height / 9.81)));
    for (int32_t i = 0; i < p->count; ++i) {
        after += p->x[i] / p->count;
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return (after - before) / height;
}

static void a_cut_stands_or_falls_at_any_size(void **unused)
{
    (void)unused;
    static const double heights[] = { 0.001, 0.066, 0.33, 10.0 };
    double first = 0.0;
    for (size_t i = 0; i < sizeof heights / sizeof heights[0]; ++i) {
        double strong = cut_moves(heights[i], 0.12), weak = cut_moves(heights[i], 0.03);
        print_message("%g m: strong sand moves by %.4f, weak sand by %.4f heights\n", heights[i], strong,
                      weak);
        CHECK_AT_MOST(strong, 0.004);
        /* The critical height of weak sand is a fifth of the cut; its run-out does not depend on the size. */
        first = i == 0 ? weak : first;
        assert_true(weak > 10.0 * 0.004);
        CHECK_NEAR(weak, first, 0.05 * first);
    }
}

int main(void)
{
    enum { COUNT = sizeof scenes / sizeof scenes[0] };
    struct CMUnitTest tests[COUNT + 1] = { [COUNT] = cmocka_unit_test(a_cut_stands_or_falls_at_any_size) };
    for (int i = 0; i < COUNT; ++i) {
        tests[i] = (struct CMUnitTest){ .name = scenes[i].name,
                                        .test_func = size_does_not_matter,
                                        .initial_state = (void *)&scenes[i] };
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
