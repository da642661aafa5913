/* A scene gives the same bytes for 1, 2 and 5 threads, and when it is interrupted and resumed with another
 * number. */
#ifndef WADI_TESTS_SAME_BYTES_H
#define WADI_TESTS_SAME_BYTES_H

#include "scene_sim.h"
#include "sim/sim.h"

static inline void check_same_bytes(const char *text, int frames_before, int frames_after)
{
    WadiScene *scene = load_scene(text);
    const int threads[4] = { 1, 2, 5, 2 };
    uint64_t first = 0;
    for (int k = 0; k < 4; ++k) {
        WadiError error = { 0 };
        WadiSim *sim = start_sim(scene, threads[k]);
        run_frames(sim, frames_before);
        if (k == 3) {
            WadiState state = { 0 };
            CHECK_OK(wadi_sim_snapshot(sim, &state, &error), error);
            wadi_sim_destroy(sim);
            sim = start_sim(scene, 1);
            CHECK_OK(wadi_sim_restore(sim, &state, &error), error);
            wadi_state_free(&state);
        }
        run_frames(sim, frames_after);
        uint64_t hash = wadi_sim_state_hash(sim);
        first = k == 0 ? hash : first;
        assert_true(hash == first);
        wadi_sim_destroy(sim);
    }
    wadi_scene_destroy(scene);
}

#endif
