/* A table of the sleeping grains near those of a cell: one search for all of them. */
#ifndef WADI_DEM_SLEEPERS_H
#define WADI_DEM_SLEEPERS_H

#include "dem/list/dem_list.h"

enum { WADI_DEM_SLEEPERS_MAX = 512 };

typedef struct WadiDemSleepers {
    int32_t count; /* followed by WADI_DEM_LANES that nothing reaches */
    double origin[3];
    int32_t grain[WADI_DEM_SLEEPERS_MAX];
    float x[3][WADI_DEM_SLEEPERS_MAX], radius[WADI_DEM_SLEEPERS_MAX]; /* m, x from the origin */
} WadiDemSleepers;

/* Those within reach of the awake grains first .. end - 1; false: there are too many. */
bool wadi_dem_sleepers_find(WadiDemSleepers *sleepers, const WadiDemListIn *in, int32_t first, int32_t end);

#endif
