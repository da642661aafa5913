/* Which rows of a field exist, and their samples on the way there. Internal to the field.
 *
 * Rows that no particle reaches are outside and are not sampled; rows in space that is evenly filled with particles all around
 * are inside and are not sampled either. What is left is sampled, the band is what lies around its changes of sign, and any row of
 * the band that was taken to be inside is sampled after all, until nothing is missing: the surface is closed whatever was skipped. */
#ifndef WADI_SURFACE_FIELD_BAND_H
#define WADI_SURFACE_FIELD_BAND_H

#include "core/array.h"
#include "surface/field/field_method.h"

/* Space in cubes as wide as the bins of a level, those that hold particles of that level or a finer one. */
typedef struct WadiFilling {
    double size;        /* m */
    WadiTileMap map;    /* "tiles" are the cubes */
    float *volume;      /* of their particles over that of the cube: about 1 inside */
    uint8_t *eighths;   /* which eighths of the cube hold particles, a bit each */
    uint8_t *is_inside; /* it and the 26 around it are evenly filled */
    bool has_inside;    /* the method lets cubes be inside at all */
    uint8_t *has_own;   /* holds particles of the level itself */
    WadiTile low,
        high; /* the box of the cubes that are inside, both ends included; low above high: there is none */
} WadiFilling;

/* One bit a node of a tile: bit 8 j + i of word k. */
typedef struct WadiNodeBits {
    uint64_t word[8];
} WadiNodeBits;

/* The rows with a node among them, bit j + 8 k. */
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
    uint64_t inside;  /* rows taken to be inside */
    float *value;     /* of the sampled rows, in cells */
} WadiFieldTile;

/* Memory that threads asked for, one allocation for some tiles. */
typedef struct WadiFieldChunk {
    float *value;
    size_t count;
} WadiFieldChunk;

typedef struct WadiFieldBand {
    const WadiFieldMethod *method;
    const WadiFieldSampler *sampler;
    int margin; /* nodes around a change of sign that are wanted */
    int filling_count;
    WadiFilling filling[WADI_BINS_LEVEL_MAX];
    WadiTileMap tiles;
    WadiFieldTile *tile;
    WadiNodeBits *negative, *positive; /* neither: exactly 0 */
    uint8_t *missing;                  /* bit per side: there is no tile there, and the place is inside */
    WadiNodeBits *needed;
    WADI_ARRAY(WadiFieldChunk) chunks;
    int64_t sampled; /* nodes */
} WadiFieldBand;

/* Sample until the band is complete: `needed` has every node within `margin` of a change of sign, and no row with a needed node
 * is taken for granted. */
WadiStatus wadi_field_band_build(WadiFieldBand *band, WadiArena *arena, WadiError *error);
void wadi_field_band_free(WadiFieldBand *band); /* what is not in the arena */

/* The parts: how space is filled, and from that the rows of a tile that are inside for sure. */
WadiStatus wadi_field_fill(WadiFieldBand *band, WadiArena *arena, WadiError *error);
uint64_t wadi_field_rows_inside(const WadiFieldBand *band, WadiTile at);

/* Sample wanted[t] of tile t, rows already sampled excepted. */
WadiStatus wadi_field_sample(WadiFieldBand *band, const uint64_t *wanted, WadiArena *arena, WadiError *error);

/* The parts after the band: passes of smoothing, and the box. Scratch in the arena. */
WadiStatus wadi_field_smooth(WadiField *field, int smoothing, int lowering, WadiArena *arena,
                             WadiError *error);
/* Write a row, but for nodes whose sign would change at the border of the band, which has to stay closed: these keep their value. */
void wadi_field_change(WadiField *field, int32_t row, const WadiF8 *old, const WadiF8 *fresh);
/* Move the surface by up to def->volume_slack spacings (m) until it holds `volume`, m^3 [field_volume.c]. */
WadiStatus wadi_field_keep_volume(WadiField *field, const WadiFieldDef *def, double volume, double spacing,
                                  WadiArena *arena, WadiError *error);
/* Take bumps off planes [field_flatten.c]; lengths of bumps in spacings, `spacing` in m. A sign changes at most so many nodes
 * away from where it did. */
WadiStatus wadi_field_flatten(WadiField *field, double reach, double spacing, WadiBox within,
                              WadiArena *arena, WadiError *error);
double wadi_field_flatten_margin(double cell, double spacing);
void wadi_field_clip(WadiField *field, WadiBox box);
/* What clipping does to signs, and the nodes in the box or at most `margin` cells outside of it. */
void wadi_clip_signs(const WadiFieldDef *def, WadiTile at, WadiNodeBits *negative, WadiNodeBits *positive);
void wadi_clip_near(const WadiFieldDef *def, WadiTile at, int margin, WadiNodeBits *near);

#endif
