/* Patches: the surface in each small cube of nodes, with the mean plane of its neighbourhood. Internal to the
 * field. */
#ifndef WADI_SURFACE_FIELD_PATCHES_H
#define WADI_SURFACE_FIELD_PATCHES_H

#include "surface/field/field.h"

/* A cube has 2^shift nodes a side and divides the field's tiles; cubes that the surface crosses have a patch.
 * Patches are in the order of the tiles and of the cubes in them. Lengths are in cells, positions relative to
 * the centre of the cube's nodes. */
typedef struct WadiPatches {
    const WadiField *field;
    int shift;      /* 1 to 3 */
    WadiBox within; /* cells: only the surface in this box is used */
    uint64_t *mask; /* per tile: bit x + n (y + n z) where a cube has a patch, n = 8 >> shift */
    int32_t *first; /* per tile + 1 */
    int32_t count;
    WadiTile *cube;       /* nodes 2^shift x .. 2^shift (x + 1) - 1 */
    float (*position)[3]; /* mean of its own crossings */
    float *area;          /* cells^2; 0: excluded, since it is rough or part of a thin sheet */
    float (*mean)[8]; /* means of the position x (0 .. 2), the normal n (3 .. 5), n . x (6) and x . x (7) */
    float (*scratch)[8]; /* as long as mean */
} WadiPatches;

/* From the zero crossings of the field in a box, m. Memory belongs to the arena. */
WadiStatus wadi_patches_build(WadiPatches *patches, const WadiField *field, WadiBox within, int shift,
                              WadiArena *arena, WadiError *error);
/* Averages over neighbouring patches that face the same way, with weights whose standard deviation along the
 * surface is about `deviation` cells. Returns the standard deviation reached. */
double wadi_patches_average(WadiPatches *patches, double deviation);

/* The patch of cube (x, y, z) relative to a tile, coordinates -n to 2 n - 1; -1 when there is none. */
static inline int32_t wadi_patch_at(const WadiPatches *patches, int32_t tile, int x, int y, int z)
{
    int bits = 3 - patches->shift, low = (1 << bits) - 1;
    int32_t at = patches->field->tiles
                     .neighbours[tile][9 * ((z >> bits) + 1) + 3 * ((y >> bits) + 1) + (x >> bits) + 1];
    if (at < 0) {
        return -1;
    }
    int place = (x & low) | (y & low) << bits | (z & low) << 2 * bits;
    if ((patches->mask[at] >> place & 1) == 0) {
        return -1;
    }
    return patches->first[at] + __builtin_popcountll(patches->mask[at] & ((UINT64_C(1) << place) - 1));
}

#endif
