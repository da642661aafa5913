/* Which folders and scene files wadi may write to: RUN/.wadi-run marks a folder as a run of wadi and says what its scene.yaml holds. */
#ifndef WADI_IO_RUN_OWNER_H
#define WADI_IO_RUN_OWNER_H

#include "io/files/file_copy.h"

/* A run may go to a folder that is missing, empty, or a run of wadi; WADI_ERR_ARGUMENT names a file that is in the way. A run of an
 * older version, which left no mark, is recognised by its run.json or its frames. */
WadiStatus wadi_run_owner_check(const char *folder, WadiError *error);
/* Mark the folder; `scene`: what its scene.yaml is about to hold, NULL: nothing yet. */
WadiStatus wadi_run_owner_mark(const char *folder, const WadiFileDigest *scene, WadiError *error);
/* Whether scene.yaml of the folder is as wadi wrote it last. */
bool wadi_run_owner_has_scene(const char *folder);

#endif
