#include "api/render/render_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "core/os/os_memory.h"
#include "io/files/files.h"
#include "io/run/run_files.h"

enum {
    RENDER_VERSION = 4, /* increased when the same settings give another picture */
    DRAFT_GRAINS = 24,
    SAMPLES_MAX = 65536,
    SHEET_MAX = 100,
    SCENE_LIMIT = 1 << 26,
};

/* Film, guides and their filtered copies, bytes per pixel. */
static const double bytes_per_pixel = 110.0;

static WadiStatus check_def(const WadiRenderDef *def, WadiError *error)
{
    if (def->every < 1) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "every %d-th frame: expected 1 or more", def->every);
    }
    if (def->samples < 0 || def->samples > SAMPLES_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "%d samples a pixel: expected 1 to %d", def->samples,
                         SAMPLES_MAX);
    }
    if (def->sheet < 0 || def->sheet > SHEET_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "a contact sheet of %d pictures: expected 1 to %d",
                         def->sheet, SHEET_MAX);
    }
    if (!def->is_shared && (def->is_waiting || def->is_video_only)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "is_waiting and is_video_only are for is_shared");
    }
    if (def->is_shared && def->is_forced) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "pictures that are shared cannot be forced: each process would draw them again; "
                         "remove them first");
    }
    double length = 0.0;
    for (int i = 0; i < 3 && def->has_cut; ++i) {
        length += fabs(def->cut_normal[i]) + 0.0 * fabs(def->cut_point[i]);
    }
    if (def->has_cut && !(length > 0.0 && isfinite(length))) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "a cut needs a point and a direction that is not zero, of finite numbers");
    }
    return WADI_OK;
}

static WadiStatus check_size(const WadiRenderPlan *plan, WadiError *error)
{
    const WadiRenderSettings *render = &plan->view.scene->render;
    double needed = bytes_per_pixel * render->width * render->height, there = (double)wadi_memory_total();
    if (there > 0.0 && needed > 0.8 * there) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "a picture of %d x %d pixels takes about %.1f GB, and there are %.1f GB of memory; "
                         "take a smaller render.width and render.height",
                         render->width, render->height, needed * 1e-9, there * 1e-9);
    }
    return WADI_OK;
}

static WadiStatus set_paths(WadiRenderPlan *plan, WadiError *error)
{
    const WadiRenderDef *def = plan->def;
    const char *run = plan->view.run, *name = plan->view.summary.name;
    bool has_attribute = def->attribute != NULL;
    int length = def->folder != NULL ? snprintf(plan->folder, sizeof plan->folder, "%s", def->folder)
                                     : snprintf(plan->folder, sizeof plan->folder, "%s/images", run);
    if (length < 1 || length > WADI_RUN_PATH_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the path of the folder is %s",
                         length < 1 ? "empty" : "too long");
    }
    snprintf(plan->name, sizeof plan->name, "%.250s%s%.200s", name, has_attribute ? "." : "",
             has_attribute ? def->attribute : "");
    /* Pictures of a part of the run must not replace those of the whole run. Of a run that goes on, processes
     * that share it see different numbers of frames. */
    char part[32] = "";
    const int planned = plan->view.summary.frame_count, there = plan->view.frame_count;
    if (plan->view.first > 1 || plan->view.last < (def->is_shared && planned > there ? planned : there)) {
        snprintf(part, sizeof part, ".%04d-%04d", plan->view.first, plan->view.last);
    }
    length = snprintf(plan->base, sizeof plan->base, "%s/%s%s", def->folder != NULL ? def->folder : run,
                      plan->name, part);
    if (length < 0 || (size_t)length > sizeof plan->base - 32) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the path of the run is too long");
    }
    return WADI_OK;
}

