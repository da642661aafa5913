/* How far a long call is: one struct for runs, surfaces, pictures and exports. */
#ifndef WADI_PROGRESS_H
#define WADI_PROGRESS_H

#include <stdbool.h>

#include "wadi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls tell comes first; what a call has nothing to say about is 0 or NULL. Pointers are valid during the call only. */
typedef struct WadiProgress {
    int frame;       /* run: the last finished frame, 0 while seeding; others: the frame of the file */
    int first_frame; /* where this call began: run: 1, or the frame it resumed from */
    int frame_count; /* run: frames in all; others: frames that this call was asked for */
    int frames_done; /* of frame_count, `frame` included once nothing of it is left */
    bool
        is_frame_done; /* run: `frame` is whole and on disk, otherwise a step inside the next one; others: true */
    const char *stage;   /* "seed", "step", "write"; "surface", "render", "export" */
    double seconds;      /* wall-clock since this call began */
    double seconds_left; /* estimate; negative while unknown */
    double
        seconds_per_frame; /* run: of late, without what came before the first step; negative while unknown */

    /* Of a file that is there now: surfaces, pictures, exports. */
    const char *path;     /* of an export the frame's main file */
    const char *material; /* of a surface; NULL otherwise */
    bool is_kept; /* it was there already, made of the same particles in the same way; counts are then 0 */
    int64_t triangles, vertices, grains;

    /* Of a run; surfaces tell their particles too. */
    double frame_fraction; /* 0..1 of the frame being simulated */
    int64_t particles;
    int64_t steps;
    double dt;            /* s, last step */
    const char *dt_limit; /* what limited it */
    uint64_t state_hash;  /* of `frame`, when is_frame_done */

    /* Of a picture: s for its scene, its tree and its light. */
    double stage_seconds, tree_seconds, trace_seconds;
} WadiProgress;

/* Called from the thread that made the call, in the order of frames. */
typedef void (*WadiProgressFunction)(void *user, const WadiProgress *progress);

#ifdef __cplusplus
}
#endif
#endif
