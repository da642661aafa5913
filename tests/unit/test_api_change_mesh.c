/* Changes of a simulation with a mesh: what was made of the file is kept. */
#include "io_scratch.h"
#include "scene_sim.h"

/* A closed cube of 0.1 m. */
static const char cube[] =
    "v 0 0 0\nv 0.1 0 0\nv 0.1 0.1 0\nv 0 0.1 0\nv 0 0 0.1\nv 0.1 0 0.1\nv 0.1 0.1 0.1\n"
    "v 0 0.1 0.1\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

static WadiScene *load_cube_scene(void)
{
    scratch_write("cube.obj", cube);
    char text[4096];
    snprintf(text, sizeof text,
             "wadi: 1\nname: t\nsolver: flip\nresolution: 16\nframes: 9\nfps: 30\n"
             "domain: {min: [0, 0, 0], max: [0.6, 0.3, 0.3]}\nmaterials: {water: {kind: water}}\n"
             "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.6, 0.3, 0.12]}}}]\n"
             "colliders:\n"
             "  - {name: cube, shape: {mesh: {file: \"%s\"}, translate: [0.05, 0.1, 0.05]}}\n"
             "  - {name: two, shape: {union: [{mesh: {file: \"%s\", fit: 0.05}}, {sphere: {radius: 0.01}}], "
             "translate: [0.4, 0.1, 0.05]}}\n",
             scratch_path("cube.obj"), scratch_path("cube.obj"));
    return load_scene(text);
}

static void move(WadiSim *sim, const char *name, double x)
{
    WadiError error;
    const double to[3] = { x, 0.1, 0.05 };
    CHECK_OK(wadi_sim_move_collider(sim, name, to, 1.0 / 30.0, &error), error);
}

/* The mesh is not read again, also when it moves for the first time and gets its band. */
static void solids_move_without_their_file(void **unused)
{
    (void)unused;
    WadiScene *scene = load_cube_scene();
    WadiSim *with_file = start_sim(scene, 1), *without = start_sim(scene, 1);
    WadiSim *sims[] = { with_file, without };
    for (int s = 0; s < 2; ++s) {
        if (s == 1) {
            remove(scratch_path("cube.obj"));
        }
        for (int frame = 0; frame < 3; ++frame) {
            move(sims[s], "cube", 0.08 + 0.03 * frame);
            move(sims[s], "two", 0.38 - 0.03 * frame);
            run_frames(sims[s], 1);
        }
    }
    assert_true(wadi_sim_state_hash(with_file) == wadi_sim_state_hash(without));
    wadi_sim_destroy(with_file);
    wadi_sim_destroy(without);
    wadi_scene_destroy(scene);
}

/* A checkpoint is continued with a mesh that is read anew. */
static void a_kept_mesh_is_the_one_of_the_file(void **unused)
{
    (void)unused;
    WadiScene *scene = load_cube_scene();
    WadiSim *kept = start_sim(scene, 1), *anew = NULL;
    move(kept, "cube", 0.1);
    move(kept, "two", 0.35);
    run_frames(kept, 1);
    WadiError error;
    WadiBuffer bytes;
    WadiSimDef def = wadi_default_sim_def();
    CHECK_OK(wadi_sim_save(kept, &bytes, &error), error);
    CHECK_OK(wadi_sim_load(&anew, scene, &def, bytes.bytes, bytes.size, &error), error);
    WadiSim *sims[] = { kept, anew };
    for (int s = 0; s < 2; ++s) {
        move(sims[s], "cube", 0.15);
        run_frames(sims[s], 2);
    }
    assert_true(wadi_sim_state_hash(kept) == wadi_sim_state_hash(anew));
    wadi_buffer_release(&bytes);
    wadi_sim_destroy(kept);
    wadi_sim_destroy(anew);
    wadi_scene_destroy(scene);
}

/* What wadi/change.h says of other motions, and of solids that go. */
static void solids_turn_by_keyframes_and_go(void **unused)
{
    (void)unused;
    WadiScene *scene = load_cube_scene();
    WadiSim *sim = start_sim(scene, 1);
    WadiError error;
    assert_int_equal(wadi_sim_solid_count(sim), 6 + 2);
    CHECK_OK(wadi_sim_set(sim, "colliders[0].shape.rotate={keys: [[0, [0, 0, 0]], [1, [0, 0, 90]]]}", &error),
             error);
    run_frames(sim, 1);
    CHECK_OK(wadi_sim_set(sim, "colliders=[]", &error), error);
    assert_int_equal(wadi_sim_solid_count(sim), 6);
    run_frames(sim, 1);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_move_without_their_file),
        cmocka_unit_test(solids_turn_by_keyframes_and_go),
        cmocka_unit_test(a_kept_mesh_is_the_one_of_the_file),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
