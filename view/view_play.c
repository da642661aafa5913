/* What the page asks for: clock, values, pouring, digging, pushing, scenes, recordings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view_session.h"

static void send_news(WadiViewSession *session, const char *type, const char *what, const char *why)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return;
    }
    fprintf(out, "{\"type\":\"%s\",\"what\":", type);
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

void wadi_view_complain(WadiViewSession *session, const char *what, const char *why)
{
    send_news(session, "problem", what, why);
}

void wadi_view_tell(WadiViewSession *session, const char *what, const char *why)
{
    send_news(session, "note", what, why);
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
    const double saturation = fmin(fmax(message->value[0], 0.0), 1.0);
    if (wadi_sim_set_saturation(session->sim, message->name, saturation, &error) != WADI_OK) {
        wadi_view_complain(session, "wet", error.text);
    }
}

/* Pictures and steps of more take seconds. */
static const double LIVE_PARTICLES = 3e6;

/* Whether there is room for the particles; tells the page when there is not. */
static bool has_room_for(WadiViewSession *session, const char *body)
{
    double count = 0.0;
    char why[200];
    WadiError error = { 0 };
    const double present = (double)wadi_sim_particle_count(session->sim);
    if (wadi_sim_expect_particles(session->sim, body, &count, &error) != WADI_OK) {
        wadi_view_complain(session, "pour", error.text);
        return false;
    }
    if (present + count <= LIVE_PARTICLES) {
        return true;
    }
    snprintf(
        why, sizeof why,
        "that would be %.3g million particles beside %.3g million; the view holds at most 3 million: pour "
        "a smaller ball, or dig some out first",
        1e-6 * count, 1e-6 * present);
    wadi_view_complain(session, "pour", why);
    return false;
}

