/* geom: the files of a glTF mesh, its buffers, accessors and nodes. */
#include "geom/mesh.h"
#include "io_scratch.h"

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(scratch_path(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

static void a_mesh_lists_its_files(void **unused)
{
    (void)unused;
    write_text("m.gltf", "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"uri\": \"a%20b.bin\"}, "
                         "{\"uri\": \"data:application/octet-stream;base64,AAAA\"}, {\"uri\": \"c.bin\"}, "
                         "{\"uri\": \"\\u0063.bin\"}, {\"byteLength\": 4}]}");
    WadiError error = { 0 };
    WadiMeshFiles files;
    CHECK_OK(wadi_mesh_files(&files, scratch_path("m.gltf"), &error), error);
    assert_int_equal(files.count, 3);
    assert_string_equal(files.paths[0], scratch_path("m.gltf"));
    assert_string_equal(files.paths[1], scratch_path("a b.bin"));
    assert_string_equal(files.paths[2], scratch_path("c.bin"));
    wadi_mesh_files_free(&files);
    write_text("m.obj", "mtllib other.mtl\nv 0 0 0\n");
    CHECK_OK(wadi_mesh_files(&files, scratch_path("m.obj"), &error), error);
    assert_int_equal(files.count, 1);
    wadi_mesh_files_free(&files);
}

static void buffers_elsewhere_are_refused(void **unused)
{
    (void)unused;
    static const char *const uris[] = {
        "../a.bin", "/etc/passwd",           "sub/a.bin",    "..%2Fa.bin", "%2e%2e", "..",
        ".",        "file:///etc/passwd",    "http://a.b/c", "a%00.bin",   "a%4",    "",
        "a\\\\b",   "\\u002e\\u002e\\u002fa"
    };
    for (size_t i = 0; i < sizeof uris / sizeof *uris; ++i) {
        char text[256];
        snprintf(text, sizeof text, "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"uri\": \"%s\"}]}",
                 uris[i]);
        write_text("e.gltf", text);
        WadiError error = { 0 };
        WadiMeshFiles files;
        assert_int_equal(wadi_mesh_files(&files, scratch_path("e.gltf"), &error), WADI_ERR_FORMAT);
        assert_non_null(strstr(error.text, "beside the mesh"));
        assert_int_equal(files.count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mesh_lists_its_files),
        cmocka_unit_test(buffers_elsewhere_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
