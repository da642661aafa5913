/* geom: what each mesh format may hold, on small files with known volumes. */
#include <locale.h>

#include "core/text.h"
#include "expect.h"
#include "geom/mesh/mesh.h"
#include "geom/read/mesh_text.h"

#include <stdlib.h>
#include <string.h>

static WadiMesh read_bytes(const char *hint, const void *bytes, size_t size)
{
    WadiError error = { 0 };
    WadiMesh mesh;
    CHECK_OK(wadi_mesh_read_memory(&mesh, bytes, size, hint, "mesh", &error), error);
    return mesh;
}

static void check_mesh(const char *hint, const void *bytes, size_t size, size_t triangles, size_t vertices,
                       double volume, double area)
{
    WadiMesh mesh = read_bytes(hint, bytes, size);
    assert_int_equal(mesh.triangle_count, triangles);
    assert_int_equal(mesh.vertex_count, vertices);
    CHECK_NEAR(wadi_mesh_volume(&mesh), volume, 1e-12);
    CHECK_NEAR(wadi_mesh_area(&mesh), area, 1e-12);
    WadiError error = { 0 };
    WadiMeshTopology topology;
    CHECK_OK(wadi_mesh_topology(&mesh, &topology, &error), error);
    assert_int_equal(topology.is_closed, volume != 0.0);
    wadi_mesh_topology_free(&topology);
    wadi_mesh_free(&mesh);
}

static void check_text(const char *hint, const char *text, size_t triangles, size_t vertices, double volume,
                       double area)
{
    check_mesh(hint, text, strlen(text), triangles, vertices, volume, area);
}

static void obj_in_all_its_ways(void **unused)
{
    (void)unused;
    /* A box of quads; texture and normal numbers, negative numbers, a continued line, CRLF, groups, colours,
     * unused vertices. */
    check_text(
        "obj",
        "# box\r\nmtllib none.mtl\r\no a\r\nv 7 7 7\r\nv 0 0 0 0.5 0.5 0.5\r\nv 2 0 0\r\nv 20e-1 1.e0 0\r\nv "
        "0 +1 "
        "0\r\nv 0 0 3\r\nv 2 0 .3E1\r\nv 2 1 3\r\nv 0 1 3\r\nvn 0 0 1\r\nvt 0 0\r\ng b\r\nusemtl m\r\ns "
        "off\r\n"
        "f 2/1/1 5/1/1 4//1 3\r\nf -4 -3 \\\r\n -2 -1\r\nf 2 3 7 6\r\nf 3 4 8 7\r\nf 4 5 9 8 # side\r\n"
        "l 1 2\r\np 1\r\n\tf  5 2 6 9\t\r\n",
        12, 8, 6.0, 22.0);
    /* Faces before their vertices; no line end at the end. */
    check_text("obj", "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1", 4, 4,
               1.0 / 6.0, 1.5 + sqrt(3) / 2);
}

/* Prisms over polygons that are not convex: an L of area 3 and perimeter 8, and a star; height 1. */
static void concave_faces_keep_their_shape(void **unused)
{
    (void)unused;
    static const double corner[6][2] = { { 0, 0 }, { 2, 0 }, { 2, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 } };
    for (int start = 0; start < 6; ++start) {
        for (int axis = 0; axis < 3; ++axis) {
            WadiText text = { 0 };
            for (int i = 0; i < 12; ++i) {
                const double p[3] = { corner[(i + start) % 6][0], corner[(i + start) % 6][1], i / 6 };
                wadi_text_printf(&text, "v %g %g %g\n", p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]);
            }
            wadi_text_append(&text, "f 6 5 4 3 2 1\nf 7 8 9 10 11 12\n");
            for (int i = 0; i < 6; ++i) {
                int next = (i + 1) % 6;
                wadi_text_printf(&text, "f %d %d %d %d\n", i + 1, next + 1, next + 7, i + 7);
            }
            check_text("obj", text.data, 20, 12, 3.0, 14.0);
            wadi_text_free(&text);
        }
    }
    /* Quads with a dent: the area of the triangles is that of the quad whichever corner comes first. */
    static const char *const orders[] = { "1 2 3 4", "2 3 4 1", "3 4 1 2", "4 1 2 3", "4 3 2 1" };
    for (int i = 0; i < 5; ++i) {
        char text[120];
        snprintf(text, sizeof text, "v 0 0 0\nv 4 0 0\nv 1 1 0\nv 0 4 0\nf %s\n", orders[i]);
        check_text("obj", text, 2, 4, 0.0, 4.0);
    }
    /* Corners on a straight line, and a hole joined to the rim by an edge that is used twice. */
    check_text("obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nf 1 2 3 4 5\n", 3, 5, 0.0, 4.0);
    check_text(
        "obj",
        "v 0 0 0\nv 3 0 0\nv 3 3 0\nv 0 3 0\nv 1 1 0\nv 1 2 0\nv 2 2 0\nv 2 1 0\nf 1 2 3 4 1 5 6 7 8 5\n", 8,
        8, 0.0, 8.0);
}

