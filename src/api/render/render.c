/* Renders pictures one after the other: a picture uses all cores, and its frame is the largest object in
 * memory. Then the video and the contact sheet are made from the picture files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/render/render_costs.h"
#include "api/render/render_job.h"
#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"
#include "core/status.h"
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
    return wadi_stop_requested(def->stop);
}

void wadi_render_job_report(WadiRenderJob *job, int frame, bool is_kept)
{
    const WadiRenderDef *def = job->plan.def;
    char path[WADI_PATH_SIZE];
    job->report->kept += is_kept;
    job->report->pictures += !is_kept;
    const int count = wadi_render_plan_count(&job->plan), made = job->report->pictures;
    const int done = made + job->report->kept;
    const double seconds = wadi_time_now() - job->start;
    wadi_render_plan_path(&job->plan, frame, path, sizeof path);
    WadiProgress progress = { .frame = frame,
                              .frames_done = done,
                              .frame_count = count,
                              .first_frame = wadi_render_plan_frame(&job->plan, 0),
                              .is_frame_done = true,
                              .stage = "render",
                              .seconds_per_frame = made > 0 ? seconds / made : -1.0,
                              .path = path,
                              .is_kept = is_kept,
                              .stage_seconds = job->maker.stage_seconds,
                              .tree_seconds = job->maker.tree_seconds,
                              .trace_seconds = job->maker.trace_seconds,
                              .grains = job->maker.grain_count,
                              .triangles = job->maker.triangles,
                              .seconds = seconds,
                              .seconds_left = done == count ? 0.0
                                              : made > 0    ? seconds / made * (count - done)
                                                            : -1.0 };
    if (def->progress != NULL) {
        def->progress(def->progress_user, &progress);
    }
}

WadiStatus wadi_render_job_picture(WadiRenderJob *job, int frame, WadiError *error)
{
    bool is_kept = false;
    WADI_TRY(wadi_picture_make(&job->maker, &job->plan, frame, &is_kept, error));
    job->report->prepare_seconds += job->maker.stage_seconds + job->maker.tree_seconds;
    job->report->light_seconds += job->maker.trace_seconds;
    wadi_render_job_report(job, frame, is_kept);
    return WADI_OK;
}

static WadiStatus make_pictures(WadiRenderJob *job, WadiError *error)
{
    int count = wadi_render_plan_count(&job->plan);
    for (int i = 0; i < count; ++i) {
        if (is_stopped(job->plan.def)) {
            return wadi_fail(error, WADI_ERR_STOPPED, "stopped after %d of %d pictures", i, count);
        }
        WADI_TRY(wadi_render_job_picture(job, wadi_render_plan_frame(&job->plan, i), error));
    }
    return WADI_OK;
}

/* The shot that the folder keeps, or that of the frames. */
static WadiStatus find_shot(WadiRenderJob *job, WadiError *error)
{
    WadiRenderShot shot;
    bool is_there;
    WADI_TRY(wadi_render_shot_read(&job->plan, &shot, &is_there, error));
    return is_there ? wadi_render_shot_set(&job->plan, &shot, error)
                    : wadi_picture_survey(&job->maker, &job->plan, error);
}

static WadiStatus render(WadiRenderJob *job, WadiError *error)
{
    job->maker.outputs = &job->outputs;
    WADI_TRY(wadi_render_products_claim(job, error));
    if (job->plan.def->is_shared) {
        return wadi_render_shared(job, error);
    }
    WADI_TRY(find_shot(job, error));
    WADI_TRY(make_pictures(job, error));
    return wadi_render_products_make(job, error);
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
    WadiRenderJob *job = NULL;
    WADI_TRY(WADI_NEW(&job, 1, "rendering", error));
    job->report = report;
    job->start = wadi_time_now();
    wadi_parallel_set_threads(def->threads);
    WadiStatus status = wadi_render_plan_open(&job->plan, run, def, error);
    if (status == WADI_OK) {
        memcpy(report->folder, job->plan.folder, sizeof report->folder);
        const WadiOutputWork work = { job->plan.folder, job->plan.name,
                                      wadi_run_view_work_key(&job->plan.view, job->plan.settings_hash) };
        status = wadi_output_index_open(&job->outputs, &work, def->folder == NULL ? run : NULL, error);
        if (status == WADI_OK) {
            status = render(job, error);
            wadi_output_index_close(&job->outputs);
        }
        report->warning_count += job->maker.warning_count + (job->plan.view.assets_hash != 0);
        if (job->plan.frame_scene.colours == NULL) {
            wadi_render_costs(job->plan.view.scene, &job->plan.quality, report->costs);
        }
        wadi_picture_maker_free(&job->maker);
        wadi_render_plan_close(&job->plan);
    }
    report->seconds = wadi_time_now() - job->start;
    WADI_DELETE(job, 1);
    return wadi_assert_status(status, asserts, error);
}
