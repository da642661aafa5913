/* flip: sand on walls that do not follow the grid, and on walls that move. */
#include <stdlib.h>
#include <string.h>

#include "flip/flip.h"
#include "scene_sim.h"
#include "sim/sim.h"

static const double gravity = 9.81, degree = 0.017453292519943295;

static WadiSim *start(WadiScene **scene, const char *text)
{
    *scene = load_scene(text);
    return start_sim(*scene, 1);
}

static void end(WadiScene *scene, WadiSim *sim)
{
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Mean velocity along `direction` of the particles within `radius` of the middle of the sand, those less than
 * `depth` over the plane through the origin with normal `up`. */
static double middle_speed(const WadiSim *sim, WadiVec3 direction, WadiVec3 up, double radius, double depth)
{
    const WadiParticles *p = &sim->particles;
    double middle = 0.0, sum = 0.0;
    int count = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        middle += wadi_dot(direction, wadi_vec3(p->x[i], p->y[i], p->z[i])) / p->count;
    }
    for (int32_t i = 0; i < p->count; ++i) {
        WadiVec3 x = wadi_vec3(p->x[i], p->y[i], p->z[i]);
        if (fabs(wadi_dot(direction, x) - middle) < radius && wadi_dot(up, x) < depth) {
            sum += wadi_dot(direction, wadi_vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]));
            count += 1;
        }
    }
    return sum / count;
}

/* A slab, 8 cells of sand on a plane at 30 degrees to the grid, 60 cells long so that its ends do not matter
 * in the middle. It slides at g t (sin - mu cos). */
static void sand_slides_on_an_oblique_plane_as_coulomb_says(void **unused)
{
    (void)unused;
    static const struct {
        double angle, tolerance;
    } row[3] = { { 20.0, 0.06 }, { 26.0, 0.10 }, { 32.0, 0.0 } };
    double c = cos(30.0 * degree), s = sin(30.0 * degree);
    for (int n = 0; n < 3; ++n) {
        if (n == 1 && !is_long_run()) {
            continue;
        }
        char text[1200];
        snprintf(text, sizeof text,
                 "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 20\n"
                 "domain: {min: [-2, 0, -2], max: [2, 0.08, 2], walls: {friction: 0}}\n"
                 "materials: {sand: {kind: sand, friction_angle: 40}}\n"
                 "bodies: [{material: sand, shape: {box: {min: [-0.6, 0, 0], max: [0.6, 0.08, 0.16]}, "
                 "rotate: [0, 30, 0]}}]\n"
                 "colliders: [{friction: %.9f, shape: {half_space: {point: [0, 0, 0], normal: [%.9f, 0, "
                 "%.9f]}}}]\n",
                 tan(row[n].angle * degree), s, c);
        WadiScene *scene;
        WadiSim *sim = start(&scene, text);
        run_frames(sim, 10);
        WadiVec3 direction = wadi_vec3(c, 0.0, -s), up = wadi_vec3(s, 0.0, c);
        double mean = middle_speed(sim, direction, up, 0.2, 1.0),
               bottom = middle_speed(sim, direction, up, 0.2, 0.02);
        double exact = 0.5 * gravity * fmax(0.0, s - tan(row[n].angle * degree) * c);
        print_message("wall %g deg: %.4f m/s, layer at the wall %.4f, exact %.3f\n", row[n].angle, mean,
                      bottom, exact);
        if (exact > 0.0) {
            CHECK_NEAR(mean, exact, row[n].tolerance * exact);
        } else {
            CHECK_AT_MOST(fabs(bottom), 0.01);
        }
        end(scene, sim);
    }
}

/* 12 cells in radius. */
#define BOWL(friction)                                                                                       \
    "colliders: [{friction: " friction ", shape: {difference: [{box: {min: [-0.5, -0.5, -0.5], max: [0.5, "  \
    "0.5, 0]}}, {sphere: {center: [0, 0, 0], radius: 0.24}}]}}]\n"

