#include <math.h>
#include <stdlib.h>

#include "api/render/render_plan.h"
#include "core/alloc.h"
#include "core/array.h"
#include "io/files/files.h"

enum {
    FRAMES_LOOKED_AT = 8,
    SAMPLES_MAX = 1 << 16, /* sampled particles of the first frame that has any */
};
/* Fraction of the particles outside the box on each side, and the relative growth of the box afterwards. In a
 * uniform block the outer half percent of the particles fills half a percent of its width, so most of the
 * growth is margin. */
static const double stray = 0.005, growth = 0.015;

/* A particle has moved when two of the frames show it this many spacings apart; where fewer than the
 * fraction have, all are framed. */
static const double MOVED = 4.0, MOVED_LEAST = 0.01;
/* The box of what moves is at least this part of the box of all. */
static const double MOVED_SIZE = 0.4;

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

/* A sampled particle in one of the frames. */
typedef struct Sighting {
    WadiVec3 x;
    float spacing; /* 0: not known */
    uint32_t id;
    int32_t frame; /* of those that are read, from 0 */
    bool has_moved;
} Sighting;

typedef struct Survey {
    WadiRunSurvey *survey;
    const WadiRunView *view;
    WadiState frame;
    WADI_ARRAY(Sighting) seen;
    uint32_t every;     /* ids that are multiples of it are sampled; 0: not chosen */
    double *values;     /* of one axis */
    WadiBox particles;  /* union of the frames read */
    bool has_attribute; /* survey->colour is open */
} Survey;

/* Samples the same particles in every frame. */
static WadiStatus sample_frame(Survey *l, int index, WadiError *error)
{
    const WadiScene *scene = l->view->scene;
    const WadiStateArray *x = NULL;
    WADI_TRY(wadi_state_expect(&l->frame, "position", WADI_TYPE_F64, 3, SIZE_MAX, &x, error));
    const WadiStateArray *material = wadi_state_find(&l->frame, "material"),
                         *ids = wadi_state_find(&l->frame, "id"),
                         *radius = wadi_state_find(&l->frame, "radius");
    if (material != NULL && (material->type != WADI_TYPE_U8 || material->count != x->count)) {
        material = NULL;
    }
    if (ids != NULL && (ids->type != WADI_TYPE_U32 || ids->count != x->count)) {
        ids = NULL;
    }
    if (radius != NULL && (radius->type != WADI_TYPE_F32 || radius->count != x->count)) {
        radius = NULL;
    }
    if (l->every == 0 && x->count > 0) {
        l->every = (uint32_t)(x->count / SAMPLES_MAX + 1);
    }
    for (size_t i = 0; i < x->count; ++i) {
        const uint32_t id = ids != NULL ? ((const uint32_t *)ids->data)[i] : (uint32_t)i;
        const double *p = (const double *)x->data + 3 * i;
        if (id % l->every != 0 || !isfinite(p[0] + p[1] + p[2]) || !is_visible(scene, material, i)) {
            continue;
        }
        const Sighting sighting = { .x = wadi_vec3(p[0], p[1], p[2]),
                                    .spacing = radius != NULL && ids != NULL
                                                   ? 2.0f * ((const float *)radius->data)[i]
                                                   : 0.0f,
                                    .id = id,
                                    .frame = index };
        WADI_TRY(WADI_ARRAY_PUSH(&l->seen, sighting, "positions", error));
    }
    return WADI_OK;
}

static int by_id(const void *a, const void *b)
{
    const Sighting *x = a, *y = b;
    return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->frame > y->frame) - (x->frame < y->frame);
}

/* Marks all sightings of what has moved, is emitted later or is gone before the end; returns their number. */
static size_t mark_moved(Survey *l, int frames)
{
    size_t moved = 0, end;
    Sighting *seen = l->seen.data;
    qsort(seen, l->seen.count, sizeof *seen, by_id);
    for (size_t first = 0; first < l->seen.count; first = end) {
        bool has_moved = false;
        for (end = first; end < l->seen.count && seen[end].id == seen[first].id; ++end) {
            const double way = wadi_norm(wadi_sub(seen[end].x, seen[first].x));
            has_moved = has_moved || !(way <= MOVED * (double)seen[first].spacing);
        }
        has_moved = has_moved || end - first < (size_t)frames;
        for (size_t i = first; i < end; ++i) {
            seen[i].has_moved = has_moved;
        }
        moved += has_moved ? end - first : 0;
    }
    return moved;
}

