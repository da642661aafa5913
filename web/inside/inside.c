/* The session of the view for a page that has the solver inside itself: worker.js passes in the messages of
 * the page and out those of the session, the same as between a page and the server of `wadi view`. */
#include <emscripten.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gallery.h"
#include "inside_scenes.h"
#include "view_session.h"

static WadiViewDef def;
static WadiViewHub hub;
static WadiViewSession session;
static WadiViewOut out; /* the last message given to the page */
static char problem[600];

/* Of a gallery scene, so that it runs live: on one thread, and on several. */
static const double LIVE_PARTICLES = 50000.0, LIVE_PARTICLES_THREADS = 60000.0;

static double live_factor(const char *name, bool has_threads)
{
    const WadiGalleryEntry *entry = wadi_gallery_find(name);
    const double most = has_threads ? LIVE_PARTICLES_THREADS : LIVE_PARTICLES;
    return entry != NULL ? cbrt(fmax(1.0, (double)entry->particles / most)) : 1.0;
}

static void list_scenes(bool has_threads)
{
    WadiViewScene *scenes = calloc((size_t)wadi_inside_scene_count, sizeof *scenes);
    for (int i = 0; scenes != NULL && i < wadi_inside_scene_count; ++i) {
        const WadiInsideScene *scene = &wadi_inside_scenes[i];
        const WadiGalleryEntry *entry = wadi_gallery_find(scene->name);
        scenes[i] = (WadiViewScene){ .name = scene->name,
                                     .summary = entry != NULL ? entry->summary : "",
                                     .text = scene->text,
                                     .coarsen = live_factor(scene->name, has_threads) };
    }
    def.scenes = scenes;
    def.scene_count = scenes != NULL ? wadi_inside_scene_count : 0;
}

/* Loads the first scene. Returns what is wrong, or "". */
EMSCRIPTEN_KEEPALIVE const char *wadi_inside_begin(int threads)
{
    WadiError error = { 0 };
    def = (WadiViewDef){ .scene = wadi_default_scene_def(), .threads = threads, .pictures_ahead = 1 };
    list_scenes(threads > 1);
    wadi_view_hub_init(&hub);
    wadi_view_session_init(&session, &def, &hub);
    wadi_view_hub_connect(&hub, NULL);
    if (wadi_view_load(&session, &error) != WADI_OK) {
        snprintf(problem, sizeof problem, "%.590s", error.text);
        return problem;
    }
    wadi_view_session_begin(&session);
    return "";
}

/* A message of the page. False: it is none. */
EMSCRIPTEN_KEEPALIVE bool wadi_inside_receive(const char *text)
{
    WadiViewMessage message;
    return wadi_view_message_read(text, strlen(text), &message) && wadi_view_hub_receive(&hub, &message);
}

/* One turn of the session; returns the seconds that may be waited before the next. */
EMSCRIPTEN_KEEPALIVE double wadi_inside_turn(void)
{
    static WadiViewMessage messages[WADI_VIEW_INBOX];
    wadi_view_obey(&session, messages, wadi_view_hub_take(&hub, messages, 0.0));
    return wadi_view_session_turn(&session);
}

/* The next message for the page, valid until the next call; NULL: none. */
EMSCRIPTEN_KEEPALIVE const unsigned char *wadi_inside_next(void)
{
    free(out.data);
    out = (WadiViewOut){ 0 };
    return wadi_view_hub_next(&hub, &out) ? out.data : NULL;
}

EMSCRIPTEN_KEEPALIVE size_t wadi_inside_next_size(void)
{
    return out.size;
}

EMSCRIPTEN_KEEPALIVE bool wadi_inside_next_is_binary(void)
{
    return out.is_binary;
}
