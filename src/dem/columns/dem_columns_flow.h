/* Shared by the two ways sand moves between columns: drops to the neighbours, and the flow along them. */
#ifndef WADI_DEM_COLUMNS_FLOW_H
#define WADI_DEM_COLUMNS_FLOW_H

#include <math.h>

#include "dem/columns/dem_columns.h"

/* Positive slopes (drop over width) of a gap towards its four sides; `most` is the largest of a side, `sum`
 * that over all links of the side. They differ only where a side has several links. */
typedef struct WadiDemDrops {
    double most[WADI_DEM_SIDES], sum[WADI_DEM_SIDES];
    double lowest; /* m: height of the lowest neighbour; INFINITY without one */
} WadiDemDrops;

/* At the start of a step: the intake of full gaps becomes 0, that of all others 1. */
void wadi_dem_columns_mark_full(WadiDemColumns *columns);
static inline bool wadi_dem_gap_is_full(const WadiDemColumns *columns, int32_t gap)
{
    return columns->intake != NULL && columns->intake[gap] == 0.0;
}

/* Drops of any gap, by its links or, if single, its four neighbours. */
void wadi_dem_drops(const WadiDemColumns *columns, int32_t gap, WadiDemDrops *drops);

/* Rolling layers after the flow along the slopes of `height`, to `next_rolling`. The flow of a pair is
 * mobility * (drop / width) / width with the mobility of the upper gap, at most a quarter of the difference
 * of the surfaces (next + rolling) and never towards the higher one. Adds to `crossed`, if there is one.
 * Every flow is computed with the same operands at both of its ends, so that it is the same number. */
void wadi_dem_columns_spread(WadiDemColumns *columns);
/* Empties the sinks. */
void wadi_dem_columns_empty_sinks(WadiDemColumns *columns);

enum { WADI_DEM_COLUMN_ROWS = 8, WADI_DEM_GAP_BLOCK = 4096 };

#endif
