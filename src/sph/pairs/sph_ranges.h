/* Where the neighbours of the particles of a cell may lie, as ranges of particles. */
#ifndef WADI_SPH_RANGES_H
#define WADI_SPH_RANGES_H

#include "sph/pairs/sph_pairs.h"

/* Cells within which neighbours lie at most. */
enum { WADI_SPH_REACH_MAX = 4 };
enum { WADI_SPH_RANGE_MAX = 2 * (2 * WADI_SPH_REACH_MAX + 2) * (2 * WADI_SPH_REACH_MAX + 2) };

typedef struct WadiSphRange {
    int32_t first, end;
} WadiSphRange;

/* A cell of the sort, lane of the row `bit` of its tile, or a block of two by two by two of which it is the
 * lowest: `width` 1 or 2. */
typedef struct WadiSphCell {
    int32_t tile;
    int bit, lane, width;
} WadiSphCell;

/* How far particles reach. */
typedef struct WadiSphReach {
    const WadiTileSort *sort;
    /* Where sizes differ, else NULL: half the support of particles, in places, padded by WADI_SPH_SIXTEEN;
     * the largest size in each cell and in each row of cells, spacings. */
    float *of, *largest, *row_largest;
    int cells; /* within which neighbours lie */
} WadiSphReach;

/* `size` per particle, spacings; NULL: all 1. Temporaries of the arena. */
WadiStatus wadi_sph_reach_find(WadiSphReach *reach, const WadiTileSort *sort, const float *size,
                               int32_t count, WadiArena *arena, WadiError *error);
/* Returns their number. Blocks only where sizes differ. */
int wadi_sph_find_ranges(const WadiSphReach *reach, const WadiSphCell *cell,
                         WadiSphRange out[WADI_SPH_RANGE_MAX]);

/* The particles of a cell or block, by rows: those of row n are members[n], of width x width; the others have
 * none. Returns how many there are. */
int32_t wadi_sph_find_members(const WadiTileSort *sort, const WadiSphCell *cell, WadiSphRange members[4]);

#endif
