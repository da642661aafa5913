/* Progress of a long call: one struct for runs, surfaces, pictures and exports. */
#ifndef WADI_PROGRESS_H
#define WADI_PROGRESS_H

#include <stdbool.h>

#include "wadi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Members common to all calls come first; members that a call does not have are 0 or NULL. Pointers are valid
 * during the call only. */
typedef struct WadiProgress {
    int frame;       /* run: the last finished frame, 0 while seeding; others: the frame of the file */
    int first_frame; /* first frame of this call; run: 1, or the frame it resumed from */
    int frame_count; /* run: total frames; others: frames requested */
    int frames_done; /* of frame_count; includes `frame` once it is complete */
    /* Run: `frame` is complete and on disk, otherwise a step inside the next one; others: true. */
    bool is_frame_done;
    const char *stage;   /* "seed", "step", "write"; "surface", "render", "export" */
    double seconds;      /* wall-clock since this call began */
    double seconds_left; /* estimate; negative while unknown */
    /* Run: recent average, without the time before the first step; negative while unknown. */
    double seconds_per_frame;

    /* A file that now exists: surfaces, pictures, exports. */
    const char *path;     /* of an export, the frame's main file */
    const char *material; /* of a surface; NULL otherwise */
    /* It existed already, made from the same particles with the same settings; counts are then 0. */
    bool is_kept;
    int64_t triangles, vertices, grains;

    /* Of a run; surfaces also set the particles. */
    double frame_fraction; /* 0..1 of the frame being simulated */
    int64_t particles;
    int64_t sleeping_particles; /* of these: left out of the last step because they rest */
    int64_t steps;
    double dt;            /* s, last step */
    const char *dt_limit; /* name of the limit */
    uint64_t state_hash;  /* of `frame`, when is_frame_done */

    /* Of a picture: s for its scene, its tree and its light. */
    double stage_seconds, tree_seconds, trace_seconds;
} WadiProgress;

/* Called from the thread that made the call, in the order of frames, except by calls that share them. */
typedef void (*WadiProgressFunction)(void *user, const WadiProgress *progress);

#ifdef __cplusplus
}
#endif
#endif
