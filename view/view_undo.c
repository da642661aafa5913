/* Taking back: the exact states before the last things that a person did. */
#include <stdio.h>
#include <string.h>

#include "view_session.h"

static const double MARK_BYTES = 256e6; /* of all marks; the oldest go first */

static void drop_oldest(WadiViewMarks *marks)
{
    marks->bytes -= marks->state[0].size;
    wadi_buffer_release(&marks->state[0]);
    marks->count -= 1;
    memmove(&marks->state[0], &marks->state[1], (size_t)marks->count * sizeof marks->state[0]);
}

void wadi_view_forget_marks(WadiViewSession *session)
{
    while (session->marks.count > 0) {
        drop_oldest(&session->marks);
    }
}

void wadi_view_mark(WadiViewSession *session)
{
    WadiViewMarks *marks = &session->marks;
    WadiBuffer state = { 0 };
    WadiProfile profile;
    wadi_sim_profile(session->sim, &profile);
    const double expected = (double)profile.particle_bytes * (double)wadi_sim_particle_count(session->sim);
    if (expected > MARK_BYTES || wadi_sim_save(session->sim, &state, NULL) != WADI_OK) {
        return;
    }
    while (marks->count > 0 &&
           (marks->count == WADI_VIEW_MARKS || (double)(marks->bytes + state.size) > MARK_BYTES)) {
        drop_oldest(marks);
    }
    marks->bytes += state.size;
    marks->state[marks->count++] = state;
}

void wadi_view_undo(WadiViewSession *session)
{
    WadiViewMarks *marks = &session->marks;
    WadiSim *sim = NULL;
    WadiError error = { 0 };
    WadiSimDef def = wadi_default_sim_def();
    def.threads = session->def->threads;
    if (marks->count == 0) {
        wadi_view_complain(session, "undo", "there is nothing to take back");
        return;
    }
    const WadiBuffer *state = &marks->state[marks->count - 1];
    if (wadi_sim_load(&sim, session->scene, &def, state->bytes, state->size, &error) != WADI_OK) {
        wadi_view_complain(session, "undo", error.text);
        return;
    }
    marks->count -= 1;
    marks->bytes -= state->size;
    wadi_buffer_release(&marks->state[marks->count]);
    wadi_sim_destroy(session->sim);
    session->sim = sim;
    session->has_ball = false;
    session->profile = (WadiProfile){ 0 };
    session->pace_wall = -1.0;
    wadi_view_forget_saved(session);
    wadi_view_history_cut(&session->history, wadi_view_frame(session));
    wadi_view_choose_attribute(session);
    wadi_view_send_scene(session);
}
