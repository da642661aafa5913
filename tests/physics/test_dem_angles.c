/* dem: `friction_angle` is the slope at which sand stands and flows. */
#include "dem/dem_settings.h"
#include "same_bytes.h"

static const double G = 9.81, DIAMETER = 0.01, PI = 3.14159265358979324;

typedef struct Bed {
    const char *shape;           /* of the grains */
    double angle;                /* degrees: of the sand */
    double low, high;            /* degrees: of the floor */
    double length, width, depth; /* m */
} Bed;

/* A bed on a rough floor. Gravity is vertical while the bed settles, then turns to `low` degrees within 0.3 s
 * and stays, then to `high` degrees. */
static void write_bed(char *text, size_t size, const Bed *bed)
{
    const double low = bed->low, high = bed->high;
    const double a = low * PI / 180.0, b = high * PI / 180.0;
    snprintf(text, size,
             "wadi: 1\nsolver: dem\nfps: 20\ncell_size: 0.01\nparticles_per_cell: 1\n"
             "dem: {surfaces: covered, shape: %s}\n"
             "domain: {min: [0, 0, -0.05], max: [%g, %g, 0.3], walls: {friction: 0}}\n"
             "gravity: {keys: [[0, [0, 0, -9.81]], [0.4, [0, 0, -9.81]], [0.7, [%.9g, 0, %.9g]], "
             "[1.2, [%.9g, 0, %.9g]], [1.5, [%.9g, 0, %.9g]]]}\n"
             "materials: {sand: {kind: sand, friction_angle: %g}}\n"
             "colliders: [{friction: 1, shape: {box: {min: [-1, -1, -1], max: [2, 1, 0]}}}]\n"
             "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [%g, %g, %g]}}}]\n",
             bed->shape, bed->length, bed->width, G * sin(a), -G * cos(a), G * sin(a), -G * cos(a),
             G * sin(b), -G * cos(b), bed->angle, bed->length, bed->width, bed->depth);
}

/* Mean speed along the slope of the upper half of the bed, over sqrt(g d). */
static double speed_of(const WadiParticles *p, const Bed *bed)
{
    double sum = 0.0;
    int count = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->z[i] > 0.5 * bed->depth && fabs(p->x[i] / bed->length - 0.5) < 0.3) {
            sum += (double)p->vx[i];
            count += 1;
        }
    }
    return sum / (count > 0 ? count : 1) / sqrt(G * DIAMETER);
}

static void check_bed(const Bed *bed)
{
    char text[2048];
    write_bed(text, sizeof text, bed);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 24); /* 1.2 s */
    const double before = speed_of(&sim->particles, bed);
    double after = 0.0;
    for (int frame = 0; frame < 14; ++frame) {
        run_frames(sim, 1);
        after = fmax(after, speed_of(&sim->particles, bed));
    }
    print_message("%s of %g degrees: %.4f at %g degrees, %.3f at %g\n", bed->shape, bed->angle, before,
                  bed->low, after, bed->high);
    CHECK_AT_MOST(fabs(before), 0.02);
    assert_true(after > 0.1);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Three degrees below its angle a bed stands; a few above it flows. */
static void a_bed_stands_below_its_angle_and_flows_above(void **unused)
{
    (void)unused;
    for (double angle = 25.0; angle <= 35.0; angle += 10.0) {
        check_bed(&(Bed){ "spheres", angle, angle - 3.0, angle + 6.0, 0.3, 0.03, 0.08 });
    }
}

/* The same for grains of several spheres in a bed of 30 x 3 x 5 grains. By its closed ends the upper half of
 * Coulomb sand starts 3 degrees above its angle [theory 13.1]. */
static void so_does_a_bed_of_other_shapes(void **unused)
{
    (void)unused;
    const char *const shapes[] = { "pairs", "tetrahedra" };
    for (int n = 0; n < 2; ++n) {
        check_bed(&(Bed){ shapes[n], 22.0, 19.0, 32.0, 0.3, 0.03, 0.05 });
    }
}

static void count_warnings(void *user, WadiLogLevel level, const char *text)
{
    *(int *)user += level == WADI_LOG_WARNING && strstr(text, "friction_angle") != NULL;
}

static void angles_that_a_shape_does_not_reach_are_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *dem, *angle;
        int warnings;
    } cases[] = {
        { "{}", "40", 0 },
        { "{}", "45", 1 },
        { "{}", "{keys: [[0, 30], [1, 15]]}", 1 },
        { "{shape: tetrahedra}", "40", 0 },
        { "{shape: cubes}", "25", 0 },
        { "{shape: cubes}", "35", 1 },
        { "{shape: cubes, friction: 1}", "35", 0 },
        { "{shape: cubes, mode: height_field}", "35", 0 },
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; ++n) {
        char text[500];
        int warnings = 0;
        snprintf(text, sizeof text,
                 "{wadi: 1, solver: dem, cell_size: 0.1, dem: %s, domain: {min: [0, 0, 0], max: [1, 1, 1]}, "
                 "materials: {sand: {kind: sand, friction_angle: %s}}, "
                 "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [1, 1, 0.5]}}}]}",
                 cases[n].dem, cases[n].angle);
        WadiScene *scene = load_scene(text);
        wadi_dem_warn(scene, &(WadiLog){ .function = count_warnings, .user = &warnings });
        assert_int_equal(warnings, cases[n].warnings);
        wadi_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bed_stands_below_its_angle_and_flows_above),
        cmocka_unit_test(so_does_a_bed_of_other_shapes),
        cmocka_unit_test(angles_that_a_shape_does_not_reach_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
