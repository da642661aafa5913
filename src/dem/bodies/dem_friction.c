#include "dem/bodies/dem_friction.h"

#include <math.h>

enum { ROWS = 6 };

typedef struct Calibration {
    int rows;
    double row[ROWS][2]; /* angle in degrees, sliding friction; the first is outside the calibrated range */
} Calibration;

/* Chosen by tools/validate/grain_angles.py, docs/dem.md has the slopes: spheres by heaps, drums and boxes,
 * the others by banks and heaps. Pairs, triangles and tetrahedra differ by less than the scatter of a run.
 * Cubes slump in blocks and stand no steeper than 25 degrees. */
static const Calibration spheres = {
    6, { { 5.76, 0.0 }, { 20.0, 0.07 }, { 25.0, 0.115 }, { 30.0, 0.18 }, { 35.0, 0.27 }, { 40.0, 0.34 } }
};
static const Calibration several = {
    6, { { 5.76, 0.0 }, { 20.0, 0.05 }, { 25.0, 0.09 }, { 30.0, 0.155 }, { 35.0, 0.28 }, { 40.0, 0.5 } }
};
static const Calibration cubes = { 3, { { 5.76, 0.0 }, { 20.0, 0.08 }, { 25.0, 0.33 } } };

static const Calibration *calibration_of(WadiDemShape shape)
{
    switch (shape) {
    case WADI_DEM_SPHERES: return &spheres;
    case WADI_DEM_CUBES: return &cubes;
    case WADI_DEM_PAIRS:
    case WADI_DEM_TRIANGLES:
    case WADI_DEM_TETRAHEDRA:
    case WADI_DEM_SHAPE_COUNT: break;
    }
    return &several;
}

void wadi_dem_angles_of(WadiDemShape shape, double *least, double *most)
{
    const Calibration *c = calibration_of(shape);
    *least = c->row[1][0];
    *most = c->row[c->rows - 1][0];
}

double wadi_dem_friction_of_angle(WadiDemShape shape, double degrees)
{
    const Calibration *c = calibration_of(shape);
    int n = 1;
    while (n < c->rows - 1 && degrees > c->row[n][0]) {
        ++n;
    }
    const double *low = c->row[n - 1], *high = c->row[n];
    const double part = (degrees - low[0]) / (high[0] - low[0]);
    return fmax(low[1] + part * (high[1] - low[1]), 0.0);
}

double wadi_dem_rolling_of_friction(WadiDemShape shape, double sliding)
{
    return shape == WADI_DEM_SPHERES ? 1.0 : sliding;
}
