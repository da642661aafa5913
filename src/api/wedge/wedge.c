/* Runs a scene with varied settings. The state of a wedge is in its folder, so that several processes may
 * work on it and a killed one loses only the run in work. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/wedge/wedge_runs.h"
#include "core/alloc.h"
#include "core/check.h"
#include "core/timer.h"
#include "io/files/lock.h"

enum { WEDGE_DEF_COOKIE = 0x3ed6e };

WadiWedgeDef wadi_default_wedge_def(void)
{
    return (WadiWedgeDef){ .cookie = WEDGE_DEF_COOKIE,
                           .has_mosaic = true,
                           .quality = WADI_QUALITY_DRAFT,
                           .width = 480,
                           .height = 270 };
}

static WadiStatus load_scene(const WadiWedge *wedge, int i, WadiScene **scene, WadiError *error)
{
    const WadiWedgeDef *def = wedge->def;
    const size_t count = (size_t)def->set_count + (size_t)wedge->key_count;
    const char **sets = NULL;
    WadiText varied[WADI_WEDGE_KEY_MAX] = { 0 };
    *scene = NULL;
    WADI_TRY(WADI_NEW(&sets, count, "settings of a run", error));
    WadiStatus status = WADI_OK;
    for (int s = 0; s < def->set_count; ++s) {
        sets[s] = def->sets[s];
    }
    for (int k = 0; k < wedge->key_count && status == WADI_OK; ++k) {
        wadi_text_printf(&varied[k], "%s=%s", wedge->keys[k].key, wadi_wedge_value(wedge, i, k));
        status = wadi_text_status(&varied[k], error);
        sets[def->set_count + k] = wadi_text_cstr(&varied[k]);
    }
    if (status == WADI_OK) {
        WadiSceneDef scene_def = wadi_default_scene_def();
        scene_def.path = def->scene;
        scene_def.sets = sets;
        scene_def.set_count = (int)count;
        status = wadi_scene_load(scene, &scene_def, error);
    }
    for (int k = 0; k < wedge->key_count; ++k) {
        wadi_text_free(&varied[k]);
    }
    WADI_DELETE(sets, count);
    return status;
}

/* The name of the first valid scene is that of the folder. Without one it is a mistake, not a result. */
static WadiStatus set_folder(WadiWedge *wedge, WadiError *error)
{
    const WadiWedgeDef *def = wedge->def;
    WadiStatus status = WADI_OK;
    for (int i = 0; i < wedge->run_count; ++i) {
        WadiScene *scene;
        WadiError problem = { 0 };
        if (load_scene(wedge, i, &scene, &problem) == WADI_OK) {
            int length =
                def->folder != NULL
                    ? snprintf(wedge->folder, sizeof wedge->folder, "%s", def->folder)
                    : snprintf(wedge->folder, sizeof wedge->folder, "%s.wedge", wadi_scene_name(scene));
            wadi_scene_destroy(scene);
            return length > 0 && length < 3500
                       ? WADI_OK
                       : wadi_fail(error, WADI_ERR_ARGUMENT, "the path of the folder is %s",
                                   length < 1 ? "empty" : "too long");
        }
        if (i == 0) {
            status = wadi_fail_as(error, &problem);
        }
    }
    return status;
}

static bool is_wanted(const WadiWedge *wedge, int i)
{
    return wedge->def->index == 0 || wedge->def->index == i + 1;
}

static WadiStatus check_new(const WadiWedge *wedge, WadiError *error)
{
    for (int i = 0; i < wedge->run_count && !wedge->def->is_resumed; ++i) {
        if (is_wanted(wedge, i) && wadi_wedge_state(wedge, i) != WADI_WEDGE_WAITING) {
            char run[WADI_PATH_SIZE];
            wadi_wedge_run_path(wedge, i, run);
            return wadi_fail(error, WADI_ERR_ARGUMENT,
                             "%s is there already; resume the wedge, or choose another "
                             "folder",
                             run);
        }
    }
    return WADI_OK;
}

static WadiStatus simulate(const WadiWedge *wedge, int i, WadiError *error)
{
    const WadiWedgeDef *def = wedge->def;
    char path[WADI_PATH_SIZE];
    WadiScene *scene;
    WADI_TRY(load_scene(wedge, i, &scene, error));
    wadi_wedge_run_path(wedge, i, path);
    WadiRunDef run = wadi_default_run_def();
    run.folder = path;
    run.mode = def->is_resumed ? WADI_RUN_RESUME : WADI_RUN_NEW;
    run.frames = def->frames;
    run.threads = def->threads;
    run.log = def->log;
    run.progress = def->progress;
    run.progress_user = def->progress_user;
    run.stop = def->stop;
    WadiStatus status = wadi_run(scene, &run, NULL, error);
    wadi_scene_destroy(scene);
    return status;
}

