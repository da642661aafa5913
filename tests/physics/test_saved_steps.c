/* A state saved after any step is the whole state: a run that is saved and loaded every few steps has, after
 * each step, the bytes of the run that is not. For all solvers and modes. */
#include "scene_sim.h"
#include "sim/sim.h"
#include "state_scenes.h"

static WadiBuffer save(const WadiSim *sim)
{
    WadiError error = { 0 };
    WadiBuffer buffer = { 0 };
    CHECK_OK(wadi_sim_save(sim, &buffer, &error), error);
    return buffer;
}

/* Names the first array that differs. */
static void explain(const WadiSim *a, const WadiSim *b, const char *name)
{
    WadiError error = { 0 };
    WadiState state[2] = { { .count = 0 } };
    CHECK_OK(wadi_sim_snapshot(a, &state[0], &error), error);
    CHECK_OK(wadi_sim_snapshot(b, &state[1], &error), error);
    print_error("%s: step %lld at %g s of frame %d: other bytes after a load\n", name, (long long)a->steps,
                a->time, a->frame);
    for (int n = 0; n < state[0].count; ++n) {
        const WadiStateArray *x = &state[0].array[n], *y = wadi_state_find(&state[1], x->name);
        if (y == NULL || wadi_state_array_hash(x) != wadi_state_array_hash(y)) {
            const size_t size = wadi_type_size(x->type);
            size_t at = 0;
            for (; y != NULL && at < x->count * (size_t)x->components * size; ++at) {
                if (at >= wadi_state_array_bytes(y) || ((char *)x->data)[at] != ((char *)y->data)[at]) {
                    break;
                }
            }
            print_error("  %s: %zu and %zu items, from item %zu on, component %zu\n", x->name, x->count,
                        y != NULL ? y->count : 0, at / size / (size_t)x->components,
                        at / size % (size_t)x->components);
        }
    }
    wadi_state_free(&state[0]);
    wadi_state_free(&state[1]);
}

static void check_scene(const StateScene *of)
{
    WadiError error = { 0 };
    WadiScene *scene = load_scene(of->text);
    WadiSim *whole = start_sim(scene, 2), *broken = NULL;
    WadiSimDef def = wadi_default_sim_def();
    def.threads = 1;
    while (wadi_sim_time(whole) < of->from) {
        CHECK_OK(wadi_sim_step(whole, &error), error);
    }
    const int first_frame = wadi_sim_frame(whole);
    int64_t inside = 0, least_asleep = INT64_MAX, most_asleep = 0;
    for (int k = 0; k <= of->steps; ++k) {
        WadiBuffer a = save(whole), b = broken != NULL ? save(broken) : save(whole);
        const uint64_t hash = wadi_sim_state_hash(whole);
        if (a.size != b.size || memcmp(a.bytes, b.bytes, a.size) != 0) {
            explain(whole, broken, of->name);
            fail();
        }
        if (k % of->every == 0) {
            wadi_sim_destroy(broken);
            CHECK_OK(wadi_sim_load(&broken, scene, &def, b.bytes, b.size, &error), error);
        }
        assert_true(wadi_sim_state_hash(broken) == hash);
        wadi_buffer_release(&a);
        wadi_buffer_release(&b);
        CHECK_OK(wadi_sim_step(whole, &error), error);
        CHECK_OK(wadi_sim_step(broken, &error), error);
        inside += wadi_sim_time(whole) > wadi_scene_frame_time(scene, wadi_sim_frame(whole));
        const int64_t asleep = wadi_sim_sleeping_particles(whole);
        assert_int_equal(asleep, wadi_sim_sleeping_particles(broken));
        least_asleep = asleep < least_asleep ? asleep : least_asleep;
        most_asleep = asleep > most_asleep ? asleep : most_asleep;
    }
    print_message("%s: %d steps, %lld of them inside of %d frames, %zu particles, %lld to %lld asleep\n",
                  of->name, of->steps, (long long)inside, wadi_sim_frame(whole) - first_frame + 1,
                  wadi_sim_particle_count(whole), (long long)least_asleep, (long long)most_asleep);
    wadi_sim_destroy(whole);
    wadi_sim_destroy(broken);
    wadi_scene_destroy(scene);
}

static void loads_after_any_step_change_no_byte(void **unused)
{
    (void)unused;
    const char *only = getenv("SCENE"); /* one of them, to look at it */
    for (int n = 0; n < STATE_SCENES; ++n) {
        if (only == NULL || strcmp(only, state_scenes[n].name) == 0) {
            check_scene(&state_scenes[n]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(loads_after_any_step_change_no_byte) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
