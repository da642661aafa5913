/* Mirror images of particles behind walls: the wall becomes a plane of symmetry, so that wetted faces are
 * flat and the free surface meets them at a right angle [theory 10.7]. */
#include "surface/cloud/cloud_mirror.h"

#include <string.h>

typedef struct Mirror {
    int axis;
    double plane, inward; /* inward: +1 when the box lies above the plane */
} Mirror;

static double depth_of(WadiVec3 x, const Mirror *m)
{
    return m->inward * (wadi_component(x, m->axis) - m->plane);
}

static WadiVec3 image_of(WadiVec3 x, const Mirror *m)
{
    double *coordinate = m->axis == 0 ? &x.x : m->axis == 1 ? &x.y : &x.z;
    *coordinate = 2.0 * m->plane - *coordinate;
    return x;
}

static bool has_image(const WadiCloud *cloud, int32_t i, const Mirror *m, double depth)
{
    double d = depth_of(cloud->position[i], m);
    return d >= 0.0 && d < depth * (double)cloud->spacing[i];
}

/* Finite planes of the box. */
static int planes_of(WadiBox box, Mirror mirror[6])
{
    int count = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double low = wadi_component(box.min, axis), high = wadi_component(box.max, axis);
        if (isfinite(low)) {
            mirror[count++] = (Mirror){ axis, low, 1.0 };
        }
        if (isfinite(high)) {
            mirror[count++] = (Mirror){ axis, high, -1.0 };
        }
    }
    return count;
}

/* Images of a particle near n planes: at most 2^n - 1, one for each set of planes of different axes. */
static int64_t count_images(const WadiCloud *cloud, int32_t i, const Mirror *mirror, int planes, double depth)
{
    int64_t images = 1;
    for (int p = 0; p < planes; ++p) {
        images *= has_image(cloud, i, &mirror[p], depth) ? 2 : 1;
    }
    return images - 1;
}

WadiStatus wadi_cloud_mirror(WadiCloud *mirrored, const WadiCloud *cloud, WadiBox box, double depth,
                             WadiArena *arena, WadiError *error)
{
    *mirrored = *cloud;
    mirrored->attribute_count = 0;
    Mirror mirror[6];
    int planes = planes_of(box, mirror);
    int64_t capacity = cloud->count;
    for (int32_t i = 0; i < cloud->count; ++i) {
        capacity +=
            wadi_box_contains(box, cloud->position[i]) ? count_images(cloud, i, mirror, planes, depth) : 0;
    }
    if (capacity == cloud->count) {
        return WADI_OK;
    }
    if (capacity > INT32_MAX) {
        return wadi_fail(error, WADI_ERR_MEMORY, "%lld particles with their images in the walls are too many",
                         (long long)capacity);
    }
    WadiVec3 *position;
    float *spacing;
    WADI_TRY(WADI_ARENA_NEW(arena, &position, (size_t)capacity, "images of particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &spacing, (size_t)capacity, "images of particles", error));
    memcpy(position, cloud->position, (size_t)cloud->count * sizeof *position);
    memcpy(spacing, cloud->spacing, (size_t)cloud->count * sizeof *spacing);
    mirrored->position = position;
    mirrored->spacing = spacing;

    for (int32_t i = 0; i < cloud->count; ++i) {
        if (!wadi_box_contains(box, cloud->position[i])) {
            continue;
        }
        int32_t first = mirrored->count; /* images of this particle start here */
        for (int p = 0; p < planes; ++p) {
            if (!has_image(cloud, i, &mirror[p], depth)) {
                continue;
            }
            int32_t end = mirrored->count;
            for (int32_t n = first - 1; n < end; ++n) {
                WadiVec3 from = n < first ? cloud->position[i] : position[n];
                position[mirrored->count] = image_of(from, &mirror[p]);
                spacing[mirrored->count++] = cloud->spacing[i];
            }
        }
    }
    return WADI_OK;
}
