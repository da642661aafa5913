/* Mesh files that were damaged, cut off or written to do harm: every one gives a mesh or a message, soon and
 * in little memory. */
#include <time.h>

#include "core/alloc.h"
#include "core/text.h"
#include "geom/mesh/mesh.h"
#include "io_scratch.h"

static const char obj_text[] =
    "# box\nmtllib none.mtl\no a\nv 0 0 0\nv 1 0 0 1\nv 1 1 0\r\nv 0 1.0e0 0\nv 0 0 1\nv 1 0 +1\n"
    "v 1 1 1\nv -0 1 1\nvn 0 0 1\nvt 0 0\ng b\nusemtl m\nf 1/1/1 4/1/1 3//1 2\n"
    "f -4 -3 \\\n -2 -1\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nl 1 2\nf 4 1 5 8 # end\n";
static const char ply_text[] =
    "ply\nformat ascii 1.0\ncomment c\nelement vertex 4\nproperty float x\nproperty double y\nproperty float "
    "z\n"
    "property uchar red\nelement face 4\nproperty list uchar int vertex_indices\nproperty int flag\n"
    "element edge 1\nproperty int v\nend_header\n"
    "0 0 0 9\n1 0 0 9\n0 1 0 9\n0 0 1 9\n3 0 2 1 5\n3 0 1 3 5\n3 0 3 2 5\n3 1 2 3 5\n7\n";
static const char stl_text[] =
    "solid t\nfacet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
    "facet normal 0 -1 0\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 0 1\n "
    "endloop\nendfacet\nendsolid t\n";
static const char off_text[] =
    "OFF # o\n4 4 6\n0 0 0\n1 0 0 255 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3 1 0 0\n3 0 3 2\n3 1 2 3\n";
/* Three vertices, (0, 0, 0), (1, 0, 0) and (0, 1, 0), and four nodes. */
static const char gltf_text[] =
    "{\"asset\": {\"version\": \"2.0\"}, \"scene\": 0, \"scenes\": [{\"nodes\": [0, 3]}], \"nodes\": ["
    "{\"children\": [1, 2], \"matrix\": [1,0,0,0, 0,1,0,0, 0,0,1,0, 5,0,0,1]}, {\"mesh\": 0}, "
    "{\"mesh\": 0, \"translation\": [0, 0, 1], \"rotation\": [0, 0, 0.6, 0.8], \"scale\": [1, 2, -1]}, "
    "{\"mesh\": 0}], "
    "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"mode\": 5}]}], "
    "\"buffers\": [{\"uri\": "
    "\"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\", "
    "\"byteLength\": 36}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36}], "
    "\"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}]}";

enum { INPUTS = 7, SIZE_MAX_INPUT = 1200 };
typedef struct Input {
    const char *hint;
    unsigned char bytes[SIZE_MAX_INPUT];
    size_t size;
} Input;

static void put_word(Input *input, uint32_t word)
{
    memcpy(input->bytes + input->size, &word, 4);
    input->size += 4;
}

static void put_text(Input *input, const char *hint, const char *text)
{
    input->hint = hint;
    assert_true(input->size + strlen(text) <= SIZE_MAX_INPUT);
    memcpy(input->bytes + input->size, text, strlen(text));
    input->size += strlen(text);
}

/* Small files of each format. */
static void make_inputs(Input *input)
{
    memset(input, 0, INPUTS * sizeof *input);
    put_text(&input[0], "obj", obj_text);
    put_text(&input[1], "ply", ply_text);
    put_text(&input[2], "stl", stl_text);
    put_text(&input[3], "off", off_text);
    put_text(&input[4], "gltf", gltf_text);
    put_text(&input[5], "ply",
             "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty float x\nproperty float "
             "y\nproperty float z\n"
             "element face 1\nproperty list uchar ushort vertex_index\nend_header\n");
    for (int i = 0; i < 9; ++i) {
        put_word(&input[5], i == 3 || i == 7 ? 0x803F : 0);
    }
    memcpy(input[5].bytes + input[5].size, "\3\0\0\0\1\0\2", 7);
    input[5].size += 7;
    put_text(&input[6], "stl", "solid but binary");
    input[6].size = 80;
    put_word(&input[6], 1);
    for (int i = 0; i < 12; ++i) {
        put_word(&input[6], i == 6 || i == 10 ? 0x3F800000 : 0);
    }
    input[6].size += 2;
}

/* Whatever it is, a mesh comes out whole or not at all, and nothing is leaked. */
static WadiStatus read_bytes(const char *hint, const unsigned char *bytes, size_t size, WadiError *error)
{
    unsigned char *copy = malloc(size > 0 ? size : 1); /* of this very size, for the address sanitizer */
    memcpy(copy, bytes, size);
    size_t live = wadi_alloc_live_bytes();
    WadiMesh mesh;
    WadiStatus status = wadi_mesh_read_memory(&mesh, copy, size, hint, "hostile", error);
    free(copy);
    if (status != WADI_OK) {
        assert_non_null(strstr(error->text, "hostile"));
        assert_true(mesh.vertices == NULL && mesh.triangle_count == 0);
    }
    for (size_t t = 0; t < mesh.triangle_count; ++t) {
        for (int k = 0; k < 3; ++k) {
            assert_true(mesh.triangles[t][k] < mesh.vertex_count);
        }
    }
    wadi_mesh_free(&mesh);
    assert_int_equal(wadi_alloc_live_bytes(), live);
    return status;
}

