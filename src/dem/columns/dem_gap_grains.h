/* Awake grains by gap, and the height H of the sand of a gap measured from them [ZY10 sec. 3.1]. */
#ifndef WADI_DEM_GAP_GRAINS_H
#define WADI_DEM_GAP_GRAINS_H

#include "core/arena.h"
#include "dem/columns/dem_columns.h"
#include "particles/store.h"

typedef struct WadiDemGapGrains {
    const WadiDemColumns *columns;
    const WadiParticles *particles;
    int32_t first;     /* particles before it are frozen */
    double diameter;   /* m */
    double fall_speed; /* m/s: faster falling grains are not part of the sand */
    /* Set by wadi_dem_gap_grains_sort. */
    int32_t *gap;   /* of each awake grain; -1: it is in none */
    int32_t *start; /* of the awake grains of each gap in `order` */
    int32_t *order; /* particles, ascending in each gap */
} WadiDemGapGrains;

WadiStatus wadi_dem_gap_grains_sort(WadiDemGapGrains *grains, WadiArena *scratch, WadiError *error);
/* H, m: layers of a diameter are climbed from `base` on, below which all is dense. */
double wadi_dem_gap_surface(const WadiDemGapGrains *grains, int32_t gap, double base);
/* Grains of a dense layer of a diameter in a column. */
double wadi_dem_dense_layer(const WadiDemColumns *columns, double diameter);

#endif
