/* Fields of every method when memory runs out at every call. */
#include "core/alloc.h"
#include "failing_alloc.h"
#include "surface_rows.h"

static void every_allocation_fails_once(void **unused)
{
    (void)unused;
    WadiCloud cloud = { 0 };
    cloud_add_block(&cloud, wadi_vec3(0, 0, 0), 2, 2, 2, 0.4, 0.0);
    cloud_add_block(&cloud, wadi_vec3(0, 0, 0.8), 4, 4, 4, 0.1, 0.3);
    wadi_set_allocator(&failing_allocator);
    size_t live = wadi_alloc_live_bytes();
    for (int method = 0; method < WADI_SURFACE_METHOD_COUNT; ++method) {
        WadiFieldDef def = { .method = (WadiSurfaceMethod)method,
                             .cell = 0.1,
                             .support = 2.0,
                             .radius = 1.0,
                             .smoothing = 1,
                             .is_clipped = true,
                             .clip = { { 0, 0, 0 }, { 1, 1, 2 } },
                             .is_mirrored = true };
        WadiStatus status = WADI_ERR_MEMORY;
        int calls = 0;
        for (; status != WADI_OK && calls < 5000; ++calls) {
            WadiArena arena = { 0 };
            WadiError error = { 0 };
            WadiBins bins;
            WadiField field;
            alloc_calls_left = calls;
            status = wadi_bins_build(&bins, &cloud, def.support, &arena, &error);
            if (status == WADI_OK) {
                status = wadi_field_build(&field, &cloud, &bins, &def, &arena, &error);
            }
            alloc_calls_left = INT_MAX;
            assert_true(status == WADI_OK || status == WADI_ERR_MEMORY);
            wadi_arena_free(&arena);
            assert_int_equal(wadi_alloc_live_bytes(), live);
        }
        assert_int_equal(status, WADI_OK);
        assert_true(calls > 20);
    }
    wadi_set_allocator(NULL);
    cloud_free(&cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
