#include "api/render/render_picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/timer.h"
#include "render/trace/denoise.h"

/* Keyword in a picture file whose value identifies its settings. */
static const char KEYWORD[] = "wadi key";
enum { METER_WIDTH = 192, PHOTONS_A_PIXEL = 8 };
/* Stops added to the metered exposure: ground and sand in the sun fill most pictures and are brighter than
 * middle grey. */
static const double EXPOSURE_OFFSET = 0.5;
/* Radiance from all directions, and that of the sun on a surface facing it: among balls about half of the
 * surround is hidden. */
static const float EVEN_LIGHT = 1.0f, EVEN_SUN = 1.0f;

void wadi_picture_maker_free(WadiPictureMaker *maker)
{
    wadi_state_free(&maker->frame);
    wadi_state_free(&maker->secondary);
    wadi_state_free(&maker->grains);
    wadi_state_free(&maker->wet_file);
    wadi_wet_sand_free(&maker->wet);
    wadi_arena_free(&maker->arena);
    wadi_frame_scene_free(&maker->frame_scene);
    wadi_film_free(&maker->film);
    wadi_image_free(&maker->image);
    *maker = (WadiPictureMaker){ 0 };
}

static void count_objects(WadiPictureMaker *maker, const WadiTraceScene *trace)
{
    maker->grain_count = maker->triangles = 0;
    for (int i = 0; i < trace->spheres_count; ++i) {
        maker->grain_count += (int64_t)trace->spheres[i].count;
    }
    for (int i = 0; i < trace->mesh_count; ++i) {
        maker->triangles += (int64_t)trace->meshes[i].triangle_count;
    }
}

/* Light that shows colours unchanged: from all directions, with a weak sun to show shapes. The
 * backdrop has the colour of the lit ground instead of a sky. */
static WadiLightDef even_light(WadiLightDef light, const WadiTraceGround *ground)
{
    float shine = EVEN_LIGHT + EVEN_SUN * (float)(wadi_normalized_or(light.sun, wadi_vec3(0, 0, 1)).z / M_PI);
    light.has_backdrop = true;
    light.backdrop = ground->is_present ? wadi_scalef(ground->look.colour, shine) : wadi_grey(0.9f);
    light.surround = WADI_SURROUND_UNIFORM;
    light.colour = wadi_grey(EVEN_LIGHT);
    light.sun_light = wadi_grey(EVEN_SUN);
    light.map = NULL;
    return light;
}

/* m: width of a pixel at the camera's target. */
static double pixel_at_target(const WadiCamera *camera, int height)
{
    double distance = wadi_norm(wadi_sub(camera->target, camera->eye));
    return 2.0 * tan(0.5 * camera->view_angle * M_PI / 180.0) * distance / height;
}

int wadi_picture_photons(const WadiTraceQuality *quality, int width, int height)
{
    const int64_t most = (int64_t)PHOTONS_A_PIXEL * width * height;
    return quality->photons < most ? quality->photons : (int)most;
}

/* What a film sees: the frame's particles after `shift` s at their velocities, while the shutter is open from
 * `open` to `close`, s, about that. */
typedef struct Exposure {
    double time, shift, open, close; /* `time` of the frame */
    WadiTraceQuality quality;
} Exposure;

