/* PLY files of surfaces, read byte by byte and by the mesh reader. */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "expect.h"
#include "failing_alloc.h"
#include "io/files/files.h"
#include "io_scratch.h"
#include "surface/write/write_ply.h"
#include "surface_torus.h"

static const WadiMeshFileInfo info = { .material = "water",
                                       .frame = 12,
                                       .subframe = 0.5,
                                       .time = 0.4791666666666667,
                                       .fps = 24.0,
                                       .cell = 0.01,
                                       .key = UINT64_C(0x0123456789abcdef) };

static char *written(const WadiSurfaceMesh *surface, const char *name, size_t *size)
{
    WadiError error = { 0 };
    char *bytes = NULL;
    CHECK_OK(wadi_surface_write_ply(scratch_path(name), surface, &info, &error), error);
    CHECK_OK(wadi_file_read(scratch_path(name), 1 << 28, &bytes, size, &error), error);
    return bytes;
}

static void test_header_and_records(void **state)
{
    (void)state;
    WadiSurfaceMesh s = torus_make(4, 3, wadi_vec3(0, 0, 0));
    size_t size;
    char *bytes = written(&s, "a.ply", &size);
    const char *header =
        "ply\nformat binary_little_endian 1.0\n"
        "comment wadi 0.2.0\ncomment material water\ncomment frame 12\ncomment subframe 0.5\n"
        "comment time 0.4791666666666667\ncomment fps 24\ncomment up z\ncomment unit metre\n"
        "comment key 0123456789abcdef\n"
        "element vertex 12\n"
        "property float x\nproperty float y\nproperty float z\n"
        "property float nx\nproperty float ny\nproperty float nz\n"
        "property float vx\nproperty float vy\nproperty float vz\n"
        "property float wetness\n"
        "element face 24\nproperty list uchar int vertex_indices\nend_header\n";
    assert_true(size > strlen(header));
    assert_memory_equal(bytes, header, strlen(header));
    assert_int_equal(size, strlen(header) + 12 * 40 + 24 * 13);
    float vertex[10];
    memcpy(vertex, bytes + strlen(header) + 7 * 40, sizeof vertex);
    CHECK_NEAR((double)vertex[0], (double)(float)s.mesh.vertices[7].x, 0.0);
    CHECK_NEAR((double)vertex[4], (double)s.normal[7][1], 0.0);
    CHECK_NEAR((double)vertex[8], 2.0, 0.0);
    CHECK_NEAR((double)vertex[9], 7.0, 0.0);
    const char *face = bytes + strlen(header) + 12 * 40 + 5 * 13;
    assert_int_equal(face[0], 3);
    assert_memory_equal(face + 1, s.mesh.triangles[5], 12);
    assert_true(wadi_mesh_file_has_key(scratch_path("a.ply"), info.key));
    assert_false(wadi_mesh_file_has_key(scratch_path("a.ply"), info.key + 1));
    assert_false(wadi_mesh_file_has_key(scratch_path("none.ply"), info.key));
    assert_int_equal(scratch_count(scratch, "tmp"), 0);
    wadi_free(bytes, size + 1, 1);
    wadi_surface_mesh_free(&s);
}

static void test_the_reader_gets_the_same_mesh(void **state)
{
    (void)state;
    WadiSurfaceMesh s = torus_make(40, 30, wadi_vec3(0, 0, 0));
    size_t size;
    char *bytes = written(&s, "b.ply", &size);
    wadi_free(bytes, size + 1, 1);
    WadiMesh mesh = { 0 };
    WadiMeshTopology topology = { 0 };
    WadiError error = { 0 };
    CHECK_OK(wadi_mesh_read(&mesh, scratch_path("b.ply"), &error), error);
    assert_int_equal(mesh.vertex_count, 1200);
    assert_int_equal(mesh.triangle_count, 2400);
    CHECK_OK(wadi_mesh_topology(&mesh, &topology, &error), error);
    assert_true(topology.is_closed && topology.is_oriented);
    CHECK_NEAR(wadi_mesh_volume(&mesh), wadi_mesh_volume(&s.mesh), 1e-5);
    assert_true(wadi_mesh_volume(&mesh) > 0.0);
    wadi_mesh_topology_free(&topology);
    wadi_mesh_free(&mesh);
    wadi_surface_mesh_free(&s);
}

