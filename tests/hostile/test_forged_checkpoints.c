/* Checkpoints with correct checksums and wrong numbers, of every solver and mode: loading one fails with a
 * message that says what to do, or the simulation goes on, without a crash or an overflow. Each case is a
 * separate process. */
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scene_sim.h"
#include "sim/sim.h"
#include "state_scenes.h"

/* What happens to an array: all values or one become one of VALUES, or random ones, or its shape changes. */
enum { VALUES = 6, RANDOM = VALUES, KINDS, SHORTER = 2 * KINDS, EMPTY, DROPPED, RETYPED, CHANGES };

static void set_value(const WadiStateArray *array, unsigned char *data, size_t at, int kind)
{
    const uint32_t random = (uint32_t)at * 2654435761u ^ (uint32_t)array->count * 40503u;
    const double reals[KINDS] = { 0.0, NAN, 1e300, -1e30, INFINITY, 0.5, random / 4e6 - 500.0 };
    const uint64_t wholes[KINDS] = {
        0, UINT64_MAX,   UINT64_C(0x7fffffff7fffffff), UINT64_C(0x8000000080000000), array->count,
        1, random % 5000
    };
    const float narrow = (float)reals[kind];
    const size_t size = wadi_type_size(array->type);
    memcpy(data + at * size,
           array->type == WADI_TYPE_F64   ? (const void *)&reals[kind]
           : array->type == WADI_TYPE_F32 ? (const void *)&narrow
                                          : (const void *)&wholes[kind],
           size);
}

/* The arrays of a good checkpoint with array `which` changed. */
static void forge(const WadiState *good, int which, int change, WadiState *forged)
{
    WadiError error = { 0 };
    for (int i = 0; i < good->count; ++i) {
        const WadiStateArray *a = &good->array[i];
        const size_t values = a->count * (size_t)a->components;
        unsigned char *data = calloc(values + 1, 8);
        assert_non_null(data);
        if (values > 0) {
            memcpy(data, a->data, wadi_state_array_bytes(a));
        }
        const int now = i == which ? change : CHANGES;
        for (size_t k = 0; now < 2 * KINDS && k < values; ++k) {
            if (now < KINDS || k == values / 2) {
                set_value(a, data, k, now % KINDS);
            }
        }
        const WadiType other = a->type == WADI_TYPE_F64 ? WADI_TYPE_U64 : WADI_TYPE_F32;
        if (now != DROPPED) {
            CHECK_OK(wadi_state_put(forged, a->name, now == RETYPED ? other : a->type, a->components,
                                    now == SHORTER ? a->count - 1
                                    : now == EMPTY ? 0
                                                   : a->count,
                                    data, &error),
                     error);
        }
        free(data);
    }
}

/* 0: it was refused or went on. */
static int load_and_step(WadiSim *sim, const WadiState *forged)
{
    WadiError error = { 0 };
    const rlim_t most = is_sanitized() ? 60 : 10; /* s: whatever takes longer hangs */
    struct rlimit seconds = { most, most + 1 }, core = { 0, 0 };
    setrlimit(RLIMIT_CPU, &seconds);
    setrlimit(RLIMIT_CORE, &core);
    signal(SIGABRT, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
    WadiStatus status = wadi_sim_restore(sim, forged, &error);
    if (status == WADI_ERR_FORMAT && strstr(error.text, "resume") == NULL) {
        print_error("does not say what to do: %s\n", error.text);
        return 1;
    }
    for (int n = 0; n < 3 && status == WADI_OK; ++n) {
        status = wadi_sim_step(sim, &error);
    }
    WadiState after = { 0 };
    if (status == WADI_OK && wadi_sim_snapshot(sim, &after, &error) != WADI_OK) {
        return 2;
    }
    return status == WADI_ERR_INTERNAL ? 3 : 0;
}

static int try_forged(WadiSim *sim, const WadiState *good, int which, int change)
{
    WadiState *forged = calloc(1, sizeof *forged);
    assert_non_null(forged);
    forge(good, which, change, forged);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(load_and_step(sim, forged));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    const bool is_crash = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (is_crash) {
        print_error("'%s', change %d: %s %d\n", good->array[which].name, change,
                    WIFSIGNALED(status) ? "signal" : "exit",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    wadi_state_free(forged);
    free(forged);
    return is_crash;
}

/* Every array of the checkpoint after some steps. `known`: names that an earlier scene of the solver had. */
static int check_scene(const StateScene *of, WadiState *known, int *cases)
{
    WadiError error = { 0 };
    WadiScene *scene = load_scene(of->text);
    WadiSim *sim = start_sim(scene, 1);
    WadiState *whole = calloc(1, sizeof *whole), *good = calloc(1, sizeof *good);
    assert_true(whole != NULL && good != NULL);
    while (wadi_sim_time(sim) < of->from || wadi_sim_steps(sim) < 4) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
    }
    CHECK_OK(wadi_sim_step(sim, &error), error);
    CHECK_OK(wadi_sim_snapshot(sim, whole, &error), error);
    wadi_state_select(whole, WADI_USE_CHECKPOINT, good);
    wadi_sim_destroy(sim);
    WadiSimDef def = wadi_default_sim_def();
    def.threads = 1;
    CHECK_OK(wadi_sim_create_empty(&sim, scene, &def, &error), error);
    int crashes = 0;
    for (int which = 0; which < good->count; ++which) {
        const WadiStateArray *array = &good->array[which];
        const bool was_tried = wadi_state_find(known, array->name) != NULL;
        const bool is_known = was_tried && !is_long_run();
        if (!was_tried) {
            void *data = NULL;
            CHECK_OK(wadi_state_add(known, array->name, WADI_TYPE_U8, 1, 0, &data, &error), error);
        }
        for (int change = 0; change < CHANGES && array->count > 0; ++change) {
            /* All of an array that is new, else a few; where there is little time an eighth of these with the
             * sanitizers, and an eighth of that eighth without. */
            if ((is_known && change % KINDS != which % KINDS) ||
                (!is_long_run() && (change + which) % (is_sanitized() ? 8 : 64) != 0)) {
                continue;
            }
            crashes += try_forged(sim, good, which, change);
            *cases += 1;
        }
    }
    if (crashes > 0) {
        print_error("%d in the scene '%s'\n", crashes, of->name);
    }
    wadi_sim_destroy(sim);
    wadi_state_free(whole);
    free(whole);
    free(good);
    wadi_scene_destroy(scene);
    return crashes;
}

static void no_number_of_a_checkpoint_is_a_crash(void **unused)
{
    (void)unused;
    const char *only = getenv("SCENE"); /* one of them, to look at it */
    int crashes = 0, cases = 0;
    WadiState *known = calloc(1, sizeof *known);
    assert_non_null(known);
    char solver[8] = "";
    for (int n = 0; n < STATE_SCENES; ++n) {
        const StateScene *scene = &state_scenes[n];
        if (strncmp(solver, scene->name, 3) != 0) {
            wadi_state_clear(known);
            snprintf(solver, sizeof solver, "%.3s", scene->name);
        }
        if (only == NULL || strcmp(only, scene->name) == 0) {
            crashes += check_scene(scene, known, &cases);
        }
    }
    wadi_state_free(known);
    free(known);
    print_message("%d forged checkpoints\n", cases);
    assert_int_equal(crashes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_number_of_a_checkpoint_is_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
