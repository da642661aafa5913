/* A running simulation: world, particles, solver and clock. The public functions are in wadi/sim.h. */
#ifndef WADI_SIM_SIM_H
#define WADI_SIM_SIM_H

#include "core/text.h"
#include "wadi/sim.h"
#include "world/solver.h"

/* Invariant: time is in [time of `frame`, time of `frame + 1`), and equals the former exactly at a frame. */
struct WadiSim {
    const WadiScene *scene; /* borrowed; after a change that of `changes` */
    WadiWorld *world;
    WadiParticles particles;
    const WadiSolverType *type;
    void *solver;
    WadiArena scratch;
    WadiStageTimes times;
    WadiStatus stopped; /* not WADI_OK: why the particles are no valid state; see wadi_sim_stopped_stage */
    const char *stopped_stage;
    bool is_stepping; /* its particles and clock are between two states */
    WadiLog log;
    int threads;
    WadiTasks tasks;
    int texture_column; /* with WadiScene.has_texture: the first of three */
    int outside_column; /* in a domain with open sides: see open_sides.c; 0: none */

    int frame;   /* last frame reached */
    double time; /* s */
    int64_t steps;
    double dt;             /* of the last step, s */
    const char *dt_limit;  /* name of its limit; a literal */
    double max_divergence; /* over the run so far, 1/s */

    WadiEmitState *emit; /* one per emitter */
    WadiState *viewed;   /* arrays for wadi_sim_view that are no columns; not part of the state */
    /* Particles seeded or emitted, drained, and lost, by material: the balance behind `drift`. */
    int64_t born[256];
    int64_t drained[256];
    int64_t lost[256];
    /* The volume that was drained, in quanta (world/water.h), where particles have a column `volume`; and the
     * balance of a column `water`, in the same. */
    int64_t drained_volume[256];
    int64_t water_born, water_drained, water_evaporated;
    WadiSolidLoads loads;      /* forces of the material on solids */
    WadiStageWatch watch;      /* of the stages of steps */
    WadiResampling resampling; /* of the solver: wadi_sim_read_resampling */
    /* Warnings given: bit 0: overfull material, bit 1 + i: emitter i waits for space (63: all further
     * ones). */
    uint64_t overfull_warnings;
    int64_t stuck_particles;    /* squeezed between solids in the last step */
    int64_t sleeping_particles; /* excluded from the last step because they are at rest */

    /* Changes from outside while it runs, one a line of YAML (docs/library.md). What applies them is in api,
     * since it reads the scene language: `before_step` applies those that are due, `destroy_changes` frees
     * `changes`. All NULL and empty until the first change. */
    WadiText change_log;
    struct WadiChanges *changes;
    WadiStatus (*before_step)(WadiSim *sim, WadiError *error);
    void (*destroy_changes)(struct WadiChanges *changes);

    /* Since this process created the simulation, for wadi_sim_profile; not part of the state. */
    struct {
        int64_t steps, particle_steps;
        int64_t pressure_solves, pressure_iterations, friction_solves, friction_iterations;
        int64_t cells, grid_cells; /* of the last step */
        size_t scratch_bytes;      /* used by the last step */
    } work;
};

/* wadi_sim_create in two parts: world and solver without particles (for a restored or an estimated run), then
 * the particles of time 0. */
WadiStatus wadi_sim_create_empty(WadiSim **sim, const WadiScene *scene, const WadiSimDef *def,
                                 WadiError *error);
/* Warnings that need no particles, also of the solver. */
void wadi_sim_warn(const WadiSim *sim);
WadiStatus wadi_sim_seed(WadiSim *sim, WadiError *error);

/* World, store and solver for sim->scene, without particles; and their release, after which only they can be
 * prepared again or the simulation be destroyed. */
WadiStatus wadi_sim_prepare(WadiSim *sim, WadiError *error);
void wadi_sim_release(WadiSim *sim);
/* Continues with another scene of the same solver, cells and materials. The particles and the clock stay, and
 * the solver's own state where the columns of both are the same. After a failure the simulation is as
 * before, unless memory for that is missing too: then it has stopped, without particles. */
WadiStatus wadi_sim_change_scene(WadiSim *sim, const WadiScene *scene, WadiError *error);
/* How many particles wadi_sim_add_body adds at most, roughly; fast and without large memory. */
WadiStatus wadi_sim_expect_body(const WadiSim *sim, const WadiBodyDef *body, double *count, WadiError *error);
/* Adds the particles of a body, but none nearer than 3/4 of the spacing to a present one. */
WadiStatus wadi_sim_add_body(WadiSim *sim, const WadiBodyDef *body, int64_t *added, WadiError *error);
/* A particle that a program gives. */
typedef struct WadiPoint {
    double x[3];       /* m */
    float v[3];        /* m/s */
    uint32_t material; /* number in the scene */
} WadiPoint;
/* WADI_ERR_ARGUMENT names the first one with a value that is not finite or with an unknown material. */
WadiStatus wadi_sim_check_points(const WadiSim *sim, const WadiPoint *points, size_t count, WadiError *error);
/* Adds them, but none inside solids, beyond closed walls or nearer than 3/4 of the spacing to a present
 * particle. */