static void every_length_is_survived(void **unused)
{
    (void)unused;
    Input input[INPUTS];
    make_inputs(input);
    for (int i = 0; i < INPUTS; ++i) {
        WadiError error = { 0 };
        CHECK_OK(read_bytes(input[i].hint, input[i].bytes, input[i].size, &error), error);
        for (size_t size = 0; size < input[i].size; ++size) {
            read_bytes(input[i].hint, input[i].bytes, size, &error);
        }
    }
}

static void random_damage_is_survived(void **unused)
{
    (void)unused;
    Input input[INPUTS];
    make_inputs(input);
    static const char *const pieces[] = { "4294967295", "-1",  "1e999",      "[[[[",
                                          "\0\0",       "nan", "2147483648", "\xFF\xFF\xFF\xFF" };
    for (uint64_t n = 0; n < 7000; ++n) {
        Input damaged = input[n % INPUTS];
        for (uint64_t k = 0; k <= wadi_random_bits(1, n, WADI_RANDOM_TEST) % 4; ++k) {
            uint64_t bits = wadi_random_bits(2 + k, n, WADI_RANDOM_TEST);
            size_t at = (size_t)((bits >> 8) % damaged.size);
            const char *piece = pieces[(bits >> 40) % 8];
            size_t length = piece[0] != '\0' ? strlen(piece) : 2;
            if (bits % 3 == 0) {
                damaged.bytes[at] = (unsigned char)(bits >> 48);
            } else if (bits % 3 == 1 && at + length <= damaged.size) {
                memcpy(damaged.bytes + at, piece, length);
            } else {
                memmove(damaged.bytes + at, damaged.bytes + at / 2, damaged.size - at);
            }
        }
        WadiError error = { 0 };
        read_bytes(damaged.hint, damaged.bytes, damaged.size, &error);
    }
}

/* Bytes and seconds that reading took; the status is what was expected. */
static void read_text(const char *hint, const WadiText *text, WadiStatus expected, const char *message)
{
    WadiError error = { 0 };
    clock_t begun = clock();
    size_t before = wadi_alloc_peak_bytes();
    assert_false(text->has_failed);
    WadiStatus status = read_bytes(hint, (const unsigned char *)text->data, text->length, &error);
    if (status != expected || (message != NULL && strstr(error.text, message) == NULL)) {
        print_error("status %d, message: %s\n", (int)status, error.text);
        fail();
    }
    CHECK_AT_MOST((double)(clock() - begun) / CLOCKS_PER_SEC, 20.0);
    CHECK_AT_MOST((double)(wadi_alloc_peak_bytes() - before), 64e6 + 64.0 * (double)text->length);
}

static void deep_json_is_refused_and_deep_nodes_are_read(void **unused)
{
    (void)unused;
    WadiText text = { 0 };
    for (int i = 0; i < 1000000; ++i) {
        wadi_text_append_bytes(&text, "[", 1);
    }
    read_text("gltf", &text, WADI_ERR_FORMAT, "nested");
    wadi_text_clear(&text);
    const int depth = 100000;
    const char *nodes = strstr(gltf_text, "\"nodes\": [{"), *rest = strstr(gltf_text, "\"meshes\"");
    wadi_text_append(&text,
                     "{\"scenes\": [{\"nodes\": [0]}], \"asset\": {\"version\": \"2.0\"}, \"nodes\": [");
    assert_non_null(nodes);
    for (int i = 0; i < depth; ++i) {
        wadi_text_printf(&text, "{\"children\": [%d]}, ", i + 1);
    }
    wadi_text_append(&text, "{\"mesh\": 0}], ");
    wadi_text_append(&text, rest);
    read_text("gltf", &text, WADI_OK, NULL);
    /* The last is the parent of the first. */
    wadi_text_clear(&text);
    wadi_text_append(&text, "{\"asset\": {\"version\": \"2.0\"}, \"scenes\": [{\"nodes\": [0]}], \"nodes\": "
                            "[{\"children\": [1]}, {\"children\": [0]}], ");
    wadi_text_append(&text, rest);
    read_text("gltf", &text, WADI_ERR_FORMAT, "ancestor");
    wadi_text_free(&text);
}

