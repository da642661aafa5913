/* How the rest of wadi reaches a solver: one small table of functions each. */
#ifndef WADI_WORLD_SOLVER_H
#define WADI_WORLD_SOLVER_H

#include "core/arena.h"
#include "core/timer.h"
#include "particles/crowd.h"
#include "particles/store.h"
#include "world/schema.h"
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

/* What is marked optional may be left out. */
struct WadiSolverType {
    const WadiSceneObject *settings; /* optional: the table of its settings, see sim/solvers.h */
    /* Optional, for what takes several values to check. The key at fault, "cell_size" or "flip.cfl", with the reason in `text`;
     * NULL: all is well. */
    const char *(*check)(const WadiScene *scene, char *text, size_t size);
    bool has_grid; /* whose cells leave bumps in the surface of the particles */
    /* Optional, where particles keep the volume that they began with: how much of it they may gain by becoming looser. Without it
     * drift.volume has no meaning. */
    double (*loose_band)(const WadiScene *scene);
    size_t scratch_bytes_each; /* that a particle takes in step scratch and solver arrays, for `wadi check` */
    /* Registers columns in context->particles, which is still empty; wadi_particles_show_column makes one an attribute of
     * frames. */
    WadiStatus (*create)(void **solver, const WadiSolverContext *context, WadiError *error);
    void (*destroy)(void *solver);
    /* Largest stable step from here and the name of the limit that gave it (a literal). */
    double (*largest_dt)(const void *solver, double time, const char **limit);
    WadiStatus (*step)(void *solver, const WadiSolverStep *now, WadiStepReport *report, WadiError *error);
    /* Optional: state beyond the particle columns. */
    WadiStatus (*save)(const void *solver, WadiState *state, WadiError *error);
    WadiStatus (*load)(void *solver, const WadiState *state, WadiError *error);
};

#endif
