/* Links that reproduce a state: its scene, its steps and what was done to it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view_session.h"

enum { REPLAY_MAX = 1 << 20 }; /* bytes */

void wadi_view_send_link(WadiViewSession *session)
{
    char *text = NULL, *changes = NULL;
    size_t size = 0;
    WadiError error = { 0 };
    if (wadi_sim_changes(session->sim, &changes, &error) != WADI_OK) {
        wadi_view_complain(session, "link", error.text);
        return;
    }
    FILE *out = open_memstream(&text, &size);
    if (out != NULL) {
        fputs("{\"type\":\"link\",\"scene\":", out);
        wadi_view_json(out, session->chosen >= 0 ? session->def->scenes[session->chosen].name : "");
        fputs(",\"name\":", out);
        wadi_view_json(out, wadi_scene_name(session->scene));
        fputs(",\"solver\":", out);
        wadi_view_json(out, session->solver);
        fprintf(out, ",\"steps\":%" PRId64 ",\"changes\":", (int64_t)wadi_sim_steps(session->sim));
        wadi_view_json(out, changes);
        fputc('}', out);
        if (fclose(out) == 0) {
            wadi_view_hub_send(session->hub, (unsigned char *)text, size, false, 0);
        } else {
            free(text);
        }
    }
    wadi_text_release(changes);
}

void wadi_view_forget_replay(WadiViewSession *session)
{
    free(session->replay);
    session->replay = NULL;
    session->replay_size = 0;
}

void wadi_view_add_replay(WadiViewSession *session, const char *line)
{
    const size_t length = strlen(line);
    char *grown = session->replay_size + length + 2 < REPLAY_MAX
                      ? realloc(session->replay, session->replay_size + length + 2)
                      : NULL;
    if (grown == NULL) {
        wadi_view_complain(session, "link", "it holds more changes than the view repeats");
        return;
    }
    session->replay = grown;
    snprintf(grown + session->replay_size, length + 2, "%s\n", line);
    session->replay_size += length + 1;
}

void wadi_view_reach(WadiViewSession *session, long steps)
{
    WadiError error = { 0 };
    if (session->replay != NULL &&
        wadi_sim_repeat_changes(session->sim, session->replay, &error) != WADI_OK) {
        wadi_view_complain(session, "link", error.text);
        steps = 0;
    }
    wadi_view_forget_replay(session);
    session->reach = steps;
    session->is_playing = steps > 0;
    if (steps == 0 && wadi_sim_apply_due(session->sim, &error) != WADI_OK) {
        wadi_view_complain(session, "link", error.text);
    }
}

void wadi_view_stop_where_wanted(WadiViewSession *session)
{
    if (session->reach > 0 && wadi_sim_steps(session->sim) >= session->reach) {
        WadiError error = { 0 };
        session->reach = 0;
        session->is_playing = false;
        if (wadi_sim_apply_due(session->sim, &error) != WADI_OK) {
            wadi_view_complain(session, "link", error.text);
        }
        wadi_view_choose_attribute(session);
        wadi_view_send_scene(session);
    }
}
