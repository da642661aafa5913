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

/* Of the grains whose numbers are marked: mean velocity along the slope, m/s. */
static double velocity_of(const WadiParticles *p, const bool *is_chosen)
{
    double sum = 0.0;
    int count = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        if (is_chosen[p->id[i]]) {
            sum += (double)p->vx[i];
            count += 1;
        }
    }
    return sum / (count > 0 ? count : 1);
}

/* Marks the grains of the middle third of a layer of that length. */
static void choose_middle(const WadiParticles *p, double length, bool *is_chosen, uint32_t most)
{
    for (int32_t i = 0; i < p->count; ++i) {
        const double part = (double)p->x[i] / length;
        assert_true(p->id[i] < most);
        is_chosen[p->id[i]] = part > 1.0 / 3.0 && part < 2.0 / 3.0;
    }
}

/* Slope of velocities at equal times by least squares, over the time between two. */
static double slope_of(const double *v, int count)
{
    double sum = 0.0, square = 0.0;
    for (int n = 0; n < count; ++n) {
        const double t = n - 0.5 * (count - 1);
        sum += t * v[n];
        square += t * t;
    }
    return sum / square;
}

/* A layer with open ends on a rough plane is set flowing by a short steep tilt. At 6 degrees below its angle
 * its middle accelerates by g (sin - tan(phi) cos): phi, the friction of what flows, is 2 to 9 degrees below
 * the angle [theory 13.1]. Brought to rest, it is as loose as it flowed: it stands at 10 degrees below its
 * angle and starts at 1 above, sooner than a bed that was packed. */
static void what_has_flowed_has_less_friction(double angle)
{
    enum { FPS = 50, FRAMES = 24, GRAINS = 4000 };
    const double length = 0.6, tilts[][2] = { { 0.2, 0 },          { 0.3, angle + 16 }, { 0.36, angle + 16 },
                                              { 0.4, angle - 6 },  { 0.92, angle - 6 }, { 0.96, 2 },
                                              { 1.6, 2 },          { 1.8, angle - 10 }, { 2.2, angle - 10 },
                                              { 2.4, angle + 1.0 } };
    char text[2048], keys[1024] = "[0, [0, 0, -9.81]]";
    for (size_t n = 0; n < sizeof tilts / sizeof *tilts; ++n) {
        const double a = tilts[n][1] * PI / 180.0;
        const size_t at = strlen(keys);
        snprintf(keys + at, sizeof keys - at, ", [%g, [%.9g, 0, %.9g]]", tilts[n][0], G * sin(a),
                 -G * cos(a));
    }
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: dem\nfps: %d\ncell_size: 0.01\nparticles_per_cell: 1\n"
             "dem: {surfaces: covered}\ngravity: {keys: [%s]}\n"
             "domain: {min: [0, 0, -0.05], max: [1.8, 0.03, 0.2], walls: {friction: 0}}\n"
             "materials: {sand: {kind: sand, friction_angle: %g}}\n"
             "colliders: [{friction: 1, shape: {box: {min: [-1, -1, -1], max: [3, 1, 0]}}}]\n"
             "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [%g, 0.03, 0.08]}}}]\n",
             (int)FPS, keys, angle, length);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    static bool is_chosen[GRAINS];
    double v[FRAMES];
    run_frames(sim, 10);
    choose_middle(&sim->particles, length, is_chosen, GRAINS);
    run_frames(sim, 11);
    for (int n = 0; n < FRAMES; ++n) {
        run_frames(sim, 1);
        v[n] = velocity_of(&sim->particles, is_chosen);
    }
    const double tilt = (angle - 6.0) * PI / 180.0;
    const double phi = atan(tan(tilt) - slope_of(v, FRAMES) * FPS / (G * cos(tilt))) * 180.0 / PI;
    run_frames(sim, 110 - 21 - FRAMES);
    const double rest = velocity_of(&sim->particles, is_chosen) / sqrt(G * DIAMETER);
    run_frames(sim, 20);
    const double again = velocity_of(&sim->particles, is_chosen) / sqrt(G * DIAMETER);
    print_message("%g degrees: flows with %.1f at %.2f to %.2f m/s; then %.4f at %g degrees, %.3f at %g\n",
                  angle, phi, v[0], v[FRAMES - 1], rest, angle - 10.0, again, angle + 1.0);
    CHECK_AT_MOST(fabs(angle - phi - 5.5), 3.5);
    CHECK_AT_MOST(fabs(rest), 0.05);
    assert_true(again > 0.2);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void layers_flow_below_their_angle(void **unused)
{
    (void)unused;
    what_has_flowed_has_less_friction(25.0);
    what_has_flowed_has_less_friction(35.0);
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
        cmocka_unit_test(layers_flow_below_their_angle),
        cmocka_unit_test(angles_that_a_shape_does_not_reach_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
