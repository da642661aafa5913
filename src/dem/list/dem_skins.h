/* Verlet skins of grains: how far they may move before the list is made again. They are powers of the root of
 * two of the smallest one, by the speeds of the grains and of those around them: a grain at rest that a fast
 * one is about to hit needs a skin too. */
#ifndef WADI_DEM_SKINS_H
#define WADI_DEM_SKINS_H

#include "core/arena.h"
#include "particles/tile_sort.h"

typedef struct WadiDemSkins {
    double least;   /* m: the skin of level 0 */
    double seconds; /* that the skin of a fast grain is for */
    int base;       /* level of the smallest skin that is used */
} WadiDemSkins;

static inline double wadi_dem_skin_of(const WadiDemSkins *skins, int level)
{
    return skins->least * (1 << level / 2) * (level % 2 != 0 ? 1.41421356237309505 : 1.0);
}

/* The level that suits three quarters of the particles from `first` on: those above it cost more. */
int wadi_dem_skins_base(const WadiDemSkins *skins, const WadiParticles *particles, int32_t first);

/* skin: m, per particle; set for those of the sort, the others are not changed. */
WadiStatus wadi_dem_skins_find(const WadiDemSkins *skins, const WadiParticles *particles,
                               const WadiTileSort *sort, float *skin, WadiArena *scratch, WadiError *error);

#endif
