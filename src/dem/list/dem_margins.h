/* Margins of grains: how far they may move before the list is made again. They are powers of the root of two
 * of the smallest one, by the speeds of the grains and of those around them: a grain at rest that a fast one
 * is about to hit needs a margin too. */
#ifndef WADI_DEM_MARGINS_H
#define WADI_DEM_MARGINS_H

#include "core/arena.h"
#include "particles/tile_sort.h"

typedef struct WadiDemMargins {
    double skin;    /* m: the margin of level 0 */
    double seconds; /* that the margin of a fast grain is for */
    int base;       /* level of the smallest margin that is used */
} WadiDemMargins;

static inline double wadi_dem_margin_of(const WadiDemMargins *margins, int level)
{
    return margins->skin * (1 << level / 2) * (level % 2 != 0 ? 1.41421356237309505 : 1.0);
}

/* The level that suits three quarters of the particles from `first` on: those above it cost more. */
int wadi_dem_margins_base(const WadiDemMargins *margins, const WadiParticles *particles, int32_t first);

/* margin: m, per particle; set for those of the sort, the others are not changed. */
WadiStatus wadi_dem_margins_find(const WadiDemMargins *margins, const WadiParticles *particles,
                                 const WadiTileSort *sort, float *margin, WadiArena *scratch,
                                 WadiError *error);

#endif
