/* Copies of the files that a scene names, in RUN/assets, so that a run folder is whole by itself. */
#ifndef WADI_IO_RUN_ASSETS_H
#define WADI_IO_RUN_ASSETS_H

#include "core/text.h"
#include "world/scene.h"

/* Copy what the scene names into RUN/assets and make the text of RUN/scene.yaml, which names the copies. A copy lies in a folder
 * named after its content: equal files are stored once, and one that is there already is checked and stays. */
WadiStatus wadi_run_assets_store(const char *run, const WadiScene *scene, WadiText *text, WadiError *error);
/* Bytes of these copies, before there are any. */
WadiStatus wadi_run_assets_bytes(const WadiScene *scene, double *bytes, WadiError *error);
/* Remove the copies that the scene's text does not name, left by an earlier run in this folder, and half-written ones. */
WadiStatus wadi_run_assets_clean(const char *run, const char *text, WadiError *error);

#endif
