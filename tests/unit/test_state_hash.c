/* The state hash covers all that the future depends on: it changes with every array of a checkpoint, and a
 * loaded state has the hash of the saved one. For all solvers and modes. */
#include "scene_sim.h"
#include "sim/sim.h"
#include "state_scenes.h"

/* Changes the last bit of one byte in the middle of an array. */
static void perturb(const WadiStateArray *array)
{
    const size_t size = wadi_type_size(array->type), values = array->count * (size_t)array->components;
    ((uint8_t *)array->data)[values / 2 * size] ^= 1;
}

static void check_scene(const StateScene *of, int *loaded)
{
    WadiError error = { 0 };
    WadiScene *scene = load_scene(of->text);
    WadiSim *sim = start_sim(scene, 1), *other = NULL;
    WadiSimDef def = wadi_default_sim_def();
    def.threads = 1;
    while (wadi_sim_time(sim) <= of->from || wadi_sim_steps(sim) < 4) {
        CHECK_OK(wadi_sim_step(sim, &error), error);
    }
    WadiState *state = calloc(1, sizeof *state), *good = calloc(1, sizeof *good);
    assert_true(state != NULL && good != NULL);
    CHECK_OK(wadi_sim_snapshot(sim, state, &error), error);
    wadi_state_select(state, WADI_USE_CHECKPOINT, good);
    const uint64_t hash = wadi_sim_state_hash(sim);
    CHECK_OK(wadi_sim_create_empty(&other, scene, &def, &error), error);
    for (int n = 0; n < good->count; ++n) {
        const WadiStateArray *array = &good->array[n];
        if (array->count == 0) {
            continue;
        }
        perturb(array);
        assert_true(wadi_state_hash(good, WADI_USE_CHECKPOINT) != hash);
        /* Where such a state is valid, what was loaded has the other hash too: nothing is passed over. */
        if (wadi_sim_restore(other, good, &error) == WADI_OK) {
            if (wadi_sim_state_hash(other) == hash) {
                fail_msg("%s: a change of '%s' is not in the hash of the loaded state", of->name,
                         array->name);
            }
            *loaded += 1;
        } else {
            wadi_sim_destroy(other);
            CHECK_OK(wadi_sim_create_empty(&other, scene, &def, &error), error);
        }
        perturb(array);
    }
    assert_true(wadi_state_hash(good, WADI_USE_CHECKPOINT) == hash);
    wadi_sim_destroy(sim);
    wadi_sim_destroy(other);
    wadi_state_free(state);
    free(state);
    free(good);
    wadi_scene_destroy(scene);
}

static void every_saved_array_is_in_the_hash(void **unused)
{
    (void)unused;
    int loaded = 0;
    for (int n = 0; n < STATE_SCENES; ++n) {
        check_scene(&state_scenes[n], &loaded);
    }
    print_message("%d changed states were loaded\n", loaded);
    assert_true(loaded > 10 * STATE_SCENES);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_saved_array_is_in_the_hash) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
