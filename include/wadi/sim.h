/* Simulations in memory: step a scene and read its particles. Nothing is written to disk; see run.h for
 * that. */
#ifndef WADI_SIM_H
#define WADI_SIM_H

#include "wadi/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct WadiSim WadiSim;

typedef struct WadiSimDef {
    int cookie;  /* set by wadi_default_sim_def */
    int threads; /* 0: all cores. Results do not depend on it. */
    /* The threads are the program's: a loop is at most `threads` tasks. Results do not depend on it. */
    WadiTasks tasks;
    WadiLog log; /* warnings; function may be NULL */
} WadiSimDef;

WADI_API WadiSimDef wadi_default_sim_def(void);

/* Builds the world and seeds the bodies: the state of frame 1, time 0. The scene must outlive the
 * simulation. */
WADI_API WadiStatus wadi_sim_create(WadiSim **sim, const WadiScene *scene, const WadiSimDef *def,
                                    WadiError *error);
WADI_API void wadi_sim_destroy(WadiSim *sim);

/* The exact state as bytes: those of the checkpoint file that wadi_run would write now, also between frames
 * (docs/formats.md). *buffer is empty after a failure. Needs memory for two copies of the state. */
WADI_API WadiStatus wadi_sim_save(const WadiSim *sim, WadiBuffer *buffer, WadiError *error);
/* Creates a simulation from these bytes, or from those of a checkpoint file; it continues with the same
 * results as the saved one. The scene may have changed if its materials, emitters, solver and fps are
 * compatible. Untrusted bytes are allowed: damaged or inconsistent ones give WADI_ERR_FORMAT. *sim is NULL
 * after a failure; `bytes` are not needed afterwards. */
WADI_API WadiStatus wadi_sim_load(WadiSim **sim, const WadiScene *scene, const WadiSimDef *def,
                                  const void *bytes, size_t size, WadiError *error);

/* One step, at most to the end of the current frame. Within it, in a callback such as WadiTasks.run, other
 * simulations may be used; calls with this one fail with WADI_ERR_ARGUMENT, and it must not be destroyed.
 * A failure inside its stages stops the simulation: the particles are then no valid state, and steps,
 * changes and wadi_sim_save fail until it is destroyed. */
WADI_API WadiStatus wadi_sim_step(WadiSim *sim, WadiError *error);
/* Stage in which the simulation stopped ("pressure", …; "change": a change failed and could not be taken
 * back); NULL: it has not. Static storage. */
WADI_API const char *wadi_sim_stopped_stage(const WadiSim *sim);
/* Steps to the next frame. */
WADI_API WadiStatus wadi_sim_step_frame(WadiSim *sim, WadiError *error);

WADI_API int wadi_sim_frame(const WadiSim *sim);   /* last frame reached; 1 after create */
WADI_API double wadi_sim_time(const WadiSim *sim); /* s */
WADI_API int64_t wadi_sim_steps(const WadiSim *sim);
WADI_API size_t wadi_sim_particle_count(const WadiSim *sim);
WADI_API int64_t wadi_sim_lost_particles(const WadiSim *sim);
/* Particles removed by drains or through open sides of the domain. */
WADI_API int64_t wadi_sim_drained_particles(const WadiSim *sim);
/* Particles excluded from the last step because they are at rest; 0 after a restart. */
WADI_API int64_t wadi_sim_sleeping_particles(const WadiSim *sim);
/* Hash of the exact state: equal states have equal hashes, for any thread count. */
WADI_API uint64_t wadi_sim_state_hash(const WadiSim *sim);

typedef enum WadiViewType {
    WADI_VIEW_U8,
    WADI_VIEW_U32,
    WADI_VIEW_F32,
    WADI_VIEW_F64,
    WADI_VIEW_I32,
    WADI_VIEW_U64,
} WadiViewType;

/* One quantity of all particles: component c of particle i is at (char *)data[c] + i * stride. */
typedef struct WadiView {
    const void *data[3]; /* unused components are NULL */
    WadiViewType type;
    int components;
    size_t count;
    size_t stride; /* bytes */
} WadiView;

/* Every dataset of the frames of this scene, by its name in docs/formats.md: "position" (f64 x 3, m),
 * "velocity" (f32 x 3, m/s), "id" (u32), "material" (u8: index, in scene order), "radius" (f32, m), "density"
 * (f32, kg/m^3), and those of the solver: "pressure" (f32, Pa), …, which are of the last frame. Valid until
 * the next step; not for two threads at once. WADI_ERR_ARGUMENT for an unknown name. */
WADI_API WadiStatus wadi_sim_view(const WadiSim *sim, const char *name, WadiView *view, WadiError *error);

/* Force of the material on a solid: what the solid gives to the material, with the opposite sign. Mean over
 * the last complete frame; 0 in frame 1. What rests goes on weighing. */
typedef struct WadiSolidForce {
    const char *name; /* of a collider, or its number, "0"; of a side of the domain "x_min" to "z_max" */
    int collider;     /* number in the scene; -1: a side of the domain */
    double pivot[3];  /* m: torques are about it; the collider's translate + pivot now, sides: the origin */
    double pressure[3], friction[3];               /* N: along the normals of the surface, and across */
    double pressure_torque[3], friction_torque[3]; /* N m */
} WadiSolidForce;

/* Sides of the domain that are closed, then the colliders in scene order. 0: the solver does not report
 * forces (docs/formats.md says which do). */
WADI_API int wadi_sim_solid_count(const WadiSim *sim);
/* The name is valid until the next call or change. WADI_ERR_ARGUMENT: no such solid. */
WADI_API WadiStatus wadi_sim_solid_force(const WadiSim *sim, int solid, WadiSolidForce *force,
                                         WadiError *error);

enum { WADI_PROFILE_STAGE_MAX = 48 };

/* Time and memory used by a simulation since it was created. */
typedef struct WadiProfile {
    int threads;
    int stage_count;
    /* Names, in the order in which they first ran; static storage. */
    const char *stage[WADI_PROFILE_STAGE_MAX];
    double seconds[WADI_PROFILE_STAGE_MAX];
    int64_t steps;
    int64_t particle_steps; /* sum of the particles over the steps */
    int64_t pressure_solves, pressure_iterations;
    int64_t friction_solves, friction_iterations;
    int64_t cells;         /* of the solver's grid with material, in the last step; 0: no grid */
    int64_t grid_cells;    /* all cells of the grid */
    size_t particle_bytes; /* per particle in the store */
    size_t scratch_bytes;  /* used by the last step, without the store */
    size_t live_bytes;     /* allocated by the library in total */
} WadiProfile;

WADI_API void wadi_sim_profile(const WadiSim *sim, WadiProfile *profile);

#ifdef __cplusplus
}
#endif
#endif
