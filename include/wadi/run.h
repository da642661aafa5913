/* Runs: simulate a scene into a run folder, continue one, estimate one, look at one. */
#ifndef WADI_RUN_H
#define WADI_RUN_H

#include <stdbool.h>

#include "wadi/progress.h"
#include "wadi/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    WadiProgressFunction progress; /* may be NULL */
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

typedef struct WadiRunMaterial {
    const char *name;
    int64_t particles; /* present in the last finished frame */
} WadiRunMaterial;

typedef struct WadiRunStage {
    const char *name;
    double seconds;
} WadiRunStage;

/* What run.json holds, for programs without a parser; docs/formats.md explains it. Over all sessions of the run. Release it with
 * wadi_run_info_release, pointers die with it. */
typedef struct WadiRunInfo {
    const char *scene; /* path of the scene file */
    const char *name;  /* of the scene: prefix of the frame files */
    const char *solver;
    uint64_t content_hash; /* of what the simulation depends on: equal hashes, equal results */
    int threads;           /* of the last session */
    bool is_finished;
    int frames;      /* finished */
    int frame_count; /* wanted */
    double fps;
    int64_t steps;
    int64_t lost_particles, drained_particles;
    double seconds; /* wall-clock */
    size_t peak_rss_bytes;
    uint64_t state_hash;                               /* of the last finished frame */
    double drift_mass, drift_water_mass, drift_volume; /* relative; NAN: not known */
    double max_divergence;                             /* 1/s; NAN: not known */
    int material_count;
    const WadiRunMaterial *materials;
    int stage_count;
    const WadiRunStage *stages; /* in the order in which they first ran */
    int warning_count;
    const char *const *warnings;
    void *memory; /* the library's */
} WadiRunInfo;

/* Of a run folder, also while it is being written: run.json is replaced as a whole. WADI_ERR_IO: there is none; WADI_ERR_FORMAT: it is
 * damaged. *info is zeroed after a failure. */
WADI_API WadiStatus wadi_run_info_read(WadiRunInfo *info, const char *run, WadiError *error);
/* Zeroes the struct. NULL and a zeroed one are fine. */
WADI_API void wadi_run_info_release(WadiRunInfo *info);

/* A person's (or with as_json a program's) description of a run folder, a frame or checkpoint file, a mesh or a scene.
 * Release the text with wadi_text_release. */
WADI_API WadiStatus wadi_describe(const char *path, bool as_json, char **text, WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
