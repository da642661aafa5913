/* Interface of a solver: one small table of functions. */
#ifndef WADI_WORLD_SOLVER_H
#define WADI_WORLD_SOLVER_H

#include "core/arena.h"
#include "core/timer.h"
#include "particles/overfull.h"
#include "particles/store.h"
#include "world/schema.h"
#include "world/solid_loads.h"
#include "world/world.h"

/* The velocity on a solver's grid between two stages of a step. */
typedef struct WadiStageGrid {
    const void *grid;
    /* m/s at a position; false: the grid has no velocity there. */
    bool (*sample)(const void *grid, const double position[3], double velocity[3]);
} WadiStageGrid;

/* For programs that explain a step. */
typedef struct WadiStageWatch {
    /* Called after each stage; NULL: nobody watches. `grid` NULL: there is none, or not yet. */
    void (*call)(void *user, const char *stage, const WadiStageGrid *grid);
    void *user;
} WadiStageWatch;

/* Data a solver works on. Emission, drains and removal of lost particles happen in sim, between steps. */
typedef struct WadiSolverContext {
    const WadiWorld *world;
    WadiParticles *particles;
    WadiArena *scratch; /* reset after every step */
    WadiStageTimes *times;
    const WadiLog *log;
    WadiSolidLoads *loads;       /* forces on solids: see WadiSolidLoads.is_reported */
    const WadiStageWatch *watch; /* NULL: none */
} WadiSolverContext;

/* Tells who watches that the stage `name` is over. */
void wadi_solver_tell_stage(const WadiSolverContext *context, const char *name, const WadiStageGrid *grid);

/* Tells so, without a grid. In the checking build, after the stage `name`: fails with the stage's name at the
 * first particle that is not finite. */
WadiStatus wadi_solver_check_stage(const WadiSolverContext *context, const char *name, WadiError *error);

/* The same without telling. */
WadiStatus wadi_solver_check_particles(const WadiSolverContext *context, const char *name, WadiError *error);

/* Splits and merges of particles in all of a run, and what merges lost by nature. */
typedef struct WadiResampling {
    bool is_on;
    int64_t splits, merges, shares;
    WadiVec3 spin; /* kg m^2/s, about the origin */
    double energy; /* J */
} WadiResampling;

typedef struct WadiStepReport {
    double max_divergence; /* 1/s; 0 where it has no meaning */
    int64_t stuck_particles;
    int64_t sleeping_particles; /* excluded because they are at rest */
    /* Pressure and friction solves of the step, and the sum of their iterations. */
    int pressure_solves, pressure_iterations;
    int friction_solves, friction_iterations;
    int64_t evaporated_water;  /* quanta, see world/water.h */
    int64_t cells;             /* of the solver's grid with material; 0: no grid */
    int64_t grid_cells;        /* all cells of the grid, margin included */
    WadiOverfullList overfull; /* overfull regions; in the step's scratch */
} WadiStepReport;

/* Time of a step. */
typedef struct WadiSolverStep {
    double time, dt; /* s */
    bool ends_frame; /* the state after it is a frame */
} WadiSolverStep;

/* Optional members may be NULL or 0. */
struct WadiSolverType {
    const WadiSceneObject *settings; /* optional: the table of its settings, see sim/solvers.h */
    /* Optional: checks of several values. Returns the wrong key, "cell_size" or "flip.cfl", with the reason
     * in `text`; NULL when all is valid. */
    const char *(*check)(const WadiScene *scene, char *text, size_t size);
    /* Optional, after the check: settings and materials that follow from other settings. */
    void (*resolve)(WadiScene *scene, void *settings);
    /* Optional: warns of values that are valid, but that the solver does not reach. */
    void (*warn)(const WadiScene *scene, const WadiLog *log);
    bool has_grid; /* its cells leave bumps in the surface of the particles */
    /* Its particles push each other: bodies start near a lattice, with a tenth of their jitter, and the
     * snap zb05, which lays two rows on one another, is left out. */
    bool wants_even_seeds;
    double seed_jitter; /* the part of their jitter instead of a tenth; 0: a tenth */
    bool has_grains;    /* a particle of sand is a grain of its own radius, and drawn as it is */
    bool has_pores;     /* water enters sand: the keys of the pores and `saturation` have an effect */
    /* Optional: particles that each seeded or emitted one becomes, at its position; 1 without it. The volume
     * of a seed is divided among them. `born` gets all first ones, then all second ones, and so on. */
    int (*particles_each)(const WadiScene *scene);
    /* Optional, for particles that fill the space they are in: the fraction by which the material may expand.
     * Without it drift.volume is undefined. */
    double (*allowed_expansion)(const WadiScene *scene);
    double allowed_drift;      /* of the volume, in both directions, before a warning; 0: 1 % */
    size_t scratch_bytes_each; /* bytes per particle in step scratch and solver arrays, for `wadi check` */
    /* Registers columns in context->particles, which is still empty; wadi_particles_show_column makes a
     * column an attribute of frames. */
    WadiStatus (*create)(void **solver, const WadiSolverContext *context, WadiError *error);
    void (*destroy)(void *solver);
    /* Optional: sets the columns of the particles from `first` on, which were just seeded or emitted. */
    void (*born)(void *solver, int32_t first);
    /* Optional: moves the particles from `first` on, which were just seeded into bodies and born, so
     * that they do no work on each other and on those before them. */
    WadiStatus (*pack)(void *solver, int32_t first, WadiError *error);
    /* Optional, instead of wadi_emit_step and `born`: appends the particles of an emitter that are due in the
     * step, all that seeds become. *refused: m^3 that had no room and will not be emitted. */
    WadiStatus (*emit)(void *solver, const WadiEmitIn *in, const WadiSolverStep *now, WadiEmitState *state,
                       double *refused, WadiError *error);
    /* Largest stable step now, and the name of its limit (a literal). */
    double (*largest_dt)(const void *solver, double time, const char **limit);
    WadiStatus (*step)(void *solver, const WadiSolverStep *now, WadiStepReport *report, WadiError *error);
    /* Optional: state besides the particle columns. */
    WadiStatus (*save)(const void *solver, WadiState *state, WadiError *error);
    WadiStatus (*load)(void *solver, const WadiState *state, WadiError *error);
    /* Optional: totals of splits and merges, also of a state that was just loaded. */
    void (*resampling)(const void *solver, WadiResampling *out);
    /* Optional, before a load: the state is from another scene. What depends on its solids is made anew. */
    void (*renew)(void *solver);
    /* Optional: what rests takes part in the next step again, because the world was changed from outside. */
    void (*wake)(void *solver);
};

#endif