/* Renders maker->frame to the film, whose size is set. */
static WadiStatus expose_once(WadiPictureMaker *maker, const WadiRenderPlan *plan,
                              const WadiFrameSceneDef *frame_scene_def, const Exposure *exposure,
                              WadiFilm *film, WadiError *error)
{
    const double time = exposure->time;
    const WadiScene *scene = plan->view.scene;
    double start = wadi_time_now();
    WadiCamera camera = wadi_frame_scene_camera(scene, plan->shot.box, time);
    /* A sun placed relative to the camera uses the camera's first position, so that shadows do not turn with
     * a moving camera. Likewise the size of flying grains. */
    WadiCamera first = wadi_frame_scene_camera(scene, plan->shot.box, 0.0);
    WadiFrameSceneDef drawn = *frame_scene_def;
    drawn.secondary = &maker->secondary;
    drawn.fine_grains = &maker->grains;
    drawn.pixel = pixel_at_target(&first, film->height);
    WADI_TRY(
        wadi_frame_scene_build(&maker->frame_scene, &drawn, &maker->frame, time + exposure->shift, error));
    WadiTraceScene trace;
    WADI_TRY(wadi_frame_scene_trace(&maker->frame_scene, scene, &trace, error));
    trace.light =
        wadi_frame_scene_light(scene, &first, plan->environment.width > 0 ? &plan->environment : NULL);
    if (plan->frame_scene.colours != NULL) {
        /* and no blur: it would mix colours that represent numbers */
        trace.light = even_light(trace.light, &trace.ground);
        camera.lens_radius = 0.0;
    } else {
        trace.open = exposure->open;
        trace.close = exposure->close;
    }
    const WadiTraceQuality *quality = &exposure->quality;
    trace.photons =
        plan->frame_scene.colours == NULL ? wadi_picture_photons(quality, film->width, film->height) : 0;
    count_objects(maker, &trace);
    const double staged = wadi_time_now();
    WadiTracer *tracer;
    WADI_TRY(wadi_tracer_create(&tracer, &trace, error));
    const double built = wadi_time_now();
    WadiStatus status = wadi_tracer_render(tracer, &camera, quality, film, error);
    wadi_tracer_destroy(tracer);
    maker->stage_seconds += staged - start;
    maker->tree_seconds += built - staged;
    maker->trace_seconds += wadi_time_now() - built;
    return status;
}

/* Moves the particles by their velocities. */
static void shift_particles(WadiPictureMaker *maker, double dt)
{
    WadiState *const states[] = { &maker->frame, &maker->secondary, &maker->grains };
    for (size_t s = 0; s < sizeof states / sizeof *states; ++s) {
        const WadiStateArray *x = wadi_state_find(states[s], "position"),
                             *v = wadi_state_find(states[s], "velocity");
        for (size_t i = 0; x != NULL && v != NULL && i < 3 * x->count; ++i) {
            ((double *)x->data)[i] += dt * (double)((const float *)v->data)[i];
        }
    }
}

/* The mean of the films of equal parts of the shutter's time: moved particles keep drops that moved vertices
 * of a surface would tear [ZB05 sec. 5]. */
static WadiStatus expose_parts(WadiPictureMaker *maker, const WadiRenderPlan *plan,
                               const WadiFrameSceneDef *frame_scene, const Exposure *whole, int parts,
                               WadiFilm *film, WadiError *error)
{
    WadiFilm part = { 0 };
    WADI_TRY(wadi_film_init(&part, film->width, film->height, error));
    const double width = (whole->close - whole->open) / parts;
    Exposure now = { .time = whole->time, .open = -0.5 * width, .close = 0.5 * width };
    now.quality = whole->quality;
    now.quality.is_denoised = false;
    now.quality.samples = (whole->quality.samples + parts - 1) / parts;
    now.quality.photons = whole->quality.photons / parts;
    WadiStatus status = WADI_OK;
    double shift = 0.0;
    for (int k = 0; k < parts && status == WADI_OK; ++k) {
        now.shift = whole->open + (k + 0.5) * width;
        now.quality.seed = whole->quality.seed + 0x9e3779b9u * (uint32_t)k;
        shift_particles(maker, now.shift - shift);
        shift = now.shift;
        status = expose_once(maker, plan, frame_scene, &now, &part, error);
        wadi_film_add(film, &part, k, parts);
    }
    shift_particles(maker, -shift);
    wadi_film_free(&part);
    WADI_TRY(status);
    return whole->quality.is_denoised ? wadi_film_denoise(film, error) : WADI_OK;
}

