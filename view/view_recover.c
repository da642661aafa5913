/* What the session does when a step fails: the last good state is simulated again from a checkpoint in memory
 * with the changes since, which gives the same state. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "view_session.h"

static const double SAVE_SECONDS = 2.0;    /* between two checkpoints, at least */
static const double SAVE_SHARE = 0.05;     /* of the time that saving may take */
static const double SAVE_BYTES = 1e9;      /* of the particles; more is not saved */
static const double REPEAT_SECONDS = 30.0; /* of simulating again, at most */

void wadi_view_forget_saved(WadiViewSession *session)
{
    wadi_buffer_release(&session->saved.state);
    session->saved = (WadiViewSaved){ .at = wadi_view_now() };
}

void wadi_view_save_sometimes(WadiViewSession *session, double now)
{
    WadiViewSaved *saved = &session->saved;
    if (now - saved->at < fmax(SAVE_SECONDS, saved->seconds / SAVE_SHARE)) {
        return;
    }
    WadiBuffer state = { 0 };
    WadiProfile profile;
    wadi_sim_profile(session->sim, &profile);
    if ((double)profile.particle_bytes * (double)wadi_sim_particle_count(session->sim) < SAVE_BYTES &&
        wadi_sim_save(session->sim, &state, NULL) == WADI_OK) {
        wadi_buffer_release(&saved->state);
        saved->state = state;
    }
    saved->at = wadi_view_now();
    saved->seconds = saved->at - now;
}

WadiViewPoint wadi_view_point(const WadiSim *sim)
{
    WadiViewPoint point = { .steps = wadi_sim_steps(sim) };
    if (wadi_sim_changes(sim, &point.changes, NULL) != WADI_OK) {
        point.changes = NULL;
    }
    return point;
}

void wadi_view_point_free(WadiViewPoint *point)
{
    wadi_text_release(point->changes);
    *point = (WadiViewPoint){ 0 };
}

static WadiStatus load_saved(const WadiViewSession *session, WadiSim **sim, WadiError *error)
{
    WadiSimDef def = wadi_default_sim_def();
    const WadiBuffer *state = &session->saved.state;
    def.threads = session->def->threads;
    return state->size > 0 ? wadi_sim_load(sim, session->scene, &def, state->bytes, state->size, error)
                           : wadi_sim_create(sim, session->scene, &def, error);
}

/* False: it cannot be repeated, or takes too long. */
static bool repeat(const WadiViewSession *session, const WadiViewPoint *point, WadiSim *sim)
{
    const double end = wadi_view_now() + REPEAT_SECONDS;
    if (point->changes == NULL || wadi_sim_repeat_changes(sim, point->changes, NULL) != WADI_OK) {
        return false;
    }
    while (wadi_sim_steps(sim) < point->steps) {
        if (session->hub->quit || wadi_view_now() > end || wadi_sim_step(sim, NULL) != WADI_OK) {
            return false;
        }
    }
    return wadi_sim_apply_due(sim, NULL) == WADI_OK;
}

WadiStatus wadi_view_remake(WadiViewSession *session, const WadiViewPoint *point, WadiSim **sim,
                            WadiError *error)
{
    WadiStatus status = load_saved(session, sim, error);
    if (status == WADI_OK && !repeat(session, point, *sim)) {
        wadi_sim_destroy(*sim);
        *sim = NULL;
        status = load_saved(session, sim, error);
    }
    return status;
}

void wadi_view_recover(WadiViewSession *session, const WadiError *why)
{
    WadiError error = { 0 };
    WadiSim *sim = NULL;
    char text[2 * WADI_ERROR_TEXT_SIZE + 400], stage[64];
    WadiViewPoint point = wadi_view_point(session->sim);
    const double time = wadi_sim_time(session->sim);
    wadi_view_hub_do(session->hub, "going back to the last good state");
    snprintf(stage, sizeof stage, "%.60s", wadi_sim_stopped_stage(session->sim));
    const WadiStatus status = wadi_view_remake(session, &point, &sim, &error);
    if (status == WADI_OK) {
        wadi_sim_destroy(session->sim);
        session->sim = sim;
        wadi_view_history_cut(&session->history, wadi_view_frame(session));
        session->profile = (WadiProfile){ 0 };
        session->is_dirty = true;
    }
    const bool is_same = status == WADI_OK && wadi_sim_steps(session->sim) == point.steps;
    snprintf(text, sizeof text, "after %" PRId64 " steps, t = %.4g s, in the stage %s: %s. ", point.steps,
             time, stage, why->text);
    const size_t used = strlen(text);
    if (status != WADI_OK) {
        snprintf(text + used, sizeof text - used, "The state before cannot be made again: %s. Restart (r).",
                 error.text);
    } else {
        snprintf(text + used, sizeof text - used, "%s t = %.4g s. Take back the last change, or restart (r).",
                 is_same ? "This is the state before that step," : "This is an earlier state,",
                 wadi_sim_time(session->sim));
    }
    wadi_view_complain(session, "stopped", text);
    wadi_view_point_free(&point);
    if (status == WADI_OK) {
        wadi_view_choose_attribute(session);
        wadi_view_send_scene(session);
    }
}
