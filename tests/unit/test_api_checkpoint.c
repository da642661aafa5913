/* Checkpoints in memory: their bytes are those of the run's files, and what goes on from them is what went on
 * without. */
#include "core/alloc.h"
#include "io/files/files.h"
#include "io_scratch.h"
#include "scene_sim.h"

/* Everything that has a state: sand and water, an emitter, a drain, an open side, a moving solid. */
static const char scene_text[] =
    "wadi: 1\nname: t\nsolver: flip\nresolution: 12\nframes: 6\ncheckpoint_every: 1\nfps: 50\n"
    "domain: {min: [0, 0, 0], max: [0.6, 0.3, 0.4], walls: {open: [x_max]}}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "bodies:\n"
    "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.15, 0.3, 0.15]}}}\n"
    "  - {material: water, shape: {box: {min: [0.3, 0, 0], max: [0.6, 0.3, 0.1]}}}\n"
    "colliders: [{shape: {sphere: {center: [0.3, 0.15, 0.05], radius: 0.05},\n"
    "  translate: {keys: [[0, [0, 0, 0]], [1, [0.1, 0, 0.1]]]}}}]\n"
    "emitters: [{material: sand, shape: {sphere: {center: [0.1, 0.15, 0.3], radius: 0.04}}, rate: 0.02}]\n"
    "drains: [{shape: {box: {min: [0.5, 0.2, 0], max: [0.6, 0.3, 0.02]}}}]\n";

static const char points_text[] =
    "{wadi: 1, solver: points, resolution: 6, fps: 50, domain: {min: [0, 0, 0], max: [1, 1, 1]}, materials: "
    "{sand: {kind: sand}}, bodies: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: "
    "0.3}}}]}";

static WadiSim *load(const WadiScene *scene, const WadiBuffer *buffer, int threads)
{
    WadiError error = { 0 };
    WadiSim *sim = NULL;
    WadiSimDef def = wadi_default_sim_def();
    def.threads = threads;
    CHECK_OK(wadi_sim_load(&sim, scene, &def, buffer->bytes, buffer->size, &error), error);
    return sim;
}

static void check_continuation(const char *text, int frames, int steps)
{
    WadiError error = { 0 };
    WadiScene *scene = load_scene(text);
    WadiSim *whole = start_sim(scene, 1);
    run_frames(whole, frames);
    for (int i = 0; i < steps; ++i) { /* between frames */
        CHECK_OK(wadi_sim_step(whole, &error), error);
    }
    WadiBuffer saved = { 0 };
    CHECK_OK(wadi_sim_save(whole, &saved, &error), error);
    assert_true(saved.size > 8192);
    const int frame = wadi_sim_frame(whole);
    const double time = wadi_sim_time(whole);
    const uint64_t hash = wadi_sim_state_hash(whole);
    run_frames(whole, 2);
    for (int threads = 1; threads <= 3; threads += 2) {
        WadiSim *sim = load(scene, &saved, threads);
        assert_int_equal(wadi_sim_frame(sim), frame);
        CHECK_NEAR(wadi_sim_time(sim), time, 0.0);
        assert_true(wadi_sim_state_hash(sim) == hash);
        WadiBuffer again = { 0 };
        CHECK_OK(wadi_sim_save(sim, &again, &error), error);
        assert_int_equal(again.size, saved.size);
        assert_memory_equal(again.bytes, saved.bytes, saved.size);
        wadi_buffer_release(&again);
        run_frames(sim, 2);
        assert_true(wadi_sim_state_hash(sim) == wadi_sim_state_hash(whole));
        wadi_sim_destroy(sim);
    }
    wadi_buffer_release(&saved);
    assert_null(saved.bytes);
    wadi_sim_destroy(whole);
    wadi_scene_destroy(scene);
}

static void what_is_loaded_goes_on_as_the_unbroken_simulation(void **unused)
{
    (void)unused;
    check_continuation(scene_text, 2, 0);
    check_continuation(scene_text, 1, 1);
    check_continuation(points_text, 2, 0);
}

/* The checkpoint file of the last frame of a run. */
static void read_run(const WadiScene *scene, char **bytes, size_t *size)
{
    WadiError error = { 0 };
    WadiRunDef def = wadi_default_run_def();
    char run[600], path[1200] = "";
    snprintf(run, sizeof run, "%s/t.run", scratch);
    def.folder = run;
    def.threads = 2;
    def.frames = 3;
    CHECK_OK(wadi_run(scene, &def, NULL, &error), error);
    snprintf(path, sizeof path, "%s/checkpoint", run);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strstr(entry->d_name, "0003") != NULL) {
            snprintf(path, sizeof path, "%s/checkpoint/%s", run, entry->d_name);
        }
    }
    closedir(folder);
    CHECK_OK(wadi_file_read(path, (size_t)1 << 30, bytes, size, &error), error);
}

static void the_bytes_are_those_of_the_runs_checkpoint(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(scene_text);
    char *file = NULL;
    size_t size = 0;
    read_run(scene, &file, &size);
    WadiSim *sim = start_sim(scene, 1);
    run_frames(sim, 2);
    WadiBuffer saved = { 0 };
    CHECK_OK(wadi_sim_save(sim, &saved, &error), error);
    assert_int_equal(saved.size, size);
    assert_memory_equal(saved.bytes, file, size);
    WadiSim *from_file = load(scene, &(WadiBuffer){ (unsigned char *)file, size }, 1);
    run_frames(sim, 1);
    run_frames(from_file, 1);
    assert_true(wadi_sim_state_hash(sim) == wadi_sim_state_hash(from_file));
    wadi_sim_destroy(from_file);
    wadi_sim_destroy(sim);
    wadi_buffer_release(&saved);
    wadi_free(file, size + 1, 1);
    wadi_scene_destroy(scene);
}

static void another_scene_is_refused_by_name(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *flip = load_scene(scene_text), *points = load_scene(points_text);
    WadiSim *sim = start_sim(points, 1), *loaded = NULL;
    WadiBuffer saved = { 0 };
    CHECK_OK(wadi_sim_save(sim, &saved, &error), error);
    WadiSimDef def = wadi_default_sim_def();
    assert_int_equal(wadi_sim_load(&loaded, flip, &def, saved.bytes, saved.size, &error), WADI_ERR_FORMAT);
    assert_null(loaded);
    assert_true(error.text[0] != '\0');
    def.cookie = 0;
    assert_int_equal(wadi_sim_load(&loaded, points, &def, saved.bytes, saved.size, &error),
                     WADI_ERR_ARGUMENT);
    assert_null(loaded);
    wadi_buffer_release(&saved);
    wadi_buffer_release(&saved);
    wadi_buffer_release(NULL);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(flip);
    wadi_scene_destroy(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_loaded_goes_on_as_the_unbroken_simulation),
        cmocka_unit_test(the_bytes_are_those_of_the_runs_checkpoint),
        cmocka_unit_test(another_scene_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
