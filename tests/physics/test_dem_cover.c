/* dem: colliders covered with spheres. */
#include "dem/dem.h"
#include "same_bytes.h"

/* A plate that is tilted by 5 degrees and has no friction, with sand on it. */
#define SLOPE(surfaces, motion)                                                                              \
    "wadi: 1\nsolver: dem\nfps: 50\ndem: {surfaces: " surfaces "}\ncell_size: 0.01\n"                        \
    "particles_per_cell: 1\ndomain: {min: [-0.2, 0, -0.2], max: [0.3, 0.05, 0.2], walls: {friction: 0}}\n"   \
    "materials: {sand: {kind: sand, friction_angle: 35}}\n"                                                  \
    "bodies: [{material: sand, shape: {box: {min: [-0.05, 0, 0.03], max: [0.03, 0.05, 0.06]}}}]\n"           \
    "colliders: [{friction: 0, shape: {box: {min: [-0.15, -0.1, -0.02], max: [0.15, 0.15, 0]}, "             \
    "rotate: [0, 5, 0]" motion "}}]\n"

/* Spheres lie below the surface and leave no hole: its points are at most a third of a radius above them. */
static void spheres_touch_the_surface_and_leave_no_hole(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(SLOPE("covered", ""));
    WadiSim *sim = start_sim(scene, 1);
    const WadiDem *dem = sim->solver;
    const WadiShape *plate = sim->world->solids.solids[0].shape;
    const double radius = 0.5 * dem->diameter;
    double highest = 0.0, lowest = INFINITY;
    assert_true(dem->cover.spheres.count > 100);
    CHECK_NEAR(dem->cover.radius, radius, 1e-12);
    for (int n = 0; n < 400; ++n) {
        const WadiVec3 x = { -0.08 + 0.0043 * (n % 20) * 2.0, 0.002 + 0.0023 * (n / 20), 0.1 };
        const WadiSurfacePoint s = wadi_shape_sample(plate, x, 0.0);
        const WadiVec3 foot = wadi_add_scaled(x, s.normal, -s.distance);
        int32_t sphere[8];
        WadiSurfacePoint point[8];
        const int found = wadi_dem_cover_find(&dem->cover, 0, foot, radius, 0.0, sphere, point, 8);
        assert_true(found > 0);
        highest = fmax(highest, point[0].distance);
        lowest = fmin(lowest, point[0].distance);
        for (int k = 1; k < found; ++k) {
            assert_true(point[k].distance >= point[k - 1].distance);
        }
    }
    print_message("surface %.3f to %.3f radii above the spheres\n", lowest / radius, highest / radius);
    CHECK_AT_MOST(-1e-9, lowest);
    CHECK_AT_MOST(highest, 0.35 * radius);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Mean speed along x, m/s. */
static double mean_vx(const WadiParticles *p)
{
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += (double)p->vx[i];
    }
    return sum / p->count;
}

/* Sand slides on a smooth plate without friction: at g sin 5 cos 5 t = 0.34 m/s after 0.4 s. A plate that is
 * covered with spheres of the size of a grain slows it down: in the mean of some seeds, as single grains roll
 * on. */
static void rough_plates_hold_sand(void **unused)
{
    (void)unused;
    enum { SEEDS = 6 };
    double smooth = 0.0, before = 0.0, after = 0.0;
    for (int n = 0; n <= SEEDS; ++n) {
        char text[2048];
        snprintf(text, sizeof text, "%sseed: %d\n", n == 0 ? SLOPE("smooth", "") : SLOPE("covered", ""), n);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        if (n == 0) {
            run_frames(sim, 20);
            smooth = mean_vx(&sim->particles);
        } else {
            run_frames(sim, 10);
            before += mean_vx(&sim->particles) / SEEDS;
            run_frames(sim, 30);
            after += mean_vx(&sim->particles) / SEEDS;
        }
        assert_int_equal(wadi_sim_lost_particles(sim), 0);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
    print_message("smooth %.3f m/s; covered %.3f m/s, then %.3f m/s\n", smooth, before, after);
    CHECK_NEAR(smooth, 0.34, 0.02);
    CHECK_AT_MOST(after, before);
    CHECK_AT_MOST(after, 0.05);
}

/* A bowl as a thin shell of a mesh, turned and poured full: covered or not, no grain falls through. */
static void covered_shells_do_not_leak(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "wadi: 1\nsolver: dem\nfps: 50\ndem: {surfaces: covered}\ncell_size: 0.01\nparticles_per_cell: 1\n"
        "domain: {min: [-0.1, -0.1, -0.1], max: [0.1, 0.1, 0.2]}\n"
        "materials: {sand: {kind: sand, friction_angle: 30}}\n"
        "bodies: [{material: sand, shape: {cylinder: {from: [0, 0, 0], to: [0, 0, 0.1], radius: 0.035}}}]\n"
        "colliders: [{shape: {difference: [{sphere: {center: [0, 0, 0], radius: 0.08}}, "
        "{sphere: {center: [0, 0, 0], radius: 0.076}}, "
        "{box: {min: [-1, -1, 0.02], max: [1, 1, 1]}}], rotate: [20, 10, 0]}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 20);
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        const WadiVec3 x = { sim->particles.x[i], sim->particles.y[i], sim->particles.z[i] };
        assert_true(wadi_norm(x) < 0.078 || x.z > 0.0);
    }
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A covered plate that moves takes its spheres along, and the result does not depend on threads. */
static void covers_move_with_their_colliders(void **unused)
{
    (void)unused;
    const char *const text =
        SLOPE("covered", ", translate: {keys: [[0, [0, 0, 0]], [0.2, [0, 0, 0.05]], [1, [0, 0, 0.05]]]}");
    check_same_bytes(text, 8, 4);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 12);
    const WadiShape *plate = sim->world->solids.solids[0].shape;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        const WadiVec3 x = { sim->particles.x[i], sim->particles.y[i], sim->particles.z[i] };
        assert_true(wadi_shape_distance(plate, x, sim->time) > 0.0);
    }
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheres_touch_the_surface_and_leave_no_hole),
        cmocka_unit_test(rough_plates_hold_sand),
        cmocka_unit_test(covered_shells_do_not_leak),
        cmocka_unit_test(covers_move_with_their_colliders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
