/* geom: mesh readers, mesh shapes, sequences and height maps, on small files written here. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <png.h>

#include "core/alloc.h"
#include "expect.h"
#include "geom/mesh/heightmap.h"
#include "geom/mesh/mesh.h"
#include "geom/mesh/mesh_sequence.h"
#include "geom/sdf_band.h"
#include "geom/shape.h"

static char folder[] = "/tmp/wadi_mesh_XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(in_folder(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

/* A tetrahedron with corners at the origin and 1 on each axis: volume 1/6, area 3/2 + sqrt(3)/2. */
static const char obj_text[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
static const char ply_text[] =
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
static const char stl_text[] =
    "solid t\n"
    "facet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
    "facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\n"
    "facet normal -1 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\n"
    "facet normal 1 1 1\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\n"
    "endsolid t\n";
/* The same with a node that doubles it and moves it by 5 in z: positions 48 bytes, then 12 indices of 16
 * bits. */
static const char gltf_text[] =
    "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
    "\"nodes\":[{\"mesh\":0,\"translation\":[0,0,5],\"scale\":[2,2,2]}],"
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}],"
    "\"buffers\":[{\"uri\":\"t.bin\",\"byteLength\":72}],"
    "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,"
    "\"byteLength\":24}],"
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"min\":[0,0,0],"
    "\"max\":[1,1,1]},"
    "{\"bufferView\":1,\"componentType\":5123,\"count\":12,\"type\":\"SCALAR\"}]}";