/* Some programs skip a first byte that ends a line. */
static void test_first_bytes_that_end_lines(void **state)
{
    (void)state;
    WadiSurfaceMesh s = torus_make(8, 6, wadi_vec3(0, 0, 0));
    for (unsigned byte = 0; byte < 256; ++byte) {
        uint32_t bits = 0x3fa00000u + byte;
        float x;
        memcpy(&x, &bits, sizeof x);
        s.mesh.vertices[0].x = (double)x;
        size_t size;
        char *bytes = written(&s, "first.ply", &size);
        wadi_free(bytes, size + 1, 1);
        WadiMesh mesh = { 0 };
        WadiError error = { 0 };
        CHECK_OK(wadi_mesh_read(&mesh, scratch_path("first.ply"), &error), error);
        assert_int_equal(mesh.vertex_count, 48);
        CHECK_NEAR(wadi_mesh_bounds(&mesh).max.x, (double)x, 2e-7);
        wadi_mesh_free(&mesh);
    }
    wadi_surface_mesh_free(&s);
}

/* At 10 km floats are half a millimetre apart: more than a thousandth of a cell of a centimetre. */
static void test_doubles_far_from_the_origin(void **state)
{
    (void)state;
    WadiSurfaceMesh s = torus_make(8, 6, wadi_vec3(1e4, 0, 0));
    size_t size;
    char *bytes = written(&s, "far.ply", &size);
    assert_non_null(
        strstr(bytes, "property double x\nproperty double y\nproperty double z\nproperty float nx"));
    const char *records = strstr(bytes, "end_header\n") + strlen("end_header\n");
    assert_memory_equal(records + 5 * 52, &s.mesh.vertices[5], sizeof(WadiVec3));
    wadi_free(bytes, size + 1, 1);
    WadiMesh mesh = { 0 };
    WadiError error = { 0 };
    CHECK_OK(wadi_mesh_read(&mesh, scratch_path("far.ply"), &error), error);
    assert_int_equal(mesh.triangle_count, 96);
    wadi_mesh_free(&mesh);
    wadi_surface_mesh_free(&s);
}

static void test_empty(void **state)
{
    (void)state;
    WadiSurfaceMesh s = { 0 };
    size_t size;
    char *bytes = written(&s, "empty.ply", &size);
    assert_non_null(strstr(bytes, "element vertex 0\n"));
    assert_non_null(strstr(bytes, "element face 0\n"));
    assert_string_equal(strstr(bytes, "end_header"), "end_header\n");
    wadi_free(bytes, size + 1, 1);
}

/* More than one piece of vertices and of faces. */
static void test_same_bytes_for_any_threads(void **state)
{
    (void)state;
    WadiSurfaceMesh s = torus_make(500, 400, wadi_vec3(0, 0, 0));
    char *first = NULL;
    size_t first_size = 0;
    const int threads[3] = { 1, 2, 5 };
    for (int t = 0; t < 3; ++t) {
        wadi_parallel_set_threads(threads[t]);
        size_t size;
        char *bytes = written(&s, "threads.ply", &size);
        if (first == NULL) {
            first = bytes;
            first_size = size;
            continue;
        }
        assert_int_equal(size, first_size);
        assert_memory_equal(bytes, first, size);
        wadi_free(bytes, size + 1, 1);
    }
    wadi_free(first, first_size + 1, 1);
    wadi_parallel_set_threads(0);
    wadi_surface_mesh_free(&s);
}

static void test_trouble(void **state)
{
    (void)state;
    WadiSurfaceMesh s = torus_make(8, 6, wadi_vec3(0, 0, 0));
    WadiError error = { 0 };
    assert_int_equal(wadi_surface_write_ply(scratch_path("none/a.ply"), &s, &info, &error), WADI_ERR_IO);
    assert_non_null(strstr(error.text, "none/a.ply"));
    wadi_surface_mesh_free(&s);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    wadi_set_allocator(&failing_allocator);
    WadiSurfaceMesh s = torus_make(8, 6, wadi_vec3(0, 0, 0));
    size_t live = wadi_alloc_live_bytes();
    WadiStatus status = WADI_ERR_MEMORY;
    int calls = 0;
    for (; status != WADI_OK && calls < 100; ++calls) {
        alloc_calls_left = calls;
        status = wadi_surface_write_ply(scratch_path("alloc.ply"), &s, &info, NULL);
        alloc_calls_left = INT_MAX;
        assert_true(status == WADI_OK || status == WADI_ERR_MEMORY);
        assert_int_equal(wadi_alloc_live_bytes(), live);
        assert_int_equal(scratch_count(scratch, "alloc.ply"), status == WADI_OK);
    }
    assert_int_equal(status, WADI_OK);
    assert_true(calls > 1);
    wadi_surface_mesh_free(&s);
    wadi_set_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_and_records),
        cmocka_unit_test(test_the_reader_gets_the_same_mesh),
        cmocka_unit_test(test_first_bytes_that_end_lines),
        cmocka_unit_test(test_doubles_far_from_the_origin),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_same_bytes_for_any_threads),
        cmocka_unit_test(test_trouble),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
