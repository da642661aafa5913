/* Patches: the part of a surface in each small cube of nodes, and the plane it has in common with what lies around. Internal to the
 * field. */
#ifndef WADI_SURFACE_FIELD_PATCHES_H
#define WADI_SURFACE_FIELD_PATCHES_H

#include "surface/field/field.h"

/* A cube has 2^shift nodes a side, so that a tile of the field is made of cubes; only those with a crossing of the surface have a
 * patch. Patches are in the order of the tiles and of the cubes in them. Lengths are in cells, places relative to the middle of
 * the nodes of the cube. */
typedef struct WadiPatches {
    const WadiField *field;
    int shift;      /* 1 to 3 */
    WadiBox within; /* cells: the part of the surface that counts */
    uint64_t *mask; /* per tile: bit x + n (y + n z) where a cube has a patch, n = 8 >> shift */
    int32_t *first; /* per tile + 1 */
    int32_t count;
    WadiTile *cube;    /* of each patch: nodes 2^shift x .. 2^shift (x + 1) - 1 */
    float (*place)[3]; /* the mean of its own crossings */
    float *area;       /* cells^2; 0: rough, or of a sheet whose other side is near: it has no plane */
    float (
        *mean)[8]; /* of the place (0 .. 2), the normal (3 .. 5), normal . place (6) and place . place (7) */
    float (*scratch)[8]; /* as long as mean */
} WadiPatches;

/* From the crossings of the field in a box, m. Memory belongs to the arena. */
WadiStatus wadi_patches_build(WadiPatches *patches, const WadiField *field, WadiBox within, int shift,
                              WadiArena *arena, WadiError *error);
/* Means over what faces the same way, with weights whose standard deviation along the surface is about `reach` cells, and what it
 * came to. */
double wadi_patches_average(WadiPatches *patches, double reach);

/* The patch of a cube (x, y, z) seen from a tile: coordinates -n to 2 n - 1; or -1. */
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
