/* Runs: simulate a scene into a run folder, continue, estimate and describe runs. */
#ifndef WADI_RUN_H
#define WADI_RUN_H

#include <stdbool.h>

#include "wadi/progress.h"
#include "wadi/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum WadiRunMode {
    WADI_RUN_NEW = 0,       /* the folder must not contain frames */
    WADI_RUN_RESUME = 1,    /* continue from the newest checkpoint; start if there is none */
    WADI_RUN_OVERWRITE = 2, /* remove the files of an earlier run, then start */
} WadiRunMode;

typedef struct WadiRunDef {
    int cookie;         /* set by wadi_default_run_def */
    const char *folder; /* run folder; NULL: "NAME.run" in the current folder */
    WadiRunMode mode;
    /* > 0: keep frames up to this one and simulate the later ones again, with the present scene. */
    int from_frame;
    int frames;  /* > 0: overrides the scene's number of frames */
    int threads; /* 0: all cores */
    /* A record of wadi_sim_changes to repeat, kept as RUN/changes.yaml. NULL: that file's when an earlier
     * session of the run wrote one, else none. */
    const char *changes;
    WadiLog log;
    WadiProgressFunction progress; /* may be NULL */
    void *progress_user;
    WadiStop stop; /* finishes the step and writes a checkpoint */
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

/* Simulates into the folder. Finished frames remain after any failure; the report is filled as far as known,
 * also after a failure. `report` may be NULL. */
WADI_API WadiStatus wadi_run(const WadiScene *scene, const WadiRunDef *def, WadiRunReport *report,
                             WadiError *error);

/* What a run needs. */
typedef struct WadiEstimate {
    int64_t particles_start;   /* seeded at time 0 */
    int64_t particles_end;     /* with all emitted particles; drains are not subtracted */
    double memory_bytes;       /* peak */
    double disk_bytes;         /* the finished run folder */
    double cell_size, spacing; /* m */
    double step;               /* s, the first step */
    const char *step_limit;    /* static storage */
    double steps_per_frame;    /* at the start */
    double seconds;            /* wall clock of the whole run, roughly; negative: not estimated */
    int threads;               /* for which `seconds` is estimated */
} WadiEstimate;

/* Builds the world, counts particles, takes a few steps, and simulates the whole run on a coarse grid, in
 * about three seconds; writes nothing. Warnings go to `log` (may be NULL). */
WADI_API WadiStatus wadi_estimate(const WadiScene *scene, int frames, int threads, const WadiLog *log,
                                  WadiEstimate *estimate, WadiError *error);
/* The same without `seconds`, so that one step at most is tried. */
WADI_API WadiStatus wadi_estimate_sizes(const WadiScene *scene, int frames, const WadiLog *log,
                                        WadiEstimate *estimate, WadiError *error);

typedef struct WadiRunMaterial {
    const char *name;
    int64_t particles; /* present in the last finished frame */
} WadiRunMaterial;

typedef struct WadiRunStage {
    const char *name;
    double seconds;
} WadiRunStage;

/* Content of run.json, for programs without a parser; docs/formats.md explains it. Values are over all
 * sessions of the run. Release it with wadi_run_info_release; its pointers are valid until then. */
typedef struct WadiRunInfo {
    const char *scene; /* path of the scene file */
    const char *name;  /* of the scene: prefix of the frame files */
    const char *solver;
    uint64_t content_hash; /* of everything the simulation depends on: equal hashes mean equal results */
    int threads;           /* of the last session */
    bool is_finished;
    int frames;      /* finished */
    int frame_count; /* requested */
    double fps;
    int64_t steps;
    int64_t lost_particles, drained_particles;
    double seconds; /* wall-clock */
    size_t peak_rss_bytes;
    uint64_t state_hash;                               /* of the last finished frame */
    double drift_mass, drift_water_mass, drift_volume; /* relative; NAN: unknown */
    double max_divergence;                             /* 1/s; NAN: unknown */
    int material_count;
    const WadiRunMaterial *materials;
    int stage_count;
    const WadiRunStage *stages; /* in the order in which they first ran */
    int warning_count;
    const char *const *warnings;
    /* Per frame from the first on, at most the first 50,000: particles that moved in its last step and those
     * left out because they rest; -1: not known. 0 and NULL in runs of older versions. */
    int listed_frames;
    const int64_t *awake_particles, *sleeping_particles;
    void *memory; /* used by the library */
} WadiRunInfo;

/* Reads a run folder, also while it is being written: run.json is replaced atomically. WADI_ERR_IO: no
 * run.json; WADI_ERR_FORMAT: it is damaged. *info is zeroed after a failure. */
WADI_API WadiStatus wadi_run_info_read(WadiRunInfo *info, const char *run, WadiError *error);
/* Frees what the struct points to and zeroes it. NULL and a zeroed struct are allowed. */
WADI_API void wadi_run_info_release(WadiRunInfo *info);

/* Describes a run folder, a frame or checkpoint file, a mesh or a scene, as text or with as_json as JSON.
 * Release the text with wadi_text_release. */
WADI_API WadiStatus wadi_describe(const char *path, bool as_json, char **text, WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
