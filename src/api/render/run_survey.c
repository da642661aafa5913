#include <math.h>
#include <stdlib.h>

#include "api/render/render_plan.h"
#include "core/alloc.h"
#include "io/files/files.h"

enum {
    FRAMES_LOOKED_AT = 8,
    SAMPLES_MAX = 1 << 16, /* sampled particles of a frame */
};
/* Fraction of the particles outside the box on each side, and the relative growth of the box afterwards. In a
 * uniform block the outer half percent of the particles fills half a percent of its width, so most of the
 * growth is margin. */
static const double stray = 0.005, growth = 0.03;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Hidden materials are ignored. */
static bool is_visible(const WadiScene *scene, const WadiStateArray *material, size_t i)
{
    int index = material != NULL ? ((const uint8_t *)material->data)[i] : -1;
    return index < 0 || index >= scene->material_count ||
           scene->materials[index].look.style != WADI_STYLE_HIDDEN;
}

static WadiStatus frame_box(const WadiScene *scene, const WadiState *frame, double *values, WadiBox *box,
                            WadiError *error)
{
    const WadiStateArray *x = NULL;
    WADI_TRY(wadi_state_expect(frame, "position", WADI_TYPE_F64, 3, SIZE_MAX, &x, error));
    const WadiStateArray *material = wadi_state_find(frame, "material");
    if (material != NULL && (material->type != WADI_TYPE_U8 || material->count != x->count)) {
        material = NULL;
    }
    size_t step = x->count / SAMPLES_MAX + 1;
    double low[3], high[3];
    *box = wadi_box_empty();
    for (int axis = 0; axis < 3; ++axis) {
        size_t count = 0;
        for (size_t i = 0; i < x->count; i += step) {
            double value = ((const double *)x->data)[3 * i + (size_t)axis];
            if (isfinite(value) && is_visible(scene, material, i)) {
                values[count++] = value;
            }
        }
        if (count == 0) {
            return WADI_OK;
        }
        qsort(values, count, sizeof *values, compare);
        size_t cut = (size_t)(stray * (double)count);
        low[axis] = values[cut];
        high[axis] = values[count - 1 - cut];
    }
    *box = (WadiBox){ wadi_vec3(low[0], low[1], low[2]), wadi_vec3(high[0], high[1], high[2]) };
    *box = wadi_box_grown(*box, growth * wadi_norm(wadi_box_size(*box)));
    return WADI_OK;
}

/* Whether more than a few particles of a liquid are within a spacing and a half of a closed side. */
static bool is_liquid_at_walls(const WadiScene *scene, const WadiState *frame)
{
    const WadiStateArray *x = wadi_state_find(frame, "position"), *radius = wadi_state_find(frame, "radius"),
                         *material = wadi_state_find(frame, "material");
    if (!scene->has_domain || radius == NULL || material == NULL || radius->type != WADI_TYPE_F32 ||
        material->type != WADI_TYPE_U8 || radius->count != x->count || material->count != x->count) {
        return false;
    }
    static const double near = 3.0, fraction = 0.002; /* radii; of the particles */
    size_t count = 0;
    for (size_t i = 0; i < x->count; ++i) {
        const int index = ((const uint8_t *)material->data)[i];
        if (index >= scene->material_count || scene->materials[index].kind != WADI_MATERIAL_WATER ||
            !is_visible(scene, material, i)) {
            continue;
        }
        const double *p = (const double *)x->data + 3 * i,
                     reach = near * (double)((const float *)radius->data)[i];
        for (int side = 0; side < 4; ++side) {
            const double wall =
                wadi_component(side % 2 == 1 ? scene->domain.max : scene->domain.min, side / 2);
            if ((scene->closed_sides >> side & 1) != 0 && fabs(p[side / 2] - wall) < reach) {
                ++count;
                break;
            }
        }
    }
    return (double)count > fraction * (double)x->count;
}

/* A bowl around the material is included; a wall across the world is not. */
static WadiBox add_colliders(WadiBox box, const WadiScene *scene, const WadiWorld *world, double time)
{
    if (!scene->render.has_colliders || wadi_box_is_empty(box)) {
        return box;
    }
    double size = wadi_norm(wadi_box_size(box));
    WadiBox near = wadi_box_grown(box, 0.25 * size), all = box;
    for (int c = 0; c < scene->collider_count; ++c) {
        WadiBox bounds = wadi_shape_bounds(world->collider_shapes[c], time);
        bool is_near = bounds.min.x >= near.min.x && bounds.min.y >= near.min.y &&
                       bounds.min.z >= near.min.z && bounds.max.x <= near.max.x &&
                       bounds.max.y <= near.max.y && bounds.max.z <= near.max.z;
        if (is_near) {
            all = wadi_box_union(all, bounds);
        }
    }
    return all;
}

typedef struct Survey {
    WadiRunSurvey *survey;
    const WadiRunView *view;
    WadiState frame;
    double *values;     /* SAMPLES_MAX */
    WadiBox particles;  /* union of the frames read */
    bool has_attribute; /* survey->colour is open */
} Survey;

static WadiStatus survey_frame(Survey *l, int number, double *time, WadiError *error)
{
    WadiRunSurvey *survey = l->survey;
    const WadiRunView *view = l->view;
    WadiFrameHeader header;
    WadiBox seen;
    WADI_TRY(wadi_run_view_read_frame(view, number, &header, &l->frame, error));
    WADI_TRY(frame_box(view->scene, &l->frame, l->values, &seen, error));
    l->particles = wadi_box_union(l->particles, seen);
    survey->has_liquid_at_walls = survey->has_liquid_at_walls || is_liquid_at_walls(view->scene, &l->frame);
    *time = header.time;
    if (survey->attribute == NULL) {
        return WADI_OK;
    }
    if (!l->has_attribute) {
        WADI_TRY(wadi_false_colour_open(&survey->colour, survey->attribute, survey->map, &l->frame,
                                        view->scene, error));
        l->has_attribute = true;
    }
    return wadi_false_colour_include(&survey->colour, &l->frame, error);
}

WadiStatus wadi_run_survey(WadiRunSurvey *survey, const WadiRunView *view, const WadiWorld *world,
                           WadiError *error)
{
    int count = view->frame_count < FRAMES_LOOKED_AT ? view->frame_count : FRAMES_LOOKED_AT;
    double time[FRAMES_LOOKED_AT] = { 0 };
    Survey *l = NULL;
    WADI_TRY(WADI_NEW(&l, 1, "survey of a run", error));
    *l = (Survey){ .survey = survey, .view = view, .particles = wadi_box_empty() };
    WadiStatus status = WADI_NEW(&l->values, SAMPLES_MAX, "positions", error);
    for (int i = 0; i < count && status == WADI_OK; ++i) {
        int number = count > 1 ? 1 + (int)((int64_t)i * (view->frame_count - 1) / (count - 1)) : 1;
        status = survey_frame(l, number, &time[i], error);
    }
    survey->box = l->particles;
    for (int i = 0; i < count && status == WADI_OK && world != NULL; ++i) {
        survey->box = wadi_box_union(survey->box, add_colliders(l->particles, view->scene, world, time[i]));
    }
    if (status == WADI_OK && survey->attribute != NULL) {
        wadi_false_colour_finish(&survey->colour);
    }
    wadi_state_free(&l->frame);
    WADI_DELETE(l->values, SAMPLES_MAX);
    WADI_DELETE(l, 1);
    return status;
}
