/* What the page asks for: clock, values, pouring, digging, pushing, scenes, recordings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view_session.h"

void wadi_view_complain(WadiViewSession *session, const char *what, const char *why)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return;
    }
    fputs("{\"type\":\"problem\",\"what\":", out);
    wadi_view_json(out, what);
    fputs(",\"why\":", out);
    wadi_view_json(out, why);
    fputc('}', out);
    if (fclose(out) == 0) {
        wadi_view_hub_send(session->hub, (unsigned char *)text, size, false, 0);
    } else {
        free(text);
    }
}

/* Values that the page may change: none of them names a file. */
static bool may_set(const char *assignment)
{
    static const char *const keys[] = { "materials.", "gravity=", "domain.walls.friction=", "flip.", "sph.",
                                        "dem.",       "max_step=" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        if (strncmp(assignment, keys[i], strlen(keys[i])) == 0) {
            return strstr(assignment, ".look") == NULL;
        }
    }
    return false;
}

static void set_value(WadiViewSession *session, const WadiViewMessage *message)
{
    WadiError error = { 0 };
    if (!may_set(message->text)) {
        wadi_view_complain(session, "set", "this value cannot be changed from the page");
    } else if (wadi_sim_set(session->sim, message->text, &error) != WADI_OK) {
        wadi_view_complain(session, message->text, error.text);
    }
}

static void wet(WadiViewSession *session, const WadiViewMessage *message)
{
    WadiError error = { 0 };
    WadiView view;
    const bool was_dry = wadi_view_quantity(session, "wetness", &view, NULL) != WADI_OK;
    const double saturation = fmin(fmax(message->value[0], 0.0), 1.0);
    if (wadi_sim_set_saturation(session->sim, message->name, saturation, &error) != WADI_OK) {
        wadi_view_complain(session, "wet", error.text);
    } else if (was_dry) { /* the state has a wetness now, which the page can show */
        wadi_view_choose_attribute(session);
        wadi_view_send_scene(session);
    }
}

static void pour(WadiViewSession *session, const WadiViewMessage *message)
{
    char body[512];
    int64_t added = 0;
    WadiError error = { 0 };
    const double *v = message->value;
    int length = snprintf(
        body, sizeof body,
        "{material: %s, shape: {sphere: {center: [%.9g, %.9g, %.9g], radius: %.9g}}, velocity: "
        "[%.9g, %.9g, %.9g]",
        message->name, v[0], v[1], v[2], fmin(fabs(v[3]), 40.0 * session->cell_size), v[4], v[5], v[6]);
    if (v[7] > 0.0) {
        length +=
            snprintf(body + length, sizeof body - (size_t)length, ", saturation: %.9g", fmin(v[7], 1.0));
    }
    snprintf(body + length, sizeof body - (size_t)length, "}");
    if (wadi_sim_particle_count(session->sim) > 3000000) {
        wadi_view_complain(session, "pour", "there are three million particles; remove some first");
    } else if (wadi_sim_add_particles(session->sim, body, &added, &error) != WADI_OK) {
        wadi_view_complain(session, "pour", error.text);
    }
}

static void dig(WadiViewSession *session, const WadiViewMessage *message)
{
    char region[256];
    WadiError error = { 0 };
    const double *v = message->value;
    snprintf(region, sizeof region, "{shape: {sphere: {center: [%.9g, %.9g, %.9g], radius: %.9g}}}", v[0],
             v[1], v[2], fabs(v[3]));
    if (wadi_sim_remove_particles(session->sim, region, NULL, &error) != WADI_OK) {
        wadi_view_complain(session, "dig", error.text);
    }
}

/* m/s: a faster ball would throw everything out. */
static const double BALL_SPEED = 2.0;

