/* Exports when memory runs out at every call, when a particle is not finite, and when the folder cannot be
 * written. */
#include "core/alloc.h"
#include "expect.h"
#include "failing_alloc.h"
#include "stop_flag.h"
#include "surface_run.h"

static const WadiExportTarget scenes[] = { WADI_EXPORT_POV, WADI_EXPORT_PBRT, WADI_EXPORT_BLENDER,
                                           WADI_EXPORT_USD };

static WadiExportDef small_def(WadiExportTarget target)
{
    static const char *const sets[] = { "render.width=32", "render.height=18",
                                        "materials.sand.look.grains=1" };
    WadiExportDef def = wadi_default_export_def();
    def.target = target;
    def.threads = 1;
    def.first_frame = def.last_frame = 1;
    def.is_forced = true;
    if (target <= WADI_EXPORT_BLENDER || target == WADI_EXPORT_USD) {
        def.sets = sets;
        def.set_count = 3;
    }
    return def;
}

/* Every call of the first 60, then every 7th: what a frame's surface allocates is tested elsewhere. */
static void check_allocations(const char *run, WadiExportTarget target)
{
    size_t live = wadi_alloc_live_bytes();
    WadiExportDef def = small_def(target);
    WadiStatus status = WADI_ERR_MEMORY;
    int calls = 0, tries = 0;
    for (; status != WADI_OK && calls < 5000; calls += calls < 60 ? 1 : 7, ++tries) {
        WadiError error = { 0 };
        alloc_calls_left = calls;
        status = wadi_export(run, &def, NULL, &error);
        alloc_calls_left = INT_MAX;
        if (status != WADI_OK && status != WADI_ERR_MEMORY) {
            print_error("%s, call %d: %s\n", wadi_export_target_name(target), calls, error.text);
        }
        assert_true(status == WADI_OK || status == WADI_ERR_MEMORY);
        assert_int_equal(wadi_alloc_live_bytes(), live);
    }
    assert_int_equal(status, WADI_OK);
    assert_true(tries > 20);
}

static void test_allocations_fail(void **state)
{
    (void)state;
    wadi_set_allocator(&failing_allocator);
    const char *run = run_make("alloc.run", "");
    check_allocations(run, WADI_EXPORT_POV);
    check_allocations(run, WADI_EXPORT_BLENDER);
    check_allocations(run, WADI_EXPORT_PLY);
    check_allocations(run, WADI_EXPORT_USD);
    assert_int_equal(scratch_count(scratch_path("alloc.run/export/pov"), "tmp"), 0);
    assert_int_equal(scratch_count(scratch_path("alloc.run/export/blender"), "tmp"), 0);
    assert_int_equal(scratch_count(scratch_path("alloc.run/export/usd"), "tmp"), 0);
    wadi_set_allocator(NULL);
}

static void test_a_particle_that_is_not_finite(void **state)
{
    (void)state;
    const char *run = run_make("nan.run", "");
    run_spoil(run, 1, "position", 30, (double)NAN);
    for (size_t t = 0; t < sizeof scenes / sizeof *scenes; ++t) {
        WadiExportDef def = small_def(scenes[t]);
        WadiError error = { 0 };
        assert_int_equal(wadi_export(run, &def, NULL, &error), WADI_ERR_NUMERIC);
        assert_non_null(strstr(error.text, "two.0001.h5"));
        assert_non_null(strstr(error.text, "not finite"));
    }
    WadiExportDef def = small_def(WADI_EXPORT_PLY);
    assert_int_equal(wadi_export(run, &def, NULL, NULL), WADI_ERR_NUMERIC);
    assert_int_equal(scratch_count(scratch_path("nan.run/export/pov"), ".pov"), 0);
    assert_int_equal(scratch_count(scratch_path("nan.run/export/ply"), "sand.particles"), 0);
}

static void test_a_folder_that_is_a_file(void **state)
{
    (void)state;
    const char *run = run_make("file.run", "");
    FILE *file = fopen(scratch_path("file.run/export"), "w");
    assert_non_null(file);
    fclose(file);
    for (int t = 0; t < WADI_EXPORT_TARGET_COUNT; ++t) {
        if (t == WADI_EXPORT_VDB) {
            continue; /* its module may be missing */
        }
        WadiExportDef def = small_def((WadiExportTarget)t);
        WadiError error = { 0 };
        assert_int_equal(wadi_export(run, &def, NULL, &error), WADI_ERR_IO);
        assert_non_null(strstr(error.text, "file.run/export"));
    }
}

static void test_stops_when_asked_and_refuses_what_is_no_def(void **state)
{
    (void)state;
    const char *run = run_make("stop.run", "");
    atomic_bool stop = true;
    WadiExportDef def = small_def(WADI_EXPORT_POV);
    WadiExportReport report;
    WadiError error = { 0 };
    def.stop = stop_when(&stop);
    assert_int_equal(wadi_export(run, &def, &report, &error), WADI_ERR_STOPPED);
    assert_int_equal(report.frames, 0);
    assert_int_equal(wadi_export(run, &(WadiExportDef){ 0 }, NULL, &error), WADI_ERR_ARGUMENT);
    assert_int_equal(wadi_export(run, NULL, NULL, &error), WADI_ERR_ARGUMENT);
    def.target = WADI_EXPORT_TARGET_COUNT;
    assert_int_equal(wadi_export(run, &def, NULL, &error), WADI_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocations_fail),
        cmocka_unit_test(test_a_particle_that_is_not_finite),
        cmocka_unit_test(test_a_folder_that_is_a_file),
        cmocka_unit_test(test_stops_when_asked_and_refuses_what_is_no_def),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
