#include "view_session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double REPORT_SECONDS = 0.5;
static const double PICTURE_SECONDS = 1.0 / 70.0; /* browsers draw no more */

/* 1, 2 or 5 times a power of ten, at least x. */
static double nice_above(double x)
{
    const double base = pow(10.0, floor(log10(x)));
    return x <= base ? base : x <= 2.0 * base ? 2.0 * base : x <= 5.0 * base ? 5.0 * base : 10.0 * base;
}

/* Ranges only grow, so that a colour keeps its meaning, and in large steps: a new one sends every particle
 * again. */
static void choose_range(WadiViewSession *session, const WadiView *attribute)
{
    double low, high;
    if (strcmp(session->attribute, "wetness") == 0) {
        session->low = 0.0;
        session->high = 1.0;
        return;
    }
    if (session->fixed_high > session->fixed_low) {
        session->low = session->fixed_low;
        session->high = session->fixed_high;
        return;
    }
    wadi_view_attribute_range(attribute, &low, &high);
    const double most = fmax(fabs(low), fabs(high));
    if (!(most > 0.0) || !isfinite(most)) {
        session->high = session->high > 0.0 ? session->high : 1.0;
    } else if (most > session->high) {
        session->high = nice_above(most);
    }
    session->low = low < 0.0 || session->low < 0.0 ? -session->high : 0.0;
}

/* The state got a wetness: water came to sand. */
static void notice_wetness(WadiViewSession *session)
{
    WadiView view;
    const bool has = wadi_view_quantity(session, "wetness", &view, NULL) == WADI_OK;
    if (has != session->has_wetness) {
        session->has_wetness = has;
        wadi_view_choose_attribute(session);
        wadi_view_send_scene(session);
    }
}

bool wadi_view_cut(WadiViewSession *session, int axis, double at, WadiViewSlice *slice)
{
    WadiViewSliceInput input = {
        .axis = axis, .fraction = at, .cell_size = session->cell_size, .is_water = session->is_water
    };
    *slice = (WadiViewSlice){ 0 };
    if (axis > 2 || !session->has_box ||
        wadi_view_quantity(session, "position", &input.position, NULL) != WADI_OK ||
        wadi_view_quantity(session, "velocity", &input.velocity, NULL) != WADI_OK ||
        wadi_view_quantity(session, "material", &input.material, NULL) != WADI_OK) {
        return false;
    }
    memcpy(input.low, session->box_low, sizeof input.low);
    memcpy(input.high, session->box_high, sizeof input.high);
    if (!wadi_view_slice_make(slice, &input)) {
        return false;
    }
    wadi_view_mark_solid(session, slice);
    return true;
}

static void send_slice(WadiViewSession *session)
{
    WadiViewSlice slice;
    if (wadi_view_cut(session, session->slice_axis, session->slice_at, &slice)) {
        size_t size = 0;
        unsigned char *data = wadi_view_slice_message(&slice, &size);
        wadi_view_hub_send(session->hub, data, size, true, 0);
        wadi_view_slice_free(&slice);
    }
}

static bool make_picture(WadiViewSession *session)
{
    notice_wetness(session);
    WadiViewInput input = { .tile_size = 8.0 * session->cell_size, .keep = session->keep };
    if (wadi_view_quantity(session, "position", &input.position, NULL) != WADI_OK ||
        wadi_view_quantity(session, "material", &input.material, NULL) != WADI_OK ||
        wadi_view_quantity(session, "id", &input.id, NULL) != WADI_OK) {
        return false;
    }
    if (wadi_view_quantity(session, session->attribute, &input.attribute, NULL) == WADI_OK) {
        choose_range(session, &input.attribute);
    }
    input.low = session->low;
    input.high = session->high;
    WadiViewPicture *picture = &session->picture;
    picture->frame = wadi_view_frame(session);
    picture->time = wadi_view_time(session);
    picture->steps = session->sim != NULL ? wadi_sim_steps(session->sim) : 0;
    snprintf(picture->attribute, sizeof picture->attribute, "%.47s", session->attribute);
    if (session->has_surface && wadi_view_hub_has_room(session->hub, 0)) {
        const WadiScene *scene = session->surface_scene != NULL ? session->surface_scene : session->scene;
        wadi_view_surface_offer(&session->surface, session->hub, scene, &input.position, &input.material,
                                session->is_water, session->spacing);
    }
    return wadi_view_picture_make(picture, &input);
}

