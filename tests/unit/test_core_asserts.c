/* A failed assert is told to the hook, prints nothing, ends nothing, and makes the public call fail; hints of
 * errors. */
#include <string.h>
#include <unistd.h>

#include "core/check.h"
#include "core/parallel.h"
#include "scene_sim.h"
#include "sim/sim.h"

typedef struct Told {
    int count, line;
    char condition[200], file[200];
} Told;

static void tell(void *user, const char *condition, const char *file, int line)
{
    Told *told = user;
    told->count += 1;
    told->line = line;
    snprintf(told->condition, sizeof told->condition, "%s", condition);
    snprintf(told->file, sizeof told->file, "%s", file);
}

static int put_hook_back(void **unused)
{
    (void)unused;
    wadi_set_assert_hook(&(WadiAssertHook){ expect_no_assert, NULL });
    return 0;
}

static WadiStatus half_of(int number, int *half, WadiError *error)
{
    *half = -1;
    WADI_ASSERT_TRY(number % 2 == 0, error);
    *half = number / 2;
    return WADI_OK;
}

static void the_hook_gets_the_condition_and_its_place(void **unused)
{
    (void)unused;
    Told told = { 0 };
    wadi_set_assert_hook(&(WadiAssertHook){ tell, &told });
    int half = 0;
    WadiError error = { 0 };
    assert_int_equal(half_of(6, &half, &error), WADI_OK);
    assert_int_equal(half, 3);
    assert_int_equal(told.count, 0);
    assert_int_equal(half_of(7, &half, &error), WADI_ERR_INTERNAL);
    assert_int_equal(half, -1);
    assert_int_equal(told.count, 1);
    assert_string_equal(told.condition, "number % 2 == 0");
    assert_non_null(strstr(told.file, "test_core_asserts.c"));
    assert_non_null(strstr(error.text, "number % 2 == 0"));
    assert_int_equal(error.status, WADI_ERR_INTERNAL);
    assert_string_equal(wadi_status_name(WADI_ERR_INTERNAL), "internal");
}

#ifndef WADI_CHECKS
static void without_a_hook_nothing_is_printed_and_nothing_ends(void **unused)
{
    (void)unused;
    wadi_set_assert_hook(NULL);
    FILE *caught = tmpfile();
    assert_non_null(caught);
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    assert_true(kept >= 0 && dup2(fileno(caught), STDERR_FILENO) >= 0);
    int half = 0;
    WadiStatus status = half_of(1, &half, NULL);
    fflush(stderr);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    fseek(caught, 0, SEEK_END);
    assert_int_equal(ftell(caught), 0);
    fclose(caught);
    assert_int_equal(status, WADI_ERR_INTERNAL);
}
#endif

static void break_a_rule(void *context, int64_t first, int64_t end)
{
    (void)context;
    WADI_ASSERT(end - first < 0);
}

/* In a thread of the team, where there is nobody to return to. */
static WadiStatus broken_step(void *solver, const WadiSolverStep *now, WadiStepReport *report,
                              WadiError *error)
{
    (void)solver, (void)now, (void)report, (void)error;
    wadi_parallel_for(8, 1, break_a_rule, NULL);
    return WADI_OK;
}

static void count_failures(void *user, const char *condition, const char *file, int line)
{
    (void)condition, (void)file, (void)line;
    __atomic_fetch_add((int *)user, 1, __ATOMIC_SEQ_CST);
}

static void a_step_whose_threads_fail_asserts_returns_an_error(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(
        "{wadi: 1, solver: points, resolution: 4, domain: {min: [0, 0, 0], max: [1, 1, 1]}, materials: "
        "{sand: {kind: sand}}, bodies: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: "
        "0.3}}}]}");
    WadiSim *sim = start_sim(scene, 3);
    CHECK_OK(wadi_sim_step(sim, &error), error);

    int failures = 0;
    wadi_set_assert_hook(&(WadiAssertHook){ count_failures, &failures });
    const WadiSolverType *good = sim->type;
    WadiSolverType broken = *good;
    broken.step = broken_step;
    sim->type = &broken;
    assert_int_equal(wadi_sim_step(sim, &error), WADI_ERR_INTERNAL);
    assert_int_equal(failures, 8);
    assert_non_null(strstr(error.text, "end - first < 0"));
    sim->type = good;
    CHECK_OK(wadi_sim_step(sim, &error), error); /* counted once, not for ever */
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

static void a_hint_names_a_field_and_can_be_replaced(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiStatus status =
        wadi_fail_hint(&error, WADI_ERR_ARGUMENT, WADI_HINT_HAS_FRAMES, "%s holds frames", "a.run");
    assert_int_equal(status, WADI_ERR_ARGUMENT);
    assert_int_equal(error.hint, WADI_HINT_HAS_FRAMES);
    assert_int_equal(error.hint_at, strlen("a.run holds frames"));
    assert_memory_equal(error.text, "a.run holds frames; ", strlen("a.run holds frames; "));
    assert_non_null(strstr(error.text + error.hint_at, "WADI_RUN_RESUME"));
    WadiError copy = { 0 };
    assert_int_equal(wadi_fail_as(&copy, &error), WADI_ERR_ARGUMENT);
    assert_int_equal(copy.hint, WADI_HINT_HAS_FRAMES);
    wadi_fail(&error, WADI_ERR_IO, "%s", "no disk"); /* an error without one forgets the last one's */
    assert_int_equal(error.hint, WADI_HINT_NONE);

    /* A text that fills all of it leaves no room, and is still terminated. */
    static char large[2 * WADI_ERROR_TEXT_SIZE];
    memset(large, 'x', sizeof large - 1);
    wadi_fail_hint(&error, WADI_ERR_IO, WADI_HINT_RESUME, "%s", large);
    assert_int_equal(strlen(error.text), WADI_ERROR_TEXT_SIZE - 1);
    assert_true(error.hint_at >= 0 && error.hint_at < WADI_ERROR_TEXT_SIZE);
    assert_int_equal(wadi_fail_hint(NULL, WADI_ERR_IO, WADI_HINT_RESUME, "x"), WADI_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_hook_gets_the_condition_and_its_place, put_hook_back),
#ifndef WADI_CHECKS
        cmocka_unit_test_teardown(without_a_hook_nothing_is_printed_and_nothing_ends, put_hook_back),
#endif
        cmocka_unit_test_teardown(a_step_whose_threads_fail_asserts_returns_an_error, put_hook_back),
        cmocka_unit_test_teardown(a_hint_names_a_field_and_can_be_replaced, put_hook_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
