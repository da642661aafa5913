/* Checks before a run writes to its folder. */
#ifndef WADI_API_RUN_CHECKS_H
#define WADI_API_RUN_CHECKS_H

#include "world/scene.h"

/* The user may have edited RUN/scene.yaml and run it. Without overrides the file remains equal; with overrides
 * the user's text would be lost. */
WadiStatus wadi_run_check_edited_scene(const WadiScene *scene, const char *run, WadiError *error);
/* A scene in the run folder itself continues only with the files that the run had. A scene elsewhere brings its
 * own, which replace the copies. */
WadiStatus wadi_run_check_assets(const WadiScene *scene, const char *run, WadiError *error);

#endif