static WadiStatus set_quality(WadiRenderPlan *plan, WadiError *error)
{
    const WadiRenderDef *def = plan->def;
    switch (def->quality) {
    case WADI_QUALITY_DRAFT: plan->quality = wadi_trace_draft(); break;
    case WADI_QUALITY_PREVIEW: plan->quality = wadi_trace_preview(); break;
    case WADI_QUALITY_FINAL: plan->quality = wadi_trace_final(); break;
    default: return wadi_fail(error, WADI_ERR_ARGUMENT, "a quality that is not known");
    }
    if (def->samples > 0) {
        plan->quality.samples = def->samples;
    }
    /* The noise pattern is constant, so that objects at rest do not flicker. */
    plan->quality.seed = 0;
    /* Glass walls would dim false colours, and would float in front of a cut. */
    if (def->attribute != NULL || def->has_cut) {
        plan->view.scene->render.walls = WADI_RENDER_WALLS_HIDDEN;
    }
    bool is_draft = def->quality == WADI_QUALITY_DRAFT;
    plan->frame_scene = (WadiFrameSceneDef){ .scene = plan->view.scene,
                                             .grains_max = is_draft ? DRAFT_GRAINS : 0,
                                             .has_cut = def->has_cut };
    if (def->has_cut) {
        const double *p = def->cut_point, *n = def->cut_normal;
        plan->frame_scene.cut_point = wadi_vec3(p[0], p[1], p[2]);
        plan->frame_scene.cut_normal = wadi_normalized_or(wadi_vec3(n[0], n[1], n[2]), wadi_vec3(1, 0, 0));
    }
    return WADI_OK;
}

static WadiStatus make_world(WadiRenderPlan *plan, WadiError *error)
{
    const WadiScene *scene = plan->view.scene;
    if (!scene->render.has_colliders || scene->collider_count == 0) {
        return WADI_OK;
    }
    WadiError inner = { 0 };
    WadiStatus status = wadi_world_create(&plan->world, scene, NULL, &inner);
    if (status != WADI_OK) {
        return wadi_fail(
            error, status,
            "%.3600s\nthe colliders cannot be drawn; the setting render.colliders=false leaves them out",
            inner.text);
    }
    plan->frame_scene.world = plan->world;
    return WADI_OK;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text != NULL ? wadi_hash_bytes(wadi_hash_combine(hash, strlen(text)), text, strlen(text))
                        : wadi_hash_combine(hash, 0);
}

static uint64_t hash_numbers(uint64_t hash, const double *values, int count)
{
    for (int i = 0; i < count; ++i) {
        double value = values[i] + 0.0; /* maps -0 to 0 */
        hash = wadi_hash_bytes(hash, &value, sizeof value);
    }
    return hash;
}

/* The scene's text without what no picture depends on: lines of comment, and the number of frames, which
 * grows when a run is made longer. */
static uint64_t hash_scene(uint64_t hash, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        length += text[length] == '\n';
        if (text[0] != '#' && strncmp(text, "frames:", 7) != 0) {
            hash = wadi_hash_bytes(hash, text, length);
        }
        text += length;
    }
    return hash;
}

/* Hashes the scene's text and the settings as given: an equivalent but different text is drawn again. */
static WadiStatus hash_settings(WadiRenderPlan *plan, WadiError *error)
{
    const WadiRenderDef *def = plan->def;
    const WadiTraceQuality *q = &plan->quality;
    char path[WADI_PATH_SIZE], *text;
    size_t size;
    snprintf(path, sizeof path, "%s/scene.yaml", plan->view.run);
    WADI_TRY(wadi_file_read(path, SCENE_LIMIT, &text, &size, error));
    uint64_t hash = hash_scene(hash_text(RENDER_VERSION, wadi_version()), text);
    wadi_free(text, size + 1, 1);
    for (int i = 0; i < def->set_count; ++i) {
        hash = hash_text(hash, def->sets[i]);
    }
    /* The text names copies by their content; only changed ones are not in it. */
    if (plan->view.assets_hash != 0) {
        hash = wadi_hash_combine(hash, plan->view.assets_hash);
    }
    const double shared[] = { plan->view.summary.fps, def->has_cut, def->is_cut_faced };
    hash = hash_numbers(hash, shared, (int)(sizeof shared / sizeof *shared));
    if (def->has_cut) {
        WadiVec3 n = plan->frame_scene.cut_normal;
        hash = hash_numbers(hash_numbers(hash, def->cut_point, 3), (double[]){ n.x, n.y, n.z }, 3);
    }
    if (def->attribute != NULL) {
        hash = hash_text(hash_text(hash, def->attribute), def->map);
        hash = hash_numbers(hash, (double[]){ def->low, def->high }, 2);
    }
    const WadiHdr *map = &plan->environment;
    size_t pixels = (size_t)map->width * (size_t)map->height;
    plan->shot_hash = pixels > 0 ? wadi_hash_bytes(hash, map->pixels, pixels * sizeof *map->pixels) : hash;
    const double numbers[] = { def->quality, q->samples, q->depth,       q->clamp,
                               q->noise,     q->seed,    q->is_denoised, plan->frame_scene.grains_max };
    plan->settings_hash = hash_numbers(plan->shot_hash, numbers, (int)(sizeof numbers / sizeof *numbers));
    return WADI_OK;
}

