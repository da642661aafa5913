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
    bool has_sizes; /* sizes differ; the arrays exist only then */
    float *of;      /* half the support of particles, in places, padded by WADI_SPH_SIMD_GROUP */
    float *largest, *row_largest; /* the largest size in each cell and in each row of cells, spacings */
    int cells;                    /* within which neighbours lie */
} WadiSphReach;

/* The first particles of the cells of a row of a tile and of the eight rows around it, eight each and the
 * end; NULL: a row without particles. Also of the tiles before and after it along x. */
typedef struct WadiSphRows {
    const int32_t *before[9], *here[9], *after[9];
} WadiSphRows;

/* Temporaries of the arena. */
WadiStatus wadi_sph_reach_find(WadiSphReach *reach, const WadiSphPairsIn *in, int32_t count, WadiArena *arena,
                               WadiError *error);
/* The rows around the row `bit` of a tile. */
void wadi_sph_find_rows(const WadiTileSort *sort, int32_t tile, int bit, WadiSphRows *rows);
/* The cells around the one in a lane of the row, where all sizes are alike. Returns the number of ranges. */
int wadi_sph_find_even_ranges(const WadiSphRows *rows, int32_t first, int lane,
                              WadiSphRange out[WADI_SPH_RANGE_MAX]);
/* How many particles those have, by lane. */
void wadi_sph_count_even_ranges(const WadiSphRows *rows, int32_t count[8]);
/* The ranges of a cell or block where sizes differ. */
int wadi_sph_find_ranges(const WadiSphReach *reach, const WadiSphCell *cell,
                         WadiSphRange out[WADI_SPH_RANGE_MAX]);

/* The particles of a block, by rows: those of row n are members[n], of width x width; the others have none.
 * Returns how many there are. */
int32_t wadi_sph_find_members(const WadiTileSort *sort, const WadiSphCell *cell, WadiSphRange members[4]);

#endif
