/* OBJ files of surfaces: every number read back, and by the mesh reader. */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "expect.h"
#include "io/files/files.h"
#include "io_scratch.h"
#include "surface/write/write_obj.h"
#include "surface_torus.h"

static WadiMeshFileInfo info = {
    .material = "sand", .frame = 3, .time = 0.25, .fps = 8.0, .cell = 0.01, .key = 0xfeed
};

static char *written(const WadiSurfaceMesh *surface, const char *name, size_t *size)
{
    WadiError error = { 0 };
    char *bytes = NULL;
    CHECK_OK(wadi_surface_write_obj(scratch_path(name), surface, &info, &error), error);
    CHECK_OK(wadi_file_read(scratch_path(name), 1 << 28, &bytes, size, &error), error);
    return bytes;
}

static void test_every_line(void **state)
{
    (void)state;
    WadiSurfaceMesh s = torus_make(7, 5, wadi_vec3(-3, 0, 100));
    size_t size, places = 0, normals = 0, faces = 0;
    char *bytes = written(&s, "a.obj", &size);
    const char *header =
        "# wadi 0.2.0\n# material sand\n# frame 3\n# subframe 0\n# time 0.25\n# fps 8\n# up z\n"
        "# unit metre\n# key 000000000000feed\no sand\n";
    assert_memory_equal(bytes, header, strlen(header));
    char *rest = NULL;
    for (char *line = strtok_r(bytes + strlen(header), "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        double x, y, z;
        unsigned v[6];
        if (sscanf(line, "v %lf %lf %lf", &x, &y, &z) == 3) {
            CHECK_NEAR(x, s.mesh.vertices[places].x, 0.5001e-6);
            CHECK_NEAR(y, s.mesh.vertices[places].y, 0.5001e-6);
            CHECK_NEAR(z, s.mesh.vertices[places].z, 0.5001e-6);
            ++places;
        } else if (sscanf(line, "vn %lf %lf %lf", &x, &y, &z) == 3) {
            CHECK_NEAR(x, (double)s.normal[normals][0], 0.501e-5);
            CHECK_NEAR(y, (double)s.normal[normals][1], 0.501e-5);
            CHECK_NEAR(z, (double)s.normal[normals][2], 0.501e-5);
            ++normals;
        } else {
            assert_int_equal(sscanf(line, "f %u//%u %u//%u %u//%u", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5]),
                             6);
            for (int c = 0; c < 3; ++c) {
                assert_int_equal(v[2 * c], s.mesh.triangles[faces][c] + 1);
                assert_int_equal(v[2 * c + 1], v[2 * c]);
            }
            ++faces;
        }
    }
    assert_int_equal(places, 35);
    assert_int_equal(normals, 35);
    assert_int_equal(faces, 70);
    assert_true(wadi_mesh_file_has_key(scratch_path("a.obj"), 0xfeed));
    wadi_free(bytes, size + 1, 1);
    wadi_surface_mesh_free(&s);
}

/* Three vertices, and the lines they become with cells of 1 m: four decimals. */
static void test_numbers(void **state)
{
    (void)state;
    WadiSurfaceMesh s = torus_make(3, 3, wadi_vec3(0, 0, 0));
    s.mesh.vertices[0] = wadi_vec3(0.99996, -0.99994, -0.00001);
    s.mesh.vertices[1] = wadi_vec3(-0.0, 12345678.5, -1e-300);
    s.mesh.vertices[2] = wadi_vec3(1e300, -123456789012345.25, 7.0);
    info.cell = 1.0;
    size_t size;
    char *bytes = written(&s, "numbers.obj", &size);
    assert_non_null(strstr(bytes, "\nv 1.0000 -0.9999 0.0000\n"));
    assert_non_null(strstr(bytes, "\nv 0.0000 12345678.5000 0.0000\n"));
    assert_non_null(strstr(bytes, "\nv 1.0000000000000001e+300 -123456789012345.25 7.0000\n"));
    wadi_free(bytes, size + 1, 1);
    info.cell = 1e5;
    bytes = written(&s, "numbers.obj", &size);
    assert_non_null(strstr(bytes, "\nv 1 -1 0\n"));
    wadi_free(bytes, size + 1, 1);
    info.cell = 0.01;
    wadi_surface_mesh_free(&s);
}

static void test_the_reader_gets_the_same_mesh(void **state)
{
    (void)state;
    WadiSurfaceMesh s = torus_make(40, 30, wadi_vec3(0, 0, 0));
    size_t size;
    char *bytes = written(&s, "b.obj", &size);
    wadi_free(bytes, size + 1, 1);
    WadiMesh mesh = { 0 };
    WadiMeshTopology topology = { 0 };
    WadiError error = { 0 };
    CHECK_OK(wadi_mesh_read(&mesh, scratch_path("b.obj"), &error), error);
    assert_int_equal(mesh.vertex_count, 1200);
    assert_int_equal(mesh.triangle_count, 2400);
    CHECK_OK(wadi_mesh_topology(&mesh, &topology, &error), error);
    assert_true(topology.is_closed && topology.is_oriented);
    CHECK_NEAR(wadi_mesh_volume(&mesh), wadi_mesh_volume(&s.mesh), 1e-5);
    wadi_mesh_topology_free(&topology);
    wadi_mesh_free(&mesh);
    wadi_surface_mesh_free(&s);
}

static void test_empty(void **state)
{
    (void)state;
    WadiSurfaceMesh s = { 0 };
    size_t size;
    char *bytes = written(&s, "empty.obj", &size);
    assert_string_equal(strstr(bytes, "# key"), "# key 000000000000feed\no sand\n");
    wadi_free(bytes, size + 1, 1);
}

/* More lines than fit into the slots at once. */
static void test_same_bytes_for_any_threads(void **state)
{
    (void)state;
    WadiSurfaceMesh s = torus_make(300, 250, wadi_vec3(0, 0, 0));
    char *first = NULL;
    size_t first_size = 0;
    const int threads[3] = { 1, 2, 5 };
    for (int t = 0; t < 3; ++t) {
        wadi_parallel_set_threads(threads[t]);
        size_t size;
        char *bytes = written(&s, "threads.obj", &size);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_line),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_the_reader_gets_the_same_mesh),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_same_bytes_for_any_threads),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
