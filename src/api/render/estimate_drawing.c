/* Estimates the time of a picture from a small one of the scene's first state: what prepares it is done in full,
 * the light is scaled with the pixels. */
#include <math.h>

#include "api/render/render_costs.h"
#include "api/render/render_picture.h"
#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "sim/sim.h"
#include "wadi/render.h"

/* Width of the small picture, pixels, and particles above which preparing it would take too long. */
enum { TRIAL_WIDTH = 200, PARTICLES_MOST = 2000000 };

typedef struct Trial {
    const WadiScene *scene;
    WadiSim *sim;
    WadiState frame;
    WadiFrameScene frame_scene;
    WadiFilm film;
} Trial;

static WadiStatus draw(Trial *t, const WadiTraceQuality *quality, double *seconds, WadiError *error)
{
    const WadiRenderSettings *render = &t->scene->render;
    const int width = render->width < TRIAL_WIDTH ? render->width : TRIAL_WIDTH;
    const int height = (int)fmax(1.0, rint((double)width * render->height / render->width));
    const double start = wadi_time_now();
    WadiFrameSceneDef def = { .scene = t->scene, .world = t->sim->world };
    WADI_TRY(wadi_frame_scene_build(&t->frame_scene, &def, &t->frame, 0.0, error));
    WadiTraceScene trace;
    WADI_TRY(wadi_frame_scene_trace(&t->frame_scene, t->scene, &trace, error));
    const WadiBox box = t->scene->has_domain ? t->scene->domain : t->frame_scene.bounds;
    WadiCamera camera = wadi_frame_scene_camera(t->scene, box, 0.0);
    trace.light = wadi_frame_scene_light(t->scene, &camera, NULL);
    trace.close = 0.5 * render->shutter / t->scene->fps;
    trace.open = -trace.close;
    WADI_TRY(wadi_film_init(&t->film, width, height, error));
    trace.photons = wadi_picture_photons(quality, width, height);
    WadiTracer *tracer;
    WADI_TRY(wadi_tracer_create(&tracer, &trace, error));
    const double prepared = wadi_time_now() - start;
    const WadiStatus status = wadi_tracer_render(tracer, &camera, quality, &t->film, error);
    wadi_tracer_destroy(tracer);
    const double light = wadi_time_now() - start - prepared;
    *seconds = prepared + light * ((double)render->width * render->height) / ((double)width * height);
    return status;
}

static WadiStatus try_picture(Trial *t, const WadiTraceQuality *quality, double *seconds, WadiError *error)
{
    WadiSimDef def = wadi_default_sim_def();
    def.threads = wadi_parallel_threads();
    WADI_TRY(wadi_sim_create(&t->sim, t->scene, &def, error));
    if (t->sim->particles.count > PARTICLES_MOST) {
        return WADI_OK;
    }
    WADI_TRY(wadi_sim_snapshot(t->sim, &t->frame, error));
    return draw(t, quality, seconds, error);
}

WadiStatus wadi_estimate_drawing(const WadiScene *scene, WadiQuality quality, int threads, double *seconds,
                                 WadiError *error)
{
    *seconds = -1.0;
    if (scene == NULL || quality < WADI_QUALITY_DRAFT || quality > WADI_QUALITY_FINAL) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "no scene, or a quality that is not known");
    }
    const unsigned asserts = wadi_assert_count();
    const WadiTraceQuality trace = quality == WADI_QUALITY_DRAFT     ? wadi_trace_draft()
                                   : quality == WADI_QUALITY_PREVIEW ? wadi_trace_preview()
                                                                     : wadi_trace_final();
    Trial *t = NULL;
    wadi_parallel_set_threads(threads);
    WADI_TRY(WADI_NEW(&t, 1, "a trial picture", error));
    t->scene = scene;
    WadiStatus status = try_picture(t, &trace, seconds, error);
    wadi_film_free(&t->film);
    wadi_frame_scene_free(&t->frame_scene);
    wadi_state_free(&t->frame);
    wadi_sim_destroy(t->sim);
    WADI_DELETE(t, 1);
    return wadi_assert_status(status, asserts, error);
}
