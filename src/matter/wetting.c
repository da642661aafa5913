/* What water does to sand. [LD09 sec. 3]
 * Cohesion is eq. 6. Of its case S > S' only c_wet can be read in the copy at hand: taken as
 * c_wet (1 - S) / (1 - S'), which is continuous at S' and vanishes in mud.
 * Differs: the printed friction is 0 at S = 1, where a bed under water would have no strength; here a part
 * of it remains. */
#include "matter/wetting.h"

#include <math.h>

static const double STRAIGHT = 0.03; /* 1 - S where the straight end of the suction begins */

/* x^e without the library's pow for the usual exponents, which depends on the processor. */
static double power(double x, double e)
{
    if (e == 0.5) {
        return sqrt(x);
    }
    if (e != floor(e) || e < 1.0 || e > 10.0) {
        return pow(x, e);
    }
    double product = x;
    for (int n = 1; n < (int)e; ++n) {
        product *= x;
    }
    return product;
}

double wadi_suction(const WadiPoresDef *pores, double saturation)
{
    const double room = 1.0 - saturation, a = pores->capillary_exponent;
    const double part = room >= STRAIGHT ? power(room, a) : power(STRAIGHT, a) * (room / STRAIGHT);
    return pores->capillary_pressure * part;
}

double wadi_suction_slope(const WadiPoresDef *pores, double saturation)
{
    const double room = 1.0 - saturation, a = pores->capillary_exponent;
    const double here = room > STRAIGHT ? a * power(room, a) / room : power(STRAIGHT, a) / STRAIGHT;
    return pores->capillary_pressure * fmax(here, a);
}

double wadi_relative_permeability(const WadiPoresDef *pores, double saturation)
{
    return power(saturation, pores->flow_exponent);
}

/* How far S is from S' to 1; 0 below S'. */
static double excess(const WadiPoresDef *pores, double saturation)
{
    const double ideal = pores->ideal_saturation;
    return saturation > ideal ? (saturation - ideal) / (1.0 - ideal) : 0.0;
}

double wadi_wet_cohesion(const WadiPoresDef *pores, double dry, double saturation)
{
    const double ideal = pores->ideal_saturation;
    if (saturation > ideal) {
        return pores->cohesion_wet * ((1.0 - saturation) / (1.0 - ideal));
    }
    return dry * ((ideal - saturation) / ideal) + pores->cohesion_wet * (saturation / ideal);
}

double wadi_wet_friction(const WadiPoresDef *pores, double saturation)
{
    const double t = excess(pores, saturation);
    return (1.0 - t) + t * pores->residual_friction;
}

double wadi_mud_viscosity(const WadiPoresDef *pores, double saturation)
{
    return pores->mud_viscosity * excess(pores, saturation);
}

double wadi_wet_stickiness(const WadiPoresDef *pores, double saturation)
{
    const double ideal = pores->ideal_saturation;
    return saturation > ideal ? (1.0 - saturation) / (1.0 - ideal) : saturation / ideal;
}