static void pour(WadiViewSession *session, const WadiViewMessage *message)
{
    char body[512];
    int64_t added = 0;
    WadiError error = { 0 };
    const double *v = message->value;
    if (!(v[3] > 0.0 && v[3] <= 1e6)) {
        wadi_view_complain(session, "pour", "the radius must be larger than 0 and at most 1e6 m");
        return;
    }
    int length =
        snprintf(body, sizeof body,
                 "{material: %s, shape: {sphere: {center: [%.9g, %.9g, %.9g], radius: %.9g}}, velocity: "
                 "[%.9g, %.9g, %.9g]",
                 message->name, v[0], v[1], v[2], v[3], v[4], v[5], v[6]);
    if (v[7] > 0.0) {
        length +=
            snprintf(body + length, sizeof body - (size_t)length, ", saturation: %.9g", fmin(v[7], 1.0));
    }
    snprintf(body + length, sizeof body - (size_t)length, "}");
    if (has_room_for(session, body) &&
        wadi_sim_add_particles(session->sim, body, &added, &error) != WADI_OK) {
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
    WadiStatus status = WADI_ERR_ARGUMENT; /* an earlier state may lack the ball */
    if (session->has_ball && radius == session->ball_radius) {
        const double distance = sqrt(pow(v[0] - session->ball[0], 2.0) + pow(v[1] - session->ball[1], 2.0) +
                                     pow(v[2] - session->ball[2], 2.0));
        const double seconds = fmax(1.0 / session->fps, distance / BALL_SPEED);
        status = wadi_sim_move_collider(session->sim, WADI_VIEW_BALL, v, seconds, &error);
    } else if (session->ball_radius > 0.0 && radius == session->ball_radius) {
        status = wadi_sim_move_collider(session->sim, WADI_VIEW_BALL, v, 0.0, &error);
    }
    if (status == WADI_ERR_ARGUMENT) {
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

/* Starts what is chosen; when that fails, what is there stays. */
static void start(WadiViewSession *session, int chosen, const char *solver)
{
    const int chosen_before = session->chosen;
    char solver_before[WADI_VIEW_NAME_MAX];
    WadiError error = { 0 };
    memcpy(solver_before, session->solver, sizeof solver_before);
    session->chosen = chosen;
    snprintf(session->solver, sizeof session->solver, "%.*s", WADI_VIEW_NAME_MAX - 1, solver);
    if (wadi_view_replace(session, &error) != WADI_OK) {
        session->chosen = chosen_before;
        memcpy(session->solver, solver_before, sizeof session->solver);
        wadi_view_complain(session, "start", error.text);
        session->is_playing = session->is_playing && wadi_view_has_source(session);
    }
    if (wadi_view_has_source(session)) {
        wadi_view_send_scene(session); /* also after a failure: the page may show another choice */
    }
}

static void restart(WadiViewSession *session)
{
    char solver[WADI_VIEW_NAME_MAX];
    memcpy(solver, session->solver, sizeof solver);
    start(session, session->chosen, solver);
}

static void show_other(WadiViewSession *session)
{
    if (session->def->run == NULL || session->def->beside == NULL) {
        wadi_view_complain(session, "other run", "there is one run only: wadi view RUN --beside OTHER");
        return;
    }
    const bool was_beside = session->is_beside;
    session->is_beside = !was_beside;
    WadiRunReader *before = session->reader;
    restart(session);
    session->is_beside = session->reader == before ? was_beside : session->is_beside;
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

/* The session is simulated again from its start with its changes: the frames are those that were seen. */
static void start_record(WadiViewSession *session)
{
    WadiError error = { 0 };
    char *changes = NULL, text[3600];
    WadiViewRecorder *recorder = &session->recorder;
    if (recorder->is_busy) {
        snprintf(text, sizeof text, "%s is still being written: frame %d of %d", recorder->folder,
                 atomic_load(&recorder->frame), recorder->frames);
        wadi_view_complain(session, "record", text);
        return;
    }
    if (wadi_sim_changes(session->sim, &changes, &error) != WADI_OK ||
        wadi_view_record_begin(recorder, session->def, session->scene, changes, wadi_sim_frame(session->sim),
                               &error) != WADI_OK) {
        wadi_view_complain(session, "record", error.text);
        return;
    }
    session->has_record_note = false;
    const bool is_other = strcmp(recorder->folder, recorder->wanted) != 0;
    snprintf(text, sizeof text, "%d frames into %s%s%.400s%s", recorder->frames, recorder->folder,
             is_other ? "; " : "", is_other ? recorder->wanted : "", is_other ? " is kept" : "");
    wadi_view_tell(session, "recording", text);
}

static void seek(WadiViewSession *session, long frame)
{
    WadiError error = { 0 };
    session->is_playing = false;
    if (session->reader != NULL) {
        const int last = wadi_run_reader_frames(session->reader);
        const int wanted = frame < 1 || last < 1 ? 1 : frame > last ? last : (int)frame;
        if (wadi_run_reader_read(session->reader, wanted, &error) != WADI_OK) {
            wadi_view_complain(session, "frame", error.text);
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
    case WADI_VIEW_MARK: wadi_view_mark(session); break;
    case WADI_VIEW_UNDO: wadi_view_undo(session); break;
    case WADI_VIEW_LINK: wadi_view_send_link(session); break;
    case WADI_VIEW_CHANGE: wadi_view_add_replay(session, message->text); break;
    case WADI_VIEW_STAGES: wadi_view_show_stages(session); break;
    case WADI_VIEW_REACH: wadi_view_reach(session, message->number); break;
    case WADI_VIEW_STEP:
        session->is_playing = false;
        session->steps_wanted += 1;
        break;
    default: break;
    }
    if (session->sim != NULL && wadi_sim_stopped_stage(session->sim) != NULL) {
        const WadiError error = { .text = "the change failed and could not be taken back" };
        wadi_view_recover(session, &error);
    }
}

static void obey_one(WadiViewSession *session, const WadiViewMessage *message)
{
    const bool is_start = message->kind == WADI_VIEW_RESTART || message->kind == WADI_VIEW_SCENE;
    if (!wadi_view_has_source(session) && !is_start) {
        wadi_view_complain(session, "nothing is loaded", "restart (r), or choose a scene");
        return;
    }
    switch (message->kind) {
    case WADI_VIEW_PLAY:
        session->is_playing = true;
        session->shown = 0;
        session->pace_wall = -1.0;
        break;
    case WADI_VIEW_PAUSE: session->is_playing = false; break;
    case WADI_VIEW_RESTART: restart(session); break;
    case WADI_VIEW_OTHER: show_other(session); break;
    case WADI_VIEW_SEEK: seek(session, message->number); break;
    case WADI_VIEW_SPEED:
        session->speed = fmin(fmax(message->value[0], 0.01), 100.0);
        session->pace_wall = -1.0;
        break;
    case WADI_VIEW_COLOUR:
        snprintf(session->colour, sizeof session->colour, "%s",
                 strcmp(message->name, "material") == 0 ? "" : message->name);
        session->fixed_low = session->fixed_high = 0.0;
        wadi_view_choose_attribute(session);
        break;
    case WADI_VIEW_RANGE:
        session->fixed_low = message->value[0];
        session->fixed_high = message->value[1];
        session->low = session->high = 0.0;
        session->is_dirty = true;
        break;
    case WADI_VIEW_SLICE:
        session->slice_axis =
            message->value[0] >= 0.0 && message->value[0] <= 2.0 ? (int)message->value[0] : 3;
        session->slice_at = fmin(fmax(message->value[1], 0.0), 1.0);
        session->is_dirty = true;
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
        if (session->reader == NULL) {
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

/* For the page, while it takes long. */
static const char *name_work(WadiViewKind kind)
{
    switch (kind) {
    case WADI_VIEW_RESTART: return "starting again";
    case WADI_VIEW_SCENE:
    case WADI_VIEW_SOLVER: return "starting";
    case WADI_VIEW_SEEK: return "reading a frame";
    case WADI_VIEW_POUR: return "pouring";
    case WADI_VIEW_DIG: return "digging";
    case WADI_VIEW_UNDO: return "taking back";
    default: return "changing";
    }
}

void wadi_view_obey(WadiViewSession *session, const WadiViewMessage *messages, int count)
{
    for (int i = 0; i < count; ++i) {
        if (!is_overtaken(messages, i, count)) {
            wadi_view_hub_do(session->hub, name_work(messages[i].kind));
            obey_one(session, &messages[i]);
        }
    }
}
