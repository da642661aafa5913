/* The flip solver's choices on whole scenes: the paper's friction against the global one, pressures that may
 * not pull, and results that do not depend on where the grid lies. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "same_bytes.h"

/* A block in free fall, 16 cells by 16, whose halves move apart at 1 m/s. */
static const char *const split_scene =
    "wadi: 1\nsolver: flip\ncell_size: 0.02\n"
    "domain: {min: [-1, 0, -2], max: [1, 0.04, 1], walls: {friction: 0}}\n"
    "materials: {sand: {kind: sand, friction_angle: 30}}\nflip: {unilateral: %s}\n"
    "bodies:\n"
    "- {material: sand, velocity: [-0.5, 0, 0], shape: {box: {min: [-0.16, 0, 0], max: [0, 0.04, 0.32]}}}\n"
    "- {material: sand, velocity: [0.5, 0, 0], shape: {box: {min: [0, 0, 0], max: [0.16, 0.04, 0.32]}}}\n";

static void halves_that_move_apart_are_not_held(void **unused)
{
    (void)unused;
    double apart[2], lowest[2];
    for (int may_part = 0; may_part < 2; ++may_part) {
        char text[1024];
        snprintf(text, sizeof text, split_scene, may_part ? "sand" : "none");
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        double fall = 0.0;
        apart[may_part] = lowest[may_part] = 0.0;
        for (int frame = 0; frame < 3; ++frame) {
            run_frames(sim, 1);
            const float *pressure = column_of(&sim->particles, "pressure");
            for (int32_t i = 0; i < sim->particles.count; ++i) {
                lowest[may_part] = fmin(lowest[may_part], (double)pressure[i]);
            }
        }
        const WadiParticles *p = &sim->particles;
        for (int32_t i = 0; i < p->count; ++i) {
            bool is_right = p->id[i] >= (uint32_t)(p->count / 2);
            apart[may_part] += 2.0 * (is_right ? 1 : -1) * (double)p->vx[i] / p->count;
            fall += (double)p->vz[i] / p->count;
        }
        print_message("%s: apart at %.3f m/s, fall %.4f m/s, lowest pressure %.1f Pa\n",
                      may_part ? "unilateral" : "bilateral", apart[may_part], fall, lowest[may_part]);
        if (may_part) {
            /* Velocities belong to the middle of the last step. */
            CHECK_NEAR(fall, -9.81 * (0.125 - 0.5 * sim->dt), 1e-4);
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
    assert_true(apart[1] >= 0.95);
    assert_true(lowest[1] == 0.0);
    /* Glued by tension. */
    CHECK_AT_MOST(apart[0], 0.6);
    assert_true(lowest[0] < -10.0);
}

/* With its negative control: a pile two degrees flatter than its friction angle, against a frictionless
 * wall. */
static const char *const pile_scene =
    "wadi: 1\nsolver: flip\ncell_size: 0.04\n"
    "domain: {min: [0, 0, -0.08], max: [1.92, 0.08, 0.72], walls: {friction: 0}}\n"
    "colliders: [{shape: {half_space: {}}, friction: 0.57735}]\n"
    "materials: {sand: {kind: sand, friction_angle: 30, transfer: pic}}\nflip: {friction: %s, sleep: false}\n"
    "bodies:\n- material: sand\n  shape:\n    intersection:\n"
    "    - box: {min: [0, 0, 0], max: [1, 0.08, 0.7]}\n"
    "    - half_space: {point: [0.96, 0, 0], normal: [0.46947, 0, 0.88295]}\n";

/* Height of the sand at the wall, where the apex was. */
static double apex(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    double top = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        top = p->x[i] < 0.08 ? fmax(top, p->z[i]) : top;
    }
    return top;
}

static double share_of_rigid(const WadiSim *sim)
{
    const uint8_t *rigid = (const uint8_t *)column_of(&sim->particles, "rigid");
    int64_t count = 0;
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        count += rigid[i];
    }
    return (double)count / sim->particles.count;
}