static void sand_rests_in_a_bowl(void **unused)
{
    (void)unused;
    WadiScene *scene;
    WadiSim *sim = start(
        &scene, "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 2\n"
                "materials: {sand: {kind: sand, friction_angle: 30}}\n"
                "bodies: [{material: sand, shape: {intersection: [{sphere: {center: [0, 0, 0], "
                "radius: 0.24}}, {half_space: {point: [0, 0, -0.1], normal: [0, 0, 1]}}]}}]\n" BOWL("0.577"));
    const WadiParticles *p = &sim->particles;
    WadiFlip *flip = sim->solver;
    double before = mean_height(&sim->particles);
    run_frames(sim, 2);
    CHECK_AT_MOST(fabs(mean_height(&sim->particles) - before), 0.001 * 0.02);
    CHECK_AT_MOST(mean_speed(&sim->particles), 1e-5);
    assert_true(p->count > 5000 && flip->friction_report.iterations <= 10);
    end(scene, sim);
}

/* It is too large to roll, so it slides until its weight, at a distance x from the middle, turns it about the
 * centre of the bowl by no more than friction resists: W x <= mu R times the integral of p over the wall.
 * That is W 3/(2 + cos alpha) for the pressure of its depth in a cap of half-angle alpha. */
static void a_ball_that_falls_into_a_bowl_comes_to_rest(void **unused)
{
    (void)unused;
    static const double friction[2] = { 0.1, 0.15 };
    /* Cap of the volume of the ball, h^2 (R - h/3) = 4/3 r^3: h = 0.0788. */
    const double bowl = 0.24, cosine = 1.0 - 0.0788 / bowl;
    for (int n = 0; n < 2; ++n) {
        char text[600];
        snprintf(
            text, sizeof text,
            "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 2\n"
            "materials: {sand: {kind: sand, friction_angle: 30}}\n"
            "bodies: [{material: sand, shape: {sphere: {center: [0.1, 0, 0.05], radius: 0.1}}}]\n" BOWL("%g"),
            friction[n]);
        WadiScene *scene;
        WadiSim *sim = start(&scene, text);
        run_frames(sim, 4);
        double middle[2] = { 0.0, 0.0 };
        for (int32_t i = 0; i < sim->particles.count; ++i) {
            middle[0] += sim->particles.x[i] / sim->particles.count;
            middle[1] += sim->particles.y[i] / sim->particles.count;
        }
        const double distance = hypot(middle[0], middle[1]), law = friction[n] * bowl * 3.0 / (2.0 + cosine);
        print_message("wall %g: mean speed %.2g m/s after 2 s, %.4f m from the middle, law %.4f m\n",
                      friction[n], mean_speed(&sim->particles), distance, law);
        CHECK_AT_MOST(mean_speed(&sim->particles), 3e-3 * sqrt(gravity * 0.02));
        CHECK_AT_MOST(distance, law);
        assert_int_equal(wadi_sim_lost_particles(sim), 0);
        end(scene, sim);
    }
}

/* A slab with sloping ends on a plate that is at rest or accelerates; mu 0.3. A slower plate carries it
 * along, a faster one leaves it behind at mu g; thrown over a plate at rest it loses mu g. The plate's top
 * lies on the grid or half a cell over it. */
