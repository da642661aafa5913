/* Runs: simulate a scene into a run folder, continue one, estimate one, look at one. */
#ifndef WADI_RUN_H
#define WADI_RUN_H

#include <stdbool.h>

#include "wadi/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a run tells while it goes on; pointers are valid during the call only. */
typedef struct WadiProgress {
    int frame;             /* last finished frame; 0 while seeding */
    int first_frame;       /* where this call began: 1, or the frame it resumed from */
    int frame_count;       /* frames in all */
    bool is_frame_done;    /* `frame` is whole and on disk; otherwise a step inside the next one */
    double frame_fraction; /* 0..1 of the frame being simulated */
    const char *stage;     /* "seed", "step", "write", … */
    int64_t particles;
    int64_t steps;
    double dt;                /* s, last step */
    const char *dt_limit;     /* what limited it */
    double seconds;           /* wall-clock since this call began */
    double seconds_per_frame; /* of late, without what came before the first step; negative while unknown */
    double seconds_left;      /* estimate; negative while unknown */
    uint64_t state_hash;      /* of `frame`, when is_frame_done */
} WadiProgress;

typedef enum WadiRunMode {
    WADI_RUN_NEW = 0,       /* the folder must not hold frames */
    WADI_RUN_RESUME = 1,    /* continue from the newest checkpoint; start if there is none */
    WADI_RUN_OVERWRITE = 2, /* remove what an earlier run left, then start */
} WadiRunMode;

typedef struct WadiRunDef {
    int cookie;         /* set by wadi_default_run_def */
    const char *folder; /* run folder; NULL: "NAME.run" in the current folder */
    WadiRunMode mode;
    int from_frame; /* > 0: keep frames up to this one, redo the later ones, with the scene as it is now */
    int frames;     /* > 0: overrides the scene's number of frames */
    int threads;    /* 0: all cores */
    WadiLog log;
    void (*progress)(void *user, const WadiProgress *progress); /* may be NULL; from the calling thread */
    void *progress_user;
    const volatile int
        *stop; /* when not NULL and not 0: finish the step, write a checkpoint, return WADI_ERR_STOPPED */
} WadiRunDef;

WADI_API WadiRunDef wadi_default_run_def(void);

typedef struct WadiRunReport {
    char folder[4096];
    int frames;      /* finished frames in the folder */
    int frames_done; /* by this call */
    int64_t steps;
    int64_t particles;
    int64_t lost_particles;
    int64_t drained_particles; /* by drains, or through open sides of the domain */
    double seconds;
    size_t peak_rss_bytes;
    uint64_t state_hash;
    int warning_count;
} WadiRunReport;

/* Simulate into the folder. Every finished frame stays whatever happens; the report is filled as far as it is known also
 * when the call fails. `report` may be NULL. */
WADI_API WadiStatus wadi_run(const WadiScene *scene, const WadiRunDef *def, WadiRunReport *report,
                             WadiError *error);

/* What a run would need. */
typedef struct WadiEstimate {
    int64_t particles_start;   /* seeded at time 0 */
    int64_t particles_end;     /* with what the emitters add; drains are not counted */
    double memory_bytes;       /* peak */
    double disk_bytes;         /* the finished run folder */
    double cell_size, spacing; /* m */
    double step;               /* s, the first step */
    const char *step_limit;    /* static storage */
    double steps_per_frame;    /* at the start */
    double seconds;            /* wall clock of the whole run, roughly; negative: there is nothing to try */
    int threads;               /* that `seconds` is for */
} WadiEstimate;

/* Builds the world, counts, tries a few steps, and the whole run on a coarse grid, for about three seconds; writes nothing. Warnings
 * go to `log` (may be NULL). */
WADI_API WadiStatus wadi_estimate(const WadiScene *scene, int frames, int threads, const WadiLog *log,
                                  WadiEstimate *estimate, WadiError *error);

/* A person's (or with as_json a program's) description of a run folder, a frame or checkpoint file, a mesh or a scene.
 * Release the text with wadi_text_release. */
WADI_API WadiStatus wadi_describe(const char *path, bool as_json, char **text, WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
