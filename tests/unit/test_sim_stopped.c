/* A simulation whose step or change failed half-way refuses everything that needs a state, and nothing of the
 * interface crashes; a body that cannot fit into memory changes nothing. */
#include <string.h>

#include "scene_sim.h"
#include "sim/sim.h"

static const char box_text[] =
    "wadi: 1\nname: t\nsolver: %s\ncell_size: 0.05\nframes: 8\nfps: 50\n"
    "domain: {min: [0, 0, 0], max: [%g, %g, %g]}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.2, 0.2, 0.2]}}}]\n"
    "colliders: [{name: ball, shape: {sphere: {center: [0.3, 0.15, 0.1], radius: 0.05}}}]\n";

static WadiScene *make_scene(const char *solver, double size)
{
    char text[1024];
    snprintf(text, sizeof text, box_text, solver, size, size, size);
    return load_scene(text);
}

/* Whatever is called: an error for what needs a state, and no crash. */
static void check_refuses(WadiSim *sim)
{
    WadiError error = { 0 };
    WadiBuffer bytes = { 0 };
    WadiMeshData mesh;
    WadiView view;
    WadiProfile profile;
    WadiMeshDef mesh_def = wadi_default_mesh_def();
    char *changes = NULL;
    double count = 0.0;
    static const char body[] = "{material: sand, shape: {sphere: {center: [0.3, 0.3, 0.3], radius: 0.05}}}";
    assert_non_null(wadi_sim_stopped_stage(sim));
    assert_int_equal(wadi_sim_step(sim, &error), WADI_ERR_NUMERIC);
    assert_non_null(strstr(error.text, "stopped at t ="));
    assert_int_equal(wadi_sim_step_frame(sim, &error), WADI_ERR_NUMERIC);
    assert_int_equal(wadi_sim_save(sim, &bytes, &error), WADI_ERR_NUMERIC);
    assert_int_equal(wadi_sim_set(sim, "gravity=[0, 0, 0]", &error), WADI_ERR_NUMERIC);
    assert_int_equal(wadi_sim_add_particles(sim, body, NULL, &error), WADI_ERR_NUMERIC);
    assert_int_equal(wadi_sim_expect_particles(sim, body, &count, &error), WADI_ERR_NUMERIC);
    assert_int_equal(wadi_sim_remove_particles(sim, "{shape: {sphere: {radius: 1}}}", NULL, &error),
                     WADI_ERR_NUMERIC);
    assert_int_equal(wadi_sim_set_saturation(sim, "sand", 0.5, &error), WADI_ERR_NUMERIC);
    assert_int_equal(wadi_sim_move_collider(sim, "ball", (const double[3]){ 0 }, 0.0, &error),
                     WADI_ERR_NUMERIC);
    assert_int_equal(wadi_sim_add_collider(sim, "{shape: {sphere: {radius: 1}}}", &error), WADI_ERR_NUMERIC);
    assert_int_equal(wadi_sim_apply_due(sim, &error), WADI_ERR_NUMERIC);
    for (int n = 0; wadi_sim_view_name(sim, n) != NULL; ++n) {
        (void)wadi_sim_view(sim, wadi_sim_view_name(sim, n), &view, &error);
    }
    (void)wadi_sim_collider_moves(sim, 0);
    if (wadi_sim_collider_mesh(sim, 0, &mesh, &error) == WADI_OK) {
        wadi_mesh_release(&mesh);
    }
    (void)wadi_sim_surface(sim, &mesh_def, &mesh, &error);
    wadi_mesh_release(&mesh);
    (void)wadi_sim_state_hash(sim);
    wadi_sim_profile(sim, &profile);
    CHECK_OK(wadi_sim_changes(sim, &changes, &error), error);
    wadi_text_release(changes);
    assert_int_equal(wadi_sim_steps(sim), 1);
}