static const size_t LARGE_MESSAGE = 1 << 20; /* bytes: smaller ones are not what takes the time */

/* Fewer particles when a page takes long for large messages, more when it is quick; all when paused. */
static void adapt(WadiViewSession *session, double seconds)
{
    const bool may_play = session->is_playing && session->shown == 0;
    if (may_play && seconds > 0.5 && session->sent_bytes > LARGE_MESSAGE &&
        session->keep > WADI_VIEW_KEEP_ALL / 64) {
        session->keep /= 2;
    } else if (session->keep < WADI_VIEW_KEEP_ALL && (seconds < 0.1 || !may_play)) {
        session->keep = may_play ? 2 * session->keep : WADI_VIEW_KEEP_ALL;
    }
}

static void send_picture(WadiViewSession *session)
{
    WadiViewBytes message = { 0 };
    const WadiViewPicture *picture = &session->picture;
    if (session->shown > 0) {
        const WadiViewPicture *past = wadi_view_history_find(&session->history, session->shown);
        picture = past != NULL ? past : picture;
    }
    if (!wadi_view_page_send(&session->page, picture, &message)) {
        free(message.data);
        wadi_view_page_free(&session->page);
        return;
    }
    if (session->shown == 0) {
        wadi_view_send_colliders(session, false);
        send_slice(session);
    }
    session->sent_bytes = message.size;
    wadi_view_hub_send(session->hub, message.data, message.size, true, session->page.sequence);
    session->is_dirty = !session->is_playing && session->keep < WADI_VIEW_KEEP_ALL;
    session->pictures += 1;
}

static void write_stages(WadiViewSession *session, FILE *out)
{
    WadiProfile now;
    wadi_sim_profile(session->sim, &now);
    const int64_t steps = now.steps - session->profile.steps;
    fputs(",\"stages\":{", out);
    bool is_first = true;
    for (int s = 0; s < now.stage_count && steps > 0; ++s) {
        const double before = s < session->profile.stage_count ? session->profile.seconds[s] : 0.0;
        const double each = (now.seconds[s] - before) / (double)steps;
        if (each > 2e-5) {
            fputs(is_first ? "" : ",", out);
            wadi_view_json(out, now.stage[s]);
            fprintf(out, ":%.3f", 1e3 * each);
            is_first = false;
        }
    }
    fprintf(out, "},\"steps_a_second\":%.1f,\"sleeping\":%lld", (double)steps / REPORT_SECONDS,
            (long long)wadi_sim_sleeping_particles(session->sim));
    session->profile = now;
}

static const size_t TOTALS_PARTICLES = 1000000; /* sums of more would hold up the steps */

static void write_totals(WadiViewSession *session, FILE *out)
{
    WadiTotals totals;
    if (wadi_sim_particle_count(session->sim) <= TOTALS_PARTICLES &&
        wadi_sim_totals(session->sim, &totals, NULL) == WADI_OK) {
        wadi_view_json_number(out, "mass", totals.mass);
        wadi_view_json_number(out, "kinetic", totals.kinetic);
        wadi_view_json_number(out, "potential", totals.potential);
        wadi_view_json_number(out, "volume", totals.volume);
    }
    fprintf(out, ",\"undo\":%d", session->marks.count);
}

