#include "api/run_checks.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/alloc.h"
#include "io/files/files.h"
#include "io/run/run_assets.h"
#include "io/run/run_owner.h"

enum { RUN_DEF_COOKIE = 0x7a61, SCENE_LIMIT = 1 << 26 };

WadiRunDef wadi_default_run_def(void)
{
    return (WadiRunDef){ .cookie = RUN_DEF_COOKIE };
}

WadiStatus wadi_run_check_def(const WadiRunDef *def, WadiError *error)
{
    if (def == NULL || def->cookie != RUN_DEF_COOKIE) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the WadiRunDef was not made by wadi_default_run_def");
    }
    if (def->threads < 0 || def->frames < 0 || def->from_frame < 0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "threads, frames and from_frame must not be negative");
    }
    return WADI_OK;
}

/* Whether the scene was read from RUN/scene.yaml. */
static bool is_scene_of_run(const WadiScene *scene, const char *run)
{
    char path[WADI_PATH_SIZE];
    struct stat ours, recorded;
    snprintf(path, sizeof path, "%s/scene.yaml", run);
    return stat(scene->path, &ours) == 0 && stat(path, &recorded) == 0 && ours.st_ino == recorded.st_ino &&
           ours.st_dev == recorded.st_dev;
}

/* Without overrides the file remains equal; with overrides the user's text would be lost. */
static WadiStatus check_edited_scene(const WadiScene *scene, const char *run, WadiError *error)
{
    char path[WADI_PATH_SIZE], *text = NULL;
    size_t size = 0;
    if (!is_scene_of_run(scene, run) || wadi_run_owner_has_scene(run)) {
        return WADI_OK;
    }
    snprintf(path, sizeof path, "%s/scene.yaml", run);
    WADI_TRY(wadi_file_read(path, SCENE_LIMIT, &text, &size, error));
    bool is_same = strcmp(text, scene->source) == 0;
    wadi_free(text, size + 1, 1);
    return is_same
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_ARGUMENT,
                           "%s was changed by hand, and the overrides of this run would be written over it; "
                           "nothing was written: run a copy of it that lies elsewhere",
                           path);
}

static WadiStatus check_assets(const WadiScene *scene, const char *run, WadiError *error)
{
    uint64_t hash = 0;
    WadiText changed = { 0 };
    if (!is_scene_of_run(scene, run)) {
        return WADI_OK;
    }
    WadiStatus status = wadi_run_assets_verify(run, scene, &hash, &changed, error);
    if (status == WADI_OK && hash != 0) {
        status = wadi_fail_hint(error, WADI_ERR_ARGUMENT, WADI_HINT_SCENE_CHANGED,
                                "%s has changed since the run, so its frames cannot simply go on; put the "
                                "original back",
                                changed.data);
    }
    wadi_text_free(&changed);
    return status;
}

WadiStatus wadi_run_check_folder(const WadiScene *scene, const char *run, bool is_same_scene,
                                 WadiError *error)
{
    WADI_TRY(wadi_run_owner_check(run, error));
    WADI_TRY(check_edited_scene(scene, run, error));
    return is_same_scene ? check_assets(scene, run, error) : WADI_OK;
}