static void write_gltf(void)
{
    const float position[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const uint16_t index[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    unsigned char bytes[72];
    memcpy(bytes, position, sizeof position);
    memcpy(bytes + sizeof position, index, sizeof index);
    write_bytes("t.bin", bytes, sizeof bytes);
    write_text("t.gltf", gltf_text);
}

static void all_formats_give_the_same_tetrahedron(void **unused)
{
    (void)unused;
    write_text("t.obj", obj_text);
    write_text("t.ply", ply_text);
    write_text("t.stl", stl_text);
    write_gltf();
    const char *names[] = { "t.obj", "t.ply", "t.stl", "t.gltf" };
    for (int i = 0; i < 4; ++i) {
        WadiError error;
        WadiMesh mesh;
        WadiMeshTopology topology;
        double scale = i == 3 ? 2.0 : 1.0;
        CHECK_OK(wadi_mesh_read(&mesh, in_folder(names[i]), &error), error);
        assert_int_equal(mesh.vertex_count, 4);
        assert_int_equal(mesh.triangle_count, 4);
        CHECK_NEAR(wadi_mesh_volume(&mesh), scale * scale * scale / 6.0, 1e-12);
        CHECK_NEAR(wadi_mesh_area(&mesh), scale * scale * (1.5 + sqrt(3) / 2), 1e-12);
        CHECK_NEAR(wadi_mesh_bounds(&mesh).min.z, i == 3 ? 5.0 : 0.0, 0);
        CHECK_OK(wadi_mesh_topology(&mesh, &topology, &error), error);
        assert_true(topology.is_closed && topology.is_oriented);
        assert_int_equal(topology.degenerate_triangles + topology.duplicate_triangles, 0);
        wadi_mesh_topology_free(&topology);
        wadi_mesh_free(&mesh);
    }
}

static void bad_files_are_refused_by_name(void **unused)
{
    (void)unused;
    write_text("empty.obj", "");
    write_text("points.obj", "v 0 0 0\nv 1 0 0\n");
    write_text("nan.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write_text("huge.obj", "v 0 0 1e30\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write_text("line.ply", "not a ply at all");
    write_text("what.xyz", "hello");
    mkdir(in_folder("folder.obj"), 0700);
    const char *names[] = { "missing.obj", "empty.obj", "points.obj", "nan.obj",
                            "huge.obj",    "line.ply",  "what.xyz",   "folder.obj" };
    size_t live = wadi_alloc_live_bytes();
    for (int i = 0; i < 8; ++i) {
        WadiError error = { 0 };
        WadiMesh mesh;
        WadiStatus status = wadi_mesh_read(&mesh, in_folder(names[i]), &error);
        assert_true(status == WADI_ERR_IO || status == WADI_ERR_FORMAT);
        assert_non_null(strstr(error.text, names[i]));
        assert_int_equal(mesh.triangle_count, 0);
    }
    assert_int_equal(wadi_alloc_live_bytes(), live);
    WadiShapeDef def = wadi_shape_def(WADI_SHAPE_MESH);
    WadiShape *shape;
    WadiError error;
    def.file = (char *)(uintptr_t)in_folder("missing.obj");
    snprintf(def.where, sizeof def.where, "scene.yaml:3:1");
    assert_int_equal(wadi_shape_create(&shape, &def, NULL, &error), WADI_ERR_IO);
    assert_non_null(strstr(error.text, "scene.yaml:3:1"));
    assert_non_null(strstr(error.text, "missing.obj"));
}

static void remember(void *user, WadiLogLevel level, const char *text)
{
    assert_int_equal(level, WADI_LOG_WARNING);
    snprintf(user, 512, "%s", text);
}

static void an_open_mesh_is_named_and_a_shell_has_its_thickness(void **unused)
{
    (void)unused;
    char text[512] = "";
    WadiLog log = { remember, text };
    write_text("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n");
    WadiShapeDef def = wadi_shape_def(WADI_SHAPE_MESH);
    def.file = (char *)(uintptr_t)in_folder("open.obj");
    WadiError error;
    WadiShape *shape;
    CHECK_OK(wadi_shape_create(&shape, &def, &log, &error), error);
    assert_non_null(
        strstr(text, "open.obj: the mesh is not closed: 3 boundary edges in 1 hole, the largest 1 m"));
    wadi_shape_destroy(shape);
    def.parameter[0] = wadi_curve_constant(0.2);
    def.translate = wadi_curve_constant3(0, 0, 7);
    text[0] = '\0';
    CHECK_OK(wadi_shape_create(&shape, &def, &log, &error), error);
    assert_string_equal(text, ""); /* its holes do not matter */
    CHECK_NEAR(wadi_shape_distance(shape, wadi_vec3(0.2, 0.2, 6.5), 0), 0.4, 1e-12);
    WadiSurfacePoint point = wadi_shape_sample(shape, wadi_vec3(0.2, 0.2, 7.05), 0);
    CHECK_NEAR(point.distance, -0.05, 1e-12);
    CHECK_NEAR(point.normal.z, 1.0, 1e-9);
    CHECK_NEAR(wadi_shape_bounds(shape, 0).min.z, 6.9, 1e-12);
    wadi_shape_destroy(shape);
}

static void a_sequence_moves_its_surface(void **unused)
{
    (void)unused;
    for (int frame = 3; frame <= 5; ++frame) {
        /* The tetrahedron moves by 1 in x every file, and the last stretches it in z. */
        char text[256], name[32];
        double x = frame - 3, top = frame == 5 ? 2.0 : 1.0;
        snprintf(text, sizeof text,
                 "v %g 0 0\nv %g 0 0\nv %g 1 0\nv %g 0 %g\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", x, x + 1, x,
                 x, top);
        snprintf(name, sizeof name, "s.%04d.obj", frame);
        write_text(name, text);
    }
    WadiShapeDef def = wadi_shape_def(WADI_SHAPE_MESH_SEQUENCE);
    def.file = (char *)(uintptr_t)in_folder("s.%04d.obj");
    def.first_number = 3;
    def.last_number = 5;
    def.parameter[1] = wadi_curve_constant(10.0); /* s */
    def.parameter[2] = wadi_curve_constant(2.0);  /* files a second */
    WadiError error;
    WadiShape *shape;
    CHECK_OK(wadi_shape_create(&shape, &def, NULL, &error), error);
    assert_true(wadi_shape_is_moving(shape));
    for (double t = 9.5; t < 11.5; t += 0.125) {
        double x = 2.0 * fmin(fmax(t - 10, 0), 1);
        WadiSurfacePoint point = wadi_shape_sample(shape, wadi_vec3(x - 0.3, 0.1, 0.1), t);
        CHECK_NEAR(point.distance, 0.3, 1e-12);
        CHECK_NEAR(point.normal.x, -1.0, 1e-12);
        CHECK_NEAR(point.velocity.x, t >= 10 && t < 11 ? 2.0 : 0.0, 1e-12);
        assert_true(wadi_shape_contains(shape, wadi_vec3(x + 0.1, 0.1, 0.1), t));
        CHECK_NEAR(wadi_shape_distance(shape, wadi_vec3(x + 0.01, 0.1, 0.1), t), -0.01, 1e-12);
        CHECK_NEAR(wadi_shape_bounds(shape, t).min.x, x, 1e-12);
    }
    WadiVec3 carried = wadi_shape_carry(shape, wadi_vec3(-0.1, 0.1, 0.1), 10.0, 10.25);
    CHECK_NEAR(carried.x, 0.4, 1e-12);
    CHECK_NEAR(wadi_shape_speed_bound(shape, wadi_vec3(0, 0, 0), 1, 10, 10.4), 2.0, 1e-9);
    CHECK_NEAR(wadi_shape_speed_bound(shape, wadi_vec3(0, 0, 0), 1, 10.6, 10.8), 2.0 * sqrt(2.0), 1e-9);
    CHECK_NEAR(wadi_shape_speed_bound(shape, wadi_vec3(0, 0, 0), 1, 12, 13), 0.0, 0);
    wadi_shape_destroy(shape);
    write_text("s.0006.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n");
    def.last_number = 6;
    assert_int_equal(wadi_shape_create(&shape, &def, NULL, &error), WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "s.0006.obj"));
    write_text("s.0006.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    assert_int_equal(wadi_shape_create(&shape, &def, NULL, &error), WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "s.0006.obj"));
}

static void only_one_plain_number_is_a_pattern(void **unused)
{
    (void)unused;
    char path[64];
    WadiError error;
    CHECK_OK(wadi_mesh_sequence_file("a%%.%04d.obj", 7, path, sizeof path, &error), error);
    assert_string_equal(path, "a%.0007.obj");
    CHECK_OK(wadi_mesh_sequence_file("a.%d", -12, path, sizeof path, &error), error);
    assert_string_equal(path, "a.-12");
    const char *bad[] = { "a.obj", "%d.%d", "%s.obj", "%n", "%", "%04", "%99999999999d", "%ld", "%*d" };
    for (int i = 0; i < 9; ++i) {
        assert_int_equal(wadi_mesh_sequence_file(bad[i], 1, path, sizeof path, &error), WADI_ERR_ARGUMENT);
    }
    assert_int_equal(wadi_mesh_sequence_file("%d.obj", 1, path, 4, &error), WADI_ERR_ARGUMENT);
}

static void write_png(const char *name, int width, int height, int depth, const unsigned char *pixels)
{
    FILE *file = fopen(in_folder(name), "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, depth, PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int y = 0; y < height; ++y) {
        png_write_row(png, pixels + y * width * depth / 8);
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

/* A ramp: black at min.x, white at max.x, over 2 m; height 1 m. */
static void a_picture_is_ground(void **unused)
{
    (void)unused;
    unsigned char pixels[12], wide[24];
    for (int i = 0; i < 12; ++i) {
        pixels[i] = (unsigned char)(i % 4 * 85);
        wide[2 * i] = wide[2 * i + 1] = (unsigned char)(i % 4 * 85);
    }
    write_png("ramp8.png", 4, 3, 8, pixels);
    write_png("ramp16.png", 4, 3, 16, wide);
    const char *names[] = { "ramp8.png", "ramp16.png" };
    for (int i = 0; i < 2; ++i) {
        WadiShapeDef def = wadi_shape_def(WADI_SHAPE_HEIGHTMAP);
        def.file = (char *)(uintptr_t)in_folder(names[i]);
        def.parameter[0] = wadi_curve_constant3(0, 0, 0);
        def.parameter[1] = wadi_curve_constant3(2, 2, 1);
        WadiError error;
        WadiShape *shape;
        CHECK_OK(wadi_shape_create(&shape, &def, NULL, &error), error);
        /* The slope is 1:2, so one above the middle of it is 2/sqrt 5 away. */
        WadiSurfacePoint point = wadi_shape_sample(shape, wadi_vec3(1, 1, 0.9), 0);
        CHECK_NEAR(point.distance, 0.4 * 2 / sqrt(5), 1e-12);
        CHECK_NEAR(point.normal.x, -1 / sqrt(5), 1e-9);
        CHECK_NEAR(point.normal.z, 2 / sqrt(5), 1e-9);
        assert_true(wadi_shape_contains(shape, wadi_vec3(1, 1, 0.4), 0));
        assert_true(wadi_shape_contains(shape, wadi_vec3(0.01, 1, -1), 0));
        assert_false(wadi_shape_contains(shape, wadi_vec3(-0.1, 1, -1), 0));
        WadiSdfBand *band;
        double cached;
        CHECK_OK(wadi_sdf_band_create(&band, shape, 0.05, 3, 0, &error), error);
        assert_true(wadi_sdf_band_sample(band, wadi_vec3(1, 1, 0.45), &cached, NULL));
        CHECK_NEAR(cached, -0.05 * 2 / sqrt(5), 1e-6);
        assert_false(wadi_sdf_band_sample(band, wadi_vec3(1, 1, -1), &cached, NULL));
        CHECK_NEAR(cached, -0.15, 1e-15);
        wadi_sdf_band_destroy(band);
        wadi_shape_destroy(shape);
    }
    /* Bright pixels in the first row lie at max.y. */
    unsigned char corner[4] = { 255, 0, 0, 0 };
    write_png("corner.png", 2, 2, 8, corner);
    WadiMesh mesh;
    WadiError error;
    WadiBox box = { { 0, 0, 0 }, { 1, 1, 1 } };
    CHECK_OK(wadi_heightmap_read(&mesh, in_folder("corner.png"), box, &error), error);
    CHECK_NEAR(mesh.vertices[0].y, 1.0, 0);
    CHECK_NEAR(mesh.vertices[0].z, 1.0, 0);
    wadi_mesh_free(&mesh);
    write_text("bad.png", "\x89PNG\r\n\x1a\nnothing");
    assert_int_equal(wadi_heightmap_read(&mesh, in_folder("bad.png"), box, &error), WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "bad.png"));
    assert_int_equal(wadi_heightmap_read(&mesh, in_folder("none.png"), box, &error), WADI_ERR_IO);
    assert_int_equal(wadi_heightmap_read(&mesh, folder, box, &error), WADI_ERR_IO);
}

/* A ball in the band: trilinear error is h^2/8 times the curvature 2/r. */
static void the_band_of_a_ball_is_a_ball(void **unused)
{
    (void)unused;
    WadiShapeDef def = wadi_shape_def(WADI_SHAPE_SPHERE);
    def.parameter[0] = wadi_curve_constant3(0.3, -0.2, 0.1);
    def.parameter[1] = wadi_curve_constant(1.0);
    WadiError error;
    WadiShape *shape;
    WadiSdfBand *band;
    CHECK_OK(wadi_shape_create(&shape, &def, NULL, &error), error);
    const double h = 0.02;
    CHECK_OK(wadi_sdf_band_create(&band, shape, h, 3, 0, &error), error);
    for (int i = 0; i < 8000; ++i) {
        WadiVec3 x = { -1.2 + 3.0 * (i % 20) / 20, -1.7 + 3.0 * (i / 20 % 20) / 20,
                       -1.4 + 3.0 * (i / 400) / 20 };
        double d = wadi_shape_distance(shape, x, 0), cached;
        WadiVec3 gradient;
        if (wadi_sdf_band_sample(band, x, &cached, &gradient) && fabs(d) < 1.5 * h) {
            CHECK_NEAR(cached, d, h * h / 4 * 1.5);
            CHECK_NEAR(wadi_norm(gradient), 1.0, 0.02);
        } else if (fabs(d) > 3 * h + sqrt(3) * h) { /* all nodes of the cell are beyond the band */
            CHECK_NEAR(cached, d < 0 ? -3 * h : 3 * h, 1e-8);
        }
    }
    /* Tiles follow the surface: 4 pi r^2 over the area of a tile, a few deep. */
    CHECK_AT_MOST(wadi_sdf_band_tile_count(band), 4 * 4 * 3.1416 / (64 * h * h));
    wadi_sdf_band_destroy(band);
    wadi_shape_destroy(shape);
    WadiShapeDef plane = wadi_shape_def(WADI_SHAPE_HALF_SPACE);
    plane.parameter[1] = wadi_curve_constant3(0, 0, 1);
    CHECK_OK(wadi_shape_create(&shape, &plane, NULL, &error), error);
    assert_int_equal(wadi_sdf_band_create(&band, shape, h, 3, 0, &error), WADI_ERR_ARGUMENT);
    assert_null(band);
    wadi_shape_destroy(shape);
}

static int make_folder(void **unused)
{
    (void)unused;
    return mkdtemp(folder) == NULL;
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
        cmocka_unit_test(all_formats_give_the_same_tetrahedron),
        cmocka_unit_test(bad_files_are_refused_by_name),
        cmocka_unit_test(an_open_mesh_is_named_and_a_shell_has_its_thickness),
        cmocka_unit_test(a_sequence_moves_its_surface),
        cmocka_unit_test(only_one_plain_number_is_a_pattern),
        cmocka_unit_test(a_picture_is_ground),
        cmocka_unit_test(the_band_of_a_ball_is_a_ball),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