/* The union over the frames of the boxes of their particles without strays; of those that have moved, or of
 * all. */
static WadiBox box_of(Survey *l, int frames, bool has_moved)
{
    WadiBox all = wadi_box_empty();
    for (int f = 0; f < frames; ++f) {
        double low[3], high[3];
        size_t count = 0;
        for (int axis = 0; axis < 3; ++axis) {
            count = 0;
            for (size_t i = 0; i < l->seen.count; ++i) {
                const Sighting *s = &l->seen.data[i];
                if (s->frame == f && (s->has_moved || !has_moved)) {
                    l->values[count++] = wadi_component(s->x, axis);
                }
            }
            if (count == 0) {
                break;
            }
            qsort(l->values, count, sizeof *l->values, compare);
            const size_t cut = (size_t)(stray * (double)count);
            low[axis] = l->values[cut];
            high[axis] = l->values[count - 1 - cut];
        }
        if (count > 0) {
            const WadiBox box = { wadi_vec3(low[0], low[1], low[2]), wadi_vec3(high[0], high[1], high[2]) };
            all = wadi_box_union(all, wadi_box_grown(box, growth * wadi_norm(wadi_box_size(box))));
        }
    }
    return all;
}

/* What moves in the whole run, with as much around it as makes it a part of the scene. */
static WadiStatus frame_particles(Survey *l, int frames, WadiError *error)
{
    if (l->seen.count == 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_NEW(&l->values, l->seen.count, "positions", error));
    const size_t moved = frames > 1 ? mark_moved(l, frames) : 0;
    const WadiBox all = box_of(l, frames, false);
    l->particles = all;
    if ((double)moved > MOVED_LEAST * (double)l->seen.count) {
        const WadiBox box = box_of(l, frames, true);
        const double part = wadi_norm(wadi_box_size(box)) / wadi_norm(wadi_box_size(all));
        const double more = part < MOVED_SIZE ? (MOVED_SIZE - part) / (1.0 - part) : 0.0;
        l->particles = (WadiBox){ wadi_lerp(box.min, all.min, more), wadi_lerp(box.max, all.max, more) };
    }
    WADI_DELETE(l->values, l->seen.count);
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

/* Relative to the size of what moves: colliders within this distance of it are in the picture. */
static const double BESIDE = 0.5;

/* A bowl around the material and the teapot below it are included; a wall across the world is not. */
static WadiBox add_colliders(WadiBox box, const WadiScene *scene, const WadiWorld *world, double time)
{
    if (!scene->render.has_colliders || wadi_box_is_empty(box)) {
        return box;
    }
    double size = wadi_norm(wadi_box_size(box));
    WadiBox near = wadi_box_grown(box, BESIDE * size), all = box;
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

static WadiStatus survey_frame(Survey *l, int index, int number, double *time, WadiError *error)
{
    WadiRunSurvey *survey = l->survey;
    const WadiRunView *view = l->view;
    WadiFrameHeader header;
    WADI_TRY(wadi_run_view_read_frame(view, number, &header, &l->frame, error));
    WADI_TRY(sample_frame(l, index, error));
    survey->has_liquid_at_walls = survey->has_liquid_at_walls || is_liquid_at_walls(view->scene, &l->frame);
    WadiRunBed bed;
    if (index == 0) {
        survey->has_bed = wadi_run_bed(&survey->bed, view->scene, &l->frame);
    } else if (survey->has_bed && wadi_run_bed(&bed, view->scene, &l->frame)) {
        /* A bed that settles would lie in a trench. */
        survey->bed.height = fmin(survey->bed.height, bed.height);
    }
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
    WadiStatus status = WADI_OK;
    for (int i = 0; i < count && status == WADI_OK; ++i) {
        int number = count > 1 ? 1 + (int)((int64_t)i * (view->frame_count - 1) / (count - 1)) : 1;
        status = survey_frame(l, i, number, &time[i], error);
    }
    status = status == WADI_OK ? frame_particles(l, count, error) : status;
    survey->box = l->particles;
    for (int i = 0; i < count && status == WADI_OK && world != NULL; ++i) {
        survey->box = wadi_box_union(survey->box, add_colliders(l->particles, view->scene, world, time[i]));
    }
    if (status == WADI_OK && survey->attribute != NULL) {
        wadi_false_colour_finish(&survey->colour);
    }
    wadi_state_free(&l->frame);
    WADI_ARRAY_FREE(&l->seen);
    WADI_DELETE(l, 1);
    return status;
}
