/* Runs with and without sleep, step by step. */
#ifndef WADI_TESTS_SLEEP_RUN_H
#define WADI_TESTS_SLEEP_RUN_H

#include <stdlib.h>

#include "flip/flip.h"
#include "scene_sim.h"
#include "sim/sim.h"

/* No particle is lost or twice in the store, and the counts of the sleeping tiles add up. */
static inline void check_store(const WadiSim *sim)
{
    const WadiParticles *p = &sim->particles;
    const WadiFlip *flip = sim->solver;
    uint8_t *seen = calloc(p->next_id, 1);
    int64_t lost = 0;
    assert_non_null(seen);
    for (int m = 0; m < 256; ++m) {
        lost += sim->lost[m];
    }
    assert_int_equal(lost, 0);
    assert_int_equal(p->count, p->next_id);
    for (int32_t i = 0; i < p->count; ++i) {
        assert_int_equal(seen[p->id[i]], 0);
        seen[p->id[i]] = 1;
    }
    int64_t count = 0;
    for (size_t t = 0; t < flip->sleep.tile_count; ++t) {
        count += flip->sleep.tile[t].count;
    }
    assert_int_equal(count, flip->sleep.count);
    free(seen);
}

typedef struct Run {
    WadiSim *sim;
    WadiScene *scene;
    double awake, all; /* particles times steps */
} Run;

static inline Run start(const char *text, bool sleeps)
{
    char whole[2048];
    snprintf(whole, sizeof whole, "%s%s", text, sleeps ? "" : "flip: {sleep: false}\n");
    Run run = { .scene = load_scene(whole) };
    run.sim = start_sim(run.scene, 1);
    return run;
}

static inline void step_until(Run *run, double time)
{
    WadiError error = { 0 };
    while (run->sim->time < time - 1e-9) {
        CHECK_OK(wadi_sim_step(run->sim, &error), error);
        run->all += run->sim->particles.count;
        run->awake += run->sim->particles.count - (double)wadi_sim_sleeping_particles(run->sim);
    }
}

static inline void finish(Run *run)
{
    wadi_sim_destroy(run->sim);
    wadi_scene_destroy(run->scene);
}

#endif
