#include "api/run_view.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/hash.h"
#include "core/status.h"
#include "io/files/lock.h"
#include "io/run/run_assets.h"
#include "io/run/run_files.h"
#include "io/scene/scene_parse.h"

/* Whether the key at the start of `set` is `key` or inside it; a * in `key` matches any one name. */
static bool is_within(const char *set, const char *key)
{
    while (*key != '\0') {
        if (*key == '*') {
            size_t length = strcspn(set, ".=[]");
            if (length == 0) {
                return false;
            }
            set += length;
            ++key;
        } else if (*key++ != *set++) {
            return false;
        }
    }
    return *set != '\0' && strchr("=.[", *set) != NULL;
}

/* "surface" allows "surface=…", "surface.x=…" and "surface[…". */
static bool is_allowed(const char *set, const char *const *keys)
{
    for (; *keys != NULL; ++keys) {
        if (is_within(set, *keys)) {
            return true;
        }
    }
    return false;
}

/* Settings under other keys would contradict the finished run without changing it. */
static WadiStatus check_sets(const WadiRunViewDef *def, WadiError *error)
{
    for (int i = 0; i < def->set_count; ++i) {
        if (!is_allowed(def->sets[i], def->keys)) {
            return wadi_fail(
                error, WADI_ERR_SCENE,
                "set %s: the run is made; only what does not change it can be set here, as in %s",
                def->sets[i], def->example);
        }
    }
    return WADI_OK;
}

/* run.json comes with the first frame. */
static WadiStatus await_summary(const WadiRunView *view, const WadiRunViewDef *def, WadiError *error)
{
    const struct timespec moment = { .tv_nsec = 50000000 };
    char path[WADI_PATH_SIZE];
    snprintf(path, sizeof path, "%s/run.json", view->run);
    while (!wadi_file_exists(path)) {
        WadiLockHolder holder;
        if (!wadi_lock_is_held(view->run, "lock", &holder)) {
            return wadi_fail(error, WADI_ERR_IO,
                             "%s: no run.json: not a run of wadi, or its first frame is not done", view->run);
        }
        if (!def->is_waiting) {
            return wadi_fail(error, WADI_ERR_BUSY, "%s: the first frame is not done yet", view->run);
        }
        if (wadi_stop_requested(def->stop)) {
            return wadi_fail(error, WADI_ERR_STOPPED, "stopped before the first frame");
        }
        nanosleep(&moment, NULL);
    }
    return WADI_OK;
}

static WadiStatus read_scene(WadiRunView *view, const WadiRunViewDef *def, WadiError *error)
{
    struct stat info;
    if (stat(view->run, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return wadi_fail(error, WADI_ERR_IO, "%s: no such run folder", view->run);
    }
    char path[WADI_PATH_SIZE];
    WADI_TRY(await_summary(view, def, error));
    WADI_TRY(wadi_run_summary_read(view->run, &view->summary, error));
    snprintf(path, sizeof path, "%s/scene.yaml", view->run);
    WadiSceneDef scene = wadi_default_scene_def();
    scene.path = path;
    scene.sets = def->sets;
    scene.set_count = def->set_count;
    return wadi_scene_parse_record(&view->scene, &scene, error);
}

/* Colliders and skies are drawn from the copies in the run. */
static WadiStatus check_assets(WadiRunView *view, const WadiRunViewDef *def, WadiError *error)
{
    WadiText changed = { 0 };
    WadiStatus status = wadi_run_assets_verify(view->run, view->scene, &view->assets_hash, &changed, error);
    if (status == WADI_OK && view->assets_hash != 0) {
        wadi_text_printf(
            &view->warning,
            "%s has changed since the run: what is made with it does not show what was simulated; "
            "put the original back, or run the scene again",
            changed.data);
        status = wadi_text_status(&view->warning, error);
        wadi_log(&def->log, WADI_LOG_WARNING, "%s", wadi_text_cstr(&view->warning));
    }
    wadi_text_free(&changed);
    return status;
}

static WadiStatus choose_frames(WadiRunView *view, const WadiRunViewDef *def, WadiError *error)
{
    int count = 0;
    WADI_TRY(wadi_run_find_last_frame(view->run, view->summary.name, &count, error));
    if (count < 1) {
        return wadi_fail(error, WADI_ERR_IO, "%s has no finished frames", view->run);
    }
    const int planned = view->summary.frame_count > count ? view->summary.frame_count : count;
    const int end = def->is_shared ? planned : count;
    view->frame_count = count;
    view->first = def->first > 0 ? def->first : 1;
    view->last = def->last > 0 ? def->last : end;
    if (view->first <= view->last && view->last > end && view->last <= planned) {
        return wadi_fail(error, WADI_ERR_BUSY, "frames %d to %d: %s has frames up to %d, of %d, so far",
                         view->first, view->last, view->run, count, planned);
    }
    if (view->first > view->last || view->last > end) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "frames %d to %d: %s has frames up to %d", view->first,
                         view->last, view->run, count);
    }
    return WADI_OK;
}

WadiStatus wadi_run_view_open(WadiRunView *view, const char *run, const WadiRunViewDef *def, WadiError *error)
{
    *view = (WadiRunView){ .run = run };
    WADI_TRY(check_sets(def, error));
    WadiStatus status = read_scene(view, def, error);
    if (status == WADI_OK) {
        status = choose_frames(view, def, error);
    }
    if (status == WADI_OK) {
        status = check_assets(view, def, error);
    }
    if (status != WADI_OK) {
        wadi_run_view_close(view);
    }
    return status;
}

void wadi_run_view_close(WadiRunView *view)
{
    wadi_scene_free(view->scene);
    wadi_run_summary_free(&view->summary);
    wadi_text_free(&view->warning);
    *view = (WadiRunView){ 0 };
}

static WadiStatus check_header(const WadiRunView *view, const char *path, int number,
                               const WadiFrameHeader *header, WadiError *error)
{
    if (header->frame != number || !(header->fps > 0.0)) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: it says that it is frame %d, at %g frames a second",
                         path, header->frame, header->fps);
    }
    return wadi_run_check_scene(&view->summary, path, header->scene, error);
}

WadiStatus wadi_run_view_read_layout(const WadiRunView *view, int number, WadiFrameLayout *layout,
                                     WadiError *error)
{
    char path[WADI_PATH_SIZE];
    wadi_run_frame_path(path, sizeof path, view->run, view->summary.name, number);
    WADI_TRY(wadi_frame_file_read_layout(path, "particles", layout, error));
    return check_header(view, path, number, &layout->header, error);
}

WadiStatus wadi_run_view_read_frame(const WadiRunView *view, int number, WadiFrameHeader *header,
                                    WadiState *frame, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    wadi_run_frame_path(path, sizeof path, view->run, view->summary.name, number);
    WADI_TRY(wadi_frame_file_read(path, "particles", header, frame, error));
    return check_header(view, path, number, header, error);
}

uint64_t wadi_run_view_work_key(const WadiRunView *view, uint64_t settings)
{
    const uint64_t key = wadi_hash_combine(wadi_hash_combine(0, view->summary.content_hash), settings);
    return key != 0 ? key : 1;
}
