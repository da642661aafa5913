/* Shapes of grains: spheres of one size that touch each other and move as a rigid body [BYM05 sec. 3.2]. */
#ifndef WADI_DEM_SHAPES_H
#define WADI_DEM_SHAPES_H

#include "math/vec3.h"

typedef enum WadiDemShape {
    WADI_DEM_SPHERES,
    WADI_DEM_PAIRS,
    WADI_DEM_TRIANGLES,
    WADI_DEM_TETRAHEDRA,
    WADI_DEM_CUBES,
    WADI_DEM_SHAPE_COUNT,
} WadiDemShape;

enum { WADI_DEM_MEMBERS_MAX = 8 };

/* Spheres of a grain. */
int wadi_dem_member_count(WadiDemShape shape);
/* Centre of a sphere from that of the grain, in radii of the sphere. */
WadiVec3 wadi_dem_member_centre(WadiDemShape shape, int member);
/* A rotation, each as likely as any other, from three numbers in [0, 1): a quaternion [Sho92]. */
void wadi_dem_random_turn(const double random[3], double turn[4]);
/* `a` turned by a quaternion of length 1: scalar, then vector. */
WadiVec3 wadi_dem_turned(const double turn[4], WadiVec3 a);

#endif