static void a_stopped_simulation_refuses_what_needs_a_state(void **state)
{
    (void)state;
    WadiError error = { 0 };
    WadiScene *scene = make_scene("sph", 0.6);
    WadiSim *sim = start_sim(scene, 1);
    CHECK_OK(wadi_sim_step(sim, &error), error);
    assert_null(wadi_sim_stopped_stage(sim));
    sim->particles.x[2] = (double)NAN;
    assert_int_equal(wadi_sim_step(sim, &error), WADI_ERR_NUMERIC);
    assert_non_null(strstr(error.text, "particle 2"));
    /* A checking build finds it before the stage begins. */
    const char *stage = wadi_sim_stopped_stage(sim);
    assert_true(strcmp(stage, "sort") == 0 || strcmp(stage, "step") == 0);
    check_refuses(sim);
    wadi_sim_release(sim); /* as a change that could not be taken back */
    check_refuses(sim);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* A body of 8 (30/0.05)^3 = 1.7e9 particles, hundreds of gigabytes. */
static void a_body_larger_than_the_memory_changes_nothing(void **state)
{
    (void)state;
    static const char huge[] = "{material: water, shape: {box: {min: [0, 0, 0], max: [30, 30, 30]}}}";
    for (int s = 0; s < 2; ++s) {
        WadiError error = { 0 };
        WadiScene *scene = make_scene(s == 0 ? "sph" : "flip", 30.0);
        WadiSim *sim = start_sim(scene, 1), *other = start_sim(scene, 1);
        double count = 0.0;
        CHECK_OK(wadi_sim_expect_particles(sim, huge, &count, &error), error);
        CHECK_NEAR(count, 8.0 * pow(600.0, 3.0), 3e8); /* 1.7e9, roughly */
        const WadiStatus status = wadi_sim_add_particles(sim, huge, NULL, &error);
        assert_true(status == WADI_ERR_MEMORY || status == WADI_ERR_SCENE); /* too many, on a large machine */
        assert_non_null(strstr(error.text, "million"));
        assert_null(wadi_sim_stopped_stage(sim));
        CHECK_OK(wadi_sim_step(sim, &error), error);
        CHECK_OK(wadi_sim_step(other, &error), error);
        assert_true(wadi_sim_state_hash(sim) == wadi_sim_state_hash(other));
        wadi_sim_destroy(sim);
        wadi_sim_destroy(other);
        wadi_scene_destroy(scene);
    }
}

/* A record repeated up to its last change gives the state that the next step starts from. */
static void due_changes_can_be_applied_at_once(void **state)
{
    (void)state;
    WadiError error = { 0 };
    WadiScene *scene = make_scene("flip", 0.6);
    WadiSim *sim = start_sim(scene, 1), *again = start_sim(scene, 1);
    char *text = NULL;
    CHECK_OK(wadi_sim_set(sim, "gravity=[1, 0, -9]", &error), error);
    CHECK_OK(wadi_sim_step(sim, &error), error);
    CHECK_OK(
        wadi_sim_add_particles(
            sim, "{material: sand, shape: {sphere: {center: [0.3, 0.3, 0.3], radius: 0.08}}}", NULL, &error),
        error);
    CHECK_OK(wadi_sim_changes(sim, &text, &error), error);
    CHECK_OK(wadi_sim_repeat_changes(again, text, &error), error);
    CHECK_OK(wadi_sim_step(again, &error), error);
    assert_true(wadi_sim_particle_count(again) < wadi_sim_particle_count(sim));
    CHECK_OK(wadi_sim_apply_due(again, &error), error);
    assert_true(wadi_sim_state_hash(again) == wadi_sim_state_hash(sim));
    CHECK_OK(wadi_sim_step(again, &error), error);
    CHECK_OK(wadi_sim_step(sim, &error), error);
    assert_true(wadi_sim_state_hash(again) == wadi_sim_state_hash(sim));
    wadi_text_release(text);
    wadi_sim_destroy(sim);
    wadi_sim_destroy(again);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_simulation_refuses_what_needs_a_state),
        cmocka_unit_test(a_body_larger_than_the_memory_changes_nothing),
        cmocka_unit_test(due_changes_can_be_applied_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
