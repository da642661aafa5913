/* Frames with correct hashes and wrong contents: arrays of other lengths and types are rejected by name; with
 * any values, surfaces, pictures and exports end with a file or a message. Each case is a separate
 * process. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/alloc.h"
#include "io/files/files.h"
#include "io/frame/frame_block.h"
#include "io_scratch.h"
#include "wadi/wadi.h"

static const char scene_text[] =
    "wadi: 1\nname: t\nsolver: flip\nresolution: 10\nframes: 2\n"
    "domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.3]}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "bodies:\n"
    "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.2, 0.1]}}}\n"
    "  - {material: water, shape: {box: {min: [0.2, 0, 0], max: [0.4, 0.2, 0.1]}}}\n"
    "render: {width: 16, height: 16}\n";

typedef enum Shape { SAME, EMPTY, SHORT, LONG, OTHER_TYPE, OTHER_COMPONENTS, DROPPED, SHAPES } Shape;

static char run_path[1024], frame_path[1100];
static WadiState good;
static WadiFrameHeader good_header;

static int begin(void **state)
{
    WadiError error = { 0 };
    if (scratch_begin(state) != 0) {
        return 1;
    }
    WadiSceneDef scene_def = wadi_default_scene_def();
    WadiScene *scene;
    scene_def.text = scene_text;
    snprintf(run_path, sizeof run_path, "%s/t.run", scratch);
    WadiRunDef def = wadi_default_run_def();
    def.folder = run_path;
    def.threads = 1;
    CHECK_OK(wadi_scene_load(&scene, &scene_def, &error), error);
    CHECK_OK(wadi_run(scene, &def, NULL, &error), error);
    wadi_scene_destroy(scene);
    wadi_run_frame_path(frame_path, sizeof frame_path, run_path, "t", 2);
    CHECK_OK(wadi_frame_file_read(frame_path, "particles", &good_header, &good, &error), error);
    return 0;
}

static int end(void **state)
{
    wadi_state_free(&good);
    return scratch_end(state);
}

/* The valid frame with another shape of array `which`, or, when `value` is not NULL, with one or all of its
 * values changed. */
static void forge(int which, Shape shape, const double *value, bool is_one)
{
    WadiError error = { 0 };
    WadiState *forged = calloc(1, sizeof *forged);
    assert_non_null(forged);
    for (int i = 0; i < good.count; ++i) {
        const WadiStateArray *a = &good.array[i];
        size_t count = a->count, values = a->count * (size_t)a->components;
        WadiType type = a->type;
        int components = a->components;
        unsigned char *data = calloc(16 * values + 16, 1);
        assert_non_null(data);
        memcpy(data, a->data, values * wadi_type_size(type));
        for (size_t k = 0; i == which && value != NULL && k < values; ++k) {
            if (is_one && k != values / 2) {
                continue;
            }
            float narrow = (float)*value;
            uint64_t whole = *value > 1e18 ? UINT64_MAX : *value > 0.0 ? (uint64_t)*value : 0;
            memcpy(data + k * wadi_type_size(type),
                   type == WADI_TYPE_F64   ? (const void *)value
                   : type == WADI_TYPE_F32 ? (const void *)&narrow
                                           : (const void *)&whole,
                   wadi_type_size(type));
        }
        if (i == which) {
            count = shape == EMPTY ? 0 : shape == SHORT ? count - 1 : shape == LONG ? count + 1 : count;
            type = shape == OTHER_TYPE ? (type == WADI_TYPE_F64 ? WADI_TYPE_F32 : WADI_TYPE_F64) : type;
            components = shape == OTHER_COMPONENTS ? (components == 1 ? 3 : 1) : components;
        }
        if (i != which || shape != DROPPED) {
            CHECK_OK(wadi_state_put(forged, a->name, type, components, count, data, &error), error);
        }
        free(data);
    }
    CHECK_OK(wadi_frame_file_write(frame_path, "particles", &good_header, forged, &error), error);
    wadi_state_free(forged);
    free(forged);
}

/* In the child process. */
static void use_frame(void)
{
    static const char *const attributes[] = { NULL, "speed", "pressure", "rigid", "position.x" };
    WadiError error = { 0 };
    WadiSurfaceDef surface = wadi_default_surface_def();
    surface.first_frame = surface.last_frame = 2;
    surface.threads = 1;
    surface.is_forced = true;
    (void)wadi_surface(run_path, &surface, NULL, &error);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i) {
        WadiRenderDef render = wadi_default_render_def();
        render.first_frame = render.last_frame = 2;
        render.threads = render.samples = 1;
        render.is_forced = true;
        render.attribute = attributes[i];
        (void)wadi_render(run_path, &render, NULL, &error);
    }
    char *text = NULL;
    if (wadi_describe(frame_path, true, &text, &error) == WADI_OK) {
        wadi_text_release(text);
    }
}

