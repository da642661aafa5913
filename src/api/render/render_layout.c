/* Pictures of a scene that is not simulated. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "io/files/files.h"
#include "io/run/output_index.h"
#include "render/frame_scene.h"
#include "wadi/render.h"

enum { LAYOUT_DEF_COOKIE = 0x1a404 };
/* As for pictures of a run (render_picture.c). */
static const double EXPOSURE_OFFSET = 0.5;

WadiLayoutDef wadi_default_layout_def(void)
{
    return (WadiLayoutDef){ .cookie = LAYOUT_DEF_COOKIE };
}

typedef struct Layout {
    const WadiScene *scene;
    const WadiLayoutDef *def;
    WadiWorld *world;
    WadiState frame; /* no particles */
    WadiFrameScene frame_scene;
    WadiHdr environment;
    WadiFilm film;
    WadiImage image;
} Layout;

static WadiBox with_bounds(WadiBox box, const WadiShape *shape, double time)
{
    WadiBox bounds = wadi_shape_bounds(shape, time);
    return wadi_is_finite(bounds.min) && wadi_is_finite(bounds.max) ? wadi_box_union(box, bounds) : box;
}

/* What a camera must show: the domain, or all that is placed and not endless. */
static WadiBox layout_box(const Layout *l)
{
    const WadiScene *scene = l->scene;
    WadiBox box = wadi_box_empty();
    if (scene->has_domain) {
        return scene->domain;
    }
    for (int i = 0; i < scene->body_count; ++i) {
        box = with_bounds(box, l->world->body_shapes[i], 0.0);
    }
    for (int i = 0; i < scene->emitter_count; ++i) {
        box = with_bounds(box, l->world->emitter_shapes[i], l->def->time);
    }
    for (int i = 0; i < scene->collider_count; ++i) {
        box = with_bounds(box, l->world->collider_shapes[i], l->def->time);
    }
    return box;
}

static WadiStatus draw(Layout *l, bool is_overview, const char *path, WadiError *error)
{
    const WadiScene *scene = l->scene;
    double time = l->def->time, aspect = (double)scene->render.width / scene->render.height;
    WadiBox box = layout_box(l);
    WadiFrameSceneDef frame_scene = {
        .scene = scene, .world = l->world, .is_layout = true, .has_camera_drawn = is_overview
    };
    WADI_TRY(wadi_frame_scene_build(&l->frame_scene, &frame_scene, &l->frame, time, error));
    WadiTraceScene trace;
    WADI_TRY(wadi_frame_scene_trace(&l->frame_scene, scene, &trace, error));
    WadiCamera camera = wadi_frame_scene_camera(scene, box, time);
    trace.light = wadi_frame_scene_light(scene, &camera, l->environment.width > 0 ? &l->environment : NULL);
    if (is_overview) {
        camera = wadi_camera_framing(wadi_box_add_point(box, camera.eye), aspect);
    }
    WadiTracer *tracer;
    WadiTraceQuality quality = wadi_trace_draft();
    WADI_TRY(wadi_tracer_create(&tracer, &trace, error));
    WadiStatus status = wadi_tracer_render(tracer, &camera, &quality, &l->film, error);
    wadi_tracer_destroy(tracer);
    WADI_TRY(status);
    WadiDevelop develop = { .exposure = scene->render.exposure + EXPOSURE_OFFSET, .is_auto_exposed = true };
    wadi_film_develop(&l->film, &develop, &l->image);
    return wadi_image_write_png(&l->image, path, error);
}

static WadiStatus prepare(Layout *l, WadiError *error)
{
    const WadiRenderSettings *render = &l->scene->render;
    void *data;
    WADI_TRY(wadi_world_create(&l->world, l->scene, &l->def->log, error));
    WADI_TRY(wadi_state_add(&l->frame, "position", WADI_TYPE_F64, 3, 0, &data, error));
    WADI_TRY(wadi_state_add(&l->frame, "velocity", WADI_TYPE_F32, 3, 0, &data, error));
    WADI_TRY(wadi_state_add(&l->frame, "radius", WADI_TYPE_F32, 1, 0, &data, error));
    WADI_TRY(wadi_state_add(&l->frame, "material", WADI_TYPE_U8, 1, 0, &data, error));
    if (render->light.environment != NULL) {
        WADI_TRY(wadi_hdr_read(&l->environment, render->light.environment, error));
    }
    WADI_TRY(wadi_film_init(&l->film, render->width, render->height, error));
    return wadi_image_init(&l->image, render->width, render->height, error);
}

static WadiStatus make(Layout *l, WadiLayoutReport *report, WadiError *error)
{
    const char *folder = l->def->folder != NULL ? l->def->folder : ".";
    WADI_TRY(prepare(l, error));
    WADI_TRY(wadi_folder_make(folder, error));
    char picture[4096], overview[4096];
    int length = snprintf(picture, sizeof picture, "%s/%s.layout.png", folder, l->scene->name);
    int longer = snprintf(overview, sizeof overview, "%s/%s.overview.png", folder, l->scene->name);
    if (length < 0 || longer < 0 || (size_t)longer >= sizeof overview) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the path of the folder is too long");
    }
    WADI_TRY(wadi_output_check_foreign(picture, error));
    if (l->scene->render.camera.is_given) {
        WADI_TRY(wadi_output_check_foreign(overview, error));
    }
    WADI_TRY(draw(l, false, picture, error));
    memcpy(report->picture, picture, (size_t)length + 1);
    if (l->scene->render.camera.is_given) {
        WADI_TRY(draw(l, true, overview, error));
        memcpy(report->overview, overview, (size_t)longer + 1);
    }
    return WADI_OK;
}

WadiStatus wadi_render_layout(const WadiScene *scene, const WadiLayoutDef *def, WadiLayoutReport *report,
                              WadiError *error)
{
    WadiLayoutReport unused;
    report = report != NULL ? report : &unused;
    *report = (WadiLayoutReport){ 0 };
    if (def == NULL || def->cookie != LAYOUT_DEF_COOKIE || scene == NULL) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "the WadiLayoutDef was not made by wadi_default_layout_def, or there is no scene");
    }
    if (!(def->time >= 0.0 && def->time < 1e9)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "a layout at %g s: expected 0 or later", def->time);
    }
    const unsigned asserts = wadi_assert_count();
    double start = wadi_time_now();
    Layout *l = NULL;
    WADI_TRY(WADI_NEW(&l, 1, "layout", error));
    l->scene = scene;
    l->def = def;
    wadi_parallel_set_threads(def->threads);
    WadiStatus status = make(l, report, error);
    wadi_image_free(&l->image);
    wadi_film_free(&l->film);
    wadi_hdr_free(&l->environment);
    wadi_frame_scene_free(&l->frame_scene);
    wadi_state_free(&l->frame);
    wadi_world_destroy(l->world);
    WADI_DELETE(l, 1);
    report->seconds = wadi_time_now() - start;
    return wadi_assert_status(status, asserts, error);
}