static void report(WadiViewSession *session, double now)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = now - session->report_at >= REPORT_SECONDS ? open_memstream(&text, &size) : NULL;
    if (out == NULL) {
        return;
    }
    const double seconds = now - session->report_at, time = wadi_view_time(session);
    const bool is_run = session->reader != NULL;
    fprintf(out, "{\"type\":\"stats\",\"playing\":%s,\"frame\":%u,\"frames\":%d,\"recording\":%s",
            session->is_playing ? "true" : "false", wadi_view_frame(session),
            is_run ? wadi_run_reader_frames(session->reader) : (int)wadi_view_frame(session),
            session->recorder.is_busy ? "true" : "false");
    wadi_view_json_number(out, "pictures", session->pictures / seconds);
    wadi_view_json_number(out, "pace", (time - session->report_time) / seconds);
    wadi_view_json_number(out, "time", time);
    wadi_view_json_number(out, "kept", session->keep / (double)WADI_VIEW_KEEP_ALL);
    wadi_view_json_number(out, "surface_ms", 1e3 * session->surface.seconds);
    if (session->sim != NULL) {
        write_stages(session, out);
        write_totals(session, out);
    }
    if (session->recorder.is_busy) {
        fprintf(out, ",\"recorded\":%d,\"to_record\":%d", atomic_load(&session->recorder.frame),
                session->recorder.frames);
    }
    fputc('}', out);
    session->report_at = now;
    session->report_time = time;
    session->pictures = 0;
    if (fclose(out) == 0) {
        wadi_view_hub_send(session->hub, (unsigned char *)text, size, false, 0);
    } else {
        free(text);
    }
}

/* Whether the clock allows to go on: no faster than `speed`. */
static bool is_due(WadiViewSession *session, double now)
{
    const double time = wadi_view_time(session);
    if (session->reach > 0) {
        return true;
    }
    if (session->pace_wall < 0.0 || now - session->pace_wall > 1.0) {
        session->pace_wall = now;
        session->pace_time = time;
    }
    return !(time - session->pace_time > (now - session->pace_wall) * session->speed + 1e-9);
}

static void fail_step(WadiViewSession *session, const WadiError *error)
{
    session->is_playing = false;
    session->steps_wanted = 0;
    session->reach = 0;
    if (session->sim != NULL && wadi_sim_stopped_stage(session->sim) != NULL) {
        wadi_view_recover(session, error);
    } else {
        wadi_view_complain(session, "stopped", error->text);
    }
}

void wadi_view_advance(WadiViewSession *session)
{
    WadiError error = { 0 };
    const int frame = wadi_sim_frame(session->sim);
    if (wadi_sim_step(session->sim, &error) != WADI_OK) {
        fail_step(session, &error);
        return;
    }
    session->is_dirty = true;
    wadi_view_stop_where_wanted(session);
    if (wadi_sim_frame(session->sim) > frame) {
        if (make_picture(session)) {
            wadi_view_history_add(&session->history, &session->picture);
        }
        wadi_view_save_sometimes(session, wadi_view_now());
    }
}

/* The frame that the clock asks for; frames in between are left out. */
static void advance_run(WadiViewSession *session, double now)
{
    WadiError error = { 0 };
    const int count = wadi_run_reader_frames(session->reader);
    const int frame = wadi_run_reader_frame(session->reader);
    const double ahead = (now - session->pace_wall) * session->speed + session->pace_time;
    const double due = 1.0 + floor(ahead * session->fps + 1e-6); /* a damaged frame may have any time */
    int next = due > frame + 1 ? (due < count ? (int)due : count) : frame + 1;
    if (frame >= count) {
        next = 1; /* from the start again */
        session->pace_wall = -1.0;
    }
    if (wadi_run_reader_read(session->reader, next, &error) != WADI_OK) {
        fail_step(session, &error);
    }
    session->is_dirty = true;
}

/* One turn: advances when it is time to. Returns the seconds that may be waited. */
static double advance(WadiViewSession *session, double now)
{
    const bool may_play = session->is_playing && session->hub->has_page && is_due(session, now);
    if (session->sim != NULL && (may_play || session->steps_wanted > 0)) {
        session->steps_wanted -= session->steps_wanted > 0;
        wadi_view_advance(session);
        return 0.0;
    }
    if (session->reader != NULL && may_play && !session->is_dirty) {
        advance_run(session, now);
        return 0.0;
    }
    return session->is_playing && session->hub->has_page ? 0.002 : 0.1;
}