static WadiStatus expose(WadiPictureMaker *maker, const WadiRenderPlan *plan,
                         const WadiFrameSceneDef *frame_scene, const WadiTraceQuality *quality, double time,
                         WadiFilm *film, WadiError *error)
{
    const WadiRenderSettings *render = &plan->view.scene->render;
    const double half = 0.5 * render->shutter / plan->view.summary.fps;
    const bool is_blurred = half > 0.0 && plan->frame_scene.colours == NULL;
    const Exposure whole = { .time = time, .open = -half, .close = half, .quality = *quality };
    maker->stage_seconds = maker->tree_seconds = maker->trace_seconds = 0.0;
    return is_blurred && render->shutter_steps > 1
               ? expose_parts(maker, plan, frame_scene, &whole, render->shutter_steps, film, error)
               : expose_once(maker, plan, frame_scene, &whole, film, error);
}

/* Prefixes the error with the frame's file, unless it names a file itself. */
static WadiStatus prefix_frame_path(WadiStatus status, const char *path, WadiError *error)
{
    if (status != WADI_OK && status != WADI_ERR_IO && error != NULL && strstr(error->text, path) == NULL) {
        WadiError inner = *error;
        wadi_fail(error, inner.status, "%.1500s: %.2500s", path, inner.text);
    }
    return status;
}

WadiStatus wadi_picture_meter(WadiPictureMaker *maker, WadiRenderPlan *plan, WadiError *error)
{
    const WadiRenderSettings *render = &plan->view.scene->render;
    if (plan->frame_scene.colours != NULL) {
        plan->shot.exposure = 0.0; /* colours must match the legend, independent of the scene's light */
        return WADI_OK;
    }
    WadiFrameSceneDef frame_scene = plan->frame_scene;
    frame_scene.grains_max = 1;
    int width = render->width < METER_WIDTH ? render->width : METER_WIDTH;
    int height = (int)fmax(1.0, rint((double)width * render->height / render->width));
    WadiTraceQuality quality = wadi_trace_draft();
    char path[WADI_PATH_SIZE];
    WadiFrameHeader header;
    WadiFilm film;
    const int frame = 1 + (plan->view.frame_count - 1) / 2;
    wadi_run_frame_path(path, sizeof path, plan->view.run, plan->view.summary.name, frame);
    WADI_TRY(wadi_picture_read(maker, plan, frame, &header, error));
    WADI_TRY(wadi_film_init(&film, width, height < 4096 ? height : 4096, error));
    WadiStatus status = expose(maker, plan, &frame_scene, &quality, header.time, &film, error);
    if (status == WADI_OK) {
        plan->shot.exposure = render->exposure + EXPOSURE_OFFSET + log2(wadi_film_auto_exposure(&film));
    }
    wadi_film_free(&film);
    return prefix_frame_path(status, path, error);
}

WadiStatus wadi_picture_survey(WadiPictureMaker *maker, WadiRenderPlan *plan, WadiError *error)
{
    WadiRenderShot shot;
    WADI_TRY(wadi_render_shot_survey(plan, &shot, error));
    WADI_TRY(wadi_render_shot_set(plan, &shot, error));
    return wadi_picture_meter(maker, plan, error);
}