static void a_pile_stands_by_the_global_rule_and_melts_by_the_local_one(void **unused)
{
    (void)unused;
    static const char *const rule[2] = { "solve", "zb05" };
    for (int r = 0; r < 2; ++r) {
        char text[1024];
        snprintf(text, sizeof text, pile_scene, rule[r]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        double before = apex(sim);
        int frame = 0;
        /* Ten seconds, or until half of the height is lost. */
        while (frame < (r == 0 ? 48 : 240) && apex(sim) > 0.5 * before) {
            run_frames(sim, 1);
            ++frame;
        }
        print_message("%s: apex %.3f -> %.3f m in %.2f s, mean speed %.2g m/s, %.0f %% rigid\n", rule[r],
                      before, apex(sim), frame / 24.0, mean_speed(&sim->particles),
                      100.0 * share_of_rigid(sim));
        if (r == 0) {
            CHECK_NEAR(apex(sim), before, 0.04 * 0.2);
            CHECK_AT_MOST(mean_speed(&sim->particles), 1e-3 * sqrt(9.81 * 0.04));
        } else {
            /* Most of it is held rigid, and as one body it still slides: the floor acts on its lowest cells
             * only. */
            CHECK_AT_MOST(apex(sim), 0.5 * before);
            assert_true(share_of_rigid(sim) > 0.5);
        }
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static const char *const collapse_scene =
    "wadi: 1\nsolver: flip\nresolution: 20\ndomain: {min: [0, 0, 0], max: [0.8, 0.16, 0.4]}\n"
    "materials: {m: {kind: %s, transfer: pic}}\nflip: {%s}\n"
    "bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: [0.2, 0.16, 0.3]}}}]\n";

static const char *const mode[6][2] = {
    { "water", "pressure: gauss_seidel, density_alpha: 0.1, pair_separation: 2" },
    { "sand", "pressure: gauss_seidel, sleep: false" },
    { "sand", "friction: zb05" },
    { "sand", "published: zb05" },
    { "water", "published: a24" },
    { "sand", "friction: zb05, wall_friction: zb05, pressure: gauss_seidel" },
};

static void modes_are_exact_for_any_threads_and_after_a_restart(void **unused)
{
    (void)unused;
    for (int m = 0; m < 6; ++m) {
        char text[1024];
        snprintf(text, sizeof text, collapse_scene, mode[m][0], mode[m][1]);
        check_same_bytes(text, 2, 1);
    }
}

/* From wall to wall, so that the grid does not grow. */
static const char *const resting_scene =
    "wadi: 1\nsolver: flip\nresolution: 16\ndomain: {min: [0, 0, 0], max: [0.64, 0.16, 0.4]}\n"
    "materials: {m: {kind: %s, transfer: pic}}\nflip: {%s}\n"
    "bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: [0.64, 0.16, 0.2]}}}]\n";

static void a_warm_step_of_a_mode_does_not_allocate(void **unused)
{
    (void)unused;
#ifdef WADI_CHECKS
    skip(); /* walks over cell tables take memory of their own */
#endif
    for (int m = 0; m < 6; ++m) {
        char text[1024];
        snprintf(text, sizeof text, resting_scene, mode[m][0], mode[m][1]);
        WadiScene *scene = load_scene(text);
        WadiSim *sim = start_sim(scene, 1);
        run_frames(sim, 20);
        size_t calls = wadi_alloc_call_count();
        run_frames(sim, 4);
        assert_int_equal(wadi_alloc_call_count(), calls);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_that_move_apart_are_not_held),
        cmocka_unit_test(a_pile_stands_by_the_global_rule_and_melts_by_the_local_one),
        cmocka_unit_test(modes_are_exact_for_any_threads_and_after_a_restart),
        cmocka_unit_test(a_warm_step_of_a_mode_does_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
