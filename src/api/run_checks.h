/* Checks before a run opens its folder. */
#ifndef WADI_API_RUN_CHECKS_H
#define WADI_API_RUN_CHECKS_H

#include "wadi/run.h"
#include "world/scene.h"

/* Whether the def was made by wadi_default_run_def, and its numbers are sound. */
WadiStatus wadi_run_check_def(const WadiRunDef *def, WadiError *error);
/* Whether a run of this scene may write to the folder: it is a run of wadi, missing or empty, and a
 * RUN/scene.yaml that the user edited is not lost. Where `is_same_scene`, a run that continues from
 * RUN/scene.yaml must have the files that it had; a scene elsewhere brings its own, which replace the
 * copies. */
WadiStatus wadi_run_check_folder(const WadiScene *scene, const char *run, bool is_same_scene,
                                 WadiError *error);

#endif