static void push(WadiViewSession *session, const WadiViewMessage *message)
{
    WadiError error = { 0 };
    const double *v = message->value;
    const double radius = fmin(fmax(fabs(v[3]), session->cell_size), 40.0 * session->cell_size);
    WadiStatus status;
    if (session->has_ball && radius == session->ball_radius) {
        const double distance = sqrt(pow(v[0] - session->ball[0], 2.0) + pow(v[1] - session->ball[1], 2.0) +
                                     pow(v[2] - session->ball[2], 2.0));
        const double seconds = fmax(1.0 / session->fps, distance / BALL_SPEED);
        status = wadi_sim_move_collider(session->sim, WADI_VIEW_BALL, v, seconds, &error);
    } else if (session->ball_radius > 0.0 && radius == session->ball_radius) {
        status = wadi_sim_move_collider(session->sim, WADI_VIEW_BALL, v, 0.0, &error);
    } else {
        char collider[256];
        snprintf(collider, sizeof collider,
                 "{name: " WADI_VIEW_BALL
                 ", friction: 0.3, shape: {sphere: {radius: %.9g}, translate: [%.9g, "
                 "%.9g, %.9g]}}",
                 radius, v[0], v[1], v[2]);
        status = wadi_sim_add_collider(session->sim, collider, &error);
    }
    if (status != WADI_OK) {
        wadi_view_complain(session, "push", error.text);
        return;
    }
    session->has_ball = true;
    session->ball_radius = radius;
    memcpy(session->ball, v, sizeof session->ball);
}

/* The ball waits far above until it is wanted again. */
static void release(WadiViewSession *session)
{
    const double away[3] = { 0.0, 0.0, 1e4 * session->cell_size };
    if (session->has_ball) {
        wadi_sim_move_collider(session->sim, WADI_VIEW_BALL, away, 0.0, NULL);
        session->has_ball = false;
        wadi_view_send_colliders(session, true);
    }
}

/* Starts what is chosen; when that fails, what was there before. */
static void start(WadiViewSession *session, int chosen, const char *solver)
{
    const int chosen_before = session->chosen;
    char solver_before[WADI_VIEW_NAME_MAX];
    WadiError error = { 0 };
    memcpy(solver_before, session->solver, sizeof solver_before);
    wadi_view_record_stop(session);
    wadi_view_unload(session);
    session->ball_radius = 0.0;
    session->chosen = chosen;
    snprintf(session->solver, sizeof session->solver, "%.*s", WADI_VIEW_NAME_MAX - 1, solver);
    WadiStatus status = wadi_view_load(session, &error);
    if (status != WADI_OK) {
        wadi_view_complain(session, "start", error.text);
        wadi_view_unload(session);
        session->chosen = chosen_before;
        memcpy(session->solver, solver_before, sizeof session->solver);
        status = wadi_view_load(session, &error);
    }
    if (status == WADI_OK) {
        wadi_view_send_scene(session);
    }
}

static void restart(WadiViewSession *session)
{
    char solver[WADI_VIEW_NAME_MAX];
    memcpy(solver, session->solver, sizeof solver);
    start(session, session->chosen, solver);
}

static void choose_scene(WadiViewSession *session, const char *name)
{
    for (int i = 0; i < session->def->scene_count; ++i) {
        if (strcmp(session->def->scenes[i].name, name) == 0) {
            start(session, i, "");
            return;
        }
    }
    wadi_view_complain(session, name, "the gallery has no such scene");
}

static void *record(void *user)
{
    WadiViewSession *session = user;
    char folder[512];
    WadiRunDef def = wadi_default_run_def();
    WadiRunReport report = { 0 };
    WadiError error = { 0 };
    snprintf(folder, sizeof folder, "%s.play.run", wadi_scene_name(session->scene));
    def.folder = session->def->output != NULL ? session->def->output : folder;
    def.mode = WADI_RUN_OVERWRITE;
    def.frames = session->record_frames;
    def.changes = session->record_changes;
    def.threads = 1;
    def.stop = session->def->stop;
    if (wadi_run(session->scene, &def, &report, &error) == WADI_OK) {
        char text[700];
        snprintf(text, sizeof text, "%s has the session as %d frames", def.folder, report.frames);
        wadi_view_complain(session, "recorded", text);
    } else {
        wadi_view_complain(session, "record", error.text);
    }
    atomic_store(&session->is_recording, false);
    return NULL;
}

void wadi_view_record_stop(WadiViewSession *session)
{
    if (session->has_recorder) {
        pthread_join(session->recorder, NULL);
        wadi_text_release(session->record_changes);
        session->record_changes = NULL;
        session->has_recorder = false;
    }
}

