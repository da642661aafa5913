/* The shot of a run's pictures: made of its frames, or kept in a file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/render/render_plan.h"
#include "core/alloc.h"
#include "io/files/file_copy.h"

enum { FILE_LIMIT = 1 << 16 };

/* Whether a liquid may stand behind glass that the scene does not mention. */
static bool may_have_glass(const WadiRenderPlan *plan)
{
    const WadiScene *scene = plan->view.scene;
    const WadiGroundKey ground = scene->render.ground;
    bool has_liquid = false;
    for (int m = 0; m < scene->material_count; ++m) {
        has_liquid = has_liquid || scene->materials[m].kind == WADI_MATERIAL_WATER;
    }
    return has_liquid && scene->render.walls == WADI_RENDER_WALLS_AUTO && scene->has_domain &&
           ground != WADI_GROUND_WATER && ground != WADI_GROUND_SAND && ground != WADI_GROUND_NONE;
}

static bool goes_on(const WadiRunView *view)
{
    return view->frame_count < view->summary.frame_count;
}

static WadiStatus check_scale(const WadiRenderPlan *plan, const WadiRenderShot *shot, WadiError *error)
{
    const WadiRenderDef *def = plan->def;
    if (def->is_shared && goes_on(&plan->view) && (isnan(def->low) || isnan(def->high))) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "false colours of a run that goes on need both ends of their scale, which its later "
                         "frames would change: a range such as 0,2.5");
    }
    return shot->low < shot->high ? WADI_OK
                                  : wadi_fail(error, WADI_ERR_ARGUMENT, "a scale of %s from %g to %g",
                                              def->attribute, shot->low, shot->high);
}

WadiStatus wadi_render_shot_survey(const WadiRenderPlan *plan, WadiRenderShot *shot, WadiError *error)
{
    const WadiRenderDef *def = plan->def;
    const WadiScene *scene = plan->view.scene;
    *shot = (WadiRenderShot){ .box = wadi_box_empty() };
    if (scene->render.camera.is_given && def->attribute == NULL && !may_have_glass(plan)) {
        return WADI_OK; /* nothing depends on the frames */
    }
    WadiRunSurvey survey = { .attribute = def->attribute, .map = def->map };
    WADI_TRY(wadi_run_survey(&survey, &plan->view, plan->world, error));
    shot->box = survey.box;
    if (def->is_shared && goes_on(&plan->view) && scene->has_domain) {
        shot->box = wadi_box_union(survey.box, scene->domain);
        survey.has_liquid_at_walls = true;
    }
    if (may_have_glass(plan) && survey.has_liquid_at_walls &&
        !wadi_box_contains(scene->domain, wadi_frame_scene_camera(scene, shot->box, 0.0).eye)) {
        shot->has_glass = true;
        shot->glass = fmax(shot->box.max.z - scene->domain.min.z, 0.0);
    }
    if (scene->render.ground == WADI_GROUND_AUTO && !scene->render.camera.is_given &&
        scene->render.walls == WADI_RENDER_WALLS_HIDDEN && !isfinite(scene->render.ground_height) &&
        def->attribute == NULL && !def->has_cut && survey.has_bed) {
        shot->has_bed = true;
        shot->bed = survey.bed;
    }
    if (def->attribute == NULL) {
        return WADI_OK;
    }
    shot->low = isnan(def->low) ? survey.colour.low : def->low;
    shot->high = isnan(def->high) ? survey.colour.high : def->high;
    return check_scale(plan, shot, error);
}

/* Turns the normal of the cut towards the camera. */
static void face_cut(WadiRenderPlan *plan)
{
    WadiFrameSceneDef *frame_scene = &plan->frame_scene;
    if (frame_scene->has_cut && plan->def->is_cut_faced) {
        WadiVec3 eye = wadi_frame_scene_camera(plan->view.scene, plan->shot.box, 0.0).eye;
        if (wadi_dot(wadi_sub(eye, frame_scene->cut_point), frame_scene->cut_normal) < 0.0) {
            frame_scene->cut_normal = wadi_scale(frame_scene->cut_normal, -1.0);
        }
    }
}

/* The attribute's unit and names come from any frame. */
static WadiStatus set_colours(WadiRenderPlan *plan, WadiError *error)
{
    WadiState frame = { 0 };
    WadiFrameHeader header;
    WadiStatus status = wadi_run_view_read_frame(&plan->view, 1, &header, &frame, error);
    if (status == WADI_OK) {
        status = wadi_false_colour_open(&plan->colour, plan->def->attribute, plan->def->map, &frame,
                                        plan->view.scene, error);
    }
    wadi_state_free(&frame);
    WADI_TRY(status);
    plan->colour.low = plan->shot.low;
    plan->colour.high = plan->shot.high;
    plan->colours = wadi_false_colour_frame_scene(&plan->colour);
    plan->frame_scene.colours = &plan->colours;
    return WADI_OK;
}

WadiStatus wadi_render_shot_set(WadiRenderPlan *plan, const WadiRenderShot *shot, WadiError *error)
{
    plan->shot = *shot;
    if (shot->has_glass) {
        plan->view.scene->render.walls = WADI_RENDER_WALLS_GLASS;
        plan->frame_scene.walls_height = shot->glass;
    }
    plan->frame_scene.has_bed = shot->has_bed;
    plan->frame_scene.bed_height = shot->bed.height;
    plan->frame_scene.bed_wetness = shot->bed.wetness;
    plan->frame_scene.bed_spacing = shot->bed.spacing;
    face_cut(plan);
    return plan->def->attribute != NULL ? set_colours(plan, error) : WADI_OK;
}

