/* Simulations of scenes given as text. */
#ifndef WADI_TESTS_SCENE_SIM_H
#define WADI_TESTS_SCENE_SIM_H

#include <string.h>

#include "expect.h"
#include "particles/store.h"
#include "wadi/wadi.h"

static inline WadiScene *load_scene(const char *text)
{
    WadiError error = { 0 };
    WadiSceneDef def = wadi_default_scene_def();
    def.text = text;
    WadiScene *scene = NULL;
    CHECK_OK(wadi_scene_load(&scene, &def, &error), error);
    return scene;
}

/* threads 0: all cores. */
static inline WadiSim *start_sim(const WadiScene *scene, int threads)
{
    WadiError error = { 0 };
    WadiSimDef def = wadi_default_sim_def();
    def.threads = threads;
    WadiSim *sim = NULL;
    CHECK_OK(wadi_sim_create(&sim, scene, &def, &error), error);
    return sim;
}

static inline void run_frames(WadiSim *sim, int frames)
{
    WadiError error = { 0 };
    for (int i = 0; i < frames; ++i) {
        CHECK_OK(wadi_sim_step_frame(sim, &error), error);
    }
}

/* m/s, of the particles. */
static inline double mean_speed(const WadiParticles *p)
{
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += sqrt((double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]));
    }
    return sum / p->count;
}

/* m, of the particles. */
static inline double mean_height(const WadiParticles *p)
{
    double sum = 0.0;
    for (int32_t i = 0; i < p->count; ++i) {
        sum += p->z[i];
    }
    return sum / p->count;
}

static inline const float *column_of(const WadiParticles *particles, const char *name)
{
    for (int c = 0; c < particles->column_count; ++c) {
        if (strcmp(particles->column[c].name, name) == 0) {
            return particles->column[c].data;
        }
    }
    fail_msg("no column %s", name);
    return NULL;
}

#endif
