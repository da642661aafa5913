#include "secondary/region.h"

#include <string.h>

#include "core/parallel.h"

enum { BLOCK = 4096 };

static const double CELLS_MAX = 4194304.0;

static double coordinate(WadiVec3 x, int axis, double cell_size)
{
    return floor(wadi_component(x, axis) / cell_size);
}

/* The box of the cubes, and cubes so large that they are not too many. */
static void fit_box(WadiRegion *region, WadiBox box, int rings)
{
    for (;; region->cell_size *= 2.0) {
        double cells = 1.0, size[3];
        for (int a = 0; a < 3; ++a) {
            region->low[a] = coordinate(box.min, a, region->cell_size) - rings;
            size[a] = coordinate(box.max, a, region->cell_size) + rings + 1.0 - region->low[a];
            cells *= size[a];
        }
        if (cells <= CELLS_MAX) {
            for (int a = 0; a < 3; ++a) {
                region->size[a] = (int32_t)size[a];
            }
            return;
        }
    }
}

/* Marks the neighbours of marked cubes along an axis. */
static void grow_along(const WadiRegion *region, const uint8_t *from, uint8_t *to, int axis)
{
    const int64_t nx = region->size[0], ny = region->size[1], nz = region->size[2];
    const int64_t stride = axis == 0 ? 1 : axis == 1 ? nx : nx * ny, line = region->size[axis];
    for (int64_t row = 0; row < nx * ny * nz; row += line * stride) {
        for (int64_t at = 0; at < line; ++at) {
            const uint8_t *here = from + row + at * stride;
            const uint8_t *below = at > 0 ? here - stride : here;
            const uint8_t *above = at + 1 < line ? here + stride : here;
            uint8_t *grown = to + row + at * stride;
            for (int64_t i = 0; i < stride; ++i) {
                grown[i] = here[i] | below[i] | above[i];
            }
        }
    }
}

typedef struct Marking {
    const WadiRegion *region;
    const WadiVec3 *x;
} Marking;

static void mark_points(void *context, int64_t first, int64_t end)
{
    const Marking *marking = context;
    const WadiRegion *region = marking->region;
    for (int64_t i = first; i < end; ++i) {
        size_t cell = 0;
        for (int a = 2; a >= 0; --a) {
            const double at = coordinate(marking->x[i], a, region->cell_size) - region->low[a];
            cell = cell * (size_t)region->size[a] + (size_t)at;
        }
        /* Atomic, since points of several blocks may lie in one cube. */
        __atomic_store_n(&region->is_near[cell], 1, __ATOMIC_RELAXED);
    }
}

WadiStatus wadi_region_build(WadiRegion *region, const WadiVec3 *x, int32_t count, double cell_size,
                             int rings, WadiArena *arena, WadiError *error)
{
    *region = (WadiRegion){ .cell_size = cell_size };
    if (count == 0) {
        return WADI_OK;
    }
    WadiBox box = { x[0], x[0] };
    for (int32_t i = 1; i < count; ++i) {
        box.min.x = x[i].x < box.min.x ? x[i].x : box.min.x;
        box.min.y = x[i].y < box.min.y ? x[i].y : box.min.y;
        box.min.z = x[i].z < box.min.z ? x[i].z : box.min.z;
        box.max.x = x[i].x > box.max.x ? x[i].x : box.max.x;
        box.max.y = x[i].y > box.max.y ? x[i].y : box.max.y;
        box.max.z = x[i].z > box.max.z ? x[i].z : box.max.z;
    }
    fit_box(region, box, rings);
    const int32_t *size = region->size;
    const size_t cells = (size_t)size[0] * (size_t)size[1] * (size_t)size[2];
    uint8_t *other;
    WADI_TRY(WADI_ARENA_NEW(arena, &region->is_near, cells, "cubes around points", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &other, cells, "cubes around points", error));
    memset(region->is_near, 0, cells);
    Marking marking = { region, x };
    wadi_parallel_for(count, BLOCK, mark_points, &marking);
    for (int n = 0; n < 3 * rings; ++n) {
        grow_along(region, region->is_near, other, n % 3);
        uint8_t *grown = other;
        other = region->is_near;
        region->is_near = grown;
    }
    return WADI_OK;
}
