/* flip: drops under surface tension alone, as whole scenes: an ellipsoid oscillates at Lamb's frequency, a
 * cube becomes a ball, a ball stays unchanged. */
#include <stdlib.h>

#include "scene_sim.h"
#include "sim/sim.h"

#define DROP                                                                                                 \
    "wadi: 1\nsolver: flip\ncell_size: 0.001\nfps: 200\ngravity: [0, 0, 0]\n"                                \
    "materials: {water: {kind: water, density: 1000, surface_tension: 0.072}}\n"

static const double tension = 0.072, density = 1000.0, cell = 0.001;

static double radius_of(const WadiSim *sim)
{
    return cbrt(3.0 / (4.0 * 3.14159265358979) * sim->particles.count * cell * cell * cell / 8.0);
}

/* Second moments of the particles' positions along each axis about their mean, m^2; *mean may be NULL. */
static void moments(const WadiSim *sim, double moment[3], double *mean)
{
    const WadiParticles *p = &sim->particles;
    const double *x[3] = { p->x, p->y, p->z };
    for (int a = 0; a < 3; ++a) {
        double sum = 0.0, square = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            sum += x[a][i];
            square += x[a][i] * x[a][i];
        }
        sum /= p->count;
        moment[a] = square / p->count - sum * sum;
        if (mean != NULL) {
            mean[a] = sum;
        }
    }
}

static double rms_speed(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]);
    }
    return sqrt(sum / p->count);
}

/* [Lamb32]: omega^2 = n (n - 1) (n + 2) sigma / (rho R^3), 8 sigma / (rho R^3) for an ellipsoid. */
static void an_ellipsoid_swings_at_lambs_frequency(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(DROP "bodies: [{material: water, shape: {sphere: {center: [0, 0, 0], "
                                       "radius: 0.006}, scale: [0.94, 0.94, 1.13]}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    double radius = radius_of(sim);
    double period = 2.0 * 3.14159265358979 / sqrt(8.0 * tension / (density * radius * radius * radius));
    double zero[3], before = 0.0;
    int zeros = 0;
    for (int frame = 0; frame < 48 && zeros < 3; ++frame) {
        double m[3];
        moments(sim, m, NULL);
        double stretch = m[2] - 0.5 * (m[0] + m[1]);
        if (frame > 0 && stretch * before < 0.0) {
            zero[zeros++] = (frame - 1 + before / (before - stretch)) / 200.0;
        }
        before = stretch;
        run_frames(sim, 1);
    }
    assert_int_equal(zeros, 3);
    print_message("drop of %.2f mm: period %.4f s, Lamb %.4f s\n", 1e3 * radius, zero[2] - zero[0], period);
    CHECK_NEAR(zero[2] - zero[0], period, 0.1 * period);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Speeds are compared with the capillary one, sqrt(sigma / (rho R)). */
static void a_cube_becomes_a_ball_and_stays_one(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene(DROP "bodies: [{material: water, shape: {box: {min: [-0.005, -0.005, -0.005], "
                        "max: [0.005, 0.005, 0.005]}}}]\n");
    WadiSim *sim = start_sim(scene, 1);
    int frames = is_long_run() ? 400 : 100;
    run_frames(sim, frames);
    double m[3], mean[3], radius = radius_of(sim);
    moments(sim, m, mean);
    double speed = rms_speed(sim), scale = sqrt(tension / (density * radius));
    print_message(
        "cube after %.1f s: axes %.3f %.3f %.3f mm of a ball's %.3f, speed %.1f %% of the capillary one\n",
        frames / 200.0, 1e3 * sqrt(5.0 * m[0]), 1e3 * sqrt(5.0 * m[1]), 1e3 * sqrt(5.0 * m[2]), 1e3 * radius,
        100.0 * speed / scale);
    for (int a = 0; a < 3; ++a) {
        CHECK_NEAR(sqrt(5.0 * m[a]), radius, 0.05 * radius);
        /* The forces around a drop cancel up to the noise of the curvature: the drop drifts at 2.5 % of
         * the capillary speed. */
        CHECK_NEAR(mean[a], 0.0, 0.03 * scale * frames / 200.0);
    }
    /* Cubes of four sizes keep 2 to 6 % after half a second, and it does not grow. */
    CHECK_AT_MOST(speed, 0.08 * scale);
    const WadiParticles *p = &sim->particles;
    double furthest = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        double x = p->x[i] - mean[0], y = p->y[i] - mean[1], z = p->z[i] - mean[2];
        furthest = fmax(furthest, sqrt(x * x + y * y + z * z));
    }
    CHECK_AT_MOST(furthest, radius + 1.5 * cell); /* no fingers, no spray */
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ellipsoid_swings_at_lambs_frequency),
        cmocka_unit_test(a_cube_becomes_a_ball_and_stays_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
