/* Drops of water under surface tension alone, for the tests of both solvers. Frames are 1/200 s apart. */
#ifndef WADI_TESTS_DROP_H
#define WADI_TESTS_DROP_H

#include "scene_sim.h"
#include "sim/sim.h"

#define DROP_MATERIALS "materials: {water: {kind: water, density: 1000, surface_tension: 0.072}}\n"
#define DROP_ELLIPSOID                                                                                       \
    "bodies: [{material: water, shape: {sphere: {center: [0, 0, 0], radius: 0.006}, scale: [0.94, 0.94, "    \
    "1.13]}}]\n"

static const double drop_pi = 3.14159265358979323846, drop_tension = 0.072, drop_density = 1000.0;

/* Of the ball that the particles would fill, m. */
static inline double drop_radius(const WadiSim *sim)
{
    return sim->world->spacing * cbrt(3.0 / (4.0 * drop_pi) * sim->particles.count);
}

/* Second moments of the positions along each axis about their mean, m^2; *mean may be NULL. */
static inline void drop_moments(const WadiSim *sim, double moment[3], double *mean)
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

/* [Lamb32]: omega^2 = n (n - 1) (n + 2) sigma / (rho R^3), 8 sigma / (rho R^3) for an ellipsoid. Fails where
 * the period of a drop that starts as one differs by more than the part `most`. */
static inline void check_drop_period(const char *scene_text, double most)
{
    WadiScene *scene = load_scene(scene_text);
    WadiSim *sim = start_sim(scene, 1);
    const double radius = drop_radius(sim);
    const double period =
        2.0 * drop_pi / sqrt(8.0 * drop_tension / (drop_density * radius * radius * radius));
    double zero[3] = { 0 }, before = 0.0;
    int zeros = 0;
    for (int frame = 0; frame < 60 && zeros < 3; ++frame) {
        double m[3];
        drop_moments(sim, m, NULL);
        const double stretch = m[2] - 0.5 * (m[0] + m[1]);
        if (frame > 0 && stretch * before < 0.0) {
            zero[zeros++] = (frame - 1 + before / (before - stretch)) / 200.0;
        }
        before = stretch;
        run_frames(sim, 1);
    }
    assert_int_equal(zeros, 3);
    print_message("drop of %.2f mm: period %.4f s, Lamb %.4f s\n", 1e3 * radius, zero[2] - zero[0], period);
    CHECK_NEAR(zero[2] - zero[0], period, most * period);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

#endif