static void put_big(unsigned char *bytes, size_t *size, uint64_t bits, size_t width)
{
    for (size_t i = 0; i < width; ++i) {
        bytes[(*size)++] = (unsigned char)(bits >> (8 * (width - 1 - i)));
    }
}

static void ply_in_both_byte_orders(void **unused)
{
    (void)unused;
    static const unsigned char face[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
    unsigned char bytes[1000];
    int length = snprintf(
        (char *)bytes, sizeof bytes,
        "PLY\r\nformat binary_big_endian 1.0\r\ncomment made here\r\nelement skipped 1\r\n"
        "property list short double a\r\nelement vertex 4\r\nproperty uchar red\r\nproperty double x\r\n"
        "property float64 y\r\nproperty float z\r\nelement face 4\r\nproperty short flag\r\nproperty "
        "list uint16 uint32 vertex_index\r\nend_header\r\n");
    size_t size = (size_t)length;
    put_big(bytes, &size, 2, 2);
    put_big(bytes, &size, 10, 8);
    put_big(bytes, &size, 10, 8);
    for (unsigned v = 0; v < 4; ++v) {
        put_big(bytes, &size, 10, 1);
        put_big(bytes, &size, v == 1 ? UINT64_C(0x3FF0000000000000) : 0, 8);
        put_big(bytes, &size, v == 2 ? UINT64_C(0x3FF0000000000000) : 0, 8);
        put_big(bytes, &size, v == 3 ? UINT64_C(0x3F800000) : 0, 4);
    }
    for (int f = 0; f < 4; ++f) {
        put_big(bytes, &size, 10, 2);
        put_big(bytes, &size, 3, 2);
        for (int k = 0; k < 3; ++k) {
            put_big(bytes, &size, face[f][k], 4);
        }
    }
    check_mesh("ply", bytes, size, 4, 4, 1.0 / 6.0, 1.5 + sqrt(3) / 2);
    /* A strip of two triangles, a restart, and one more. */
    check_text("anything",
               "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float "
               "z\nelement "
               "tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n5 "
               "0 0\n5 1 0\n"
               "8 0 1 2 3 -1 0 4 5\n",
               3, 6, 0.0, 1.0 + 2.5);
}

static void stl_that_begins_with_solid(void **unused)
{
    (void)unused;
    static const float corner[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    static const int face[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };
    unsigned char bytes[84 + 200] = "solid made by a program";
    bytes[80] = 4;
    for (int f = 0; f < 4; ++f) {
        for (int k = 0; k < 3; ++k) {
            memcpy(bytes + 84 + 50 * f + 12 + 12 * k, corner[face[f][k]], 12);
        }
    }
    check_mesh("STL", bytes, sizeof bytes, 4, 4, 1.0 / 6.0, 1.5 + sqrt(3) / 2);
}

static void numbers_do_not_depend_on_the_locale(void **unused)
{
    (void)unused;
    static const char *const numbers[] = { "0.1",        "-12345.678e-3",
                                           "1e22",       "123456789012345678",
                                           "4.9e-324",   "0.30000000000000004",
                                           "00012.5000", "9007199254740993e-30" };
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed a comma is the point */
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        const char *at = numbers[i];
        double value = 0.0;
        assert_true(wadi_scan_number(&at, numbers[i] + strlen(numbers[i]), &value));
        assert_int_equal(*at, '\0');
        setlocale(LC_ALL, "C");
        CHECK_NEAR(value, strtod(numbers[i], NULL), 0.0);
        setlocale(LC_ALL, "de_DE.UTF-8");
    }
    const char text[] = "OFF 3 1 0\n# a comment\n0.1 0 0\n1.25 0 0 9 9\n\n0 12345678901e-10 0\n3 0 1 2 7\n";
    WadiMesh mesh = read_bytes("off", text, strlen(text));
    setlocale(LC_ALL, "C");
    CHECK_NEAR(mesh.vertices[0].x, 0.1, 0.0);
    CHECK_NEAR(mesh.vertices[1].x, 1.25, 0.0);
    CHECK_NEAR(mesh.vertices[2].y, 12345678901e-10, 0.0);
    wadi_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obj_in_all_its_ways),
        cmocka_unit_test(concave_faces_keep_their_shape),
        cmocka_unit_test(ply_in_both_byte_orders),
        cmocka_unit_test(stl_that_begins_with_solid),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
