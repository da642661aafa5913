/* Sand and water, and two sands, in one scene. */
#include <string.h>

#include "same_bytes.h"

#define BOX "domain: {min: [0, 0, 0], max: [0.6, 0.08, 0.6], walls: {friction: 0.6}}\ncell_size: 0.02\n"
#define BOTH                                                                                                 \
    "materials: {sand: {kind: sand, density: 1600, friction_angle: 30}, water: {kind: water}}\nbodies:\n"

static void layers_press_with_their_own_weights(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\n" BOX BOTH
                   "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.6, 0.08, 0.2]}}}\n"
                   "  - {material: water, shape: {box: {min: [0, 0, 0.2], max: [0.6, 0.08, 0.5]}}}\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 6);
    const float *pressure = column_of(&sim->particles, "pressure");
    double sum[2] = { 0 }, count[2] = { 0 }, speed = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        double z = sim->particles.z[i];
        int place = z < 0.02 ? 0 : z >= 0.22 && z < 0.24 ? 1 : -1;
        if (place >= 0) {
            sum[place] += (double)pressure[i];
            count[place] += 1.0;
        }
        speed = fmax(speed, fabs((double)sim->particles.vz[i]));
    }
    /* At the centres of the lowest cell and of the second cell of water. */
    CHECK_NEAR(sum[0] / count[0] / (9.81 * (1600.0 * 0.19 + 1000.0 * 0.3)), 1.0, 0.01);
    CHECK_NEAR(sum[1] / count[1] / (9.81 * 1000.0 * 0.27), 1.0, 0.01);
    CHECK_AT_MOST(speed, 0.01);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* Friction from the whole pressure would let this face stand for ever: water of the same height holds it. */
static void a_wall_of_sand_slumps_under_water(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\n" BOX BOTH
                   "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.3, 0.08, 0.2]}}}\n"
                   "  - {material: water, shape: {box: {min: [0.3, 0, 0], max: [0.6, 0.08, 0.2]}}}\n"
                   "  - {material: water, shape: {box: {min: [0, 0, 0.2], max: [0.6, 0.08, 0.3]}}}\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 48);
    const WadiParticles *p = &sim->particles;
    double moment[2] = { 0 }, count = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->material[i] == 0) {
            moment[0] += p->x[i];
            moment[1] += p->z[i];
            count += 1.0;
        }
    }
    /* A face at 30 degrees whose top is still 0.2 m high has its foot at x = 0.3 + 0.2 / (2 tan 30) = 0.473:
     * the centre of the sand moves from 0.15 to 0.3^2 / 2 + 0.173^2 / 24 over 0.3 = 0.154 m, and sinks from
     * 0.1 to 0.1 - 0.2 * 0.346 / (12 * 0.3) = 0.081 m. */
    print_message("centre of the sand %.4f, %.4f m\n", moment[0] / count, moment[1] / count);
    CHECK_NEAR(moment[1] / count, 0.081, 0.005);
    double beyond[2] = { 0 }, slow = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        if (p->material[i] == 0) {
            beyond[0] += (double)(p->x[i] > 0.42) / count;
            beyond[1] += (double)(p->x[i] > 0.5) / count;
            slow += fabs((double)p->vx[i]) / count;
        }
    }
    /* The foot is a thin wedge: the last hundredth of the sand begins at 0.473 - 0.044 m. */
    print_message("%.4f of the sand beyond 0.42 m, %.4f beyond 0.5 m\n", beyond[0], beyond[1]);
    assert_true(beyond[0] > 0.005 && beyond[1] < 0.005);
    CHECK_AT_MOST(slow, 0.02); /* it has stopped */
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void sand_does_not_rest_on_water(void **unused)
{
    (void)unused;
    WadiScene *scene =
        load_scene("wadi: 1\nsolver: flip\n" BOX BOTH
                   "  - {material: water, shape: {box: {min: [0, 0, 0], max: [0.6, 0.08, 0.207]}}}\n"
                   "  - {material: sand, shape: {box: {min: [0, 0, 0.207], max: [0.6, 0.08, 0.3]}}}\n");
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 60);
    double height = 0.0, count = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        if (sim->particles.material[i] == 0) {
            height += sim->particles.z[i];
            count += 1.0;
        }
    }
    print_message("sand from 0.254 to %.3f m\n", height / count);
    CHECK_AT_MOST(height / count, 0.15); /* below the middle of the box's content */
    assert_int_equal(wadi_sim_lost_particles(sim), 0);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static double front(const WadiSim *sim, double from, int material)
{
    double reach = 0.0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        if (sim->particles.material[i] == material) {
            reach = fmax(reach, fabs(sim->particles.x[i] - from));
        }
    }
    return reach;
}

#define LONG_BOX                                                                                             \
    "wadi: 1\nsolver: flip\ndomain: {min: [0, 0, 0], max: [2, 0.06, 0.4], walls: {friction: 0.4}}\n"         \
    "cell_size: 0.02\n"
#define LEFT "  - {material: steep, shape: {box: {min: [0, 0, 0], max: [0.2, 0.06, 0.2]}}}\n"

/* Two columns far apart do what each would do alone. */
static void two_sands_keep_their_own_friction(void **unused)
{
    (void)unused;
    const char *texts[3] = {
        LONG_BOX "materials: {steep: {kind: sand, friction_angle: 40}, flat: {kind: sand, density: 1400, "
                 "friction_angle: 20}}\nbodies:\n" LEFT
                 "  - {material: flat, shape: {box: {min: [1.8, 0, 0], max: [2, 0.06, 0.2]}}}\n",
        LONG_BOX "materials: {steep: {kind: sand, friction_angle: 40}}\nbodies:\n" LEFT,
        LONG_BOX "materials: {flat: {kind: sand, density: 1400, friction_angle: 20}}\nbodies:\n"
                 "  - {material: flat, shape: {box: {min: [1.8, 0, 0], max: [2, 0.06, 0.2]}}}\n",
    };
    double steep[3], flat[3];
    for (int s = 0; s < 3; ++s) {
        WadiScene *scene = load_scene(texts[s]);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 24);
        steep[s] = front(sim, 0.0, 0);
        flat[s] = front(sim, 2.0, s == 0 ? 1 : 0);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
    print_message("40 deg: %.3f m, alone %.3f; 20 deg: %.3f, alone %.3f\n", steep[0], steep[1], flat[0],
                  flat[2]);
    CHECK_NEAR(steep[0], steep[1], 0.03);
    CHECK_NEAR(flat[0], flat[2], 0.03);
    assert_true(flat[0] - 0.2 > 1.3 * (steep[0] - 0.2)); /* beyond the column itself */
}

static void threads_and_restarts_do_not_change_a_byte(void **unused)
{
    (void)unused;
    check_same_bytes("wadi: 1\nsolver: flip\n" BOX BOTH
                     "  - {material: water, shape: {box: {min: [0, 0, 0], max: [0.6, 0.08, 0.1]}}}\n"
                     "  - {material: sand, shape: {sphere: {center: [0.3, 0.04, 0.16], radius: 0.05}}}\n",
                     3, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_press_with_their_own_weights),
        cmocka_unit_test(a_wall_of_sand_slumps_under_water),
        cmocka_unit_test(sand_does_not_rest_on_water),
        cmocka_unit_test(two_sands_keep_their_own_friction),
        cmocka_unit_test(threads_and_restarts_do_not_change_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
