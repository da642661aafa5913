/* Folders and scene files that wadi may overwrite: RUN/.wadi-run marks a folder as a run of wadi and has the
 * digest of its scene.yaml. */
#ifndef WADI_IO_RUN_OWNER_H
#define WADI_IO_RUN_OWNER_H

#include "io/files/file_copy.h"

/* A run may use a folder that is missing, empty, or a run of wadi; else WADI_ERR_ARGUMENT names the foreign
 * file. A run of an older version has no mark and is recognised by its run.json or its frames. */
WadiStatus wadi_run_owner_check(const char *folder, WadiError *error);
/* Marks the folder. `scene`: digest of the scene.yaml that is written next; NULL: none yet. */
WadiStatus wadi_run_owner_mark(const char *folder, const WadiFileDigest *scene, WadiError *error);
/* Whether the folder's scene.yaml is unchanged since wadi wrote it. */
bool wadi_run_owner_has_scene(const char *folder);

#endif
