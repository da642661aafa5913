/* Level sets of surfaces, where wadi is built with OpenVDB. */
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "expect.h"
#include "io/files/files.h"
#include "io_scratch.h"
#include "surface/surface_frame.h"

static const WadiMeshFileInfo info = {
    .material = "water", .frame = 3, .time = 0.25, .fps = 8.0, .cell = 0.02, .key = 0xfeedbeef
};

static void test_level_set_of_a_ball(void **state)
{
    (void)state;
    WadiError error = { 0 };
    if (wadi_surface_format_check(WADI_SURFACE_VDB, &error) != WADI_OK) {
        assert_non_null(strstr(error.text, "libopenvdb-dev"));
        skip();
    }
    const WadiVec3 point = { 1.0, 2.0, 3.0 };
    WadiCloud cloud;
    WadiArena arena = { 0 };
    WadiStageTimes times = { 0 };
    WadiSurfaceFrame frame;
    WadiSurfaceFrameDef def = { .field = { .cell = 0.02, .support = 2.0, .radius = 1.0 } };
    CHECK_OK(wadi_cloud_from_points(&cloud, &point, 1, 0.1, &error), error);
    CHECK_OK(wadi_surface_frame_build(&frame, &cloud, &def, &arena, &times, &error), error);
    char *bytes[2];
    size_t size[2];
    for (int i = 0; i < 2; ++i) {
        const char *path = scratch_path("ball.vdb");
        CHECK_OK(wadi_surface_frame_write(&frame, path, WADI_SURFACE_VDB, &info, &error), error);
        CHECK_OK(wadi_file_read(path, 1 << 24, &bytes[i], &size[i], &error), error);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    wadi_free(bytes[0], size[0] + 1, 1);
    wadi_free(bytes[1], size[1] + 1, 1);
    assert_true(wadi_surface_frame_is_made(scratch_path("ball.vdb"), WADI_SURFACE_VDB, info.key));
    assert_false(wadi_surface_frame_is_made(scratch_path("ball.vdb"), WADI_SURFACE_VDB, info.key + 1));
    assert_false(wadi_surface_frame_is_made(scratch_path("none.vdb"), WADI_SURFACE_VDB, info.key));
    assert_int_equal(truncate(scratch_path("ball.vdb"), 30), 0);
    assert_false(wadi_surface_frame_is_made(scratch_path("ball.vdb"), WADI_SURFACE_VDB, info.key));
    assert_int_equal(scratch_count(scratch, "tmp"), 0);
    assert_int_equal(
        wadi_surface_frame_write(&frame, scratch_path("none/a.vdb"), WADI_SURFACE_VDB, &info, &error),
        WADI_ERR_IO);
    wadi_surface_mesh_free(&frame.surface);
    wadi_arena_free(&arena);
    wadi_cloud_free(&cloud);
}

static void test_level_set_of_nothing(void **state)
{
    (void)state;
    WadiError error = { 0 };
    if (wadi_surface_format_check(WADI_SURFACE_VDB, &error) != WADI_OK) {
        skip();
    }
    WadiSurfaceFrame frame = { .field.cell = 0.02 };
    CHECK_OK(wadi_surface_frame_write(&frame, scratch_path("empty.vdb"), WADI_SURFACE_VDB, &info, &error),
             error);
    assert_true(wadi_surface_frame_is_made(scratch_path("empty.vdb"), WADI_SURFACE_VDB, info.key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level_set_of_a_ball),
        cmocka_unit_test(test_level_set_of_nothing),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
