#include "dem/bodies/dem_shapes.h"

static const int member_count[WADI_DEM_SHAPE_COUNT] = {
    [WADI_DEM_SPHERES] = 1,    [WADI_DEM_PAIRS] = 2, [WADI_DEM_TRIANGLES] = 3,
    [WADI_DEM_TETRAHEDRA] = 4, [WADI_DEM_CUBES] = 8,
};

/* Neighbours are 2 apart: spheres of radius 1 touch. */
static const double H = 0.70710678118654752; /* sqrt(1/2) */
static const double T = 0.57735026918962576; /* sqrt(1/3) */

int wadi_dem_member_count(WadiDemShape shape)
{
    return member_count[shape];
}

WadiVec3 wadi_dem_member_centre(WadiDemShape shape, int member)
{
    /* Corners of a cube by the bits of the number. */
    const double x = (member & 1) != 0 ? 1.0 : -1.0, y = (member & 2) != 0 ? 1.0 : -1.0;
    switch (shape) {
    case WADI_DEM_PAIRS: return (WadiVec3){ x, 0, 0 };
    case WADI_DEM_TRIANGLES: return member == 2 ? (WadiVec3){ 0, 2.0 * T, 0 } : (WadiVec3){ x, -T, 0 };
    case WADI_DEM_TETRAHEDRA: return wadi_scale((WadiVec3){ x, y, x * y }, H);
    case WADI_DEM_CUBES: return (WadiVec3){ x, y, (member & 4) != 0 ? 1.0 : -1.0 };
    case WADI_DEM_SPHERES:
    case WADI_DEM_SHAPE_COUNT: break;
    }
    return (WadiVec3){ 0, 0, 0 };
}

void wadi_dem_random_turn(const double random[3], double turn[4])
{
    const double circle = 6.28318530717958648, a = circle * random[1], b = circle * random[2];
    const double r = sqrt(1.0 - random[0]), s = sqrt(random[0]);
    turn[0] = s * cos(b);
    turn[1] = r * sin(a);
    turn[2] = r * cos(a);
    turn[3] = s * sin(b);
}

WadiVec3 wadi_dem_turned(const double turn[4], WadiVec3 a)
{
    const WadiVec3 u = { turn[1], turn[2], turn[3] }, c = wadi_scale(wadi_cross(u, a), 2.0);
    return wadi_add(wadi_add_scaled(a, c, turn[0]), wadi_cross(u, c));
}
