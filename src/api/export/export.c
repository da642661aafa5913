#include <stdio.h>
#include <string.h>

#include "api/export/export_job.h"
#include "core/check.h"
#include "core/parallel.h"
#include "core/status.h"
#include "core/timer.h"
#include "io/files/files.h"
#include "io/run/run_files.h"

enum { EXPORT_DEF_COOKIE = 0xe4907 };

static const char *const target_names[WADI_EXPORT_TARGET_COUNT] = { "pov", "pbrt", "blender", "ply",
                                                                    "obj", "vdb",  "usd" };

const char *wadi_export_target_name(WadiExportTarget target)
{
    return (unsigned)target < WADI_EXPORT_TARGET_COUNT ? target_names[target] : "?";
}

WadiExportDef wadi_default_export_def(void)
{
    return (WadiExportDef){ .cookie = EXPORT_DEF_COOKIE };
}

bool wadi_export_is_stopped(const WadiExportJob *job)
{
    return wadi_stop_requested(job->def->stop);
}

void wadi_export_report_frame(WadiExportJob *job, int frame, int index, int count, const char *path,
                              bool is_kept, int64_t grains, int64_t triangles)
{
    WadiExportReport *report = job->report;
    report->frames += 1;
    report->kept += is_kept;
    report->grains += grains;
    report->triangles += triangles;
    int made = report->frames - report->kept;
    double seconds = wadi_time_now() - job->start;
    WadiProgress progress = { .frame = frame,
                              .frames_done = index + 1,
                              .frame_count = count,
                              .first_frame = frame - index,
                              .is_frame_done = true,
                              .stage = "export",
                              .seconds_per_frame = made > 0 ? seconds / made : -1.0,
                              .path = path,
                              .is_kept = is_kept,
                              .grains = grains,
                              .triangles = triangles,
                              .seconds = seconds,
                              .seconds_left = index + 1 == count ? 0.0
                                              : made > 0         ? seconds / made * (count - index - 1)
                                                                 : -1.0 };
    if (job->def->progress != NULL) {
        job->def->progress(job->def->progress_user, &progress);
    }
}

static WadiStatus set_folder(WadiExportReport *report, const char *run, const WadiExportDef *def,
                             WadiError *error)
{
    int length = def->folder != NULL ? snprintf(report->folder, sizeof report->folder, "%s", def->folder)
                                     : snprintf(report->folder, sizeof report->folder, "%s/export/%s", run,
                                                wadi_export_target_name(def->target));
    if (length < 1 || length > WADI_RUN_PATH_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the path of the folder is %s",
                         length < 1 ? "empty" : "too long");
    }
    return WADI_OK;
}

WadiStatus wadi_export(const char *run, const WadiExportDef *def, WadiExportReport *report, WadiError *error)
{
    WadiExportReport unused;
    report = report != NULL ? report : &unused;
    *report = (WadiExportReport){ 0 };
    if (def == NULL || def->cookie != EXPORT_DEF_COOKIE) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "the WadiExportDef was not made by wadi_default_export_def");
    }
    if ((unsigned)def->target >= WADI_EXPORT_TARGET_COUNT) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "a target of export that is not known");
    }
    if (def->is_one_file && def->target != WADI_EXPORT_USD) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "all frames in one file are for USD only, not for %s",
                         target_names[def->target]);
    }
    const unsigned asserts = wadi_assert_count();
    WADI_TRY(set_folder(report, run, def, error));
    WadiExportJob job = { .def = def, .report = report, .folder = report->folder, .start = wadi_time_now() };
    wadi_parallel_set_threads(def->threads);
    const bool is_mesh =
        def->target == WADI_EXPORT_PLY || def->target == WADI_EXPORT_OBJ || def->target == WADI_EXPORT_VDB;
    WadiStatus status =
        !is_mesh ? wadi_export_scenes(&job, run, error) : wadi_export_meshes(&job, run, error);
    report->seconds = wadi_time_now() - job.start;
    return wadi_assert_status(status, asserts, error);
}
