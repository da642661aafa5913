/* What is over a hole falls through it freely, wherever the shape that cut the hole ends beyond the plate's
 * faces; a plate without a hole and a blind hole hold it. */
#include <stdio.h>

#include "scene_sim.h"
#include "sim/sim.h"

enum { FPS = 24, FRAMES = 4 };

static const double GRAVITY = 9.81;

typedef struct Case {
    const char *solver, *material, *settings;
} Case;

static const Case CASES[] = { { "dem", "sand", "" },   { "dem", "sand", "dem: {surfaces: covered}\n" },
                              { "sph", "sand", "" },   { "sph", "water", "" },
                              { "flip", "sand", "" },  { "flip", "water", "" },
                              { "points", "sand", "" } };
enum { CASE_COUNT = 7 };

/* Fall of the mean height of a block on a plate between z = 0.18 and 0.2, m, in FRAMES frames. `cut` is taken
 * from the plate; *below: particles beneath it. */
static double fall(const Case *c, const char *cut, const char *placed, int *below)
{
    char text[2048];
    const int length = snprintf(
        text, sizeof text,
        "wadi: 1\nsolver: %s\ncell_size: 0.02\nfps: %d\n%s"
        "domain: {min: [-0.16, -0.16, 0], max: [0.16, 0.16, 0.4]}\n"
        "materials: {m: {kind: %s}}\n"
        "bodies: [{material: m, shape: {box: {min: [-0.03, -0.03, 0.2], max: [0.03, 0.03, 0.26]}}}]\n"
        "colliders: [{shape: {difference: [{box: {min: [-0.16, -0.16, 0.18], max: [0.16, 0.16, 0.2]}}, "
        "%s]%s}}]\n",
        c->solver, FPS, c->settings, c->material, cut, placed);
    assert_true(length > 0 && (size_t)length < sizeof text);
    WadiScene *scene = load_scene(text);
    WadiSim *sim = start_sim(scene, 1);
    const double start = mean_height(&sim->particles);
    const int32_t count = sim->particles.count;
    run_frames(sim, FRAMES);
    const double moved = start - mean_height(&sim->particles);
    assert_int_equal(sim->particles.count, count);
    *below = 0;
    for (int32_t i = 0; i < count; ++i) {
        *below += sim->particles.z[i] < 0.175;
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    return moved;
}

static void check_free_fall(const char *cut, const char *placed)
{
    const double seconds = (double)FRAMES / FPS, free_fall = 0.5 * GRAVITY * seconds * seconds;
    for (int n = 0; n < CASE_COUNT; ++n) {
        int below;
        const double moved = fall(&CASES[n], cut, placed, &below);
        if (fabs(moved / free_fall - 1.0) > 0.03) {
            print_message("%s, %s: %s %s\n", CASES[n].solver, CASES[n].material, cut, placed);
        }
        CHECK_NEAR(moved / free_fall, 1.0, 0.03);
    }
}

static void sand_and_water_fall_through_holes_whose_cutter_ends_near_a_face(void **state)
{
    (void)state;
    static const double beyond[] = { 0.0, 1e-6, 0.001, 0.007, 0.04 };
    for (int n = 0; n < 5; ++n) {
        char cut[256];
        snprintf(cut, sizeof cut, "{cylinder: {from: [0, 0, %.7f], to: [0, 0, %.7f], radius: 0.1}}",
                 0.18 - beyond[n], 0.2 + beyond[n]);
        check_free_fall(cut, "");
    }
}

static void turned_moving_and_square_holes_are_open_too(void **state)
{
    (void)state;
    static const char *const disc = "{cylinder: {from: [0, 0, 0.179], to: [0, 0, 0.201], radius: 0.1}}";
    check_free_fall(disc, ", rotate: [17, 9, 30], pivot: [0, 0, 0.19]");
    check_free_fall(disc, ", translate: {keys: [[0, [0, 0, 0]], [1, [0.05, 0, 0.02]]]}");
    check_free_fall("{box: {min: [-0.09, -0.5, 0.18], max: [0.09, 0.5, 0.2001]}}", "");
    check_free_fall("{cone: {from: [0, 0, 0.17], to: [0, 0, 0.2002], radius: 0.12, top_radius: 0.09}}", "");
    check_free_fall("{cylinder: {from: [0, 0, 0.179], to: [0, 0, 0.190], radius: 0.1}}, "
                    "{cylinder: {from: [0, 0, 0.189], to: [0, 0, 0.201], radius: 0.11}}",
                    "");
}

static void check_holds(const char *cut)
{
    for (int n = 0; n < CASE_COUNT; ++n) {
        int below;
        fall(&CASES[n], cut, "", &below);
        if (below > 0) {
            print_message("%s, %s: %s\n", CASES[n].solver, CASES[n].material, cut);
        }
        assert_int_equal(below, 0);
    }
}

static void plates_and_blind_holes_hold(void **state)
{
    (void)state;
    check_holds("{cylinder: {from: [0.15, 0.15, 0.179], to: [0.15, 0.15, 0.201], radius: 0.01}}");
    check_holds("{cylinder: {from: [0, 0, 0.19], to: [0, 0, 0.201], radius: 0.1}}");
    check_holds("{cylinder: {from: [0, 0, 0.179], to: [0, 0, 0.195], radius: 0.1}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sand_and_water_fall_through_holes_whose_cutter_ends_near_a_face),
        cmocka_unit_test(turned_moving_and_square_holes_are_open_too),
        cmocka_unit_test(plates_and_blind_holes_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
