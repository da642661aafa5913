/* The run folder: frames, checkpoints, run.json, the XDMF index, the lock; written by a thread of its own
 * while the simulation goes on. Layout and run.json are contracts: docs/formats.md. */
#ifndef WADI_IO_RUN_FOLDER_H
#define WADI_IO_RUN_FOLDER_H

#include "core/log.h"
#include "core/state.h"
#include "core/timer.h"
#include "io/frame/frame_file.h"
#include "wadi/run.h"

enum { WADI_RUN_MATERIAL_MAX = 255, WADI_RUN_WARNING_MAX = 100 };

/* What run.json says. Strings are owned; wadi_run_summary_free. */
typedef struct WadiRunSummary {
    char *scene; /* path of the scene file */
    char *name;  /* of the scene: prefix of the frame files */
    char *solver;
    uint64_t content_hash; /* WadiScene.content_hash, kept as hex text */
    int threads;
    bool is_finished;
    int frames;      /* finished */
    int frame_count; /* wanted */
    double fps;
    int64_t steps;
    int material_count;
    char *material_name[WADI_RUN_MATERIAL_MAX];
    int64_t material_particles[WADI_RUN_MATERIAL_MAX];
    int64_t lost_particles, drained_particles;
    double seconds_total;       /* over all sessions of this run */
    WadiStageTimes stages;      /* names must outlive the summary, unless it owns them */
    bool are_stage_names_owned; /* set by reading */
    size_t peak_rss_bytes;
    uint64_t state_hash;                               /* of the last finished frame */
    double drift_mass, drift_water_mass, drift_volume; /* relative */
    double max_divergence;
    int warning_count;
    char *warning[WADI_RUN_WARNING_MAX];
} WadiRunSummary;

void wadi_run_summary_free(WadiRunSummary *summary);
/* run.json of a folder; WADI_ERR_IO when there is none, WADI_ERR_FORMAT when it is damaged. */
WadiStatus wadi_run_summary_read(const char *folder, WadiRunSummary *summary, WadiError *error);
/* The JSON text itself (two-space indentation), for the writer, `wadi info --json` and tests;
 * wadi_string_free. */
WadiStatus wadi_run_summary_json(const WadiRunSummary *summary, char **json, WadiError *error);

typedef struct WadiRunFolder WadiRunFolder;

/* Create the folder where needed and take its lock. WADI_ERR_BUSY names the process that holds it. A folder that is neither empty
 * nor a run of wadi is refused with WADI_ERR_ARGUMENT in every mode.
 * WADI_RUN_NEW fails with WADI_ERR_ARGUMENT when frames or checkpoints are there; WADI_RUN_OVERWRITE removes
 * what wadi wrote earlier (frames, checkpoints, run.json, xdmf) and nothing else. A lock left by
 * a process that died is taken over with a message to `log`, and its half-written files are removed. `name`
 * is part of file names: not empty, no '/', at most 200 bytes. */
WadiStatus wadi_run_folder_open(WadiRunFolder **folder, const char *path, const char *name, WadiRunMode mode,
                                const WadiLog *log, WadiError *error);

/* A finished frame, a checkpoint, or both. The writer reads `state` until the next
 * wadi_run_folder_flush returns: the caller must not touch it before. That way there is one copy of the snapshot, and
 * it is written while the simulation goes on. Written in this order: frame, XDMF index, checkpoint, run.json; so run.json
 * never claims what is not there. Of the checkpoints the newest two and the kept ones stay. */
typedef struct WadiRunItem {
    WadiFrameHeader header;
    const WadiState *state; /* its WADI_USE_FRAME arrays go to the frame file, the others to the checkpoint */
    bool has_frame;         /* false: a checkpoint only; header.frame is the last finished frame */
    bool has_checkpoint;
    bool is_checkpoint_kept;       /* a milestone: not removed when newer ones come */
    const WadiRunSummary *summary; /* copied to JSON text inside the call; NULL: run.json stays as it is */
} WadiRunItem;
/* Blocks while the write before is still going on. Reports the error of an earlier write, if any, with the number of frames
 * that are safe: the run then ends, and every later call says the same. */
WadiStatus wadi_run_folder_submit(WadiRunFolder *folder, const WadiRunItem *item, WadiError *error);

/* Wait until everything submitted is on disk; reports the first write that failed. */
WadiStatus wadi_run_folder_flush(WadiRunFolder *folder, WadiError *error);
/* Flush, release the lock, free. Safe on NULL. */
WadiStatus wadi_run_folder_close(WadiRunFolder *folder, WadiError *error);

/* Write the scene text beside the frames. */
WadiStatus wadi_run_folder_write_scene(WadiRunFolder *folder, const char *text, WadiError *error);

/* The newest readable checkpoint whose frame is <= max_frame; a damaged one is skipped with a warning. *found
 * false: none. */
WadiStatus wadi_run_folder_read_checkpoint(WadiRunFolder *folder, int max_frame, WadiState *state,
                                           WadiFrameHeader *header, bool *found, WadiError *error);
/* Remove frames after `frame` and checkpoints after it, rewrite the XDMF index, and correct run.json (frames,
 * finished; the state_hash of the now last frame is not known and becomes 0). */
WadiStatus wadi_run_folder_truncate(WadiRunFolder *folder, int frame, WadiError *error);
/* Number of the last frame such that frames 1..it all exist and are readable. */
int wadi_run_folder_frames(const WadiRunFolder *folder);
/* The same as this process knows it, once all is flushed: nothing is read. */
int wadi_run_folder_safe_frames(const WadiRunFolder *folder);

/* The same for those who only read: surfaces, pictures, exports. */
int wadi_run_count_frames(const char *folder, const char *name);

/* Path of a frame file: "RUN/particles/NAME.0001.h5"; five and more digits when needed. */
void wadi_run_frame_path(char *path, size_t size, const char *folder, const char *name, int frame);

#endif
