/* Overfull material: emitters wait with a warning, pistons are named, and there is no warning where there is
 * space. */
#include "same_bytes.h"

static char said[1024];
static int warning_count;

static void keep_warnings(void *user, WadiLogLevel level, const char *text)
{
    (void)user;
    if (level == WADI_LOG_WARNING) {
        print_message("%s\n", text);
        snprintf(said, sizeof said, "%s", text);
        ++warning_count;
    }
}

static WadiSim *start(const WadiScene *scene)
{
    WadiError error = { 0 };
    WadiSimDef def = wadi_default_sim_def();
    def.log = (WadiLog){ .function = keep_warnings };
    warning_count = 0;
    WadiSim *sim = NULL;
    CHECK_OK(wadi_sim_create(&sim, scene, &def, &error), error);
    return sim;
}

/* Water 0.32 deep in a box of 0.4 x 0.4 x `height`, and an emitter that would raise it to 0.57 in a second.
 * From 0.6 s on a drain makes space. */
static WadiScene *emitter_under_water(const char *solver, double height)
{
    char text[800];
    snprintf(text, sizeof text,
             "{wadi: 1, solver: %s, cell_size: 0.04, domain: {min: [0, 0, 0], max: [0.4, 0.4, %g]},\n"
             " materials: {water: {kind: water}},\n"
             " bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.32]}}}],\n"
             " drains: [{start: 0.6, shape: {box: {min: [0, 0, 0], max: [0.1, 0.1, 0.05]}}}],\n"
             " emitters: [{material: water, rate: 0.04, velocity: [0, 0, -0.5], shape: {sphere: {center: "
             "[0.2, 0.2, "
             "0.15], radius: 0.1}}}]}\n",
             solver, height);
    return load_scene(text);
}

/* `most`: of the particles that fit. */
static void check_emitter_waits(const char *solver, double most)
{
    WadiScene *scene = emitter_under_water(solver, 0.4);
    WadiSim *sim = start(scene);
    run_frames(sim, 14);
    const double full = 8.0 * 0.4 * 0.4 * 0.4 / (0.04 * 0.04 * 0.04);
    print_message("%d particles where %.0f fit\n", sim->particles.count, full);
    assert_true(sim->particles.count > 0.97 * full && sim->particles.count < most * full);
    assert_int_equal(warning_count, 1);
    assert_non_null(strstr(said, "no room for the emitter"));
    const int64_t born = sim->born[0];
    run_frames(sim, 8); /* the drain removes, the emitter adds */
    assert_true(sim->born[0] > born + 100);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void an_emitter_waits_for_room(void **unused)
{
    (void)unused;
    check_emitter_waits("flip", 1.08);
    check_emitter_waits("sph", 1.12);
}

static void a_resumed_run_does_not_repeat_it(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiState before = { 0 }, after = { 0 };
    WadiScene *scene = emitter_under_water("flip", 0.4);
    WadiSim *sim = start(scene);
    CHECK_OK(wadi_sim_snapshot(sim, &before, &error), error);
    run_frames(sim, 14);
    assert_int_equal(warning_count, 1);
    CHECK_OK(wadi_sim_snapshot(sim, &after, &error), error);
    wadi_sim_destroy(sim);
    sim = start(scene);
    CHECK_OK(wadi_sim_restore(sim, &after, &error), error);
    run_frames(sim, 2);
    assert_int_equal(warning_count, 0);
    /* Resumed before the warning, the run still gives it. */
    CHECK_OK(wadi_sim_restore(sim, &before, &error), error);
    run_frames(sim, 14);
    assert_int_equal(warning_count, 1);
    wadi_state_free(&before);
    wadi_state_free(&after);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void an_emitter_under_a_free_surface_pours_all(void **unused)
{
    (void)unused;
    static const char *const solvers[] = { "flip", "sph" };
    for (int n = 0; n < 2; ++n) {
        WadiScene *scene = emitter_under_water(solvers[n], 0.8);
        WadiSim *sim = start(scene);
        const int32_t begin = sim->particles.count;
        run_frames(sim, 12);
        CHECK_NEAR((double)(sim->particles.count - begin), 0.04 * 12.0 / 24.0 / (0.02 * 0.02 * 0.02), 2.0);
        assert_int_equal(warning_count, 0);
        wadi_sim_destroy(sim);
        wadi_scene_destroy(scene);
    }
}

static void while_it_pours_threads_and_restarts_do_not_change_a_byte(void **unused)
{
    (void)unused;
    check_same_bytes(
        "{wadi: 1, solver: flip, cell_size: 0.04, domain: {min: [0, 0, 0], max: [0.4, 0.4, 0.8]},\n"
        " materials: {water: {kind: water}},\n"
        " bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.32]}}}],\n"
        " emitters: [{material: water, rate: 0.04, shape: {sphere: {center: [0.2, 0.2, 0.15], radius: "
        "0.1}}}]}\n",
        3, 3);
}

static void a_piston_without_a_hole_is_named(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(
        "{wadi: 1, solver: flip, cell_size: 0.04, domain: {min: [0, 0, 0], max: [0.4, 0.4, 0.4]},\n"
        " materials: {water: {kind: water}},\n"
        " bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.36]}}}],\n"
        " colliders: [{name: plunger, shape: {box: {min: [-0.1, -0.1, 0.36], max: [0.5, 0.5, 0.8]}, "
        "translate: {keys: [[0, "
        "[0, 0, 0]], [1, [0, 0, -0.12]]]}}}]}\n");
    WadiSim *sim = start(scene);
    run_frames(sim, 24);
    assert_int_equal(warning_count, 1);
    assert_non_null(strstr(said, "plunger"));
    assert_non_null(strstr(said, "frame "));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_emitter_waits_for_room),
        cmocka_unit_test(a_resumed_run_does_not_repeat_it),
        cmocka_unit_test(an_emitter_under_a_free_surface_pours_all),
        cmocka_unit_test(while_it_pours_threads_and_restarts_do_not_change_a_byte),
        cmocka_unit_test(a_piston_without_a_hole_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
