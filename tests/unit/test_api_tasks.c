/* Loops in the threads of the program: the same results as in the library's, for any task system. */
#include <pthread.h>
#include <stdatomic.h>

#include "scene_sim.h"

enum { FRAMES = 2, THREADS_MAX = 8 };

static const char scene_text[] =
    "wadi: 1\nname: t\nsolver: flip\nresolution: 16\nframes: 4\nfps: 60\n"
    "domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.3]}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "bodies:\n"
    "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.2, 0.15]}}}\n"
    "  - {material: water, shape: {box: {min: [0.2, 0, 0], max: [0.4, 0.2, 0.1]}}}\n";

/* A task system, and what it was asked for. */
typedef struct Program {
    WadiTask task;
    void *context;
    int count;
    atomic_int next, threads; /* index of the next task; threads that ran one of the library's loops */
    int loops, most;
    WadiSim *other; /* stepped once in the middle of a loop; may be NULL */
} Program;

static void *run_tasks(void *of)
{
    Program *program = of;
    atomic_fetch_add(&program->threads, 1);
    for (int i; (i = atomic_fetch_add(&program->next, 1)) < program->count;) {
        program->task(program->context, i);
    }
    return NULL;
}

static void note_loop(Program *program, int count, WadiTask task, void *context)
{
    *program = (Program){ .task = task,
                          .context = context,
                          .count = count,
                          .loops = program->loops + 1,
                          .most = count > program->most ? count : program->most,
                          .other = program->other };
}

static void run_in_threads(void *user, int count, WadiTask task, void *context)
{
    Program *program = user;
    note_loop(program, count, task, context);
    pthread_t thread[THREADS_MAX];
    for (int i = 0; i < count; ++i) {
        assert_int_equal(pthread_create(&thread[i], NULL, run_tasks, program), 0);
    }
    for (int i = 0; i < count; ++i) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&program->threads), count);
}

static void run_backwards(void *user, int count, WadiTask task, void *context)
{
    Program *program = user;
    note_loop(program, count, task, context);
    for (int i = count - 1; i >= 0; --i) {
        task(context, i);
    }
}

/* As a scheduler does that gives waiting threads other work: the calling thread steps another simulation. */
static void run_with_other_work(void *user, int count, WadiTask task, void *context)
{
    Program *program = user;
    note_loop(program, count, task, context);
    task(context, 0);
    WadiSim *other = program->other;
    program->other = NULL;
    if (other != NULL) {
        WadiError error;
        CHECK_OK(wadi_sim_step(other, &error), error);
    }
    for (int i = 1; i < count; ++i) {
        task(context, i);
    }
}

static WadiSim *start_with(const WadiScene *scene, int threads, Program *program,
                           void (*run)(void *, int, WadiTask, void *))
{
    WadiError error = { 0 };
    WadiSimDef def = wadi_default_sim_def();
    def.threads = threads;
    def.tasks = (WadiTasks){ .run = run, .user = program };
    WadiSim *sim = NULL;
    CHECK_OK(wadi_sim_create(&sim, scene, &def, &error), error);
    return sim;
}

static uint64_t hash_of_frames(WadiSim *sim)
{
    run_frames(sim, FRAMES);
    const uint64_t hash = wadi_sim_state_hash(sim);
    wadi_sim_destroy(sim);
    return hash;
}

static void results_are_those_of_the_librarys_threads(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(scene_text);
    const uint64_t expected = hash_of_frames(start_sim(scene, 1));
    for (int threads = 2; threads <= 5; threads += 3) {
        Program program = { .loops = 0 };
        assert_true(hash_of_frames(start_with(scene, threads, &program, run_backwards)) == expected);
        assert_int_equal(program.most, threads);
        assert_true(program.loops > 20);
    }
    Program program = { .loops = 0 };
    assert_true(hash_of_frames(start_with(scene, 3, &program, run_in_threads)) == expected);
    assert_int_equal(program.most, 3);
    assert_true(program.loops > 20);
    wadi_scene_destroy(scene);
}

static void one_thread_runs_no_tasks(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(scene_text);
    Program program = { .loops = 0 };
    hash_of_frames(start_with(scene, 1, &program, run_backwards));
    assert_int_equal(program.loops, 0);
    wadi_scene_destroy(scene);
}

static void a_waiting_thread_may_step_another_simulation(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(scene_text);
    const uint64_t expected = hash_of_frames(start_sim(scene, 1));
    WadiSim *other = start_sim(scene, 2);
    Program program = { .loops = 0 };
    WadiSim *sim = start_with(scene, 4, &program, run_with_other_work);
    program = (Program){ .other = other };
    assert_true(hash_of_frames(sim) == expected);
    /* The settings of `other` did not stay: all loops of `sim` were the program's. */
    assert_int_equal(program.most, 4);
    assert_null(program.other);
    const int loops = program.loops;
    program = (Program){ .loops = 0 };
    assert_true(hash_of_frames(start_with(scene, 4, &program, run_backwards)) == expected);
    assert_true(loops >= program.loops / 2);
    assert_true(hash_of_frames(other) == expected);
    wadi_scene_destroy(scene);
}

static void surfaces_take_the_tasks_too(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(scene_text);
    WadiSim *sim = start_sim(scene, 1);
    Program program = { .loops = 0 };
    WadiMeshDef def = wadi_default_mesh_def();
    WadiMeshData mesh[2];
    for (int n = 0; n < 2; ++n) {
        def.threads = n == 0 ? 1 : 4;
        def.tasks = (WadiTasks){ .run = n == 0 ? NULL : run_backwards, .user = &program };
        CHECK_OK(wadi_sim_surface(sim, &def, &mesh[n], &error), error);
    }
    assert_true(program.loops > 0);
    assert_int_equal(mesh[0].vertex_count, mesh[1].vertex_count);
    assert_true(mesh[0].vertex_count > 100);
    assert_memory_equal(mesh[0].position, mesh[1].position, 3 * sizeof(double) * mesh[0].vertex_count);
    wadi_mesh_release(&mesh[0]);
    wadi_mesh_release(&mesh[1]);
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_the_librarys_threads),
        cmocka_unit_test(one_thread_runs_no_tasks),
        cmocka_unit_test(a_waiting_thread_may_step_another_simulation),
        cmocka_unit_test(surfaces_take_the_tasks_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