static void a_plate_carries_sand_up_to_mu_g(void **unused)
{
    (void)unused;
    static const struct {
        double acceleration, start, top, expected;
    } row[4] = { { 2.0, 0.0, 0.0, 2.0 * 0.3 },
                 { 5.0, 0.0, 0.0, 0.3 * 9.81 * 0.3 },
                 { 5.0, 0.0, 0.01, 0.3 * 9.81 * 0.3 },
                 { 0.0, 2.0, 0.0, 2.0 - 0.3 * 9.81 * 0.3 } };
    for (int n = is_long_run() ? 0 : 1; n < 4; ++n) {
        static char text[6000];
        double z = row[n].top;
        int length = snprintf(
            text, sizeof text,
            "wadi: 1\nsolver: flip\ncell_size: 0.02\nfps: 10\n"
            "domain: {min: [-1, 0, -0.2], max: [3, 0.04, 0.4], walls: {friction: 0}}\n"
            "materials: {sand: {kind: sand, friction_angle: 40}}\n"
            "bodies: [{material: sand, velocity: [%g, 0, 0], shape: {intersection: [{box: {min: [-0.6, 0, "
            "%g], "
            "max: [0.6, 0.04, %g]}}, {half_space: {point: [-0.6, 0, %g], normal: [-0.5, 0, 0.8660254]}}, "
            "{half_space: {point: [0.6, 0, %g], normal: [0.5, 0, 0.8660254]}}]}}]\n"
            "colliders: [{friction: 0.3, shape: {box: {min: [-4, -1, -0.1], max: [4, 1, %g]}",
            row[n].start, z, z + 0.12, z, z, z);
        if (row[n].acceleration > 0.0) {
            length += snprintf(text + length, sizeof text - (size_t)length, ", translate: {keys: [");
            for (int key = 0; key <= 32; ++key) {
                double t = 0.01 * key;
                length += snprintf(text + length, sizeof text - (size_t)length, "%s[%.3f, [%.6f, 0, 0]]",
                                   key > 0 ? ", " : "", t, 0.5 * row[n].acceleration * t * t);
            }
            length += snprintf(text + length, sizeof text - (size_t)length, "]}");
        }
        snprintf(text + length, sizeof text - (size_t)length, "}}]\n");
        WadiScene *scene;
        WadiSim *sim = start(&scene, text);
        run_frames(sim, 3);
        double speed = middle_speed(sim, wadi_vec3(1, 0, 0), wadi_vec3(0, 0, 1), 0.15, 1.0);
        print_message("plate %g m/s^2: %.4f m/s, expected %.4f\n", row[n].acceleration, speed,
                      row[n].expected);
        CHECK_NEAR(speed, row[n].expected, 0.08 * row[n].expected);
        end(scene, sim);
    }
}

/* A layer of one cell that is torn apart: its pressure vanishes, its weight does not. The foremost grain, at
 * 2 m/s and 0.4 m, slides v^2 / (2 mu g) = 0.408 m far. */
static void a_sheet_that_tears_stops_like_a_grain(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: flip\ncell_size: 0.02\nflip: {sleep: false}\n"
        "materials: {sand: {kind: sand, friction_angle: 30}}\n"
        "domain: {min: [0, 0, 0], max: [3, 0.1, 0.3], walls: {friction: 0.5}}\n"
        "bodies:\n"
        "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.1, 0.02]}}, velocity: [0.5, 0, 0]}\n"
        "  - {material: sand, shape: {box: {min: [0.1, 0, 0], max: [0.2, 0.1, 0.02]}}, velocity: [1, 0, 0]}\n"
        "  - {material: sand, shape: {box: {min: [0.2, 0, 0], max: [0.3, 0.1, 0.02]}}, velocity: [1.5, 0, "
        "0]}\n"
        "  - {material: sand, shape: {box: {min: [0.3, 0, 0], max: [0.4, 0.1, 0.02]}}, velocity: [2, 0, "
        "0]}\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 24);
    double front = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        front = fmax(front, sim->particles.x[i]);
    }
    print_message("sheet: front at %.3f m, expected 0.808\n", front);
    CHECK_NEAR(front, 0.4 + 4.0 / (2.0 * 0.5 * 9.81), 0.04);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sand_slides_on_an_oblique_plane_as_coulomb_says),
        cmocka_unit_test(sand_rests_in_a_bowl),
        cmocka_unit_test(a_ball_that_falls_into_a_bowl_comes_to_rest),
        cmocka_unit_test(a_plate_carries_sand_up_to_mu_g),
        cmocka_unit_test(a_sheet_that_tears_stops_like_a_grain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
