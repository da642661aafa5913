/* The source of pictures: a simulation of a scene, or the frames of a run. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view_session.h"

void wadi_view_json(FILE *out, const char *text)
{
    char piece[WADI_JSON_SIZE];
    fputc('"', out);
    while (*text != '\0') {
        text = wadi_json_put_character(text, piece);
        fputs(piece, out);
    }
    fputc('"', out);
}

void wadi_view_json_number(FILE *out, const char *key, double value)
{
    char number[WADI_JSON_SIZE];
    wadi_json_put_number(value, number);
    fprintf(out, ",\"%s\":%s", key, number);
}

/* A number of the facts; JSON of the library has one space behind the colon. */
static double fact(const char *facts, const char *key, double otherwise)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\": ", key);
    const char *at = strstr(facts, pattern);
    return at != NULL ? strtod(at + strlen(pattern), NULL) : otherwise;
}

/* A vector of the facts, "[0, 0, 0]". */
static bool fact_point(const char *facts, const char *key, double point[3])
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\": [", key);
    const char *at = strstr(facts, pattern);
    if (at == NULL) {
        return false;
    }
    at += strlen(pattern);
    for (int a = 0; a < 3; ++a) {
        char *end = NULL;
        point[a] = strtod(at, &end);
        if (end == at) {
            return false;
        }
        at = end + strspn(end, ", ");
    }
    return true;
}

enum { SETS_MAX = 8 };

typedef struct Sets {
    char text[SETS_MAX][96];
    const char *all[64 + SETS_MAX];
    int count, own;
} Sets;

static void WADI_PRINTF(2, 3) add_set(Sets *sets, const char *format, ...)
{
    if (sets->own < SETS_MAX && sets->count < 64 + SETS_MAX) {
        char *text = sets->text[sets->own++];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof sets->text[0], format, args);
        va_end(args);
        sets->all[sets->count++] = text;
    }
}

static WadiStatus load(const WadiViewSession *session, const Sets *sets, WadiScene **scene, WadiError *error)
{
    WadiSceneDef def = session->def->scene;
    if (session->chosen >= 0) {
        def = wadi_default_scene_def();
        def.path = session->def->scenes[session->chosen].path;
        def.text = session->def->scenes[session->chosen].text;
    }
    def.sets = sets->all;
    def.set_count = sets->count;
    return wadi_scene_load(scene, &def, error);
}

/* What can be poured: a scene without sand or without water gets one. */
static void add_materials(Sets *sets, const char *facts)
{
    if (strstr(facts, "\"kind\": \"sand\"") == NULL) {
        add_set(sets, "materials.view_sand={kind: sand}");
    }
    if (strstr(facts, "\"kind\": \"water\"") == NULL) {
        add_set(sets, "materials.view_water={kind: water}");
    }
}

static WadiStatus load_scene(WadiViewSession *session, WadiError *error)
{
    Sets sets = { 0 };
    char *facts = NULL;
    for (int i = 0; session->chosen < 0 && i < session->def->scene.set_count && i < 64; ++i) {
        sets.all[sets.count++] = session->def->scene.sets[i];
    }
    if (session->solver[0] != '\0') {
        add_set(&sets, "solver=%s", session->solver);
    }
    WadiStatus status = load(session, &sets, &session->scene, error);
    if (status == WADI_OK) {
        status = wadi_scene_facts(session->scene, 0.0, &facts, error);
    }
    if (status != WADI_OK) {
        return status;
    }
    const double coarsen = session->chosen >= 0 ? session->def->scenes[session->chosen].coarsen : 1.0;
    double cell = fact(facts, "cell_size", 0.0);
    if (coarsen > 1.0) {
        cell *= coarsen;
        const double resolution = fact(facts, "resolution", 0.0);
        if (resolution > 0.0) {
            add_set(&sets, "resolution=%.0f", fmax(4.0, resolution / coarsen));
        } else {
            add_set(&sets, "cell_size=%.9g", cell);
        }
    }
    add_materials(&sets, facts);
    wadi_text_release(facts);
    if (sets.own > (session->solver[0] != '\0')) {
        wadi_scene_destroy(session->scene);
        session->scene = NULL;
        status = load(session, &sets, &session->scene, error);
    }
    if (status == WADI_OK) {
        add_set(&sets, "surface.cell_size=%.9g", cell);
        status = load(session, &sets, &session->surface_scene, error);
    }
    return status;
}

