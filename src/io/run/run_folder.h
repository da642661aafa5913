/* The run folder: frames, checkpoints, run.json, XDMF index and lock, written by a separate thread during the
 * simulation. Layout and run.json are contracts: docs/formats.md. */
#ifndef WADI_IO_RUN_FOLDER_H
#define WADI_IO_RUN_FOLDER_H

#include "core/log.h"
#include "core/state.h"
#include "core/timer.h"
#include "io/frame/frame_file.h"
#include "wadi/run.h"

enum { WADI_RUN_MATERIAL_MAX = 255, WADI_RUN_WARNING_MAX = 100, WADI_RUN_SCENE_MAX = 64 };

/* Content of run.json. Strings are owned; wadi_run_summary_free releases them. */
typedef struct WadiRunSummary {
    char *scene; /* path of the scene file */
    char *name;  /* of the scene: prefix of the frame files */
    char *solver;
    uint64_t content_hash; /* WadiScene.content_hash; hexadecimal text in the file */
    /* Of the scenes that made kept frames before the scene was changed. */
    int earlier_scene_count;
    uint64_t earlier_scene[WADI_RUN_SCENE_MAX];
    int threads;
    bool is_finished;
    int frames;      /* finished */
    int frame_count; /* requested */
    double fps;
    int64_t steps;
    int material_count;
    char *material_name[WADI_RUN_MATERIAL_MAX];
    int64_t material_particles[WADI_RUN_MATERIAL_MAX];
    /* Per frame from the first on: particles that moved in its last step, and those left out because they
     * rest; WADI_RUN_UNCOUNTED: not known. */
    int listed_frames;
    int64_t *awake, *sleeping;
    int64_t lost_particles, drained_particles;
    double seconds_total;       /* over all sessions of this run */
    WadiStageTimes stages;      /* names must outlive the summary, unless it owns them */
    bool are_stage_names_owned; /* true after reading */
    size_t peak_rss_bytes;
    uint64_t state_hash;                               /* of the last finished frame */
    double drift_mass, drift_water_mass, drift_volume; /* relative */
    double max_divergence;
    /* Splits and merges of particles of different sizes, and what merges lost: J and kg m^2/s. */
    bool has_resampling;
    int64_t splits, merges, shares;
    double lost_energy, lost_spin[3];
    int warning_count;
    char *warning[WADI_RUN_WARNING_MAX];
} WadiRunSummary;

/* Frames that run.json lists the counts of, and the count of a frame made without one. */
enum { WADI_RUN_LISTED_MAX = 50000, WADI_RUN_UNCOUNTED = -1 };
/* Makes `awake` and `sleeping` for that many frames, at most WADI_RUN_LISTED_MAX, with the counts of
 * `previous`. */
WadiStatus wadi_run_summary_list_frames(WadiRunSummary *summary, int frames, const WadiRunSummary *previous,
                                        WadiError *error);
/* Counts of a frame, from 1 on; of one beyond the list they are left out. */
void wadi_run_summary_count(WadiRunSummary *summary, int frame, int64_t particles, int64_t sleeping);

void wadi_run_summary_free(WadiRunSummary *summary);
/* Reads run.json of a folder; WADI_ERR_IO when it is missing, WADI_ERR_FORMAT when it is damaged. */
WadiStatus wadi_run_summary_read(const char *folder, WadiRunSummary *summary, WadiError *error);
/* The JSON text (two-space indentation), for the writer, `wadi info --json` and tests; wadi_string_free. */
WadiStatus wadi_run_summary_json(const WadiRunSummary *summary, char **json, WadiError *error);

/* Whether a frame or checkpoint with this content hash is of this run. Files of versions without it have 0,
 * and are taken for such. */
bool wadi_run_summary_has_scene(const WadiRunSummary *summary, uint64_t scene);
/* WADI_ERR_FORMAT when the file at `path`, with this content hash, is of another run. */
WadiStatus wadi_run_check_scene(const WadiRunSummary *summary, const char *path, uint64_t scene,
                                WadiError *error);
/* The scene of `summary` continues frames of `previous`. */
void wadi_run_summary_follow(WadiRunSummary *summary, const WadiRunSummary *previous);

typedef struct WadiRunFolder WadiRunFolder;

