#include "api/share.h"

#include <math.h>
#include <time.h>

#include "core/alloc.h"
#include "core/status.h"
#include "core/timer.h"
#include "io/run/run_files.h"

/* Pauses between two looks at the folder. They grow: many waiting processes must not load its server. */
static const double shortest_pause = 0.25, longest_pause = 5.0; /* s */

WadiStatus wadi_share_check_stale(double stale, WadiError *error)
{
    return stale >= 1.0 && stale <= 86400.0
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_ARGUMENT,
                           "a claim that is stale after %g s: expected 1 to 86400 (a day)", stale);
}

static int frame_at(const WadiShare *share, int i)
{
    return share->def.view->first + i * share->def.every;
}

WadiStatus wadi_share_open(WadiShare *share, const WadiShareDef *def, WadiError *error)
{
    const WadiRunView *view = def->view;
    *share = (WadiShare){ .def = *def,
                          .count = (view->last - view->first) / def->every + 1,
                          .frames_seen = view->frame_count,
                          .changed = wadi_time_now() };
    WADI_TRY(wadi_share_check_stale(def->stale, error));
    WADI_TRY(WADI_NEW(&share->is_done, (size_t)share->count, "list of frames", error));
    WadiStatus status = WADI_NEW(&share->claimed, (size_t)share->count, "list of frames", error);
    if (status == WADI_OK) {
        status = wadi_claims_open(&share->claims, def->folder, def->name, def->stale, def->stop, error);
    }
    if (status != WADI_OK) {
        WADI_DELETE(share->claimed, (size_t)share->count);
        WADI_DELETE(share->is_done, (size_t)share->count);
    }
    return status;
}

void wadi_share_close(WadiShare *share)
{
    wadi_claims_close(&share->claims);
    WADI_DELETE(share->claimed, (size_t)share->count);
    WADI_DELETE(share->is_done, (size_t)share->count);
}

static WadiStatus pause_a_moment(WadiShare *share, WadiError *error)
{
    const struct timespec piece = { .tv_nsec = 50000000 };
    const double end = wadi_time_now() + share->pause;
    share->pause =
        fmin(1.5 * share->pause, fmin(longest_pause, fmax(shortest_pause, 0.1 * share->def.stale)));
    do {
        if (wadi_stop_requested(share->def.stop)) {
            return wadi_fail(error, WADI_ERR_STOPPED, "stopped while waiting for other processes");
        }
        nanosleep(&piece, NULL);
    } while (wadi_time_now() < end);
    return WADI_OK;
}

/* What a look at the list found. */
typedef struct Look {
    int others, absent; /* frames that others make, and that are not simulated yet */
    int first_absent;
} Look;

/* The frame is free and not done: claim it. It may have been finished between the two. */
static WadiStatus claim_frame(WadiShare *share, int i, Look *look, WadiError *error)
{
    const WadiShareDef *def = &share->def;
    const int frame = frame_at(share, i);
    WadiLockHolder holder;
    bool is_mine, is_done = false;
    WADI_TRY(wadi_claim_take(&share->claims, frame, &is_mine, &holder, error));
    if (!is_mine) {
        look->others += 1;
        share->other = holder;
        return WADI_OK;
    }
    WADI_TRY(def->refresh(def->user, error));
    WADI_TRY(def->is_done(def->user, frame, &is_done, error));
    if (is_done) {
        wadi_claim_release(&share->claims, frame);
        share->is_done[i] = true;
        def->on_kept(def->user, frame);
        return WADI_OK;
    }
    share->is_done[i] = true; /* by this process, once it is released */
    share->claimed[share->claimed_count++] = frame;
    return WADI_OK;
}

static WadiStatus look_through(WadiShare *share, int most, Look *look, WadiError *error)
{
    const WadiShareDef *def = &share->def;
    *look = (Look){ 0 };
    WADI_TRY(def->refresh(def->user, error));
    for (int i = 0; i < share->count && share->claimed_count < most; ++i) {
        if (share->is_done[i]) {
            continue;
        }
        const int frame = frame_at(share, i);
        if (frame > share->frames_seen) {
            look->first_absent = look->absent == 0 ? frame : look->first_absent;
            look->absent += 1;
            continue;
        }
        bool is_done = false;
        WADI_TRY(def->is_done(def->user, frame, &is_done, error));
        if (is_done) {
            share->is_done[i] = true;
            share->changed = wadi_time_now();
            def->on_kept(def->user, frame);
        } else if (def->is_watching) {
            look->first_absent = look->absent == 0 ? frame : look->first_absent;
            look->absent += 1;
        } else {
            WADI_TRY(claim_frame(share, i, look, error));
        }
    }
    return WADI_OK;
}

static WadiStatus fail_absent(const WadiShare *share, const Look *look, const char *why, WadiError *error)
{
    return wadi_fail(error, WADI_ERR_BUSY, "%s: %s %d is not there yet, of frames up to %d%s",
                     share->def.view->run, share->def.is_watching ? "the file of frame" : "frame",
                     look->first_absent, share->def.view->last, why);
}

static WadiStatus fail_others(const WadiShare *share, const char *what, WadiError *error)
{
    const WadiLockHolder *other = &share->other;
    return wadi_fail(error, WADI_ERR_BUSY, "%s: process %s on %s has been making %s since %s; wait for it",
                     share->def.folder, other->pid, other->host, what, other->since);
}

/* Looks for new frames. Without any, a run that no process writes to has ended before its last frame. */
static WadiStatus follow(WadiShare *share, const Look *look, WadiError *error)
{
    const WadiRunView *view = share->def.view;
    WadiLockHolder holder;
    int last = 0;
    WADI_TRY(wadi_run_find_last_frame(view->run, view->summary.name, &last, error));
    if (last > share->frames_seen || wadi_lock_is_held(view->run, "lock", &holder)) {
        share->frames_seen = last > share->frames_seen ? last : share->frames_seen;
        share->changed = wadi_time_now();
    }
    if (look->absent > 0 && wadi_time_now() - share->changed > share->def.stale) {
        return fail_absent(share, look, "; no process makes them any more", error);
    }
    return WADI_OK;
}

WadiStatus wadi_share_next(WadiShare *share, int most, WadiError *error)
{
    share->claimed_count = 0;
    share->pause = shortest_pause;
    for (;;) {
        Look look;
        WADI_TRY(look_through(share, most, &look, error));
        if (share->claimed_count > 0 || (look.others == 0 && look.absent == 0)) {
            return WADI_OK;
        }
        if (!share->def.is_waiting && look.others > 0) {
            return fail_others(share, "frames that are left", error);
        }
        if (!share->def.is_waiting) {
            return fail_absent(share, &look, "", error);
        }
        WADI_TRY(pause_a_moment(share, error));
        WADI_TRY(follow(share, &look, error));
    }
}

void wadi_share_finish(WadiShare *share)
{
    for (int i = 0; i < share->claimed_count; ++i) {
        wadi_claim_release(&share->claims, share->claimed[i]);
    }
    share->claimed_count = 0;
}

WadiStatus wadi_share_claim(WadiShare *share, int item, bool is_waiting, WadiError *error)
{
    share->pause = shortest_pause;
    for (;;) {
        bool is_mine;
        WADI_TRY(wadi_claim_take(&share->claims, item, &is_mine, &share->other, error));
        if (is_mine) {
            return WADI_OK;
        }
        if (!is_waiting) {
            return fail_others(share, item == WADI_CLAIM_PLAN ? "the plan" : "the video", error);
        }
        WADI_TRY(pause_a_moment(share, error));
    }
}