static WadiStatus read_facts(WadiViewSession *session, WadiError *error)
{
    char *facts = NULL;
    const WadiStatus status = wadi_scene_facts(session->scene, 0.0, &facts, error);
    if (status != WADI_OK) {
        return status;
    }
    session->cell_size = fact(facts, "cell_size", 1.0);
    session->spacing = fact(facts, "spacing", 1.0);
    session->fps = fact(facts, "fps", 24.0);
    session->has_box =
        fact_point(facts, "min", session->box_low) && fact_point(facts, "max", session->box_high);
    memset(session->is_water, 0, sizeof session->is_water);
    const char *at = strstr(facts, "\"materials\"");
    for (int m = 0; at != NULL && m < 256 && (at = strstr(at, "\"kind\": \"")) != NULL; ++m) {
        at += strlen("\"kind\": \"");
        session->is_water[m] = strncmp(at, "water", 5) == 0;
    }
    wadi_text_release(facts);
    return WADI_OK;
}

/* What is loaded, while something else is tried in its place. */
typedef struct Source {
    WadiScene *scene, *surface_scene;
    WadiSim *sim;
    WadiRunReader *reader;
    double cell_size, spacing, fps;
    bool is_water[256];
} Source;

/* Moves it out of the session, which then has nothing loaded. */
static Source take_source(WadiViewSession *session)
{
    Source source = { session->scene,     session->surface_scene, session->sim, session->reader,
                      session->cell_size, session->spacing,       session->fps, { 0 } };
    memcpy(source.is_water, session->is_water, sizeof source.is_water);
    session->scene = session->surface_scene = NULL;
    session->sim = NULL;
    session->reader = NULL;
    return source;
}

static void put_source(WadiViewSession *session, const Source *source)
{
    session->scene = source->scene;
    session->surface_scene = source->surface_scene;
    session->sim = source->sim;
    session->reader = source->reader;
    session->cell_size = source->cell_size;
    session->spacing = source->spacing;
    session->fps = source->fps;
    memcpy(session->is_water, source->is_water, sizeof session->is_water);
}

/* The surface does not use it any more; a recording may still use the scene. */
static void free_source(WadiViewSession *session, Source *source)
{
    wadi_sim_destroy(source->sim);
    if (source->reader == NULL && !wadi_view_record_adopt(&session->recorder, source->scene)) {
        wadi_scene_destroy(source->scene);
    }
    wadi_scene_destroy(source->surface_scene);
    wadi_run_reader_close(source->reader);
}

static void forget_past(WadiViewSession *session)
{
    session->has_ball = false;
    session->ball_radius = 0.0;
    session->reach = 0;
    wadi_view_forget_marks(session);
    session->shown = 0;
    session->steps_wanted = 0;
    session->profile = (WadiProfile){ 0 };
    session->report_time = 0.0;
    wadi_view_history_clear(&session->history);
    wadi_view_forget_saved(session);
}

void wadi_view_unload(WadiViewSession *session)
{
    wadi_view_surface_stop(&session->surface);
    Source source = take_source(session);
    free_source(session, &source);
    forget_past(session);
}

static WadiStatus open_run(WadiViewSession *session, WadiError *error)
{
    WadiStatus status = wadi_run_reader_open(
        &session->reader, session->is_beside ? session->def->beside : session->def->run, error);
    if (status == WADI_OK) {
        status = wadi_run_reader_read(session->reader, 1, error);
    }
    if (status == WADI_OK) {
        session->scene = (WadiScene *)wadi_run_reader_scene(session->reader);
    }
    return status;
}

static const char *plain_attribute(WadiViewSession *session)
{
    WadiView view;
    return wadi_view_quantity(session, "wetness", &view, NULL) == WADI_OK ? "wetness" : "velocity";
}

