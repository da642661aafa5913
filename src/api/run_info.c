/* The contents of run.json as a plain struct for callers. */
#include "core/alloc.h"
#include "core/check.h"
#include "io/run/run_folder.h"

/* The memory that the pointers of a WadiRunInfo lead to; freed by wadi_run_info_release. */
typedef struct Owned {
    WadiRunSummary summary;
    WadiRunMaterial material[WADI_RUN_MATERIAL_MAX];
    WadiRunStage stage[WADI_STAGE_MAX];
    const char *warning[WADI_RUN_WARNING_MAX];
} Owned;

static void fill_info(WadiRunInfo *info, Owned *owned)
{
    const WadiRunSummary *s = &owned->summary;
    for (int i = 0; i < s->material_count; ++i) {
        owned->material[i] = (WadiRunMaterial){ s->material_name[i], s->material_particles[i] };
    }
    for (int i = 0; i < s->stages.count; ++i) {
        owned->stage[i] = (WadiRunStage){ s->stages.name[i], s->stages.seconds[i] };
    }
    for (int i = 0; i < s->warning_count; ++i) {
        owned->warning[i] = s->warning[i];
    }
    *info = (WadiRunInfo){ .scene = s->scene,
                           .name = s->name,
                           .solver = s->solver,
                           .content_hash = s->content_hash,
                           .threads = s->threads,
                           .is_finished = s->is_finished,
                           .frames = s->frames,
                           .frame_count = s->frame_count,
                           .fps = s->fps,
                           .steps = s->steps,
                           .lost_particles = s->lost_particles,
                           .drained_particles = s->drained_particles,
                           .seconds = s->seconds_total,
                           .peak_rss_bytes = s->peak_rss_bytes,
                           .state_hash = s->state_hash,
                           .drift_mass = s->drift_mass,
                           .drift_water_mass = s->drift_water_mass,
                           .drift_volume = s->drift_volume,
                           .max_divergence = s->max_divergence,
                           .material_count = s->material_count,
                           .materials = owned->material,
                           .stage_count = s->stages.count,
                           .stages = owned->stage,
                           .warning_count = s->warning_count,
                           .warnings = owned->warning,
                           .listed_frames = s->listed_frames,
                           .awake_particles = s->awake,
                           .sleeping_particles = s->sleeping,
                           .memory = owned };
}

void wadi_run_info_release(WadiRunInfo *info)
{
    if (info != NULL) {
        Owned *owned = info->memory;
        if (owned != NULL) {
            wadi_run_summary_free(&owned->summary);
            WADI_DELETE(owned, 1);
        }
        *info = (WadiRunInfo){ 0 };
    }
}

WadiStatus wadi_run_info_read(WadiRunInfo *info, const char *run, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    *info = (WadiRunInfo){ 0 };
    Owned *owned = NULL;
    WADI_TRY(WADI_NEW(&owned, 1, "information of a run", error));
    info->memory = owned;
    WadiStatus status =
        wadi_assert_status(wadi_run_summary_read(run, &owned->summary, error), asserts, error);
    if (status == WADI_OK) {
        fill_info(info, owned);
    } else {
        wadi_run_info_release(info);
    }
    return status;
}