/* Creates the folder where needed and locks it; WADI_ERR_BUSY names the process that has the lock. A folder
 * that is neither empty nor a run of wadi fails with WADI_ERR_ARGUMENT in every mode. WADI_RUN_NEW fails
 * likewise when frames or checkpoints exist; WADI_RUN_OVERWRITE removes what wadi wrote earlier (frames,
 * checkpoints, run.json, xdmf) and nothing else. The lock of a dead process is replaced with a message to
 * `log`, and its incomplete files are removed. `name` is part of file names: not empty, no '/', at most 200
 * bytes. */
WadiStatus wadi_run_folder_open(WadiRunFolder **folder, const char *path, const char *name, WadiRunMode mode,
                                const WadiLog *log, WadiError *error);

/* A finished frame, a checkpoint, or both. The writer reads `state` until the next wadi_run_folder_flush
 * returns; the caller must not change it before. So one copy of the snapshot is enough, and writing overlaps
 * with the simulation. The order is frame, XDMF index, checkpoint, run.json, so that run.json never lists a
 * missing file. The newest two checkpoints and all milestones are kept. */
typedef struct WadiRunItem {
    WadiFrameHeader header;
    const WadiState *state; /* WADI_USE_FRAME arrays go to the frame file, the others to the checkpoint */
    const WadiState *frame; /* those of the frame file, where it has fewer particles; NULL: of `state` */
    bool has_frame;         /* false: a checkpoint only; header.frame is the last finished frame */
    bool has_checkpoint;
    bool is_checkpoint_kept; /* a milestone: not removed when newer checkpoints exist */
    /* Converted to JSON text inside the call; NULL: run.json does not change. */
    const WadiRunSummary *summary;
    /* Copied inside the call: the first line of forces.csv and those of this frame; NULL: none. */
    const char *forces_header;
    const char *forces;
} WadiRunItem;
/* Blocks while the previous write is running. Returns the error of an earlier write, if any, with the number
 * of complete frames; the run then ends, and every later call returns the same error. */
WadiStatus wadi_run_folder_submit(WadiRunFolder *folder, const WadiRunItem *item, WadiError *error);

/* Waits until everything submitted is on disk; returns the first failed write. */
WadiStatus wadi_run_folder_flush(WadiRunFolder *folder, WadiError *error);
/* Flushes, releases the lock, frees. NULL is allowed. */
WadiStatus wadi_run_folder_close(WadiRunFolder *folder, WadiError *error);

/* Writes the scene text to RUN/scene.yaml. */
WadiStatus wadi_run_folder_write_scene(WadiRunFolder *folder, const char *text, WadiError *error);

/* Fails when one of the frames up to `last` is of another run. */
WadiStatus wadi_run_folder_check_frames(WadiRunFolder *folder, const WadiRunSummary *owner, int last,
                                        WadiError *error);
/* From now on a checkpoint of another run is an error. `owner` is borrowed. */
void wadi_run_folder_expect(WadiRunFolder *folder, const WadiRunSummary *owner);
/* Reads the newest valid checkpoint with frame <= max_frame; a damaged one is skipped with a warning. *found
 * is false when there is none. */
WadiStatus wadi_run_folder_read_checkpoint(WadiRunFolder *folder, int max_frame, WadiState *state,
                                           WadiFrameHeader *header, bool *found, WadiError *error);
/* Removes frames and checkpoints after `frame`, rewrites the XDMF index, and corrects run.json (frames,
 * finished; the state_hash of the new last frame is unknown and becomes 0). */
WadiStatus wadi_run_folder_truncate(WadiRunFolder *folder, int frame, WadiError *error);
/* The largest n such that frames 1 to n all exist and are readable. */
int wadi_run_folder_frames(const WadiRunFolder *folder);
/* The same from this process's record after a flush; 0 when the folder is gone. No file is read. */
int wadi_run_folder_safe_frames(const WadiRunFolder *folder);

/* The same for code that only reads: surfaces, pictures, exports. */
int wadi_run_count_frames(const char *folder, const char *name);

/* Path of a frame file: "RUN/particles/NAME.0001.h5"; more digits when needed. */
void wadi_run_frame_path(char *path, size_t size, const char *folder, const char *name, int frame);
/* "RUN/secondary/NAME.0012.h5": foam, spray, bubbles and dust of that frame. */
void wadi_run_secondary_path(char *path, size_t size, const char *folder, const char *name, int frame);
/* "RUN/secondary/NAME.wet.0012.h5": sand that is wet in that frame. */
void wadi_run_wet_path(char *path, size_t size, const char *folder, const char *name, int frame);
/* "RUN/secondary/NAME.grains.0012.h5": fine grains of the sand of that frame. */
void wadi_run_grains_path(char *path, size_t size, const char *folder, const char *name, int frame);

#endif
