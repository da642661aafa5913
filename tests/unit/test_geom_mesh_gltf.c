/* geom: the files of a glTF mesh, its buffers, accessors and nodes. */
#include "geom/mesh/mesh.h"
#include "io_scratch.h"

static void a_mesh_lists_its_files(void **unused)
{
    (void)unused;
    scratch_write("m.gltf", "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"uri\": \"a%20b.bin\"}, "
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
    scratch_write("m.obj", "mtllib other.mtl\nv 0 0 0\n");
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
        scratch_write("e.gltf", text);
        WadiError error = { 0 };
        WadiMeshFiles files;
        assert_int_equal(wadi_mesh_files(&files, scratch_path("e.gltf"), &error), WADI_ERR_FORMAT);
        assert_non_null(strstr(error.text, "beside the mesh"));
        assert_int_equal(files.count, 0);
    }
}

/* A tetrahedron with corners at the origin and 1 on each axis, whose file is put together from parts. */
typedef struct Glb {
    unsigned char bytes[2000];
    size_t size;
} Glb;

static void put(Glb *glb, const void *bytes, size_t size)
{
    assert_true(glb->size + size <= sizeof glb->bytes);
    memcpy(glb->bytes + glb->size, bytes, size);
    glb->size += size;
}

static void put_word(Glb *glb, uint32_t word)
{
    put(glb, &word, 4);
}

/* `parts` is what follows "asset" in the JSON; the chunk has `size` bytes. */
static WadiMesh read_glb(const char *parts, const void *chunk, size_t size)
{
    char json[1200];
    int length = snprintf(json, sizeof json,
                          "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"byteLength\": %zu}], %s}",
                          size, parts);
    assert_true(length < (int)sizeof json);
    Glb glb = { 0 };
    put(&glb, "glTF", 4);
    put_word(&glb, 2);
    put_word(&glb, (uint32_t)(28 + (size_t)length + size));
    put_word(&glb, (uint32_t)length);
    put(&glb, "JSON", 4);
    put(&glb, json, (size_t)length);
    put_word(&glb, (uint32_t)size);
    put(&glb, "BIN", 4);
    put(&glb, chunk, size);
    WadiError error = { 0 };
    WadiMesh mesh;
    CHECK_OK(wadi_mesh_read_memory(&mesh, glb.bytes, glb.size, "glb", "tetrahedron", &error), error);
    return mesh;
}

static void check_tetrahedron(WadiMesh mesh, double volume)
{
    assert_int_equal(mesh.vertex_count, 4);
    assert_int_equal(mesh.triangle_count, 4);
    CHECK_NEAR(wadi_mesh_volume(&mesh), volume, 1e-12 * fabs(volume));
    wadi_mesh_free(&mesh);
}

#define ONE_MESH "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"indices\": 1}]}], "
static const unsigned char tetrahedron[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };

static void interleaved_and_quantized_positions(void **unused)
{
    (void)unused;
    /* Floats 20 bytes apart behind 8 others, indices of one byte, a node that mirrors: the volume stays
     * positive. */
    unsigned char chunk[100] = { 0 };
    for (int v = 1; v < 4; ++v) {
        const float one = 1.0f;
        memcpy(chunk + 8 + 20 * v + 4 * (v - 1), &one, 4);
    }
    memcpy(chunk + 88, tetrahedron, 12);
    static const char parts[] =
        "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 88, \"byteStride\": 20}, "
        "{\"buffer\": 0, \"byteOffset\": 88, \"byteLength\": 12}], \"accessors\": [{\"bufferView\": 0, "
        "\"byteOffset\": 8, \"componentType\": 5126, \"count\": 4, \"type\": \"VEC3\"}, {\"bufferView\": 1, "
        "\"componentType\": 5121, \"count\": 12, \"type\": \"SCALAR\"}], " ONE_MESH
        "\"nodes\": [{\"scale\": [2, 1, 1], \"children\": [1]}, {\"mesh\": 0, \"scale\": [-1, 1, 3]}]";
    check_tetrahedron(read_glb(parts, chunk, sizeof chunk), 1.0);
    /* Signed shorts that mean -1 to 1, 8 bytes apart. */
    unsigned char shorts[44] = { 0 };
    for (int v = 1; v < 4; ++v) {
        const int16_t one = v == 3 ? -32768 : 32767;
        memcpy(shorts + 8 * v + 2 * (v - 1), &one, 2);
    }
    memcpy(shorts + 32, tetrahedron, 12);
    static const char quantized[] =
        "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 32, \"byteStride\": 8}, "
        "{\"buffer\": 0, \"byteOffset\": 32, \"byteLength\": 12}], \"accessors\": [{\"bufferView\": 0, "
        "\"componentType\": 5122, \"normalized\": true, \"count\": 4, \"type\": \"VEC3\"}, {\"bufferView\": "
        "1, "
        "\"componentType\": 5121, \"count\": 12, \"type\": \"SCALAR\"}], " ONE_MESH
        "\"nodes\": [{\"mesh\": 0, \"rotation\": [0, 0, 3, 3]}]";
    check_tetrahedron(read_glb(quantized, shorts, sizeof shorts), -1.0 / 6.0);
}

static void strips_and_fans(void **unused)
{
    (void)unused;
    /* The strip 0 1 2 3 0 1 closes a tetrahedron; a fan around 0 and the face opposite do, too. */
    unsigned char chunk[48 + 12] = { 0 };
    for (int v = 1; v < 4; ++v) {
        const float one = 1.0f;
        memcpy(chunk + 12 * v + 4 * (v - 1), &one, 4);
    }
    memcpy(chunk + 48, (const unsigned char[12]){ 0, 2, 1, 3, 0, 2, 0, 2, 1, 3, 2, 0 }, 12);
    static const char strip[] =
        "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 48}, {\"buffer\": 0, \"byteOffset\": 48, "
        "\"byteLength\": "
        "12}], \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 4, \"type\": "
        "\"VEC3\"}, "
        "{\"bufferView\": 1, \"componentType\": 5121, \"count\": 6, \"type\": \"SCALAR\"}], "
        "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"indices\": 1, \"mode\": 5}]}], "
        "\"nodes\": [{\"mesh\": 0}]";
    check_tetrahedron(read_glb(strip, chunk, sizeof chunk), 1.0 / 6.0);
    static const char fan[] =
        "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 48}, {\"buffer\": 0, \"byteOffset\": 54, "
        "\"byteLength\": "
        "5}], \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 4, \"type\": "
        "\"VEC3\"}, "
        "{\"bufferView\": 1, \"componentType\": 5121, \"count\": 5, \"type\": \"SCALAR\"}, {\"bufferView\": "
        "0, "
        "\"byteOffset\": 12, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}], "
        "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"indices\": 1, \"mode\": 6}, "
        "{\"attributes\": {\"POSITION\": 2}}, {\"attributes\": {\"POSITION\": 0}, \"mode\": 1}]}], "
        "\"nodes\": [{\"mesh\": 0}]";
    check_tetrahedron(read_glb(fan, chunk, sizeof chunk), 1.0 / 6.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mesh_lists_its_files),
        cmocka_unit_test(buffers_elsewhere_are_refused),
        cmocka_unit_test(interleaved_and_quantized_positions),
        cmocka_unit_test(strips_and_fans),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
