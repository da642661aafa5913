/* Pictures when memory runs out at every call. */
#include "core/alloc.h"
#include "expect.h"
#include "failing_alloc.h"
#include "surface_run.h"

/* A run of a few particles of each kind, and a collider. */
#define TINY                                                                                                 \
    "wadi: 1\nname: tiny\nsolver: points\nframes: 2\nfps: 100\nresolution: 8\n"                              \
    "domain: {min: [0, 0, 0], max: [1, 1, 1]}\n"                                                             \
    "render: {width: 16, height: 16, walls: glass}\n"                                                        \
    "materials: {sand: {kind: sand, look: {grains: 2}}, water: {kind: water}}\n"                             \
    "bodies:\n"                                                                                              \
    "- {material: sand, shape: {box: {min: [0, 0, 0], max: [0.3, 0.3, 0.2]}}}\n"                             \
    "- {material: water, shape: {sphere: {center: [0.5, 0.5, 0.6], radius: 0.15}}}\n"                        \
    "colliders:\n- {name: ball, shape: {sphere: {center: [0.8, 0.8, 0.1], radius: 0.1}}}\n"

static const char *make_run(void)
{
    static char path[1024];
    WadiError error = { 0 };
    WadiScene *scene = NULL;
    WadiSceneDef scene_def = wadi_default_scene_def();
    scene_def.text = TINY;
    snprintf(path, sizeof path, "%s/tiny.run", scratch);
    CHECK_OK(wadi_scene_load(&scene, &scene_def, &error), error);
    WadiRunDef def = wadi_default_run_def();
    def.folder = path;
    def.threads = 1;
    CHECK_OK(wadi_run(scene, &def, NULL, &error), error);
    wadi_scene_destroy(scene);
    return path;
}

static void fail_every_allocation(const char *run, const WadiRenderDef *def)
{
    size_t live = wadi_alloc_live_bytes();
    WadiStatus status = WADI_ERR_MEMORY;
    int calls = 0;
    for (; status != WADI_OK && calls < 5000; ++calls) {
        WadiError error = { 0 };
        alloc_calls_left = calls;
        status = wadi_render(run, def, NULL, &error);
        alloc_calls_left = INT_MAX;
        if (status != WADI_OK && status != WADI_ERR_MEMORY) {
            print_error("call %d: %s\n", calls, error.text);
        }
        assert_true(status == WADI_OK || status == WADI_ERR_MEMORY);
        assert_int_equal(wadi_alloc_live_bytes(), live);
    }
    assert_int_equal(status, WADI_OK);
    assert_true(calls > 50);
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    wadi_set_allocator(&failing_allocator);
    const char *run = make_run();
    WadiRenderDef def = wadi_default_render_def();
    def.threads = 1;
    def.samples = 1;
    def.first_frame = def.last_frame = 2;
    def.is_forced = true;
    def.has_video = false;
    def.sheet = 1;
    fail_every_allocation(run, &def);
    def.attribute = "speed";
    fail_every_allocation(run, &def);
    assert_int_equal(scratch_count(scratch_path("tiny.run/images"), "tmp"), 0);
    wadi_set_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_allocation_fails_once) };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
