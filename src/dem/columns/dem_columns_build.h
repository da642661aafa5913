/* Parts of the construction of columns, shared by dem_columns.c and dem_columns_build.c. */
#ifndef WADI_DEM_COLUMNS_BUILD_H
#define WADI_DEM_COLUMNS_BUILD_H

#include "dem/columns/dem_columns.h"

WadiStatus wadi_dem_columns_alloc_gaps(WadiDemColumns *columns, int32_t count, WadiError *error);
/* After the links. */
WadiStatus wadi_dem_columns_alloc_faces(WadiDemColumns *columns, WadiError *error);
/* Links of all gaps that overlap their neighbours by more than `least`. */
WadiStatus wadi_dem_columns_link(WadiDemColumns *columns, double least, WadiError *error);

#endif