/* Keeps the error of a failed run for the table; a stop and a busy folder are no results. */
static WadiStatus run_one(const WadiWedge *wedge, int i, WadiError *error)
{
    const WadiWedgeDef *def = wedge->def;
    char path[WADI_PATH_SIZE], label[WADI_WEDGE_LABEL_SIZE];
    WadiError problem = { 0 };
    wadi_wedge_label(wedge, i, label);
    if (def->on_run != NULL) {
        def->on_run(def->user, i + 1, wedge->run_count, label);
    }
    wadi_wedge_error_path(wedge, i, path);
    const WadiStatus status = simulate(wedge, i, &problem);
    if (status == WADI_OK) {
        return wadi_file_remove(path, error);
    }
    if (status == WADI_ERR_STOPPED || status == WADI_ERR_BUSY) {
        return wadi_fail_as(error, &problem);
    }
    if (def->on_failed != NULL) {
        def->on_failed(def->user, i + 1, label, &problem);
    }
    return wadi_file_write(path, problem.text, strlen(problem.text), error);
}

/* The table, and the mosaic once all runs have ended, by one process at a time. */
static WadiStatus update(const WadiWedge *wedge, WadiWedgeReport *report, bool has_mosaic, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    snprintf(path, sizeof path, "%.3500s/.wadi-lock", wedge->folder);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, (mode_t)0666);
    if (fd < 0) {
        return wadi_fail_errno(error, errno, "cannot write %s", path);
    }
    wadi_lock_wait(fd);
    WadiStatus status = wadi_wedge_table(wedge, report->table, &report->done, &report->failed, error);
    if (status == WADI_OK && has_mosaic && report->done > 0 &&
        report->done + report->failed == wedge->run_count) {
        status = wadi_wedge_mosaic(wedge, report->mosaic, error);
    }
    close(fd);
    return status;
}

static WadiStatus run_all(WadiWedge *wedge, WadiWedgeReport *report, WadiError *error)
{
    const WadiWedgeDef *def = wedge->def;
    WADI_TRY(set_folder(wedge, error));
    WADI_TRY(wadi_folder_make(wedge->folder, error));
    snprintf(report->folder, sizeof report->folder, "%s", wedge->folder);
    WADI_TRY(check_new(wedge, error));
    for (int i = 0; i < wedge->run_count; ++i) {
        if (!is_wanted(wedge, i) ||
            (def->is_resumed && wadi_wedge_state(wedge, i) == WADI_WEDGE_DONE && def->frames == 0)) {
            continue;
        }
        WadiError problem = { 0 };
        const WadiStatus status = run_one(wedge, i, &problem);
        WADI_TRY(update(wedge, report, false, error));
        if (status != WADI_OK && (status != WADI_ERR_BUSY || def->index > 0)) {
            return wadi_fail_as(error, &problem);
        }
    }
    return update(wedge, report, def->has_mosaic, error);
}

static WadiStatus check(const WadiWedgeDef *def, WadiError *error)
{
    if (def == NULL || def->cookie != WEDGE_DEF_COOKIE || def->scene == NULL) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "the WadiWedgeDef was not made by wadi_default_wedge_def, or there is no scene");
    }
    return def->width > 0 && def->height > 0
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_ARGUMENT, "pictures of %d x %d pixels", def->width, def->height);
}

WadiStatus wadi_wedge(const WadiWedgeDef *def, WadiWedgeReport *report, WadiError *error)
{
    WadiWedgeReport unused;
    report = report != NULL ? report : &unused;
    *report = (WadiWedgeReport){ 0 };
    WADI_TRY(check(def, error));
    const unsigned asserts = wadi_assert_count();
    const double start = wadi_time_now();
    WadiWedge *wedge = NULL;
    WADI_TRY(WADI_NEW(&wedge, 1, "wedge", error));
    WadiStatus status = wadi_wedge_read(wedge, def, error);
    if (status == WADI_OK) {
        report->runs = wedge->run_count;
        status = run_all(wedge, report, error);
    }
    wadi_wedge_free(wedge);
    WADI_DELETE(wedge, 1);
    report->seconds = wadi_time_now() - start;
    return wadi_assert_status(status, asserts, error);
}