WadiStatus wadi_sim_insert_points(WadiSim *sim, const WadiPoint *points, size_t count, int64_t *added,
                                  WadiError *error);
/* Removes those of the `*added` particles from `first` on that are nearer than that to an older one. */
WadiStatus wadi_sim_drop_crowded(WadiSim *sim, int32_t first, int64_t *added, WadiError *error);
/* Completes particles that a change added: WadiSolverType.born, and `pack` where they lie loosely. A failure
 * stops the simulation. */
WadiStatus wadi_sim_finish_added(WadiSim *sim, int32_t first, double saturation, bool is_loose,
                                 WadiError *error);
/* Removes the particles inside the shape, of one material or (-1) of all; they count as drained. */
WadiStatus wadi_sim_remove_inside(WadiSim *sim, const WadiShapeDef *def, int material, int64_t *removed,
                                  WadiError *error);
/* Sets the water of all particles of a material of sand, where the solver keeps it: in the pores, none
 * outside them. What is added counts as born, what is taken as drained. */
void wadi_sim_wet(WadiSim *sim, int material, double saturation);
/* Completes the particles from `first` on, which are new: appends those that their seeds become
 * (WadiWorld.particles_each), sets positions at birth and the columns of the solver. */
WadiStatus wadi_sim_set_born(WadiSim *sim, int32_t first, WadiError *error);
/* WadiSolverType.pack of the particles from `first` on. */
WadiStatus wadi_sim_pack(WadiSim *sim, int32_t first, WadiError *error);

/* solid_force.c: the table of forces on solids: its first line, and those of the present frame (none in
 * frame 1). Names of colliders have no commas. */
const char *wadi_sim_forces_header(void);
WadiStatus wadi_sim_forces_rows(const WadiSim *sim, WadiText *rows, WadiError *error);

/* Fails when a step or a change before failed half-way. */
WadiStatus wadi_sim_check_state(const WadiSim *sim, WadiError *error);
/* Fails for NULL, and within a step: in a callback of the program's. */
WadiStatus wadi_sim_check_idle(const WadiSim *sim, WadiError *error);

/* Fails when the particles at time 0, or after `duration` seconds of pouring, cannot fit into the free
 * memory. Fast, and before any large allocation. */
WadiStatus wadi_sim_check_memory(const WadiSim *sim, double duration, WadiError *error);
/* The same for particles that a change adds. */
WadiStatus wadi_sim_check_added(const WadiSim *sim, const WadiSeedIn *in, WadiError *error);

/* Adds the frame arrays "radius" and "density", by material and, where particles exchange it, water. */
WadiStatus wadi_sim_material_attributes(const WadiSim *sim, WadiState *state, WadiError *error);
/* Everything in the frame file and the checkpoint; see WadiUse. Reuses the memory of `state`. */
WadiStatus wadi_sim_snapshot(const WadiSim *sim, WadiState *state, WadiError *error);
/* Restores the arrays of a checkpoint. After a failure the simulation can only be destroyed. */
WadiStatus wadi_sim_restore(WadiSim *sim, const WadiState *state, WadiError *error);
/* The same without the state of the solver, which starts as with new particles. */
WadiStatus wadi_sim_restore_particles(WadiSim *sim, const WadiState *state, WadiError *error);

/* Relative difference between the expected mass (born minus drained) and the present mass, over all materials
 * or those of one kind (kind -1: all). */
double wadi_sim_mass_drift(const WadiSim *sim, int kind);
/* Reads `resampling` from the solver: after every step, and after seeding and restoring. */
void wadi_sim_read_resampling(WadiSim *sim);
/* Particles of a material present now. */
int64_t wadi_sim_material_count(const WadiSim *sim, int material);

/* Removes the marked particles: drained, with their volume and their water. Returns their number. */
int32_t wadi_sim_remove_drained(WadiSim *sim, const uint8_t *is_removed);
/* Removes particles that left the domain through its open sides; they count as drained. */
WadiStatus wadi_sim_drain_open_sides(WadiSim *sim, WadiError *error);

/* Warns, once for each cause, about overfull material (emitter -1) or about an emitter that waits for free
 * space. */
void wadi_sim_warn_overfull(WadiSim *sim, const WadiOverfullRegion *region, int emitter);
/* Warns, once for each emitter, that a part of what it pours had no room; m^3. */
void wadi_sim_warn_refused(WadiSim *sim, double refused, int emitter);

/* Removes particles that are too far away in a world without walls; counted in `lost`, with one warning per
 * step. Fails where a particle passed a closed wall or is not finite. */
WadiStatus wadi_sim_remove_lost(WadiSim *sim, WadiError *error);

#endif
