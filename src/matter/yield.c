#include "matter/yield.h"

#include <math.h>

#include "core/check.h"

WadiYield wadi_yield(WadiYieldRule rule, double friction_angle, double cohesion)
{
    WADI_ASSERT(friction_angle >= 0.0 && friction_angle < 1.5707963267948966 && cohesion >= 0.0);
    double sine = sin(friction_angle);
    double k = 0.0;
    switch (rule) {
    case WADI_YIELD_TAN: k = tan(friction_angle); break;
    case WADI_YIELD_PLANE: k = sine; break;
    case WADI_YIELD_ZB05: k = sqrt(1.5) * sine; break;
    case WADI_YIELD_TRIAXIAL: k = 2.0 * sqrt(3.0) * sine / (3.0 - sine); break;
    case WADI_YIELD_ZB05_PRINTED: k = sqrt(1.5) * sine; break;
    case WADI_YIELD_RULE_COUNT: WADI_ASSERT(rule < WADI_YIELD_RULE_COUNT); break;
    }
    const bool is_printed = rule == WADI_YIELD_ZB05_PRINTED;
    double stop = is_printed ? sine / sqrt(3.0) : k;
    double c = is_printed ? cohesion / sqrt(3.0) : cohesion * cos(friction_angle);
    return (WadiYield){ .stop = stop, .slide = k, .cohesion = c, .tension = wadi_tension_limit(k, c, -1.0) };
}

double wadi_tension_limit(double slope, double cohesion, double strength)
{
    double limit = strength < 0.0 ? cohesion : strength;
    return slope * limit > cohesion ? cohesion / slope : cohesion > 0.0 ? limit : 0.0;
}

WadiYield wadi_yield_of_material(const WadiMaterial *material, WadiYieldRule rule, double time)
{
    const double degree = 3.14159265358979323846 / 180.0;
    WadiYield yield = wadi_yield(rule, degree * wadi_curve_value(&material->friction_angle, time),
                                 wadi_curve_value(&material->cohesion, time));
    yield.tension = wadi_tension_limit(yield.slide, yield.cohesion, material->tensile_strength);
    return yield;
}

double wadi_yield_of_stairs(double k)
{
    return fmin(k, 0.5 * fmax(0.0, 0.5773502691896258 - k));
}
