/* flip: drops under surface tension alone, as whole scenes: an ellipsoid oscillates at Lamb's frequency, a
 * cube becomes a ball, a ball stays unchanged. */
#include <stdlib.h>

#include "drop.h"

#define DROP "wadi: 1\nsolver: flip\ncell_size: 0.001\nfps: 200\ngravity: [0, 0, 0]\n" DROP_MATERIALS

static double rms_speed(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]);
    }
    return sqrt(sum / p->count);
}

static void an_ellipsoid_swings_at_lambs_frequency(void **unused)
{
    (void)unused;
    CHECK_NEAR(drop_period_over_lamb(DROP DROP_ELLIPSOID), 1.0, 0.1);
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
    double m[3], mean[3], radius = drop_radius(sim);
    drop_moments(sim, m, mean);
    double speed = rms_speed(sim), scale = sqrt(drop_tension / (drop_density * radius));
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
    CHECK_AT_MOST(furthest, radius + 1.5 * sim->world->cell_size); /* no fingers, no spray */
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
