/* Simulations in several threads at once, each with a team of its own, of one scene that they share: the same
 * results as alone. Under the thread sanitizer this is the test that nothing else of the library is
 * shared. */
#include <pthread.h>

#include "io_scratch.h"
#include "scene_sim.h"

enum { THREADS = 3, FRAMES = 3 };

static const char scene_text[] =
    "wadi: 1\nname: t\nsolver: flip\nresolution: 10\nframes: 4\nfps: 60\n"
    "domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.3]}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "bodies:\n"
    "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.2, 0.15]}}}\n"
    "  - {material: water, shape: {box: {min: [0.2, 0, 0], max: [0.4, 0.2, 0.1]}}}\n"
    "emitters: [{material: sand, shape: {sphere: {center: [0.1, 0.1, 0.25], radius: 0.03}}, rate: 0.01}]\n";

typedef struct Work {
    const WadiScene *scene;
    int number;
    pthread_t thread;
    uint64_t hash, loaded_hash, run_hash;
    size_t triangles;
    WadiStatus status;
    WadiError error;
} Work;

static WadiStatus step_frames(WadiSim *sim, int frames, WadiError *error)
{
    WadiStatus status = WADI_OK;
    for (int i = 0; i < frames && status == WADI_OK; ++i) {
        status = wadi_sim_step_frame(sim, error);
    }
    return status;
}

/* A simulation that is saved half-way, another that goes on from there, and a surface. */
static WadiStatus in_memory(Work *work)
{
    WadiError *error = &work->error;
    WadiSimDef def = wadi_default_sim_def();
    def.threads = 2;
    WadiSim *sim = NULL, *loaded = NULL;
    WadiBuffer saved = { 0 };
    WadiMeshData mesh = { 0 };
    WadiMeshDef mesh_def = wadi_default_mesh_def();
    mesh_def.threads = 2;
    WadiStatus status = wadi_sim_create(&sim, work->scene, &def, error);
    status = status == WADI_OK ? step_frames(sim, 1, error) : status;
    status = status == WADI_OK ? wadi_sim_save(sim, &saved, error) : status;
    status = status == WADI_OK ? step_frames(sim, FRAMES - 1, error) : status;
    status = status == WADI_OK ? wadi_sim_load(&loaded, work->scene, &def, saved.bytes, saved.size, error)
                               : status;
    status = status == WADI_OK ? step_frames(loaded, FRAMES - 1, error) : status;
    status = status == WADI_OK ? wadi_sim_surface(loaded, &mesh_def, &mesh, error) : status;
    if (status == WADI_OK) {
        work->hash = wadi_sim_state_hash(sim);
        work->loaded_hash = wadi_sim_state_hash(loaded);
        work->triangles = mesh.triangle_count;
    }
    wadi_mesh_release(&mesh);
    wadi_buffer_release(&saved);
    wadi_sim_destroy(loaded);
    wadi_sim_destroy(sim);
    return status;
}

/* The same into a folder, whose writer is a thread more, and files of surfaces, whose workers are. */
static WadiStatus into_a_folder(Work *work)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%d.run", scratch, work->number);
    WadiRunDef def = wadi_default_run_def();
    def.folder = path;
    def.frames = FRAMES + 1;
    def.threads = 2;
    WadiRunReport report;
    WadiStatus status = wadi_run(work->scene, &def, &report, &work->error);
    work->run_hash = report.state_hash;
    WadiSurfaceDef surface = wadi_default_surface_def();
    surface.threads = 2;
    return status == WADI_OK ? wadi_surface(path, &surface, NULL, &work->error) : status;
}

static void *do_work(void *context)
{
    Work *work = context;
    work->status = in_memory(work);
    if (work->status == WADI_OK) {
        work->status = into_a_folder(work);
    }
    return NULL;
}

static void threads_do_not_disturb_each_other(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(scene_text);
    WadiSim *alone = start_sim(scene, 1);
    run_frames(alone, FRAMES);
    const uint64_t expected = wadi_sim_state_hash(alone);
    wadi_sim_destroy(alone);
    static Work works[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        works[i].scene = scene;
        works[i].number = i;
        assert_int_equal(pthread_create(&works[i].thread, NULL, do_work, &works[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) {
        assert_int_equal(pthread_join(works[i].thread, NULL), 0);
        CHECK_OK(works[i].status, works[i].error);
        assert_true(works[i].hash == expected);
        assert_true(works[i].loaded_hash == expected);
        assert_true(works[i].run_hash == expected);
        assert_true(works[i].triangles > 100);
        assert_int_equal(works[i].triangles, works[0].triangles);
    }
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