static void greet(WadiViewSession *session)
{
    pthread_mutex_lock(&session->hub->lock);
    const unsigned generation = session->hub->generation;
    const bool is_new = session->hub->has_page && generation != session->generation;
    pthread_mutex_unlock(&session->hub->lock);
    if (is_new) {
        session->generation = generation;
        wadi_view_page_free(&session->page);
        session->keep = WADI_VIEW_KEEP_ALL;
        wadi_view_send_scene(session);
        session->is_dirty = true;
    }
}

void wadi_view_session_init(WadiViewSession *session, const WadiViewDef *def, WadiViewHub *hub)
{
    memset(session, 0, sizeof *session);
    session->def = def;
    session->hub = hub;
    const bool is_given = def->run != NULL || def->scene.path != NULL || def->scene.text != NULL;
    session->chosen = !is_given && def->scene_count > 0 ? 0 : -1;
    session->keep = WADI_VIEW_KEEP_ALL;
    session->speed = 1.0;
    session->is_playing = !def->is_paused;
    session->has_surface = def->has_surface;
    session->slice_axis = 3;
    snprintf(session->solver, sizeof session->solver, "%.60s", def->solver != NULL ? def->solver : "");
}

void wadi_view_session_free(WadiViewSession *session)
{
    wadi_view_record_end(&session->recorder);
    wadi_view_unload(session);
    wadi_view_page_free(&session->page);
    wadi_view_picture_free(&session->picture);
    wadi_view_forget_replay(session);
}

void wadi_view_session_begin(WadiViewSession *session)
{
    if (make_picture(session)) {
        wadi_view_history_add(&session->history, &session->picture);
    }
    session->saved.at = wadi_view_now();
}

/* A recording that ended is told to the page that is there, or to the next one. */
static void tell_recorded(WadiViewSession *session)
{
    char text[WADI_ERROR_TEXT_SIZE + 10000];
    session->has_record_note = session->has_record_note || wadi_view_record_take(&session->recorder);
    if (session->has_record_note && session->hub->has_page) {
        session->has_record_note = false;
        wadi_view_record_tell(&session->recorder, text, sizeof text);
        if (session->recorder.status == WADI_OK) {
            wadi_view_tell(session, "recorded", text);
        } else {
            wadi_view_complain(session, "record", text);
        }
    }
}

double wadi_view_session_turn(WadiViewSession *session)
{
    WadiViewHub *hub = session->hub;
    if (!wadi_view_has_source(session)) {
        return 0.1; /* what was there could not be made again */
    }
    greet(session);
    tell_recorded(session);
    /* What a person did is shown before the next step, and beside a picture that is still under way. */
    const bool shows_edit = session->is_edited && wadi_view_hub_has_room(hub, 1);
    const double wait = shows_edit ? 0.0 : advance(session, wadi_view_now());
    const double now = wadi_view_now();
    const bool is_time = now - session->picture_at >= PICTURE_SECONDS;
    if (shows_edit ||
        (session->is_dirty && is_time && wadi_view_hub_has_room(hub, session->def->pictures_ahead))) {
        adapt(session, wadi_view_hub_ack_seconds(hub));
        session->is_edited = false;
        if (session->shown > 0 || make_picture(session)) {
            send_picture(session);
            session->picture_at = now;
        }
    }
    if (hub->has_page) {
        report(session, now);
    }
    return session->is_dirty && wait > 0.002 ? 0.002 : wait;
}

void *wadi_view_session_run(void *user)
{
    WadiViewSession *session = user;
    static WadiViewMessage messages[WADI_VIEW_INBOX];
    double wait = 0.0;
    wadi_view_session_begin(session);
    while (!session->hub->quit) {
        wadi_view_hub_do(session->hub, NULL);
        wadi_view_obey(session, messages, wadi_view_hub_take(session->hub, messages, wait));
        wadi_view_hub_do(session->hub, "a step");
        wait = wadi_view_session_turn(session);
    }
    wadi_view_record_end(&session->recorder);
    return NULL;
}
