/* Renders pictures one after the other: a picture uses all cores, and its frame is the largest object in
 * memory. Then the video and the contact sheet are made from the picture files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/render/render_picture.h"
#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "io/files/files.h"
#include "render/image/picture_sheet.h"
#include "render/image/video.h"

enum { RENDER_DEF_COOKIE = 0x4e4de4 };

WadiRenderDef wadi_default_render_def(void)
{
    return (WadiRenderDef){ .cookie = RENDER_DEF_COOKIE,
                            .every = 1,
                            .quality = WADI_QUALITY_PREVIEW,
                            .low = (double)NAN,
                            .high = (double)NAN,
                            .has_video = true };
}

typedef struct Rendering {
    WadiRenderPlan plan;
    WadiPictureMaker maker;
    WadiOutputIndex outputs;
    WadiRenderReport *report;
    double start; /* s */
} Rendering;

static bool is_stopped(const WadiRenderDef *def)
{
    return def->stop != NULL && *def->stop != 0;
}

static void report_progress(const Rendering *r, int index, bool is_kept)
{
    const WadiRenderDef *def = r->plan.def;
    char path[WADI_PATH_SIZE];
    int frame = wadi_render_plan_frame(&r->plan, index), count = wadi_render_plan_count(&r->plan);
    double seconds = wadi_time_now() - r->start;
    int made = r->report->pictures;
    wadi_render_plan_path(&r->plan, frame, path, sizeof path);
    WadiProgress progress = { .frame = frame,
                              .frames_done = index + 1,
                              .frame_count = count,
                              .first_frame = wadi_render_plan_frame(&r->plan, 0),
                              .is_frame_done = true,
                              .stage = "render",
                              .seconds_per_frame = made > 0 ? seconds / made : -1.0,
                              .path = path,
                              .is_kept = is_kept,
                              .stage_seconds = r->maker.stage_seconds,
                              .tree_seconds = r->maker.tree_seconds,
                              .trace_seconds = r->maker.trace_seconds,
                              .grains = r->maker.grains,
                              .triangles = r->maker.triangles,
                              .seconds = seconds,
                              .seconds_left = index + 1 == count ? 0.0
                                              : made > 0         ? seconds / made * (count - index - 1)
                                                                 : -1.0 };
    if (def->progress != NULL) {
        def->progress(def->progress_user, &progress);
    }
}

static WadiStatus make_pictures(Rendering *r, WadiError *error)
{
    int count = wadi_render_plan_count(&r->plan);
    for (int i = 0; i < count; ++i) {
        if (is_stopped(r->plan.def)) {
            return wadi_fail(error, WADI_ERR_STOPPED, "stopped after %d of %d pictures", i, count);
        }
        bool is_kept = false;
        WADI_TRY(
            wadi_picture_make(&r->maker, &r->plan, wadi_render_plan_frame(&r->plan, i), &is_kept, error));
        r->report->kept += is_kept;
        r->report->pictures += !is_kept;
        report_progress(r, i, is_kept);
    }
    return WADI_OK;
}

static const char VIDEO[] = "mp4", GIF[] = "gif", SHEET[] = "sheet.png";

/* Name of a video or sheet; its length. */
static int product_path(const Rendering *r, const char *ending, char path[WADI_PATH_SIZE])
{
    return snprintf(path, WADI_PATH_SIZE, "%.4070s.%s", r->plan.base, ending);
}

static bool has_product(const Rendering *r, const char *ending)
{
    const WadiRenderDef *def = r->plan.def;
    bool is_moving = wadi_render_plan_count(&r->plan) > 1;
    return ending == SHEET ? def->sheet > 0 : is_moving && (ending == GIF ? def->has_gif : def->has_video);
}

/* Refuses to replace videos and sheets of others, before hours of drawing. The run folder has none. */
static WadiStatus claim_products(const Rendering *r, WadiError *error)
{
    const char *const endings[] = { VIDEO, GIF, SHEET };
    for (int i = 0; i < 3 && r->plan.def->folder != NULL; ++i) {
        char path[WADI_PATH_SIZE];
        product_path(r, endings[i], path);
        if (has_product(r, endings[i])) {
            WADI_TRY(wadi_output_index_claim(&r->outputs, path, error));
        }
    }
    return WADI_OK;
}

static WadiStatus make_video(Rendering *r, const char *const *paths, bool is_gif, char made[4096],
                             WadiError *error)
{
    const WadiRenderDef *def = r->plan.def;
    WadiError inner = { 0 };
    char path[WADI_PATH_SIZE];
    int length = product_path(r, is_gif ? GIF : VIDEO, path);
    WadiVideoDef video = { .pictures = paths,
                           .picture_count = wadi_render_plan_count(&r->plan),
                           .fps = r->plan.view.summary.fps /
                                  def->every, /* the video lasts as long as the simulated time */
                           .is_gif = is_gif,
                           .stop = def->stop };
    WadiStatus status = wadi_video_write(path, &video, &inner);
    if (status == WADI_ERR_UNSUPPORTED) {
        wadi_log(&def->log, WADI_LOG_WARNING, "%s", inner.text);
        r->report->warning_count += 1;
        return WADI_OK;
    }
    if (status != WADI_OK) {
        return wadi_fail(error, status, "%s", inner.text);
    }
    memcpy(made, path, (size_t)length + 1);
    return WADI_OK;
}

