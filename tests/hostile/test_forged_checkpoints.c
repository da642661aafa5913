/* Checkpoints with correct hashes and wrong numbers: resuming fails with a message or continues, without a
 * crash or an overflow. Each case is a separate process. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "io/frame/frame_file.h"
#include "io_scratch.h"
#include "wadi/wadi.h"

static const char scene_text[] =
    "wadi: 1\nname: t\nsolver: flip\nresolution: 10\nframes: 3\ncheckpoint_every: 1\nfps: 100\n"
    "domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.3]}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "bodies:\n"
    "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.2, 0.1]}}}\n"
    "  - {material: water, shape: {box: {min: [0.2, 0, 0], max: [0.4, 0.2, 0.1]}}}\n"
    "emitters:\n"
    "  - {material: sand, shape: {sphere: {center: [0.1, 0.1, 0.2], radius: 0.03}}, rate: 0.01, "
    "max_particles: 1000000}\n"
    "drains: [{shape: {box: {min: [0.3, 0.1, 0], max: [0.4, 0.2, 0.02]}}}]\n";

static char run_path[1024], checkpoint_path[1400];
static WadiState good;
static WadiFrameHeader good_header;

/* Resumes from the checkpoint of frame `from`; 0: from the start. */
static WadiStatus run(int from, int frames)
{
    WadiError error = { 0 };
    WadiSceneDef scene_def = wadi_default_scene_def();
    WadiScene *scene;
    scene_def.text = scene_text;
    WadiRunDef def = wadi_default_run_def();
    def.folder = run_path;
    def.threads = 1;
    def.frames = frames;
    def.from_frame = from;
    CHECK_OK(wadi_scene_load(&scene, &scene_def, &error), error);
    WadiStatus status = wadi_run(scene, &def, NULL, &error);
    wadi_scene_destroy(scene);
    return status;
}

static int begin(void **state)
{
    WadiError error = { 0 };
    if (scratch_begin(state) != 0) {
        return 1;
    }
    snprintf(run_path, sizeof run_path, "%s/t.run", scratch);
    assert_int_equal(run(0, 3), WADI_OK);
    snprintf(checkpoint_path, sizeof checkpoint_path, "%s/checkpoint", run_path);
    char newest[256] = "";
    DIR *folder = opendir(checkpoint_path);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strstr(entry->d_name, ".h5") != NULL && strcmp(entry->d_name, newest) > 0) {
            snprintf(newest, sizeof newest, "%s", entry->d_name);
        }
    }
    closedir(folder);
    snprintf(checkpoint_path, sizeof checkpoint_path, "%s/checkpoint/%s", run_path, newest);
    CHECK_OK(wadi_frame_file_read(checkpoint_path, "state", &good_header, &good, &error), error);
    return 0;
}

static int end(void **state)
{
    wadi_state_free(&good);
    return scratch_end(state);
}

/* The valid checkpoint with one or all values of array `which` changed. */
static void forge(int which, int kind, bool is_one)
{
    static const double reals[] = { NAN, 1e300, -1e30, 0.0 };
    static const uint64_t wholes[] = { UINT64_MAX, UINT64_C(0x8000000080000000), UINT64_C(0x7fffffff7fffffff),
                                       0 };
    WadiError error = { 0 };
    WadiState *forged = calloc(1, sizeof *forged);
    assert_non_null(forged);
    for (int i = 0; i < good.count; ++i) {
        const WadiStateArray *a = &good.array[i];
        size_t values = a->count * (size_t)a->components, size = wadi_type_size(a->type);
        unsigned char *data = calloc(values + 1, 8);
        assert_non_null(data);
        if (values > 0) {
            memcpy(data, a->data, values * size);
        }
        float narrow = (float)reals[kind];
        for (size_t k = 0; i == which && k < values; ++k) {
            if (!is_one || k == values / 2) {
                memcpy(data + k * size,
                       a->type == WADI_TYPE_F64   ? (const void *)&reals[kind]
                       : a->type == WADI_TYPE_F32 ? (const void *)&narrow
                                                  : (const void *)&wholes[kind],
                       size);
            }
        }
        CHECK_OK(wadi_state_put(forged, a->name, a->type, a->components, a->count, data, &error), error);
        free(data);
    }
    CHECK_OK(wadi_frame_file_write(checkpoint_path, "state", &good_header, forged, &error), error);
    wadi_state_free(forged);
    free(forged);
}

static void no_number_of_a_checkpoint_is_a_crash(void **unused)
{
    (void)unused;
    int crashes = 0, cases = 0;
    for (int n = 0; n < 8 * good.count; ++n) {
        int which = n / 8, kind = n % 4;
        if (good.array[which].count == 0) {
            continue;
        }
        forge(which, kind, n % 8 < 4);
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct rlimit seconds = { 10, 11 }, core = { 0, 0 };
            setrlimit(RLIMIT_CPU, &seconds);
            setrlimit(RLIMIT_CORE, &core);
            signal(SIGABRT, SIG_DFL);
            signal(SIGSEGV, SIG_DFL);
            (void)run(3, 4);
            _exit(0);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        ++cases;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            ++crashes;
            print_error("%s of '%s', kind %d: %s %d\n", n % 8 < 4 ? "one value" : "all values",
                        good.array[which].name, kind, WIFSIGNALED(status) ? "signal" : "exit",
                        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        }
    }
    print_message("%d forged checkpoints\n", cases);
    assert_int_equal(crashes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_number_of_a_checkpoint_is_a_crash),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
