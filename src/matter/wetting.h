/* What water in its pores does to sand [LD09 sec. 3, LAD08; theory 11.6]. S is the saturation, 0 to 1; S' is
 * that of the largest cohesion. All laws are continuous. */
#ifndef WADI_MATTER_WETTING_H
#define WADI_MATTER_WETTING_H

#include "world/scene.h"

/* Suction P_c = k_c (1 - S)^a, Pa. From S = 0.97 on a straight line, so that its slope is bounded. */
double wadi_suction(const WadiPoresDef *pores, double saturation);
/* The largest -dP_c/dS from no water up to this saturation, Pa; never falls with it. */
double wadi_suction_slope(const WadiPoresDef *pores, double saturation);
/* Permeability over that at S = 1: S^b. */
double wadi_relative_permeability(const WadiPoresDef *pores, double saturation);

/* Cohesion, Pa: `dry` at S = 0, cohesion_wet at S', none at S = 1. */
double wadi_wet_cohesion(const WadiPoresDef *pores, double dry, double saturation);
/* Friction over that of dry sand: 1 up to S', residual_friction at S = 1. */
double wadi_wet_friction(const WadiPoresDef *pores, double saturation);
/* Pa s: 0 up to S', mud_viscosity at S = 1. */
double wadi_mud_viscosity(const WadiPoresDef *pores, double saturation);
/* Stickiness over its value at S': 0 at S = 0 and at S = 1. */
double wadi_wet_stickiness(const WadiPoresDef *pores, double saturation);

#endif