static WadiStatus make_sheet(Rendering *r, const char *const *paths, WadiError *error)
{
    int count = wadi_render_plan_count(&r->plan), shown = r->plan.def->sheet;
    shown = shown < count ? shown : count;
    WadiSheetPicture *pictures = NULL;
    char path[WADI_PATH_SIZE];
    WADI_TRY(WADI_NEW(&pictures, (size_t)shown, "contact sheet", error));
    for (int i = 0; i < shown; ++i) {
        int index = shown > 1 ? (int)((int64_t)i * (count - 1) / (shown - 1)) : count - 1;
        int frame = wadi_render_plan_frame(&r->plan, index);
        pictures[i].path = paths[index];
        snprintf(pictures[i].label, sizeof pictures[i].label, "frame %d, %.2f s", frame,
                 (frame - 1) / r->plan.view.summary.fps);
    }
    int length = product_path(r, SHEET, path);
    WadiStatus status = wadi_picture_sheet_write(path, pictures, shown, error);
    WADI_DELETE(pictures, (size_t)shown);
    if (status == WADI_OK) {
        memcpy(r->report->sheet, path, (size_t)length + 1);
    }
    return status;
}

/* Makes video and contact sheet from the picture files. */
static WadiStatus make_video_and_sheet(Rendering *r, WadiError *error)
{
    size_t count = (size_t)wadi_render_plan_count(&r->plan);
    if (!has_product(r, SHEET) && !has_product(r, VIDEO) && !has_product(r, GIF)) {
        return WADI_OK;
    }
    char(*names)[WADI_PATH_SIZE] = NULL;
    const char **paths = NULL;
    WadiStatus status = WADI_NEW(&names, count, "names of pictures", error);
    if (status == WADI_OK) {
        status = WADI_NEW(&paths, count, "names of pictures", error);
    }
    for (size_t i = 0; i < count && status == WADI_OK; ++i) {
        wadi_render_plan_path(&r->plan, wadi_render_plan_frame(&r->plan, (int)i), names[i], WADI_PATH_SIZE);
        paths[i] = names[i];
    }
    if (status == WADI_OK && has_product(r, SHEET)) {
        status = make_sheet(r, paths, error);
    }
    if (status == WADI_OK && has_product(r, VIDEO)) {
        status = make_video(r, paths, false, r->report->video, error);
    }
    if (status == WADI_OK && has_product(r, GIF)) {
        status = make_video(r, paths, true, r->report->gif, error);
    }
    WADI_DELETE(paths, count);
    WADI_DELETE(names, count);
    return status;
}

static WadiStatus render(Rendering *r, WadiError *error)
{
    r->maker.outputs = &r->outputs;
    WADI_TRY(claim_products(r, error));
    WADI_TRY(wadi_picture_meter(&r->maker, &r->plan, error));
    WADI_TRY(make_pictures(r, error));
    return make_video_and_sheet(r, error);
}

WadiStatus wadi_render(const char *run, const WadiRenderDef *def, WadiRenderReport *report, WadiError *error)
{
    WadiRenderReport unused;
    report = report != NULL ? report : &unused;
    *report = (WadiRenderReport){ 0 };
    if (def == NULL || def->cookie != RENDER_DEF_COOKIE) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "the WadiRenderDef was not made by wadi_default_render_def");
    }
    const unsigned asserts = wadi_assert_count();
    Rendering *r = NULL;
    WADI_TRY(WADI_NEW(&r, 1, "rendering", error));
    r->report = report;
    r->start = wadi_time_now();
    wadi_parallel_set_threads(def->threads);
    WadiStatus status = wadi_render_plan_open(&r->plan, run, def, error);
    if (status == WADI_OK) {
        memcpy(report->folder, r->plan.folder, sizeof report->folder);
        const WadiOutputWork work = { r->plan.folder, r->plan.name,
                                      wadi_run_view_work_key(&r->plan.view, r->plan.settings_hash) };
        status = wadi_output_index_open(&r->outputs, &work, def->folder == NULL ? run : NULL, error);
        if (status == WADI_OK) {
            status = render(r, error);
            wadi_output_index_close(&r->outputs);
        }
        report->warning_count += r->maker.warning_count + (r->plan.view.assets_hash != 0);
        wadi_picture_maker_free(&r->maker);
        wadi_render_plan_close(&r->plan);
    }
    report->seconds = wadi_time_now() - r->start;
    WADI_DELETE(r, 1);
    return wadi_assert_status(status, asserts, error);
}
