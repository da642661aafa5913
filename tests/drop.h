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

/* Time in frames of the least of samples between two times, by a parabola through its neighbours. */
static inline double drop_time_of_least(const double *sample, double from, double to)
{
    int least = (int)ceil(from);
    for (int n = least; n <= (int)to; ++n) {
        least = sample[n] < sample[least] ? n : least;
    }
    const double a = sample[least - 1], b = sample[least], c = sample[least + 1];
    return least + 0.5 * (a - c) / (a - 2.0 * b + c);
}

/* Period of a drop that starts as a long ellipsoid over that of [Lamb32]: omega^2 = n (n - 1) (n + 2) sigma /
 * (rho R^3), 8 sigma / (rho R^3) for an ellipsoid. Between the two times when it is flattest: the ball of few
 * particles to which it goes is not quite round. */
static inline double drop_period_over_lamb(const char *scene_text)
{
    enum { FRAMES = 64 };
    WadiScene *scene = load_scene(scene_text);
    WadiSim *sim = start_sim(scene, 1);
    const double radius = drop_radius(sim);
    const double lamb =
        200.0 * 2.0 * drop_pi / sqrt(8.0 * drop_tension / (drop_density * radius * radius * radius));
    double stretch[FRAMES];
    assert_true(2.0 * lamb < FRAMES);
    for (int frame = 0; frame < (int)(2.0 * lamb); ++frame) {
        double m[3];
        drop_moments(sim, m, NULL);
        stretch[frame] = m[2] - 0.5 * (m[0] + m[1]);
        run_frames(sim, 1);
    }
    const double period = drop_time_of_least(stretch, 1.2 * lamb, 1.85 * lamb) -
                          drop_time_of_least(stretch, 0.3 * lamb, 0.8 * lamb);
    print_message("drop of %.2f mm, %.1f spacings: period %.4f s, %.3f of Lamb's\n", 1e3 * radius,
                  radius / sim->world->spacing, period / 200.0, period / lamb);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return period / lamb;
}

#endif
