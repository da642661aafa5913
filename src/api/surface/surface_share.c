/* Surfaces of a run that several processes make together. */
#include "api/share.h"
#include "api/surface/surface_team.h"

static WadiStatus refresh(void *user, WadiError *error)
{
    WadiSurfaceTeam *team = user;
    return wadi_output_index_refresh(&team->outputs, error);
}

static WadiStatus is_done(void *user, int frame, bool *is_there, WadiError *error)
{
    const WadiSurfaceTeam *team = user;
    WadiFrameLayout layout;
    WADI_TRY(wadi_run_view_read_layout(&team->plan->view, frame, &layout, error));
    *is_there = true;
    for (int p = 0; p < team->plan->part_count && *is_there; ++p) {
        *is_there =
            wadi_surface_team_missing(team, p, frame, wadi_surface_plan_key(team->plan, p, &layout)) == 0;
    }
    return WADI_OK;
}

static void on_kept(void *user, int frame)
{
    WadiSurfaceTeam *team = user;
    for (int p = 0; p < team->plan->part_count; ++p) {
        team->made[p] = (WadiSurfaceMade){ .kept = team->plan->formats };
    }
    team->frames = &frame;
    wadi_surface_team_report(team, 0);
    team->frames = NULL;
}

/* As many frames at a time as there are workers, so that few are lost with a process. */
WadiStatus wadi_surface_team_share(WadiSurfaceTeam *team, WadiError *error)
{
    WadiShare share;
    WADI_TRY(wadi_share_open(&share,
                             &(WadiShareDef){ .view = &team->plan->view,
                                              .folder = team->plan->folder,
                                              .name = team->name,
                                              .every = 1,
                                              .stale = team->def->stale,
                                              .is_waiting = team->def->is_waiting,
                                              .stop = team->def->stop,
                                              .refresh = refresh,
                                              .is_done = is_done,
                                              .on_kept = on_kept,
                                              .user = team },
                             error));
    WadiStatus status = wadi_share_next(&share, team->worker_count, error);
    while (status == WADI_OK && share.claimed_count > 0) {
        status = wadi_surface_team_make(team, share.claimed, share.claimed_count, error);
        wadi_share_finish(&share);
        if (status == WADI_OK) {
            status = wadi_share_next(&share, team->worker_count, error);
        }
    }
    wadi_share_close(&share);
    return status;
}
