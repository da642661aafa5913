/* Copies of the files that a scene names, in RUN/assets, so that a run folder is complete. */
#ifndef WADI_IO_RUN_ASSETS_H
#define WADI_IO_RUN_ASSETS_H

#include "core/text.h"
#include "world/scene.h"

/* Copies the files that the scene names into RUN/assets and makes the text of RUN/scene.yaml, which names the
 * copies. The folder of a copy is named after its content: equal files are stored once, and an existing copy
 * is verified and reused. */
WadiStatus wadi_run_assets_store(const char *run, const WadiScene *scene, WadiText *text, WadiError *error);
/* Bytes that these copies will need. */
WadiStatus wadi_run_assets_bytes(const WadiScene *scene, double *bytes, WadiError *error);
/* Compares the copies that RUN/scene.yaml names with their folders' names. *hash is 0 when all are as they
 * were stored, otherwise a hash of the present content, and `changed` gets the path of the first changed one.
 * Missing copies are left out. */
WadiStatus wadi_run_assets_verify(const char *run, const WadiScene *scene, uint64_t *hash, WadiText *changed,
                                  WadiError *error);
/* Removes copies that the scene's text does not name (of an earlier run in this folder) and incomplete
 * ones. */
WadiStatus wadi_run_assets_clean(const char *run, const char *text, WadiError *error);

#endif