static WadiStatus fill(WadiRenderPlan *plan, WadiError *error)
{
    const char *environment = plan->view.scene->render.light.environment;
    if (!(plan->view.summary.fps > 0.0)) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s/run.json: %g frames a second", plan->view.run,
                         plan->view.summary.fps);
    }
    WADI_TRY(set_paths(plan, error));
    WADI_TRY(check_size(plan, error));
    WADI_TRY(set_quality(plan, error));
    WADI_TRY(make_world(plan, error));
    if (environment != NULL) {
        WADI_TRY(wadi_hdr_read(&plan->environment, environment, error));
    }
    return hash_settings(plan, error);
}

WadiStatus wadi_render_plan_open(WadiRenderPlan *plan, const char *run, const WadiRenderDef *def,
                                 WadiError *error)
{
    WADI_TRY(check_def(def, error));
    static const char *const keys[] = { "render", "surface", "materials.*.look", "colliders[*].look", NULL };
    *plan = (WadiRenderPlan){ .def = def };
    WADI_TRY(wadi_run_view_open(&plan->view, run,
                                &(WadiRunViewDef){ .sets = def->sets,
                                                   .set_count = def->set_count,
                                                   .keys = keys,
                                                   .example = "render.width=1280, surface.radius=1 or "
                                                              "materials.sand.look.preset=desert",
                                                   .first = def->first_frame,
                                                   .last = def->last_frame,
                                                   .is_shared = def->is_shared,
                                                   .is_waiting = def->is_waiting,
                                                   .stop = def->stop,
                                                   .log = def->log },
                                error));
    WadiStatus status = fill(plan, error);
    if (status != WADI_OK) {
        wadi_render_plan_close(plan);
    }
    return status;
}

void wadi_render_plan_close(WadiRenderPlan *plan)
{
    wadi_hdr_free(&plan->environment);
    wadi_world_destroy(plan->world);
    wadi_run_view_close(&plan->view);
    *plan = (WadiRenderPlan){ 0 };
}

int wadi_render_plan_count(const WadiRenderPlan *plan)
{
    return (plan->view.last - plan->view.first) / plan->def->every + 1;
}

int wadi_render_plan_frame(const WadiRenderPlan *plan, int i)
{
    return plan->view.first + i * plan->def->every;
}

void wadi_render_plan_path(const WadiRenderPlan *plan, int frame, char *path, size_t size)
{
    snprintf(path, size, "%s/%s.%04d.png", plan->folder, plan->name, frame);
}

static uint64_t hash_arrays(uint64_t key, const WadiFrameLayout *frame)
{
    for (int i = 0; i < frame->array_count; ++i) {
        key = hash_text(key, frame->array[i].name);
        key = wadi_hash_combine(key, frame->array[i].checksum);
    }
    return key;
}

uint64_t wadi_render_plan_key(const WadiRenderPlan *plan, const WadiFrameLayout *frame,
                              const WadiFrameLayout others[WADI_PICTURE_FILES])
{
    const WadiRenderShot *shot = &plan->shot;
    const WadiBox *box = &shot->box;
    const WadiVec3 cut = plan->frame_scene.cut_normal;
    const double shared[] = { shot->exposure,
                              box->min.x,
                              box->min.y,
                              box->min.z,
                              box->max.x,
                              box->max.y,
                              box->max.z,
                              shot->has_glass,
                              shot->glass,
                              shot->low,
                              shot->high,
                              cut.x,
                              cut.y,
                              cut.z,
                              frame->header.frame,
                              frame->header.time,
                              shot->has_bed,
                              shot->bed.height,
                              shot->bed.wetness };
    uint64_t key = hash_numbers(plan->settings_hash, shared, (int)(sizeof shared / sizeof *shared));
    key = hash_arrays(key, frame);
    for (int i = 0; i < WADI_PICTURE_FILES; ++i) {
        key = hash_arrays(key, &others[i]);
    }
    return key;
}
