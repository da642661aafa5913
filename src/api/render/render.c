/* Renders pictures one after the other: a picture uses all cores, and its frame is the largest object in
 * memory. Then the video and the contact sheet are made from the picture files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/render/render_job.h"
#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "io/files/files.h"

enum { RENDER_DEF_COOKIE = 0x4e4de4 };

WadiRenderDef wadi_default_render_def(void)
{
    return (WadiRenderDef){ .cookie = RENDER_DEF_COOKIE,
                            .every = 1,
                            .quality = WADI_QUALITY_PREVIEW,
                            .low = (double)NAN,
                            .high = (double)NAN,
                            .has_video = true,
                            .stale = 120.0 };
}

static bool is_stopped(const WadiRenderDef *def)
{
    return def->stop != NULL && *def->stop != 0;
}

void wadi_render_job_report(WadiRenderJob *r, int frame, bool is_kept)
{
    const WadiRenderDef *def = r->plan.def;
    char path[WADI_PATH_SIZE];
    r->report->kept += is_kept;
    r->report->pictures += !is_kept;
    const int count = wadi_render_plan_count(&r->plan), made = r->report->pictures;
    const int done = made + r->report->kept;
    const double seconds = wadi_time_now() - r->start;
    wadi_render_plan_path(&r->plan, frame, path, sizeof path);
    WadiProgress progress = { .frame = frame,
                              .frames_done = done,
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
                              .seconds_left = done == count ? 0.0
                                              : made > 0    ? seconds / made * (count - done)
                                                            : -1.0 };
    if (def->progress != NULL) {
        def->progress(def->progress_user, &progress);
    }
}

WadiStatus wadi_render_job_picture(WadiRenderJob *r, int frame, WadiError *error)
{
    bool is_kept = false;
    WADI_TRY(wadi_picture_make(&r->maker, &r->plan, frame, &is_kept, error));
    wadi_render_job_report(r, frame, is_kept);
    return WADI_OK;
}

static WadiStatus make_pictures(WadiRenderJob *r, WadiError *error)
{
    int count = wadi_render_plan_count(&r->plan);
    for (int i = 0; i < count; ++i) {
        if (is_stopped(r->plan.def)) {
            return wadi_fail(error, WADI_ERR_STOPPED, "stopped after %d of %d pictures", i, count);
        }
        WADI_TRY(wadi_render_job_picture(r, wadi_render_plan_frame(&r->plan, i), error));
    }
    return WADI_OK;
}

/* The shot that the folder keeps, or that of the frames. */
static WadiStatus find_shot(WadiRenderJob *r, WadiError *error)
{
    WadiRenderShot shot;
    bool is_there;
    WADI_TRY(wadi_render_shot_read(&r->plan, &shot, &is_there, error));
    return is_there ? wadi_render_shot_set(&r->plan, &shot, error)
                    : wadi_picture_survey(&r->maker, &r->plan, error);
}

static WadiStatus render(WadiRenderJob *r, WadiError *error)
{
    r->maker.outputs = &r->outputs;
    WADI_TRY(wadi_render_products_claim(r, error));
    if (r->plan.def->is_shared) {
        return wadi_render_shared(r, error);
    }
    WADI_TRY(find_shot(r, error));
    WADI_TRY(make_pictures(r, error));
    return wadi_render_products_make(r, error);
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
    WadiRenderJob *r = NULL;
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
