/* sph: drops under surface tension alone: an ellipsoid oscillates at Lamb's frequency, a cube becomes a
 * ball. */
#include "scene_sim.h"
#include "sim/sim.h"

#define DROP                                                                                                 \
    "wadi: 1\nsolver: sph\ncell_size: 0.002\nfps: 200\ngravity: [0, 0, 0]\n"                                 \
    "materials: {water: {kind: water, density: 1000, surface_tension: 0.072}}\n"

static const double PI = 3.14159265358979323846, tension = 0.072, density = 1000.0, spacing = 0.001;

static double radius_of(const WadiSim *sim)
{
    return spacing * cbrt(3.0 / (4.0 * PI) * sim->particles.count);
}

/* Second moments of the positions about their mean, m^2. */
static void moments(const WadiSim *sim, double moment[3])
{
    const WadiParticles *p = &sim->particles;
    const double *x[3] = { p->x, p->y, p->z };
    for (int a = 0; a < 3; ++a) {
        double sum = 0.0, square = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            sum += x[a][i] / p->count;
            square += x[a][i] * x[a][i] / p->count;
        }
        moment[a] = square - sum * sum;
    }
}

/* [Lamb32]: omega^2 = 8 sigma / (rho R^3) for an ellipsoid. */
static void an_ellipsoid_swings_at_lambs_frequency(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene(DROP "bodies: [{material: water, shape: {sphere: {center: [0, 0, 0], radius: "
                        "0.006}, scale: [0.94, 0.94, 1.13]}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    const double radius = radius_of(sim);
    const double period = 2.0 * PI / sqrt(8.0 * tension / (density * radius * radius * radius));
    double zero[3] = { 0 }, before = 0.0;
    int zeros = 0;
    for (int frame = 0; frame < 60 && zeros < 3; ++frame) {
        double m[3];
        moments(sim, m);
        const double stretch = m[2] - 0.5 * (m[0] + m[1]);
        if (frame > 0 && stretch * before < 0.0) {
            zero[zeros++] = (frame - 1 + before / (before - stretch)) / 200.0;
        }
        before = stretch;
        run_frames(sim, 1);
    }
    assert_int_equal(zeros, 3);
    print_message("drop of %.2f mm: period %.4f s, Lamb %.4f s\n", 1e3 * radius, zero[2] - zero[0], period);
    CHECK_NEAR(zero[2] - zero[0], period, 0.15 * period);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void a_cube_becomes_a_ball(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene(DROP "bodies: [{material: water, shape: {box: {min: [-0.005, -0.005, -0.005], "
                        "max: [0.005, 0.005, 0.005]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 60);
    const WadiParticles *p = &sim->particles;
    const double radius = radius_of(sim);
    double farthest = 0.0, momentum[3] = { 0 };
    for (int32_t i = 0; i < p->count; ++i) {
        farthest = fmax(farthest, sqrt(p->x[i] * p->x[i] + p->y[i] * p->y[i] + p->z[i] * p->z[i]));
        momentum[0] += (double)p->vx[i], momentum[1] += (double)p->vy[i], momentum[2] += (double)p->vz[i];
    }
    print_message(
        "cube after 0.3 s: farthest particle %.3f radii of a ball (at first 1.26), momentum %.1g %.1g "
        "%.1g m/s\n",
        farthest / radius, momentum[0], momentum[1], momentum[2]);
    CHECK_AT_MOST(farthest, 1.1 * radius);
    for (int a = 0; a < 3; ++a) {
        CHECK_NEAR(momentum[a], 0.0, 1e-4);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ellipsoid_swings_at_lambs_frequency),
        cmocka_unit_test(a_cube_becomes_a_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