void wadi_view_choose_attribute(WadiViewSession *session)
{
    WadiView view;
    const bool has_colour =
        session->colour[0] != '\0' && wadi_view_quantity(session, session->colour, &view, NULL) == WADI_OK;
    snprintf(session->attribute, sizeof session->attribute, "%s",
             has_colour ? session->colour : plain_attribute(session));
    session->low = session->high = 0.0;
    session->is_dirty = true;
}

static WadiStatus create_sim(const WadiViewSession *session, WadiSim **sim, WadiError *error)
{
    WadiSimDef def = wadi_default_sim_def();
    def.threads = session->def->threads;
    return wadi_sim_create(sim, session->scene, &def, error);
}

/* Scene and facts, without the simulation. */
static WadiStatus open_source(WadiViewSession *session, WadiError *error)
{
    WadiStatus status = session->def->run != NULL ? open_run(session, error) : load_scene(session, error);
    return status == WADI_OK ? read_facts(session, error) : status;
}

static void begin_source(WadiViewSession *session)
{
    wadi_view_choose_attribute(session);
    session->is_dirty = true;
    session->pace_wall = -1.0;
}

WadiStatus wadi_view_load(WadiViewSession *session, WadiError *error)
{
    WadiStatus status = open_source(session, error);
    if (status == WADI_OK && session->reader == NULL) {
        status = create_sim(session, &session->sim, error);
    }
    if (status == WADI_OK) {
        begin_source(session);
    }
    return status;
}

/* There is no memory for two simulations: the one before ends first, and is made again if the new one fails
 * all the same. */
static WadiStatus create_alone(WadiViewSession *session, Source *before, WadiError *error)
{
    WadiViewPoint point = wadi_view_point(before->sim);
    wadi_sim_destroy(before->sim);
    before->sim = NULL;
    const WadiStatus status = create_sim(session, &session->sim, error);
    if (status != WADI_OK) {
        WadiScene *scene = session->scene;
        session->scene = before->scene;
        wadi_view_remake(session, &point, &before->sim, NULL);
        session->scene = scene;
    }
    wadi_view_point_free(&point);
    return status;
}

WadiStatus wadi_view_replace(WadiViewSession *session, WadiError *error)
{
    Source before = take_source(session);
    WadiStatus status = open_source(session, error);
    if (status == WADI_OK && session->reader == NULL) {
        status = create_sim(session, &session->sim, error);
        if (status == WADI_ERR_MEMORY && before.sim != NULL) {
            status = create_alone(session, &before, error);
        }
    }
    if (status != WADI_OK) {
        Source failed = take_source(session);
        free_source(session, &failed);
        put_source(session, &before);
        return status;
    }
    wadi_view_surface_stop(&session->surface);
    free_source(session, &before);
    forget_past(session);
    begin_source(session);
    return WADI_OK;
}

bool wadi_view_has_source(const WadiViewSession *session)
{
    return session->sim != NULL || session->reader != NULL;
}

WadiStatus wadi_view_quantity(WadiViewSession *session, const char *name, WadiView *view, WadiError *error)
{
    return session->sim != NULL ? wadi_sim_view(session->sim, name, view, error)
                                : wadi_run_reader_view(session->reader, name, view, error);
}

const char *wadi_view_quantity_name(WadiViewSession *session, int n)
{
    return session->sim != NULL ? wadi_sim_view_name(session->sim, n)
                                : wadi_run_reader_view_name(session->reader, n);
}

void wadi_view_mark_solid(WadiViewSession *session, WadiViewSlice *slice)
{
    const size_t count = (size_t)slice->count[0] * (size_t)slice->count[1];
    double *points = malloc(3 * count * sizeof *points);
    uint8_t *is_solid = calloc(count, 1);
    for (size_t n = 0; points != NULL && n < count; ++n) {
        wadi_view_slice_middle(slice, n, points + 3 * n);
    }
    if (points != NULL && is_solid != NULL &&
        (session->sim != NULL
             ? wadi_sim_solid(session->sim, points, count, is_solid, NULL)
             : wadi_run_reader_solid(session->reader, points, count, is_solid, NULL)) == WADI_OK) {
        for (size_t n = 0; n < count; ++n) {
            slice->type[n] |= is_solid[n] ? WADI_VIEW_SOLID : 0;
        }
    }
    free(points);
    free(is_solid);
}

