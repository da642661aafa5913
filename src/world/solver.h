/* How the rest of wadi reaches a solver: one small table of functions each. */
#ifndef WADI_WORLD_SOLVER_H
#define WADI_WORLD_SOLVER_H

#include "core/arena.h"
#include "core/timer.h"
#include "particles/crowd.h"
#include "particles/store.h"
#include "world/world.h"

/* What a solver works on. Emission, drains and the removal of lost particles happen in sim, between steps. */
typedef struct WadiSolverContext {
    const WadiWorld *world;
    WadiParticles *particles;
    WadiArena *scratch; /* reset after every step */
    WadiStageTimes *times;
    const WadiLog *log;
} WadiSolverContext;

/* In the checking build, after a stage called `name`: the first particle that is not finite ends the run with the stage's
 * name. Nothing otherwise. */
WadiStatus wadi_solver_check_stage(const WadiSolverContext *context, const char *name, WadiError *error);

typedef struct WadiStepReport {
    double max_divergence; /* 1/s; 0 where it has no meaning */
    int64_t stuck_particles;
    int64_t sleeping_particles; /* left out because they rest */
    /* Linear and friction solves of the step and their iterations in all. */
    int pressure_solves, pressure_iterations;
    int friction_solves, friction_iterations;
    int64_t cells;      /* of the solver's grid that hold material; 0: there is no grid */
    int64_t grid_cells; /* of the grid in all, its margin included */
    WadiCrowds crowds;  /* where there is no room; in the step's scratch */
} WadiStepReport;

/* When a step is taken. */
typedef struct WadiSolverStep {
    double time, dt; /* s */
    bool ends_frame; /* the state after it is a frame */
} WadiSolverStep;

typedef struct WadiSolverType {
    const char *name;    /* as in `solver:` */
    const char *summary; /* one line for help and docs */
    bool keeps_volume;   /* particles keep the room that they began with: drift.volume has a meaning */
    /* Registers columns in context->particles, which is still empty. */
    WadiStatus (*create)(void **solver, const WadiSolverContext *context, WadiError *error);
    void (*destroy)(void *solver);
    /* Largest stable step from here and the name of the limit that gave it (a literal). */
    double (*largest_dt)(const void *solver, double time, const char **limit);
    WadiStatus (*step)(void *solver, const WadiSolverStep *now, WadiStepReport *report, WadiError *error);
    /* State beyond the particle columns; may do nothing. */
    WadiStatus (*save)(const void *solver, WadiState *state, WadiError *error);
    WadiStatus (*load)(void *solver, const WadiState *state, WadiError *error);
    /* Add this solver's per-particle results to a frame, under the attribute names of docs/formats.md. */
    WadiStatus (*view)(const void *solver, WadiState *frame, WadiError *error);
    /* Bytes a particle takes in step scratch and solver arrays, for `wadi check`. */
    size_t (*scratch_bytes_each)(const void *solver);
} WadiSolverType;

#endif
