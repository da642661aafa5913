/* Distances of grains beside the edges of shapes that are cut from others, against those by hand. */
#include <math.h>

#include "core/random.h"
#include "particles/edge.h"
#include "scene_sim.h"
#include "sim/sim.h"

static const double DIAMETER = 0.01;

static WadiSim *start_with(const char *shape, WadiScene **scene)
{
    char text[2048];
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: dem\ncell_size: 0.1\n"
             "domain: {min: [-1, -1, -1], max: [1, 1, 1]}\n"
             "materials: {sand: {kind: sand, friction_angle: 30}}\n"
             "bodies: [{material: sand, shape: {box: {min: [0.6, 0.6, 0.6], max: [0.8, 0.8, 0.8]}}}]\n"
             "colliders: [{shape: %s}]\n",
             shape);
    *scene = load_scene(text);
    return start_sim(*scene, 1);
}

/* Distances from points up to three diameters from `edge` are those of `expected`, within a hundredth of a
 * diameter, and normals are their directions of growth. */
static void check_distances(const char *shape, WadiVec3 edge, double (*expected)(WadiVec3 x))
{
    WadiScene *scene = NULL;
    WadiSim *sim = start_with(shape, &scene);
    const WadiShape *solid = sim->world->solids.solids[0].shape;
    int outside = 0;
    for (int n = 0; n < 2000; ++n) {
        double u[3];
        wadi_random_unit3(7, (uint64_t)n, WADI_RANDOM_TEST, u);
        const WadiVec3 away = { u[0] - 0.5, u[1] - 0.5, u[2] - 0.5 };
        const WadiVec3 x = wadi_add_scaled(edge, away, 6.0 * DIAMETER);
        const double distance = expected(x);
        if (!(distance > 0.02 * DIAMETER)) {
            continue;
        }
        outside += 1;
        const WadiSurfacePoint s = wadi_edge_sample(solid, x, 0.0, DIAMETER);
        CHECK_NEAR(s.distance, distance, 0.015 * DIAMETER);
        CHECK_NEAR(wadi_norm(s.normal), 1.0, 1e-9);
        CHECK_NEAR(expected(wadi_add_scaled(x, s.normal, 0.2 * DIAMETER)), distance + 0.2 * DIAMETER,
                   0.02 * DIAMETER);
    }
    assert_true(outside > 500);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A plate from z = -0.3 to 0 with a hole of radius 0.06. */
static double from_plate(WadiVec3 x)
{
    const double radial = 0.06 - sqrt(x.x * x.x + x.y * x.y), high = x.z;
    if (radial > 0.0 && high > 0.0) {
        return sqrt(radial * radial + high * high);
    }
    return fmax(radial, high);
}

static void the_rim_of_a_hole_is_round(void **unused)
{
    (void)unused;
    check_distances("{difference: [{box: {min: [-0.5, -0.5, -0.3], max: [0.5, 0.5, 0]}}, "
                    "{cylinder: {from: [0, 0, -1], to: [0, 0, 1], radius: 0.06}}]}",
                    (WadiVec3){ 0.036, 0.048, 0.0 }, from_plate);
}

/* The same, turned by 90 degrees about x and moved: z becomes -y. */
static double from_turned_plate(WadiVec3 x)
{
    return from_plate((WadiVec3){ x.x - 0.1, x.z, -(x.y + 0.2) });
}

static void turned_and_moved_shapes_have_the_same_rim(void **unused)
{
    (void)unused;
    check_distances("{difference: [{box: {min: [-0.5, -0.5, -0.3], max: [0.5, 0.5, 0]}}, "
                    "{cylinder: {from: [0, 0, -1], to: [0, 0, 1], radius: 0.06}}], rotate: [90, 0, 0], "
                    "translate: [0.1, -0.2, 0]}",
                    (WadiVec3){ 0.16, -0.2, 0.0 }, from_turned_plate);
}

/* A ball of radius 0.3 cut at z = 0.1: its rim is a circle. */
static double from_cut_ball(WadiVec3 x)
{
    const double rim = sqrt(0.09 - 0.01), radial = sqrt(x.x * x.x + x.y * x.y), far = wadi_norm(x);
    if (x.z > 0.1 && radial < rim) {
        return x.z - 0.1;
    }
    /* The foot on the sphere counts while it is below the cut. */
    if (far < 0.3 || x.z * 0.3 / far <= 0.1) {
        return far - 0.3;
    }
    return sqrt((radial - rim) * (radial - rim) + (x.z - 0.1) * (x.z - 0.1));
}

static void a_cut_ball_has_a_rim(void **unused)
{
    (void)unused;
    check_distances("{intersection: [{sphere: {center: [0, 0, 0], radius: 0.3}}, "
                    "{half_space: {point: [0, 0, 0.1], normal: [0, 0, 1]}}]}",
                    (WadiVec3){ sqrt(0.08), 0.0, 0.1 }, from_cut_ball);
}

/* Where three half-spaces meet. */
static double from_corner(WadiVec3 x)
{
    const double a = fmax(x.x, 0.0), b = fmax(x.y, 0.0), c = fmax(x.z, 0.0);
    return a + b + c > 0.0 ? sqrt(a * a + b * b + c * c) : fmax(x.x, fmax(x.y, x.z));
}

static void corners_of_three_planes_are_round(void **unused)
{
    (void)unused;
    check_distances("{intersection: [{half_space: {point: [0, 0, 0], normal: [1, 0, 0]}}, "
                    "{half_space: {point: [0, 0, 0], normal: [0, 1, 0]}}, "
                    "{half_space: {point: [0, 0, 0], normal: [0, 0, 1]}}]}",
                    (WadiVec3){ 0.0, 0.0, 0.0 }, from_corner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rim_of_a_hole_is_round),
        cmocka_unit_test(turned_and_moved_shapes_have_the_same_rim),
        cmocka_unit_test(a_cut_ball_has_a_rim),
        cmocka_unit_test(corners_of_three_planes_are_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
