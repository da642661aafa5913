/* Calls that a program should not make: they are refused and change nothing. */
#include "scene_sim.h"

static const char scene_text[] =
    "wadi: 1\nname: t\nsolver: flip\nresolution: 12\nframes: 4\nfps: 60\n"
    "domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.3]}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "bodies:\n"
    "  - {material: water, shape: {box: {min: [0.2, 0, 0], max: [0.4, 0.2, 0.1]}}}\n";

#define CHECK_REFUSED(call)                                                                                  \
    do {                                                                                                     \
        error = (WadiError){ 0 };                                                                            \
        assert_int_equal(call, WADI_ERR_ARGUMENT);                                                           \
        assert_true(error.status == WADI_ERR_ARGUMENT && error.text[0] != '\0');                             \
    } while (0)

static void a_simulation_that_is_null_is_refused(void **unused)
{
    (void)unused;
    WadiError error;
    WadiSimDef def = wadi_default_sim_def();
    WadiMeshDef mesh_def = wadi_default_mesh_def();
    WadiParticleData points = wadi_default_particle_data();
    WadiSim *sim = NULL;
    WadiView view;
    WadiBuffer buffer;
    WadiMeshData mesh;
    WadiSolidForce force;
    char *text;
    double count;
    const double to[3] = { 0 };
    CHECK_REFUSED(wadi_sim_create(&sim, NULL, &def, &error));
    CHECK_REFUSED(wadi_sim_step(NULL, &error));
    CHECK_REFUSED(wadi_sim_step_frame(NULL, &error));
    CHECK_REFUSED(wadi_sim_view(NULL, "position", &view, &error));
    CHECK_REFUSED(wadi_sim_save(NULL, &buffer, &error));
    CHECK_REFUSED(wadi_sim_surface(NULL, &mesh_def, &mesh, &error));
    CHECK_REFUSED(wadi_sim_solid_force(NULL, 0, &force, &error));
    CHECK_REFUSED(wadi_sim_set(NULL, "gravity=[0, 0, 0]", &error));
    CHECK_REFUSED(wadi_sim_add_collider(NULL, "{}", &error));
    CHECK_REFUSED(wadi_sim_move_collider(NULL, "ball", to, 0.0, &error));
    CHECK_REFUSED(wadi_sim_add_particles(NULL, "{}", NULL, &error));
    CHECK_REFUSED(wadi_sim_add_points(NULL, &points, NULL, &error));
    CHECK_REFUSED(wadi_sim_expect_particles(NULL, "{}", &count, &error));
    CHECK_REFUSED(wadi_sim_remove_particles(NULL, "{}", NULL, &error));
    CHECK_REFUSED(wadi_sim_changes(NULL, &text, &error));
    CHECK_REFUSED(wadi_sim_repeat_changes(NULL, "", &error));
    CHECK_REFUSED(wadi_sim_apply_due(NULL, &error));
    wadi_sim_destroy(NULL);
}

static void overrides_that_are_null_are_refused(void **unused)
{
    (void)unused;
    WadiError error;
    WadiScene *scene = NULL;
    WadiSceneDef def = wadi_default_scene_def();
    const char *const sets[] = { "frames=5", NULL };
    def.text = scene_text;
    def.set_count = 1;
    CHECK_REFUSED(wadi_scene_load(&scene, &def, &error));
    def.sets = sets, def.set_count = 2;
    CHECK_REFUSED(wadi_scene_load(&scene, &def, &error));
    assert_non_null(strstr(error.text, "sets[1]"));
    assert_null(scene);
}

/* The first sand that joins water gives the solver other columns: it starts anew, and nothing failed. */
static void a_call_that_succeeds_leaves_the_error_alone(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(scene_text);
    WadiSim *sim = start_sim(scene, 1);
    WadiError error = { .text = "as it was" };
    int64_t added = 0;
    assert_int_equal(wadi_sim_add_particles(sim,
                                            "{material: sand, shape: {sphere: {center: [0.1, 0.1, 0.2], "
                                            "radius: 0.05}}}",
                                            &added, &error),
                     WADI_OK);
    assert_true(added > 0);
    assert_string_equal(error.text, "as it was");
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

typedef struct Nested {
    WadiSim *sim;
    int refused, loops;
} Nested;

/* Runs the loop, and calls the simulation whose step it is of. */
static void call_again(void *user, int count, WadiTask task, void *context)
{
    Nested *nested = user;
    WadiView view;
    WadiError error;
    if (nested->sim != NULL) {
        nested->loops += 1;
        nested->refused += wadi_sim_step(nested->sim, &error) == WADI_ERR_ARGUMENT &&
                           wadi_sim_set(nested->sim, "gravity=[0, 0, 1]", &error) == WADI_ERR_ARGUMENT &&
                           wadi_sim_view(nested->sim, "position", &view, &error) == WADI_ERR_ARGUMENT;
    }
    for (int i = 0; i < count; ++i) {
        task(context, i);
    }
}

static void a_step_refuses_calls_from_within_it(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(scene_text);
    WadiSim *plain = start_sim(scene, 1), *sim = NULL;
    Nested nested = { .sim = NULL };
    WadiError error;
    WadiSimDef def = wadi_default_sim_def();
    def.threads = 3;
    def.tasks = (WadiTasks){ .run = call_again, .user = &nested };
    CHECK_OK(wadi_sim_create(&sim, scene, &def, &error), error);
    nested.sim = sim;
    CHECK_OK(wadi_sim_step_frame(sim, &error), error);
    nested.sim = NULL;
    CHECK_OK(wadi_sim_step_frame(plain, &error), error);
    assert_true(nested.loops > 0);
    assert_int_equal(nested.refused, nested.loops);
    assert_true(wadi_sim_state_hash(sim) == wadi_sim_state_hash(plain));
    wadi_sim_destroy(sim);
    wadi_sim_destroy(plain);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_simulation_that_is_null_is_refused),
        cmocka_unit_test(overrides_that_are_null_are_refused),
        cmocka_unit_test(a_call_that_succeeds_leaves_the_error_alone),
        cmocka_unit_test(a_step_refuses_calls_from_within_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
