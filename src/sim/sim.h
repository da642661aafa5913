/* A running simulation: world, particles, solver and clock. The public functions are in wadi/sim.h. */
#ifndef WADI_SIM_SIM_H
#define WADI_SIM_SIM_H

#include "wadi/sim.h"
#include "world/solver.h"

/* Invariant: time lies in [time of `frame`, time of `frame + 1`); it equals the former exactly at a frame. */
struct WadiSim {
    const WadiScene *scene; /* borrowed */
    WadiWorld *world;
    WadiParticles particles;
    const WadiSolverType *type;
    void *solver;
    WadiArena scratch;
    WadiStageTimes times;
    WadiLog log;
    int threads;
    int texture_column; /* of WadiScene.has_texture: the first of three */
    int outside_column; /* of a domain with open sides: see open_sides.c; 0: none */

    int frame;   /* last frame reached */
    double time; /* s */
    int64_t steps;
    double dt;             /* of the last step, s */
    const char *dt_limit;  /* what gave it; a literal */
    double max_divergence; /* over the run so far, 1/s */

    WadiEmitState *emit; /* one an emitter */
    WadiState *viewed;   /* what wadi_sim_view gives and no column holds; not part of the state */
    /* Particles by material that were seeded or emitted, and that were taken away by drains or lost: the ledger behind
     * `drift`. */
    int64_t born[256];
    int64_t drained[256];
    int64_t lost[256];
    uint64_t
        no_room_said; /* warnings given: bit 0: a crowd, bit 1 + i: emitter i (63: the rest) has no room */
    int64_t stuck_particles;    /* squeezed between solids in the last step */
    int64_t sleeping_particles; /* left out of the last step because they rest */

    /* Since this process built the simulation, for wadi_sim_profile; not part of the state. */
    struct {
        int64_t steps, particle_steps;
        int64_t pressure_solves, pressure_iterations, friction_solves, friction_iterations;
        int64_t cells, grid_cells; /* of the last step */
        size_t scratch_bytes;      /* that it needed */
    } work;
};

/* wadi_sim_create in two parts: a world and a solver without particles (what a restored or an estimated run needs), and the
 * particles of time 0. */
WadiStatus wadi_sim_create_empty(WadiSim **sim, const WadiScene *scene, const WadiSimDef *def,
                                 WadiError *error);
WadiStatus wadi_sim_seed(WadiSim *sim, WadiError *error);

/* Refuse a scene whose particles at time 0, or at the end of `duration` seconds of pouring, cannot fit into the memory that is left.
 * Quick, and before anything large is allocated. */
WadiStatus wadi_sim_check_memory(const WadiSim *sim, double duration, WadiError *error);

/* Add what frames have that follows from the material alone: "radius" and "density". */
WadiStatus wadi_sim_material_attributes(const WadiSim *sim, WadiState *state, WadiError *error);
/* Everything the frame file and the checkpoint hold; see WadiUse. Keeps the memory of `state`. */
WadiStatus wadi_sim_snapshot(const WadiSim *sim, WadiState *state, WadiError *error);
/* Continue from a checkpoint's arrays. On failure the simulation is not usable but may be destroyed. */
WadiStatus wadi_sim_restore(WadiSim *sim, const WadiState *state, WadiError *error);

/* Relative difference between the mass that should be there (born minus drained) and the mass that is, over all
 * materials or those of one kind (kind -1: all). */
double wadi_sim_mass_drift(const WadiSim *sim, int kind);
/* Particles of a material present now. */
int64_t wadi_sim_material_count(const WadiSim *sim, int material);

/* Remove what left the domain through its open sides; counted in `drained`. */
WadiStatus wadi_sim_drain_open_sides(WadiSim *sim, WadiError *error);

/* Warn once of each: material that has no room, and an emitter that waits for room (-1: it is not an emitter's). */
void wadi_sim_say_crowd(WadiSim *sim, const WadiCrowd *crowd, int emitter);

/* Remove particles that are not finite or left the world; counted in `lost`, said once a step through the log. */
WadiStatus wadi_sim_remove_lost(WadiSim *sim, WadiError *error);

#endif
