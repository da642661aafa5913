/* The frontier between static and rolling sand, as ZY10 evolves it [ZY10 sec. 3.1, eq. 1, eq. 3, eq. 4].
 *
 *     dh/dt = -G,   G = gamma R (theta - theta_0),   R = H - h
 *
 * H is measured from the grains, so that H = h + R holds before and after. Transport of R, the first term of
 * eq. 2, is the motion of the grains. */
#ifndef WADI_DEM_FRONTIER_H
#define WADI_DEM_FRONTIER_H

#include "dem/columns/dem_columns.h"

typedef struct WadiDemFrontier {
    double repose;   /* theta_0, radians */
    double rate;     /* gamma, 1/s per radian */
    double thinnest; /* m: the threshold of R */
} WadiDemFrontier;

/* theta of a gap: the steepest of the angles arctan(|h_nb - h| / width) at its edges. */
double wadi_dem_frontier_angle(const WadiDemColumns *columns, int32_t gap);
/* One explicit step of h and R; `surface` is H of each gap, m. */
void wadi_dem_frontier_evolve(WadiDemColumns *columns, const double *surface, const WadiDemFrontier *law,
                              double dt);

#endif