static void try_frame(const char *what, const char *name, double value)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit seconds = { 20, 21 }, core = { 0, 0 };
        setrlimit(RLIMIT_CPU, &seconds);
        setrlimit(RLIMIT_CORE, &core);
        signal(SIGABRT, SIG_DFL);
        signal(SIGSEGV, SIG_DFL);
        use_frame();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        print_error("%s %s = %g: %s %d\n", what, name, value, WIFSIGNALED(status) ? "signal" : "exit",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        fail();
    }
}

static void arrays_of_other_lengths_are_refused(void **unused)
{
    (void)unused;
    static WadiState back;
    for (int i = 0; i < good.count; ++i) {
        for (int shape = EMPTY; shape < SHAPES; ++shape) {
            forge(i, (Shape)shape, NULL, false);
            WadiFrameHeader header;
            WadiError error = { 0 };
            const char *name = good.array[i].name;
            bool is_position = strcmp(name, "position") == 0;
            WadiStatus status = wadi_frame_file_read(frame_path, "particles", &header, &back, &error);
            if (shape == EMPTY || shape == SHORT || shape == LONG) {
                assert_int_equal(status, WADI_ERR_FORMAT);
                assert_non_null(strstr(error.text, frame_path));
                assert_true(is_position || strstr(error.text, name) != NULL);
            } else if (is_position) {
                assert_int_equal(status, WADI_ERR_FORMAT);
            }
            if (status == WADI_OK) {
                try_frame("shape of", name, shape);
            }
        }
    }
    wadi_state_free(&back);
}

static void no_value_is_a_crash(void **unused)
{
    (void)unused;
    static const double values[] = { NAN, 1e30, -1e12, 0.0 };
    for (int i = 0; i < good.count; ++i) {
        for (size_t v = 0; v < sizeof values / sizeof *values; ++v) {
            for (int is_one = 0; is_one < 2; ++is_one) {
                forge(i, SAME, &values[v], is_one);
                try_frame(is_one ? "one of" : "all of", good.array[i].name, values[v]);
            }
        }
    }
}

/* The valid frame with another name of its last array, or of the scene. The block's hash is right. */
static void forge_name(const char *name, bool is_scene)
{
    WadiError error = { 0 };
    char *bytes = NULL;
    size_t size = 0;
    CHECK_OK(wadi_frame_file_write(frame_path, "particles", &good_header, &good, &error), error);
    CHECK_OK(wadi_file_read(frame_path, 1 << 26, &bytes, &size, &error), error);
    unsigned char *image = (unsigned char *)bytes;
    size_t at = is_scene ? offsetof(WadiUserBlock, name)
                         : offsetof(WadiUserBlock, array) + (size_t)(good.count - 1) * sizeof(WadiBlockArray);
    snprintf(bytes + at, WADI_STATE_NAME_SIZE, "%s", name);
    uint64_t hash = wadi_block_hash(image);
    memcpy(image + offsetof(WadiUserBlock, block_hash), &hash, sizeof hash);
    CHECK_OK(wadi_file_write(frame_path, bytes, size, &error), error);
    wadi_free(bytes, size + 1, 1);
}

/* A newline would end a line of a PLY header, a quote a string of a script. */
static void names_that_are_no_names_are_refused(void **unused)
{
    (void)unused;
    /* The scene's name is only shown: there control characters are refused. */
    static const char *const names[] = { "a\nelement vertex 9",
                                         "tab\t",
                                         "\x1b[2J",
                                         "two words",
                                         "a\"b",
                                         "../up",
                                         "-rf",
                                         ".hidden",
                                         "\xff",
                                         "a/b",
                                         "#include",
                                         "<!--",
                                         "a\\b" };
    enum { CONTROL = 3 };
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        for (int is_scene = 0; is_scene < (i < CONTROL ? 2 : 1); ++is_scene) {
            WadiError error = { 0 };
            WadiFrameHeader read;
            WadiState back = { 0 };
            forge_name(names[i], is_scene);
            assert_int_equal(wadi_frame_file_read(frame_path, "particles", &read, &back, &error),
                             WADI_ERR_FORMAT);
            assert_non_null(strstr(error.text, frame_path));
            assert_non_null(strstr(error.text, "letters, digits"));
            for (const char *c = error.text; *c != '\0'; ++c) {
                assert_true((unsigned char)*c >= 0x20);
            }
            WadiSurfaceDef surface = wadi_default_surface_def();
            assert_int_equal(wadi_surface(run_path, &surface, NULL, &error), WADI_ERR_FORMAT);
            wadi_state_free(&back);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_are_no_names_are_refused),
        cmocka_unit_test(arrays_of_other_lengths_are_refused),
        cmocka_unit_test(no_value_is_a_crash),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