void wadi_render_shot_path(const WadiRenderPlan *plan, char path[WADI_PATH_SIZE])
{
    snprintf(path, WADI_PATH_SIZE, "%.3500s/%.500s.plan.json", plan->folder, plan->name);
}

/* One number, or a list of several. */
static void append_numbers(WadiText *text, const char *key, bool has_them, const double *numbers, int count)
{
    const bool is_list = has_them && count > 1;
    wadi_text_printf(text, ",\n  \"%s\": %s", key, is_list ? "[" : has_them ? "" : "null");
    for (int i = 0; has_them && i < count; ++i) {
        wadi_text_append(text, i > 0 ? ", " : "");
        wadi_text_append_number(text, numbers[i]);
    }
    wadi_text_append(text, is_list ? "]" : "");
}

WadiStatus wadi_render_shot_write(const WadiRenderPlan *plan, WadiError *error)
{
    const WadiRenderShot *shot = &plan->shot;
    const bool has_box = !wadi_box_is_empty(shot->box);
    const double box[] = { shot->box.min.x, shot->box.min.y, shot->box.min.z,
                           shot->box.max.x, shot->box.max.y, shot->box.max.z };
    const double bed[] = { shot->bed.height, shot->bed.wetness, shot->bed.spacing };
    const double scale[] = { shot->low, shot->high };
    WadiText text = { 0 };
    char path[WADI_PATH_SIZE];
    wadi_render_shot_path(plan, path);
    wadi_text_printf(&text, "{\n  \"wadi\": \"%s\",\n  \"settings\": \"%016" PRIx64 "\",\n  \"frames\": %d",
                     wadi_version(), plan->shot_hash, plan->view.frame_count);
    append_numbers(&text, "camera_box", has_box, box, 6);
    append_numbers(&text, "glass_height", shot->has_glass, &shot->glass, 1);
    append_numbers(&text, "bed", shot->has_bed, bed, 3);
    append_numbers(&text, "scale", plan->def->attribute != NULL, scale, 2);
    append_numbers(&text, "exposure", true, &shot->exposure, 1);
    wadi_text_append(&text, "\n}\n");
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = wadi_file_write(path, text.data, text.length, error);
    }
    wadi_text_free(&text);
    return status;
}

/* The number or list of numbers after "KEY": their number, which is `count`; 0 for null, -1 for anything
 * else. */
static int read_numbers(const char *text, const char *key, double *numbers, int count)
{
    char word[40];
    snprintf(word, sizeof word, "\"%s\":", key);
    const char *at = strstr(text, word);
    if (at == NULL) {
        return -1;
    }
    at += strlen(word);
    at += strspn(at, " \t\r\n");
    if (strncmp(at, "null", 4) == 0) {
        return 0;
    }
    for (int i = 0; i < count; ++i) {
        char *end = NULL;
        if (count > 1 && *at++ != (i == 0 ? '[' : ',')) {
            return -1;
        }
        numbers[i] = strtod(at, &end);
        if (end == at || !isfinite(numbers[i])) {
            return -1;
        }
        at = end + strspn(end, " \t\r\n");
    }
    return count == 1 || *at == ']' ? count : -1;
}

/* False: the text is not a plan. *hash: of its settings. */
static bool parse(const char *text, WadiRenderShot *shot, uint64_t *hash)
{
    double box[6], scale[2] = { 0 }, bed[3] = { 0 }, glass = 0.0;
    static const char word[] = "\"settings\": \"";
    const char *settings = strstr(text, word), *at = settings != NULL ? settings + sizeof word - 1 : "";
    if (!wadi_scan_digits(&at, 16, hash)) {
        return false;
    }
    const int has_box = read_numbers(text, "camera_box", box, 6);
    const int has_glass = read_numbers(text, "glass_height", &glass, 1);
    const int has_bed = read_numbers(text, "bed", bed, 3);
    const int has_scale = read_numbers(text, "scale", scale, 2);
    *shot = (WadiRenderShot){ .box = wadi_box_empty(),
                              .has_glass = has_glass == 1,
                              .glass = glass,
                              .has_bed = has_bed == 3,
                              .bed = { bed[0], bed[1], bed[2] },
                              .low = scale[0],
                              .high = scale[1] };
    if (has_box == 6) {
        shot->box = (WadiBox){ wadi_vec3(box[0], box[1], box[2]), wadi_vec3(box[3], box[4], box[5]) };
    }
    return has_box >= 0 && has_glass >= 0 && has_bed >= 0 && has_scale >= 0 &&
           read_numbers(text, "exposure", &shot->exposure, 1) == 1;
}

WadiStatus wadi_render_shot_read(const WadiRenderPlan *plan, WadiRenderShot *shot, bool *is_there,
                                 WadiError *error)
{
    char path[WADI_PATH_SIZE], *text;
    size_t size;
    uint64_t hash = 0;
    *is_there = false;
    wadi_render_shot_path(plan, path);
    if (!wadi_file_exists(path)) {
        return WADI_OK;
    }
    WADI_TRY(wadi_file_read(path, FILE_LIMIT, &text, &size, error));
    const bool is_plan = parse(text, shot, &hash);
    wadi_free(text, size + 1, 1);
    *is_there = is_plan && hash == plan->shot_hash;
    return is_plan ? WADI_OK
                   : wadi_fail(error, WADI_ERR_FORMAT,
                               "%s: not a plan as wadi writes it; remove it, and a new one is made", path);
}
