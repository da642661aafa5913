/* The n-th allocation of a small run fails: an error, no leak, no crash; for every n with WADI_LONG=1, else
 * for some. The run reads a scene with a collider, an emitter, a drain and a force, writes frames and
 * checkpoints, and is then resumed, estimated and described: once with the points solver, once with sand,
 * honey and surface tension on the grid. Meshes, whose tables take longer than such a run, are only loaded
 * and estimated. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "failing_alloc.h"
#include "wadi/wadi.h"

#define SETTING                                                                                              \
    "domain: {min: [0, 0, 0], max: [1, 1, 1]}\n"                                                             \
    "colliders: [{shape: {smooth_union: {radius: 0.1, shapes: [\n"                                           \
    "  {sphere: {center: [0.5, 0.5, 0.1], radius: 0.1}}, {box: {min: [0.4, 0.4, 0], max: [0.6, 0.6, "        \
    "0.1]}}]},\n"                                                                                            \
    "  translate: {keys: [[0, [0, 0, 0]], [1, [0.1, 0, 0]]]}}}]\n"                                           \
    "emitters: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.9], radius: 0.05}}, rate: 0.05,\n"    \
    "            velocity: [0, 0, -1]}]\n"                                                                   \
    "drains: [{shape: {box: {min: [0, 0, 0], max: [1, 1, 0.05]}}}]\n"                                        \
    "forces: [{kind: drag, rate: 0.1, region: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.3}}}]\n"

static const char points_scene[] =
    "wadi: 1\nname: small\nsolver: points\nresolution: 8\nframes: 3\nmaterials: {sand: {kind: "
    "sand}}\n" SETTING
    "bodies: [{material: sand, shape: {sphere: {center: [0.4, 0.4, 0.5], radius: 0.2}}}]\n";

static const char flip_scene[] =
    "wadi: 1\nname: small\nsolver: flip\nresolution: 8\nframes: 3\n"
    "materials: {sand: {kind: sand}, honey: {kind: water, viscosity: 10, surface_tension: 0.05}}\n" SETTING
    "bodies: [{material: sand, shape: {sphere: {center: [0.4, 0.4, 0.5], radius: 0.2}}},\n"
    "         {material: honey, shape: {box: {min: [0.6, 0.6, 0.1], max: [1, 1, 0.5]}}}]\n";

static const char mesh_scene[] =
    "wadi: 1\nname: small\nsolver: points\nresolution: 8\nframes: 3\nmaterials: {sand: {kind: "
    "sand}}\n" SETTING
    "bodies: [{material: sand, shape: {mesh: {file: tetra.obj}, translate: [0.2, 0.2, 0.4]}}]\n";

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

/* Load, run two frames, resume to the third, estimate, describe; or load and estimate alone. */
static WadiStatus use(const char *text, bool is_run, WadiError *error)
{
    char run_path[200];
    snprintf(run_path, sizeof run_path, "%s/small.run", folder);
    WadiSceneDef scene_def = wadi_default_scene_def();
    scene_def.text = text;
    scene_def.folder = folder;
    const char *set = "seed=3";
    scene_def.sets = &set;
    scene_def.set_count = 1;
    WadiScene *scene = NULL;
    WadiStatus status = wadi_scene_load(&scene, &scene_def, error);
    WadiRunDef def = wadi_default_run_def();
    def.folder = run_path;
    def.threads = 1;
    if (status == WADI_OK && is_run) {
        def.mode = WADI_RUN_OVERWRITE;
        def.frames = 2;
        status = wadi_run(scene, &def, NULL, error);
    }
    if (status == WADI_OK && is_run) {
        def.mode = WADI_RUN_RESUME;
        def.frames = 3;
        status = wadi_run(scene, &def, NULL, error);
    }
    WadiEstimate estimate;
    if (status == WADI_OK) {
        status = wadi_estimate(scene, 3, 1, NULL, &estimate, error);
    }
    char *description = NULL;
    if (status == WADI_OK && is_run) {
        status = wadi_describe(run_path, true, &description, error);
    }
    wadi_text_release(description);
    wadi_scene_destroy(scene);
    return status;
}

/* Every failure with WADI_LONG, else one in `stride`; with a sanitizer an eighth of these, and different
 * ones. */
static void check_failures(const char *scene, bool is_run, int stride)
{
    stride = is_long_run() ? 1 : is_sanitized() ? 8 * stride : stride;
    wadi_set_allocator(&failing_allocator);
    long failures = 0, tried = 0;
    for (alloc_fails_at = is_sanitized() ? 2 : 1;; ++tried) {
        alloc_calls = 0;
        WadiError error = { 0 };
        WadiStatus status = use(scene, is_run, &error);
        if (wadi_alloc_live_bytes() != 0) {
            print_error("allocation %ld failing leaks %zu bytes\n", (long)alloc_fails_at,
                        wadi_alloc_live_bytes());
            fail();
        }
        if (alloc_calls < alloc_fails_at) {
            CHECK_OK(status, error);
            break;
        }
        /* A few allocations may fail without an error (a warning is not stored); the others must give
         * WADI_ERR_MEMORY. */
        if (status != WADI_OK) {
            failures += 1;
            if (status != WADI_ERR_MEMORY && status != WADI_ERR_IO) {
                print_error("allocation %ld failing gives '%s': %s\n", (long)alloc_fails_at,
                            wadi_status_name(status), error.text);
                fail();
            }
            assert_true(error.text[0] != '\0');
        }
        alloc_fails_at += stride;
    }
    print_message("%ld allocations, %ld of %ld reported as errors when they fail\n", (long)alloc_calls,
                  failures, tried);
    assert_true(alloc_calls > 100);
    assert_true(failures > tried * 9 / 10);
    wadi_set_allocator(NULL);
}

static void points_report_failures_and_leak_nothing(void **unused)
{
    (void)unused;
    check_failures(points_scene, true, 3);
}

static void flip_reports_failures_and_leaks_nothing(void **unused)
{
    (void)unused;
    check_failures(flip_scene, true, 19);
}

static void meshes_report_failures_and_leak_nothing(void **unused)
{
    (void)unused;
    write_file("tetra.obj", "v 0 0 0\nv 0.5 0 0\nv 0 0.5 0\nv 0 0 0.5\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    check_failures(mesh_scene, false, 3);
}

static int make_folder(void **unused)
{
    (void)unused;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **unused)
{
    (void)unused;
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_report_failures_and_leak_nothing),
        cmocka_unit_test(flip_reports_failures_and_leaks_nothing),
        cmocka_unit_test(meshes_report_failures_and_leak_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
