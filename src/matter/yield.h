/* The yield law of sand in one parameter: sigma_bar <= k p + c_k, sigma_bar = |dev sigma|_F / sqrt 2. An
 * infinite slope in simple shear is stable exactly up to atan k (without cohesion): k is the tangent of the
 * slope. */
#ifndef WADI_MATTER_YIELD_H
#define WADI_MATTER_YIELD_H

#include "world/scene.h"

/* `stop` decides whether material yields, `slide` is the stress while it does. Equal except for
 * ZB05_PRINTED. */
typedef struct WadiYield {
    double stop, slide; /* k */
    double cohesion;    /* c_k, Pa; of ZB05_PRINTED c / sqrt 3 [ZB05 eq. 5], in the stop test only */
    double tension;     /* T, Pa: p >= -T; 0 without cohesion */
} WadiYield;

/* `friction_angle` in radians, in [0, pi/2); `cohesion` is Mohr-Coulomb's, Pa. The tension is the
 * default one. */
WadiYield wadi_yield(WadiYieldRule rule, double friction_angle, double cohesion);
/* Largest tension T, in the unit of `cohesion`: p >= -T. It is `strength`, or c_k if that is negative, and
 * never beyond the apex of the yield law, c_k / k; none without cohesion [theory 6.13]. */
double wadi_tension_limit(double slope, double cohesion, double strength);
/* Yield law of a material at a time. */
WadiYield wadi_yield_of_material(const WadiMaterial *material, WadiYieldRule rule, double time);

/* Cohesion, in rho g dx, of sand below 30 degrees: without it the steps of its surface, one cell high, would
 * move downhill without end [theory 6.11]. */
double wadi_yield_of_stairs(double k);

#endif
