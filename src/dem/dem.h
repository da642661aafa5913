/* The dem solver: sand as grains in contact [ZY10]. */
#ifndef WADI_DEM_DEM_H
#define WADI_DEM_DEM_H

#include "dem/dem_settings.h"
#include "matter/materials.h"
#include "world/solver.h"

typedef struct WadiDem {
    WadiSolverContext context;
    WadiMaterials materials;
    double diameter;    /* m, mean of the grains */
    double unit_time;   /* s: sqrt(diameter / g) */
    int radius_column;  /* m; shown */
    int turning_column; /* angular velocity, 1/s: the first of three */
} WadiDem;

/* dem_step.c */
WadiStatus wadi_dem_take_step(void *solver, const WadiSolverStep *now, WadiStepReport *report,
                              WadiError *error);

#endif
