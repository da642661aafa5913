/* Names of the files in a run folder, and the housekeeping that works on names: find, sort, remove. */
#ifndef WADI_IO_RUN_FILES_H
#define WADI_IO_RUN_FILES_H

#include "core/array.h"
#include "io/files/files.h"

enum {
    WADI_RUN_NAME_MAX = 200, /* bytes of a scene's name: file names end at 255 */
    /* Bytes of the folder's path, such that no path built from it can be cut. */
    WADI_RUN_PATH_MAX = WADI_PATH_SIZE - WADI_RUN_NAME_MAX - 64,
};

typedef struct WadiRunCheckpoint {
    int frame;
    bool is_kept;
} WadiRunCheckpoint;
typedef WADI_ARRAY(WadiRunCheckpoint) WadiRunCheckpoints;

/* "RUN/checkpoint/NAME.0012.h5", or "….keep.h5" for a milestone: the mark must survive restarts and be seen
 * by a person. */
void wadi_run_checkpoint_path(char *path, size_t size, const char *folder, const char *name,
                              WadiRunCheckpoint checkpoint);

/* The number in "NAME.0012.h5" and whether it is a kept one; -1 for other names. `name` NULL accepts every
 * scene's. */
int wadi_run_parse_name(const char *file_name, const char *name, bool *is_kept);

/* The checkpoints of this scene, newest first. Of two of one frame the one that is not kept comes first: it
 * was written inside the next frame, the milestone at its beginning. */
WadiStatus wadi_run_find_checkpoints(const char *folder, const char *name, WadiRunCheckpoints *checkpoints,
                                     WadiError *error);
/* The largest number of a frame file of this scene, 0 when there is none. */
WadiStatus wadi_run_find_last_frame(const char *folder, const char *name, int *frame, WadiError *error);

/* Whether frames or checkpoints of any scene are there. */
WadiStatus wadi_run_has_results(const char *folder, bool *has_results, WadiError *error);
/* Whether a frame or checkpoint that wadi wrote is there, of any scene. */
bool wadi_run_has_frame(const char *folder);
/* Remove run.json, checkpoints, frames and XDMF indices that wadi wrote; leave everything else. scene.yaml is replaced
 * later: it may be the scene that is being run. */
WadiStatus wadi_run_remove_results(const char *folder, const char *name, WadiError *error);
/* Remove temporary files that a killed process left. */
WadiStatus wadi_run_remove_temporaries(const char *folder, WadiError *error);

#endif