/* A few hundred kilobytes that name the same 30000 vertices 20000 times. */
static void repeated_meshes_do_not_fill_the_memory(void **unused)
{
    (void)unused;
    WadiText text = { 0 };
    wadi_text_append(&text,
                     "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"byteLength\": 360000, \"uri\": "
                     "\"data:;base64,");
    for (int i = 0; i < 480000; i += 4) {
        wadi_text_append_bytes(&text, "AAAA", 4);
    }
    wadi_text_append(&text,
                     "\"}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 360000}], \"accessors\": "
                     "[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 30000, \"type\": \"VEC3\"}], "
                     "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}], \"nodes\": [");
    for (int i = 0; i < 20000; ++i) {
        wadi_text_append(&text, "{\"mesh\":0},");
    }
    wadi_text_append(&text, "{}]}");
    WadiError error = { 0 };
    assert_int_equal(read_bytes("gltf", (const unsigned char *)text.data, text.length, &error),
                     WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "repeat"));
    CHECK_AT_MOST((double)wadi_alloc_peak_bytes(), 1.2e9);
    wadi_text_free(&text);
}

static void lying_counts_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *hint, *text;
    } lies[] = {
        { "ply", "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float "
                 "y\nproperty "
                 "float z\nelement face 1\nproperty list uint int vertex_indices\nend_header\n"
                 "                                    \xFF\xFF\xFF\x7F" },
        { "ply", "PLY\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\nproperty float "
                 "y\nproperty float "
                 "z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n" },
        { "ply",
          "plY\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
          "element face 1\nproperty list uchar int ver" },
        { "off", "OFF\n4000000000 1 0\n0 0 0\n" },
        { "off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2147483647 0 1 2\n" },
        { "obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9223372036854775807\n" },
        { "obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n" },
        { "obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n" },
        { "obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n" },
        { "obj", "v 0 0 1e13\nv 1 0 0\nv 0 1 0\nf 1 2 3\n" },
        { "dae", "<?xml version=\"1.0\"?><COLLADA></COLLADA>" },
        { "fbx", "Kaydara FBX Binary" },
        { "gltf",
          "{\"asset\": {\"version\": \"2.0\"}, \"extensionsRequired\": [\"KHR_draco_mesh_compression\"]}" },
        { "gltf", "{\"asset\": {\"version\": \"1.0\"}}" },
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; ++i) {
        WadiText text = { 0 };
        wadi_text_append(&text, lies[i].text);
        read_text(lies[i].hint, &text, WADI_ERR_FORMAT, i == 10 || i == 11 ? "export it as OBJ" : NULL);
        wadi_text_free(&text);
    }
}

/* A comb whose every corner is tested against all others: refused before it takes minutes. */
static void a_face_of_many_corners_does_not_hang(void **unused)
{
    (void)unused;
    WadiText text = { 0 };
    const int teeth = 20000;
    for (int i = 0; i < teeth; ++i) {
        wadi_text_printf(&text, "v %d %d 0\n", i, i % 2 == 0 ? 0 : 1000 + i % 7);
    }
    wadi_text_append(&text, "f");
    for (int i = 0; i < teeth; ++i) {
        wadi_text_printf(&text, " %d", i + 1);
    }
    WadiError error = { 0 };
    clock_t begun = clock();
    read_bytes("obj", (const unsigned char *)text.data, text.length, &error);
    CHECK_AT_MOST((double)(clock() - begun) / CLOCKS_PER_SEC, 60.0);
    wadi_text_free(&text);
}

static void pipes_links_and_folders_are_not_opened(void **unused)
{
    (void)unused;
    static const char *const buffers[] = { "pipe", "link", "folder", "absent", "short" };
    assert_int_equal(mkfifo(scratch_path("pipe"), 0600), 0);
    assert_int_equal(symlink("/etc/passwd", scratch_path("link")), 0);
    assert_int_equal(mkdir(scratch_path("folder"), 0700), 0);
    scratch_write("short", "abc");
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i) {
        char text[400];
        snprintf(text, sizeof text,
                 "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"uri\": \"%s\", \"byteLength\": 36}], "
                 "\"nodes\": [{\"mesh\": 0}]}",
                 buffers[i]);
        scratch_write("m.gltf", text);
        WadiError error = { 0 };
        WadiMesh mesh;
        WadiStatus status = wadi_mesh_read(&mesh, scratch_path("m.gltf"), &error);
        assert_true(status == WADI_ERR_IO || status == WADI_ERR_FORMAT);
        assert_non_null(strstr(error.text, buffers[i]));
    }
    assert_int_equal(mkfifo(scratch_path("pipe.obj"), 0600), 0);
    scratch_write("lib.obj", "mtllib pipe\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    WadiError error = { 0 };
    WadiMesh mesh;
    assert_int_equal(wadi_mesh_read(&mesh, scratch_path("pipe.obj"), &error), WADI_ERR_IO);
    CHECK_OK(wadi_mesh_read(&mesh, scratch_path("lib.obj"), &error), error);
    wadi_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_is_survived),
        cmocka_unit_test(random_damage_is_survived),
        cmocka_unit_test(deep_json_is_refused_and_deep_nodes_are_read),
        cmocka_unit_test(repeated_meshes_do_not_fill_the_memory),
        cmocka_unit_test(lying_counts_are_refused),
        cmocka_unit_test(a_face_of_many_corners_does_not_hang),
        cmocka_unit_test(pipes_links_and_folders_are_not_opened),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
