/* What a viewer shows besides the particles of a simulation: facts of the scene, the shapes of its colliders,
 * and the frames of a finished run. Experimental: functions may still change. */
#ifndef WADI_SHOW_H
#define WADI_SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "wadi/sim.h"
#include "wadi/surface.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The scene as JSON for a program that shows it: name, solver, fps, frames, cell_size, spacing, domain,
 * gravity, wall_friction, materials (name, kind and values), colliders (name, moves), emitters, surface
 * settings; keyframed values at `time`. Release the text with wadi_text_release. */
WADI_API WadiStatus wadi_scene_facts(const WadiScene *scene, double time, char **json, WadiError *error);
/* The scene as the simulation has it now, after changes; valid until the next change. */
WADI_API const WadiScene *wadi_sim_scene(const WadiSim *sim);

/* Name of the n-th quantity of wadi_sim_view, from 0; NULL: there are no more. */
WADI_API const char *wadi_sim_view_name(const WadiSim *sim, int n);

/* The surface of collider n of the scene at the present time, without normals. Of unbounded shapes the part
 * in and around the domain. Details are as large as a cell. Release it with wadi_mesh_release. */
WADI_API WadiStatus wadi_sim_collider_mesh(const WadiSim *sim, int n, WadiMeshData *mesh, WadiError *error);
/* Whether collider n moves now. */
WADI_API bool wadi_sim_collider_moves(const WadiSim *sim, int n);

/* Sums over the particles. */
typedef struct WadiTotals {
    double mass;    /* kg, without water in the pores of sand */
    double kinetic; /* J */
    /* J, with gravity as it is now; 0 at the lowest corner of the domain, or at the origin. */
    double potential;
    double volume; /* m^3, that the material fills: where it is deep, its particles are counted */
} WadiTotals;
WADI_API WadiStatus wadi_sim_totals(const WadiSim *sim, WadiTotals *totals, WadiError *error);
/* For each point (x, y, z) 1 where a collider is or what is beyond a closed side of the domain, else 0. */
WADI_API WadiStatus wadi_sim_solid(const WadiSim *sim, const double *points, size_t count, uint8_t *is_inside,
                                   WadiError *error);

/* The velocity on the grid of a solver between two stages of a step; NULL: there is none, or not yet. */
typedef struct WadiStageGrid WadiStageGrid;
typedef void (*WadiStageFunction)(void *user, const char *stage, const WadiStageGrid *grid);
/* Calls the function after each stage of the steps from now on, in the thread that steps; NULL: none. The
 * simulation must not be used in it. */
WADI_API void wadi_sim_watch_stages(WadiSim *sim, WadiStageFunction call, void *user);
/* m/s at a position; false: the grid has no velocity there. */
WADI_API bool wadi_stage_velocity(const WadiStageGrid *grid, const double position[3], double velocity[3]);

/* A run folder opened to read its frames. One thread at a time. */
typedef struct WadiRunReader WadiRunReader;

/* WADI_ERR_IO: no run, or no frame yet. *reader is NULL after a failure. */
WADI_API WadiStatus wadi_run_reader_open(WadiRunReader **reader, const char *run, WadiError *error);
WADI_API void wadi_run_reader_close(WadiRunReader *reader);
/* A file in RUN/assets that changed since the run, as a sentence; NULL: none. Valid until the reader is
 * closed. */
WADI_API const char *wadi_run_reader_warning(const WadiRunReader *reader);
/* The scene of the run; valid until the reader is closed. */
WADI_API const WadiScene *wadi_run_reader_scene(const WadiRunReader *reader);
/* Finished frames now: more when the run goes on, 0 when they are gone. */
WADI_API int wadi_run_reader_frames(const WadiRunReader *reader);
/* Reads frame `frame`, from 1. After a failure the frame read before stays. */
WADI_API WadiStatus wadi_run_reader_read(WadiRunReader *reader, int frame, WadiError *error);
/* Of the frame read last; 0: none. */
WADI_API int wadi_run_reader_frame(const WadiRunReader *reader);
WADI_API double wadi_run_reader_time(const WadiRunReader *reader); /* s */
/* As wadi_sim_view, of the frame read last: valid until the next read. */
WADI_API WadiStatus wadi_run_reader_view(const WadiRunReader *reader, const char *name, WadiView *view,
                                         WadiError *error);
WADI_API const char *wadi_run_reader_view_name(const WadiRunReader *reader, int n);
/* As of a simulation, at the time of the frame read last. */
WADI_API WadiStatus wadi_run_reader_collider_mesh(WadiRunReader *reader, int n, WadiMeshData *mesh,
                                                  WadiError *error);
WADI_API bool wadi_run_reader_collider_moves(WadiRunReader *reader, int n);
WADI_API WadiStatus wadi_run_reader_solid(WadiRunReader *reader, const double *points, size_t count,
                                          uint8_t *is_inside, WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
