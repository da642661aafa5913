/* Names of the files in a run folder, and operations on names: find, sort, remove. */
#ifndef WADI_IO_RUN_FILES_H
#define WADI_IO_RUN_FILES_H

#include "core/array.h"
#include "io/files/files.h"

enum {
    WADI_RUN_NAME_MAX = 200, /* bytes of a scene's name: file names have at most 255 */
    /* Bytes of the folder's path, so that no path built from it is truncated. */
    WADI_RUN_PATH_MAX = WADI_PATH_SIZE - WADI_RUN_NAME_MAX - 64,
};

typedef struct WadiRunCheckpoint {
    int frame;
    bool is_kept;
} WadiRunCheckpoint;
typedef WADI_ARRAY(WadiRunCheckpoint) WadiRunCheckpoints;

/* "RUN/checkpoint/NAME.0012.h5", or "….keep.h5" for a milestone: the mark is in the name, so it survives
 * restarts and users see it. */
void wadi_run_checkpoint_path(char *path, size_t size, const char *folder, const char *name,
                              WadiRunCheckpoint checkpoint);

/* The number in "NAME.0012.h5" and whether it is a milestone; -1 for other names. `name` NULL accepts any
 * scene. */
int wadi_run_parse_name(const char *file_name, const char *name, bool *is_kept);

/* The checkpoints of this scene, newest first. Of two with one frame number the ordinary one is newer: it was
 * written inside the next frame, the milestone at its beginning. */
WadiStatus wadi_run_find_checkpoints(const char *folder, const char *name, WadiRunCheckpoints *checkpoints,
                                     WadiError *error);
/* The largest number of a frame file of this scene; 0 without frames. */
WadiStatus wadi_run_find_last_frame(const char *folder, const char *name, int *frame, WadiError *error);

/* Whether frames or checkpoints of any scene exist. */
WadiStatus wadi_run_has_results(const char *folder, bool *has_results, WadiError *error);
/* Whether a frame or checkpoint of any scene exists that wadi wrote. */
bool wadi_run_has_frame(const char *folder);
/* Removes run.json, checkpoints, frames and XDMF indices that wadi wrote, and nothing else. scene.yaml is
 * replaced later: it may be the scene that is being run. */
WadiStatus wadi_run_remove_results(const char *folder, const char *name, WadiError *error);
/* Removes temporary files of killed processes. */
WadiStatus wadi_run_remove_temporaries(const char *folder, WadiError *error);

#endif