/* Warns about a camera inside a wall: the picture is black. */
static void check_camera(WadiPictureMaker *maker, const WadiRenderPlan *plan, double time)
{
    const WadiScene *scene = plan->view.scene;
    WadiVec3 eye = wadi_frame_scene_camera(scene, plan->shot.box, time).eye;
    const WadiTraceGround *ground = &maker->frame_scene.ground;
    const char *advice = "; see render.camera in docs/scene-reference.md";
    if (maker->has_warned) {
        return;
    }
    for (int c = 0; plan->world != NULL && c < scene->collider_count; ++c) {
        if (wadi_shape_contains(plan->world->collider_shapes[c], eye, time)) {
            wadi_log(&plan->def->log, WADI_LOG_WARNING,
                     "at %.3g s the camera at [%.3g, %.3g, %.3g] is inside the collider %s%s", time, eye.x,
                     eye.y, eye.z, scene->colliders[c].name, advice);
            maker->has_warned = true;
            maker->warning_count += 1;
        }
    }
    if (!maker->has_warned && ground->is_present && eye.z < ground->height) {
        wadi_log(&plan->def->log, WADI_LOG_WARNING,
                 "at %.3g s the camera at [%.3g, %.3g, %.3g] is below the ground at %.3g m%s", time, eye.x,
                 eye.y, eye.z, ground->height, advice);
        maker->has_warned = true;
        maker->warning_count += 1;
    }
}

static WadiStatus draw(WadiPictureMaker *maker, const WadiRenderPlan *plan, const WadiFrameHeader *header,
                       WadiError *error)
{
    const WadiRenderSettings *render = &plan->view.scene->render;
    if (maker->film.width == 0) {
        WADI_TRY(wadi_film_init(&maker->film, render->width, render->height, error));
        WADI_TRY(wadi_image_init(&maker->image, render->width, render->height, error));
    }
    WADI_TRY(expose(maker, plan, &plan->frame_scene, &plan->quality, header->time, &maker->film, error));
    check_camera(maker, plan, header->time);
    bool is_coloured = plan->frame_scene.colours != NULL;
    wadi_film_develop(&maker->film,
                      &(WadiDevelop){ .exposure = plan->shot.exposure, .is_linear = is_coloured },
                      &maker->image);
    if (is_coloured) {
        wadi_false_colour_legend(&plan->colour, &maker->image);
    }
    return WADI_OK;
}

static WadiStatus make_picture(WadiPictureMaker *maker, const WadiRenderPlan *plan, int frame, bool *is_kept,
                               WadiError *error)
{
    WadiFrameLayout layout;
    uint64_t key;
    char path[WADI_PATH_SIZE], words[20];
    WADI_TRY(wadi_run_view_read_layout(&plan->view, frame, &layout, error));
    wadi_render_plan_path(plan, frame, path, sizeof path);
    WADI_TRY(wadi_picture_key(plan, &layout, &key, error));
    *is_kept = !plan->def->is_forced && wadi_output_index_has(maker->outputs, path, key, false);
    if (*is_kept) {
        return WADI_OK;
    }
    WADI_TRY(wadi_output_index_claim(maker->outputs, path, error));
    WADI_TRY(wadi_picture_read(maker, plan, frame, &layout.header, error));
    WADI_TRY(draw(maker, plan, &layout.header, error));
    char software[64], number[16], time[32];
    snprintf(words, sizeof words, "%016" PRIx64, key);
    snprintf(software, sizeof software, "wadi %s", wadi_version());
    snprintf(number, sizeof number, "%d", frame);
    snprintf(time, sizeof time, "%.9g s", layout.header.time);
    WadiImageText texts[] = {
        { "Software", software }, { KEYWORD, words }, { "wadi frame", number }, { "wadi time", time }
    };
    WADI_TRY(wadi_image_write_png_with(&maker->image, path, texts, 4, error));
    return wadi_output_index_add_file(maker->outputs, path, key, error);
}

WadiStatus wadi_picture_make(WadiPictureMaker *maker, const WadiRenderPlan *plan, int frame, bool *is_kept,
                             WadiError *error)
{
    char path[WADI_PATH_SIZE];
    wadi_run_frame_path(path, sizeof path, plan->view.run, plan->view.summary.name, frame);
    maker->stage_seconds = maker->tree_seconds = maker->trace_seconds = 0.0;
    maker->grain_count = maker->triangles = 0;
    return prefix_frame_path(make_picture(maker, plan, frame, is_kept, error), path, error);
}
