#include <math.h>
#include <stdlib.h>

#include "api/render_plan.h"
#include "core/alloc.h"
#include "io/files.h"

enum {
    FRAMES_LOOKED_AT = 8,
    SAMPLES_MAX = 1 << 16, /* particles of a frame that are asked where they are */
};
/* Of the particles, on each side; and of the box's size by which it then grows: of an even block half a percent lies in the
 * outer half percent, so most of this is margin. */
static const double stray = 0.005, growth = 0.03;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Hidden materials are not looked at. */
static bool is_seen(const WadiScene *scene, const WadiStateArray *material, size_t i)
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
            if (isfinite(value) && is_seen(scene, material, i)) {
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

/* A bowl belongs to what it holds; a wall across the world does not. */
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

WadiStatus wadi_render_bounds(const WadiRunView *view, const WadiWorld *world, WadiBox *box, WadiError *error)
{
    int count = view->frame_count < FRAMES_LOOKED_AT ? view->frame_count : FRAMES_LOOKED_AT;
    double *values = NULL;
    WadiState *frame = NULL;
    WadiStatus status = WADI_NEW(&values, SAMPLES_MAX, "positions", error);
    if (status == WADI_OK) {
        status = WADI_NEW(&frame, 1, "frame", error);
    }
    WadiBox particles = wadi_box_empty();
    double time[FRAMES_LOOKED_AT] = { 0 };
    for (int i = 0; i < count && status == WADI_OK; ++i) {
        char path[WADI_PATH_SIZE];
        WadiFrameHeader header;
        WadiBox seen = wadi_box_empty();
        int number = count > 1 ? 1 + (int)((int64_t)i * (view->frame_count - 1) / (count - 1)) : 1;
        wadi_run_frame_path(path, sizeof path, view->run, view->summary.name, number);
        status = wadi_frame_file_read(path, "particles", &header, frame, error);
        if (status == WADI_OK) {
            status = frame_box(view->scene, frame, values, &seen, error);
            time[i] = header.time;
        }
        if (status == WADI_OK && !wadi_box_is_empty(seen)) {
            particles = wadi_box_is_empty(particles) ? seen : wadi_box_union(particles, seen);
        }
    }
    *box = particles;
    for (int i = 0; i < count && status == WADI_OK && !wadi_box_is_empty(particles); ++i) {
        *box = wadi_box_union(*box, add_colliders(particles, view->scene, world, time[i]));
    }
    if (frame != NULL) {
        wadi_state_free(frame);
    }
    WADI_DELETE(frame, 1);
    WADI_DELETE(values, SAMPLES_MAX);
    return status;
}
