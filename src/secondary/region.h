/* The space around some points: cubes with a point in them, and those around these. */
#ifndef WADI_SECONDARY_REGION_H
#define WADI_SECONDARY_REGION_H

#include <math.h>

#include "core/arena.h"
#include "math/vec3.h"

/* Memory belongs to the arena. */
typedef struct WadiRegion {
    double cell_size; /* m */
    double low[3];    /* coordinates of the first cube, floor(position / cell_size) */
    int32_t size[3];  /* cubes; 0: the region is empty */
    uint8_t *is_near;
} WadiRegion;

/* Cubes of `cell_size`, or of twice, four times ... of it where they would be too many, and those up to
 * `rings` away from one with a point. Points are finite. */
WadiStatus wadi_region_build(WadiRegion *region, const WadiVec3 *x, int32_t count, double cell_size,
                             int rings, WadiArena *arena, WadiError *error);

/* Also true where x is not finite: such a particle is kept, and is an error later. */
static inline bool wadi_region_has(const WadiRegion *region, const double x[3])
{
    size_t cell = 0;
    for (int a = 2; a >= 0; --a) {
        const double at = floor(x[a] / region->cell_size) - region->low[a];
        if (at < 0.0 || at >= region->size[a]) {
            return false;
        }
        if (!(at >= 0.0)) {
            return true;
        }
        cell = cell * (size_t)region->size[a] + (size_t)at;
    }
    return region->is_near[cell] != 0;
}

#endif