/* The session is simulated again from its start with its changes: the frames are those that were seen. */
static void start_record(WadiViewSession *session)
{
    if (atomic_load(&session->is_recording)) {
        wadi_view_complain(session, "record", "the session is still being recorded");
        return;
    }
    wadi_view_record_stop(session);
    if (wadi_sim_changes(session->sim, &session->record_changes, NULL) != WADI_OK) {
        return;
    }
    session->record_frames = wadi_sim_frame(session->sim);
    atomic_store(&session->is_recording, true);
    session->has_recorder = pthread_create(&session->recorder, NULL, record, session) == 0;
    if (!session->has_recorder) {
        atomic_store(&session->is_recording, false);
    }
}

static void seek(WadiViewSession *session, long frame)
{
    WadiError error = { 0 };
    session->is_playing = false;
    if (session->reader != NULL) {
        const int last = wadi_run_reader_frames(session->reader);
        const int wanted = frame < 1 ? 1 : frame > last ? last : (int)frame;
        if (wadi_run_reader_read(session->reader, wanted, &error) != WADI_OK) {
            wadi_view_complain(session, "frame", error.text);
            wadi_run_reader_read(session->reader, 1, NULL);
        }
    } else {
        session->shown = (uint32_t)(frame < 1 ? 1 : frame);
    }
    session->is_dirty = true;
}

/* What only a simulation can do. */
static void obey_live(WadiViewSession *session, const WadiViewMessage *message)
{
    session->shown = 0;
    session->is_dirty = session->is_edited = true;
    switch (message->kind) {
    case WADI_VIEW_SET: set_value(session, message); break;
    case WADI_VIEW_POUR: pour(session, message); break;
    case WADI_VIEW_WET: wet(session, message); break;
    case WADI_VIEW_DIG: dig(session, message); break;
    case WADI_VIEW_PUSH: push(session, message); break;
    case WADI_VIEW_RELEASE: release(session); break;
    case WADI_VIEW_SCENE: choose_scene(session, message->name); break;
    case WADI_VIEW_SOLVER: start(session, session->chosen, message->name); break;
    case WADI_VIEW_RECORD: start_record(session); break;
    case WADI_VIEW_STEP:
        session->is_playing = false;
        session->steps_wanted += 1;
        break;
    default: break;
    }
}

static void obey_one(WadiViewSession *session, const WadiViewMessage *message)
{
    switch (message->kind) {
    case WADI_VIEW_PLAY:
        session->is_playing = true;
        session->shown = 0;
        session->pace_wall = -1.0;
        break;
    case WADI_VIEW_PAUSE: session->is_playing = false; break;
    case WADI_VIEW_RESTART: restart(session); break;
    case WADI_VIEW_SEEK: seek(session, message->number); break;
    case WADI_VIEW_SPEED:
        session->speed = fmin(fmax(message->value[0], 0.01), 100.0);
        session->pace_wall = -1.0;
        break;
    case WADI_VIEW_COLOUR:
        snprintf(session->colour, sizeof session->colour, "%s",
                 strcmp(message->name, "material") == 0 ? "" : message->name);
        wadi_view_choose_attribute(session);
        break;
    case WADI_VIEW_SURFACE:
        session->has_surface = message->number != 0;
        session->is_dirty = true;
        break;
    case WADI_VIEW_STEP:
        if (session->reader != NULL) {
            seek(session, wadi_run_reader_frame(session->reader) + 1);
            break;
        }
        obey_live(session, message);
        break;
    default:
        if (session->sim != NULL) {
            obey_live(session, message);
        }
        break;
    }
}

/* Of several messages that move the ball or one slider only the last one counts. */
static bool is_overtaken(const WadiViewMessage *messages, int i, int count)
{
    const WadiViewMessage *message = &messages[i];
    if (message->kind != WADI_VIEW_PUSH && message->kind != WADI_VIEW_SET && message->kind != WADI_VIEW_WET &&
        message->kind != WADI_VIEW_SEEK) {
        return false;
    }
    const size_t key = message->kind == WADI_VIEW_SET ? strcspn(message->text, "=") : 0;
    for (int n = i + 1; n < count; ++n) {
        if (messages[n].kind == message->kind && strcmp(messages[n].name, message->name) == 0 &&
            strncmp(messages[n].text, message->text, key + 1) == 0) {
            return true;
        }
    }
    return false;
}

void wadi_view_obey(WadiViewSession *session, const WadiViewMessage *messages, int count)
{
    for (int i = 0; i < count; ++i) {
        if (!is_overtaken(messages, i, count)) {
            obey_one(session, &messages[i]);
        }
    }
}
