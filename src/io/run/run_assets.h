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
/* Removes copies that the scene's text does not name (of an earlier run in this folder) and incomplete
 * ones. */
WadiStatus wadi_run_assets_clean(const char *run, const char *text, WadiError *error);

#endif
