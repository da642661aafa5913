/* The yield law of sand in one parameter: sigma_bar <= k p + c_k, sigma_bar = |dev sigma|_F / sqrt 2.
 * An infinite slope in simple shear is stable exactly up to atan k (without cohesion), so k is the tangent of
 * the slope. */
#ifndef WADI_FLIP_YIELD_H
#define WADI_FLIP_YIELD_H

#include "world/scene.h"

/* `stop` decides whether material yields, `slide` is the stress while it does. Equal except for ZB05_LITERAL.
 * */
typedef struct WadiYield {
    double stop, slide; /* k */
    double cohesion;    /* c_k, Pa */
} WadiYield;

/* `friction_angle` in radians, in [0, pi/2); `cohesion` is Mohr-Coulomb's, Pa. */
WadiYield wadi_yield(WadiYieldRule rule, double friction_angle, double cohesion);

/* Cohesion, in rho g dx, that slippery sand on a grid is given. Its surface is a stair of cells, and a step one cell high is
 * held by what the pressure of the first-order surface has too much, half a cell: k / 2. That holds from tan 30 degrees on;
 * below, the steps walk downhill for ever (0.1 cells/s at 10 degrees). Vanishes with the cell, and for sand without friction. */
double wadi_yield_of_stairs(double k);

#endif
