/* Pictures of a run that several processes draw together. */
#include "api/render/render_job.h"
#include "api/share.h"
#include "core/hash.h"
#include "core/status.h"

static WadiStatus refresh(void *user, WadiError *error)
{
    WadiRenderJob *job = user;
    return wadi_output_index_refresh(&job->outputs, error);
}

static WadiStatus frame_key(const WadiRenderJob *job, int frame, uint64_t *key, WadiError *error)
{
    WadiFrameLayout layout;
    WADI_TRY(wadi_run_view_read_layout(&job->plan.view, frame, &layout, error));
    return wadi_picture_key(&job->plan, &layout, key, error);
}

static WadiStatus is_done(void *user, int frame, bool *is_there, WadiError *error)
{
    const WadiRenderJob *job = user;
    char path[WADI_PATH_SIZE];
    uint64_t key;
    WADI_TRY(frame_key(job, frame, &key, error));
    wadi_render_plan_path(&job->plan, frame, path, sizeof path);
    *is_there = wadi_output_index_has(&job->outputs, path, key, false);
    return WADI_OK;
}

static void on_kept(void *user, int frame)
{
    wadi_render_job_report(user, frame, true);
}

/* The first process makes the plan, the others wait for it. */
static WadiStatus find_shot(WadiRenderJob *job, WadiShare *share, WadiError *error)
{
    WadiRenderShot shot;
    bool is_there;
    char path[WADI_PATH_SIZE];
    WADI_TRY(wadi_render_shot_read(&job->plan, &shot, &is_there, error));
    if (!is_there) {
        WADI_TRY(wadi_share_claim(share, WADI_CLAIM_PLAN, true, error));
        WADI_TRY(wadi_render_shot_read(&job->plan, &shot, &is_there, error));
    }
    if (is_there) {
        wadi_claim_release(&share->claims, WADI_CLAIM_PLAN);
        return wadi_render_shot_set(&job->plan, &shot, error);
    }
    wadi_render_shot_path(&job->plan, path);
    WADI_TRY(wadi_output_index_claim(&job->outputs, path, error));
    WADI_TRY(wadi_picture_survey(&job->maker, &job->plan, error));
    WADI_TRY(wadi_render_shot_write(&job->plan, error));
    wadi_claim_release(&share->claims, WADI_CLAIM_PLAN);
    return WADI_OK;
}

static WadiStatus draw_frames(WadiRenderJob *job, WadiShare *share, WadiError *error)
{
    const WadiRenderDef *def = job->plan.def;
    for (;;) {
        if (wadi_stop_requested(def->stop)) {
            return wadi_fail(error, WADI_ERR_STOPPED, "stopped after %d pictures", job->report->pictures);
        }
        WADI_TRY(wadi_share_next(share, 1, error));
        if (share->claimed_count == 0) {
            return WADI_OK;
        }
        WADI_TRY(wadi_render_job_picture(job, share->claimed[0], error));
        wadi_share_finish(share);
    }
}

/* Once, by the process that finds all pictures done first. */
static WadiStatus make_products(WadiRenderJob *job, WadiShare *share, WadiError *error)
{
    if (!wadi_render_products_wanted(job)) {
        return WADI_OK;
    }
    const int count = wadi_render_plan_count(&job->plan);
    uint64_t all = 0;
    for (int i = 0; i < count; ++i) {
        uint64_t key;
        WADI_TRY(frame_key(job, wadi_render_plan_frame(&job->plan, i), &key, error));
        all = wadi_hash_combine(all, key);
    }
    if (wadi_render_products_are_made(job, all)) {
        return WADI_OK;
    }
    WADI_TRY(wadi_share_claim(share, WADI_CLAIM_PRODUCTS, job->plan.def->is_waiting, error));
    if (!wadi_render_products_are_made(job, all)) {
        WADI_TRY(wadi_render_products_make(job, error));
        WADI_TRY(wadi_render_products_mark(job, all, error));
    }
    wadi_claim_release(&share->claims, WADI_CLAIM_PRODUCTS);
    return WADI_OK;
}

WadiStatus wadi_render_shared(WadiRenderJob *job, WadiError *error)
{
    const WadiRenderDef *def = job->plan.def;
    WadiShare share;
    WADI_TRY(wadi_share_open(&share,
                             &(WadiShareDef){ .view = &job->plan.view,
                                              .folder = job->plan.folder,
                                              .name = job->plan.name,
                                              .every = def->every,
                                              .stale = def->stale,
                                              .is_waiting = def->is_waiting,
                                              .is_watching = def->is_video_only,
                                              .stop = def->stop,
                                              .refresh = refresh,
                                              .is_done = is_done,
                                              .on_kept = on_kept,
                                              .user = job },
                             error));
    WadiStatus status = find_shot(job, &share, error);
    if (status == WADI_OK) {
        status = draw_frames(job, &share, error);
    }
    if (status == WADI_OK) {
        status = make_products(job, &share, error);
    }
    wadi_share_close(&share);
    return status;
}
