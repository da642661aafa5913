/* sph: drops under surface tension alone: an ellipsoid oscillates at Lamb's frequency, a cube becomes a
 * ball. */
#include "drop.h"

#define HEAD "wadi: 1\nsolver: sph\nfps: 200\ngravity: [0, 0, 0]\n" DROP_MATERIALS
#define DROP HEAD "cell_size: 0.002\n"

/* Radii of 4, 6 and 9 spacings. */
static void an_ellipsoid_swings_at_lambs_frequency(void **unused)
{
    (void)unused;
    static const char *const scenes[] = { HEAD "cell_size: 0.003\n" DROP_ELLIPSOID,
                                          HEAD "cell_size: 0.002\n" DROP_ELLIPSOID,
                                          HEAD "cell_size: 0.001333\n" DROP_ELLIPSOID };
    double part[3];
    for (int n = 0; n < 3; ++n) {
        part[n] = drop_period_over_lamb(scenes[n]);
    }
    for (int n = 0; n < 3; ++n) {
        CHECK_NEAR(part[n], 1.0, 0.1);
    }
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
    const double radius = drop_radius(sim);
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
