/* Surfaces when memory runs out at every call, and when the folder cannot be written. */
#include "core/alloc.h"
#include "expect.h"
#include "failing_alloc.h"
#include "surface_run.h"

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    wadi_set_allocator(&failing_allocator);
    const char *run = run_make("alloc.run", "surface: {walls: open, mesh_smoothing: 1}\n");
    size_t live = wadi_alloc_live_bytes();
    WadiSurfaceDef def = wadi_default_surface_def();
    def.threads = 1;
    def.first_frame = def.last_frame = 1;
    def.formats = WADI_SURFACE_PLY | WADI_SURFACE_OBJ;
    def.is_forced = true;
    WadiStatus status = WADI_ERR_MEMORY;
    int calls = 0;
    for (; status != WADI_OK && calls < 5000; ++calls) {
        WadiError error = { 0 };
        alloc_calls_left = calls;
        status = wadi_surface(run, &def, NULL, &error);
        alloc_calls_left = INT_MAX;
        if (status != WADI_OK && status != WADI_ERR_MEMORY) {
            print_error("call %d: %s\n", calls, error.text);
        }
        assert_true(status == WADI_OK || status == WADI_ERR_MEMORY);
        assert_int_equal(wadi_alloc_live_bytes(), live);
    }
    assert_int_equal(status, WADI_OK);
    assert_true(calls > 50);
    assert_int_equal(scratch_count(scratch_path("alloc.run/surface"), "tmp"), 0);
    wadi_set_allocator(NULL);
}

static void test_a_folder_that_is_a_file(void **state)
{
    (void)state;
    const char *run = run_make("file.run", "");
    FILE *file = fopen(scratch_path("file.run/surface"), "w");
    assert_non_null(file);
    fclose(file);
    WadiSurfaceDef def = wadi_default_surface_def();
    WadiError error = { 0 };
    assert_int_equal(wadi_surface(run, &def, NULL, &error), WADI_ERR_IO);
    assert_non_null(strstr(error.text, "file.run/surface"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_fails_once),
        cmocka_unit_test(test_a_folder_that_is_a_file),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
