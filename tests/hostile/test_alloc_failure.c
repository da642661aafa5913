/* Allocation failing at call n, for every n of a small run: an error, no leak, no crash. The run reads a scene with a mesh, a
 * collider, an emitter, a drain and a force, writes frames and checkpoints, and is then resumed. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "expect.h"
#include "wadi/wadi.h"

static long calls, fail_at;

static void *failing_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    if (++calls == fail_at) {
        return NULL;
    }
    return aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

static void plain_free(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

static const char *const scene_text =
    "wadi: 1\nname: small\nsolver: points\nresolution: 8\nframes: 3\n"
    "domain: {min: [0, 0, 0], max: [1, 1, 1]}\nmaterials: {sand: {kind: sand}}\n"
    "bodies: [{material: sand, shape: {mesh: {file: tetra.obj}, translate: [0.2, 0.2, 0.4]}}]\n"
    "colliders: [{shape: {smooth_union: {radius: 0.1, shapes: [{sphere: {center: [0.5, 0.5, 0.1], radius: "
    "0.1}},\n"
    "             {box: {min: [0.4, 0.4, 0], max: [0.6, 0.6, 0.1]}}]}, translate: {keys: [[0, [0, 0, 0]], "
    "[1, [0.1, 0, 0]]]}}}]\n"
    "emitters: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.9], radius: 0.05}}, rate: 0.05, "
    "velocity: [0, 0, -1]}]\n"
    "drains: [{shape: {box: {min: [0, 0, 0], max: [1, 1, 0.05]}}}]\n"
    "forces: [{kind: drag, rate: 0.1, region: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.3}}}]\n";

static char folder[] = "/tmp/wadi-alloc-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Load, run two frames, resume to the third, estimate, describe. */
static WadiStatus whole_run(WadiError *error)
{
    char run_path[200];
    snprintf(run_path, sizeof run_path, "%s/small.run", folder);
    WadiSceneDef scene_def = wadi_default_scene_def();
    scene_def.text = scene_text;
    scene_def.folder = folder;
    const char *set = "seed=3";
    scene_def.sets = &set;
    scene_def.set_count = 1;
    WadiScene *scene = NULL;
    WadiStatus status = wadi_scene_load(&scene, &scene_def, error);
    WadiRunDef def = wadi_default_run_def();
    def.folder = run_path;
    def.threads = 1;
    if (status == WADI_OK) {
        def.mode = WADI_RUN_OVERWRITE;
        def.frames = 2;
        status = wadi_run(scene, &def, NULL, error);
    }
    if (status == WADI_OK) {
        def.mode = WADI_RUN_RESUME;
        def.frames = 3;
        status = wadi_run(scene, &def, NULL, error);
    }
    WadiEstimate estimate;
    if (status == WADI_OK) {
        status = wadi_estimate(scene, 3, 1, NULL, &estimate, error);
    }
    char *text = NULL;
    if (status == WADI_OK) {
        status = wadi_describe(run_path, true, &text, error);
    }
    wadi_text_release(text);
    wadi_scene_destroy(scene);
    return status;
}

static void every_failed_allocation_is_an_error_without_a_leak(void **unused)
{
    (void)unused;
    assert_non_null(mkdtemp(folder));
    write_file("tetra.obj", "v 0 0 0\nv 0.5 0 0\nv 0 0.5 0\nv 0 0 0.5\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    WadiAllocator allocator = { failing_alloc, plain_free, NULL };
    wadi_set_allocator(&allocator);
    long failures = 0;
    for (fail_at = 1;; ++fail_at) {
        calls = 0;
        WadiError error = { 0 };
        WadiStatus status = whole_run(&error);
        if (wadi_alloc_live_bytes() != 0) {
            print_error("allocation %ld failing leaks %zu bytes\n", fail_at, wadi_alloc_live_bytes());
            fail();
        }
        if (calls < fail_at) {
            CHECK_OK(status, error);
            break;
        }
        /* A few allocations may fail without harm (a warning is not kept); most must be reported as what they are. */
        if (status != WADI_OK) {
            failures += 1;
            if (status != WADI_ERR_MEMORY && status != WADI_ERR_IO) {
                print_error("allocation %ld failing gives '%s': %s\n", fail_at, wadi_status_name(status),
                            error.text);
                fail();
            }
            assert_true(error.text[0] != '\0');
        }
    }
    print_message("%ld allocations, %ld of them reported as errors when they fail\n", fail_at - 1, failures);
    assert_true(fail_at > 100);
    assert_true(failures > (fail_at - 1) * 9 / 10);
    wadi_set_allocator(NULL);
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failed_allocation_is_an_error_without_a_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
