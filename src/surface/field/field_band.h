/* The rows of a field and their samples while the band is built. Internal to the field.
 *
 * Rows outside every kernel are outside and are not sampled; rows deep in evenly filled space are assumed
 * inside and are not sampled either. The other rows are sampled. The band is the neighbourhood of the sign
 * changes; rows of the band that were assumed inside are then sampled too, until none is missing. So the
 * surface is closed whatever was skipped. */
#ifndef WADI_SURFACE_FIELD_BAND_H
#define WADI_SURFACE_FIELD_BAND_H

#include "core/array.h"
#include "surface/field/field_method.h"

/* Occupancy of space by cubes as wide as the bins of a level; only cubes that hold particles of that level or
 * a finer one. */
typedef struct WadiFilling {
    double size;                  /* m */
    WadiTileMap map;              /* "tiles" are the cubes */
    float *volume;                /* volume of the particles over that of the cube: about 1 inside */
    uint8_t *eighths;             /* bit per eighth of the cube that holds particles */
    uint8_t *is_inside;           /* it and its 26 neighbours are evenly filled */
    bool has_inside;              /* the method allows cubes to be assumed inside */
    uint8_t *has_level_particles; /* holds particles of the level itself */
    WadiTile low, high;           /* bounds of the inside cubes, both included; empty when low exceeds high */
} WadiFilling;

/* One bit per node of a tile: bit 8 j + i of word k. */
typedef struct WadiNodeBits {
    uint64_t word[8];
} WadiNodeBits;

/* Rows with at least one bit set: bit j + 8 k. */
static inline uint64_t wadi_node_bits_rows(const WadiNodeBits *bits)
{
    uint64_t rows = 0;
    for (int place = 0; place < WADI_TILE_ROWS; ++place) {
        rows |= (uint64_t)((bits->word[place >> 3] >> 8 * (place & 7) & 0xff) != 0) << place;
    }
    return rows;
}

typedef struct WadiFieldTile {
    uint64_t sampled; /* rows with values */
    uint64_t inside;  /* rows assumed inside */
    float *value;     /* of the sampled rows, in cells */
} WadiFieldTile;

/* Samples of some tiles, allocated by a thread. */
typedef struct WadiFieldChunk {
    float *value;
    size_t count;
} WadiFieldChunk;

typedef struct WadiFieldBand {
    const WadiFieldMethod *method;
    const WadiFieldSampler *sampler;
    int margin; /* nodes required on each side of a sign change */
    int filling_count;
    WadiFilling filling[WADI_BINS_LEVEL_MAX];
    WadiTileMap tiles;
    WadiFieldTile *tile;
    WadiNodeBits *negative, *positive; /* neither bit set: exactly 0 */
    uint8_t *missing;                  /* bit per side: the neighbouring tile does not exist and is inside */
    WadiNodeBits *needed;
    WADI_ARRAY(WadiFieldChunk) chunks;
    int64_t sampled; /* nodes */
} WadiFieldBand;

/* Samples until the band is complete: `needed` has every node within `margin` of a sign change, and no row
 * with a needed node is only assumed inside. */
WadiStatus wadi_field_band_build(WadiFieldBand *band, WadiArena *arena, WadiError *error);
void wadi_field_band_free(WadiFieldBand *band); /* the part that is not in the arena */

/* Occupancy of space, and from it the rows of a tile that are inside. */
WadiStatus wadi_field_fill(WadiFieldBand *band, WadiArena *arena, WadiError *error);
uint64_t wadi_field_rows_inside(const WadiFieldBand *band, WadiTile at);

/* Samples the rows wanted[t] of tile t that are not sampled yet. */
WadiStatus wadi_field_sample(WadiFieldBand *band, const uint64_t *wanted, WadiArena *arena, WadiError *error);

/* Passes on the finished band. Scratch in the arena. */
WadiStatus wadi_field_smooth(WadiField *field, int smoothing, int lowering, WadiArena *arena,
                             WadiError *error);
/* Writes a row. Nodes whose sign would change at the border of the band are not written, so that the surface
 * stays closed. */
void wadi_field_change(WadiField *field, int32_t row, const WadiF8 *old, const WadiF8 *fresh);
/* Moves the surface by up to def->volume_slack spacings (m) until it encloses `volume`, m^3
 * [field_volume.c]. */
WadiStatus wadi_field_match_volume(WadiField *field, const WadiFieldDef *def, double volume, double spacing,
                                   WadiArena *arena, WadiError *error);
/* Removes bumps from planes [field_flatten.c]. `length` of the averages in spacings, `spacing` in m. Sign
 * changes move by at most wadi_field_flatten_margin nodes. */
WadiStatus wadi_field_flatten(WadiField *field, double length, double spacing, WadiBox within,
                              WadiArena *arena, WadiError *error);
double wadi_field_flatten_margin(double cell, double spacing);
void wadi_field_clip(WadiField *field, WadiBox box);
/* The signs after clipping, and the nodes in the box or at most `margin` cells outside it. */
void wadi_clip_signs(const WadiFieldDef *def, WadiTile at, WadiNodeBits *negative, WadiNodeBits *positive);
void wadi_clip_near(const WadiFieldDef *def, WadiTile at, int margin, WadiNodeBits *near);

#endif