uint32_t wadi_view_frame(const WadiViewSession *session)
{
    return (uint32_t)(session->sim != NULL ? wadi_sim_frame(session->sim)
                                           : wadi_run_reader_frame(session->reader));
}

double wadi_view_time(const WadiViewSession *session)
{
    return session->sim != NULL ? wadi_sim_time(session->sim) : wadi_run_reader_time(session->reader);
}

static void write_lists(WadiViewSession *session, FILE *out)
{
    fputs(",\"quantities\":[", out);
    const char *name;
    bool is_first = true;
    for (int n = 0; (name = wadi_view_quantity_name(session, n)) != NULL; ++n) {
        if (strcmp(name, "position") != 0 && strcmp(name, "texture") != 0) {
            fputs(is_first ? "" : ",", out);
            wadi_view_json(out, name);
            is_first = false;
        }
    }
    fputs("],\"scenes\":[", out);
    for (int i = 0; i < session->def->scene_count && session->sim != NULL; ++i) {
        fputs(i > 0 ? ",{\"name\":" : "{\"name\":", out);
        wadi_view_json(out, session->def->scenes[i].name);
        fputs(",\"summary\":", out);
        wadi_view_json(out, session->def->scenes[i].summary);
        fputc('}', out);
    }
    fputc(']', out);
}

void wadi_view_send_scene(WadiViewSession *session)
{
    char *text = NULL, *facts = NULL;
    size_t size = 0;
    const WadiScene *scene = session->sim != NULL ? wadi_sim_scene(session->sim) : session->scene;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return;
    }
    const int frames =
        session->reader != NULL ? wadi_run_reader_frames(session->reader) : wadi_scene_frames(scene);
    fprintf(out, "{\"type\":\"scene\",\"mode\":\"%s\",\"frames\":%d,\"playing\":%s,\"surface\":%s",
            session->sim != NULL ? "live" : "run", frames, session->is_playing ? "true" : "false",
            session->has_surface ? "true" : "false");
    fprintf(out, ",\"steps\":%lld,\"version\":\"%s\",\"chosen\":",
            session->sim != NULL ? (long long)wadi_sim_steps(session->sim) : -1LL, wadi_version());
    wadi_view_json(out, session->chosen >= 0 ? session->def->scenes[session->chosen].name : "");
    fprintf(out, ",\"plain\":\"%s\",\"beside\":%s", plain_attribute(session),
            session->def->run != NULL && session->def->beside != NULL ? "true" : "false");
    write_lists(session, out);
    if (wadi_scene_facts(scene, wadi_view_time(session), &facts, NULL) == WADI_OK) {
        fprintf(out, ",\"facts\":%s", facts);
        wadi_text_release(facts);
    }
    fputc('}', out);
    if (fclose(out) == 0) {
        wadi_view_hub_send(session->hub, (unsigned char *)text, size, false, 0);
    } else {
        free(text);
    }
    wadi_view_send_colliders(session, true);
}

void wadi_view_send_colliders(WadiViewSession *session, bool all)
{
    WadiError error;
    for (int n = 0; n < WADI_VIEW_COLLIDERS; ++n) {
        const bool moves = session->sim != NULL ? wadi_sim_collider_moves(session->sim, n)
                                                : wadi_run_reader_collider_moves(session->reader, n);
        const bool is_new = all || moves || session->has_moved[n]; /* once more where it came to rest */
        session->has_moved[n] = moves;
        if (!is_new) {
            continue;
        }
        WadiMeshData mesh = { 0 };
        const WadiStatus status = session->sim != NULL
                                      ? wadi_sim_collider_mesh(session->sim, n, &mesh, &error)
                                      : wadi_run_reader_collider_mesh(session->reader, n, &mesh, &error);
        if (status == WADI_ERR_ARGUMENT) {
            return; /* there are no more */
        }
        if (status == WADI_OK) {
            size_t size = 0;
            unsigned char *data = wadi_view_mesh_message(&mesh, 3, n, &size);
            wadi_view_hub_send(session->hub, data, size, true, 0);
            wadi_mesh_release(&mesh);
        }
    }
}
