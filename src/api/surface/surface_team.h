/* Worker threads that make the surfaces of frames. */
#ifndef WADI_API_SURFACE_TEAM_H
#define WADI_API_SURFACE_TEAM_H

#include <pthread.h>

#include "api/surface/surface_plan.h"
#include "core/timer.h"
#include "io/run/output_index.h"

/* Result of one part of one frame. */
typedef struct WadiSurfaceMade {
    unsigned written, kept; /* bits of WadiSurfaceFormat */
    int64_t particles, triangles, vertices;
} WadiSurfaceMade;

typedef enum WadiFrameState { WADI_FRAME_WAITS, WADI_FRAME_DONE, WADI_FRAME_FAILED } WadiFrameState;

typedef struct WadiSurfaceWorker WadiSurfaceWorker;

typedef struct WadiSurfaceTeam {
    const WadiSurfacePlan *plan;
    const WadiSurfaceDef *def;
    WadiOutputIndex outputs; /* of the folder */
    const int *frames;       /* to make now */
    int frame_count;
    int total;     /* frames of the call */
    int *list;     /* all of them, where they are not shared */
    char name[32]; /* of this work in the folder */
    WadiSurfaceReport *report;
    WadiSurfaceWorker *workers;
    int worker_count;
    int inner_threads;     /* of each worker's team */
    WadiSurfaceMade *made; /* indexed by frame, then part */
    WadiFrameState *state; /* of each frame */
    WadiError *error;      /* of the first failed frame */
    double start;          /* s */
    double memory;         /* bytes for each thread */

    pthread_mutex_t mutex; /* guards the members below, `made` and `state` */
    pthread_cond_t changed;
    int next; /* next frame to process */
    int running;
    int failed; /* the first failed frame; frame_count: none */
    WadiStageTimes times;
} WadiSurfaceTeam;

/* Data of one worker thread. */
struct WadiSurfaceWorker {
    WadiSurfaceTeam *team;
    pthread_t thread;
    WadiArena arena;
    WadiState frame;
    WadiStageTimes times;
};

/* Makes these frames and reports their files. */
WadiStatus wadi_surface_team_make(WadiSurfaceTeam *team, const int *frames, int frame_count,
                                  WadiError *error);
/* Bits of the formats that must be written. */
unsigned wadi_surface_team_missing(const WadiSurfaceTeam *team, int part, int frame, uint64_t key);
/* Reports the files of team->frames[index], as `made` has them. */
void wadi_surface_team_report(const WadiSurfaceTeam *team, int index);

/* The loop of WadiSurfaceDef.is_shared. */
WadiStatus wadi_surface_team_share(WadiSurfaceTeam *team, WadiError *error);

#endif
