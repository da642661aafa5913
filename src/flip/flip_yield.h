/* The yield law of sand in one parameter: sigma_bar <= k p + c_k, sigma_bar = |dev sigma|_F / sqrt 2.
 * An infinite slope in simple shear is stable exactly up to atan k (without cohesion), so k is the tangent of
 * the slope. */
#ifndef WADI_FLIP_YIELD_H
#define WADI_FLIP_YIELD_H

typedef enum WadiYieldRule {
    WADI_YIELD_TAN,          /* tan(angle): the friction angle is the angle of repose */
    WADI_YIELD_PLANE,        /* sin(angle): Mohr-Coulomb in plane strain without dilation */
    WADI_YIELD_ZB05,         /* sqrt(3/2) sin(angle): the sliding rule of [ZB05 eq. 2] for both tests */
    WADI_YIELD_TRIAXIAL,     /* 2 sqrt 3 sin / (3 - sin): Mohr-Coulomb matched in triaxial compression */
    WADI_YIELD_ZB05_LITERAL, /* the two different slopes of [ZB05 eq. 1, eq. 2], for reproduction only */
    WADI_YIELD_RULE_COUNT,
} WadiYieldRule;

/* `stop` decides whether material yields, `slide` is the stress while it does. Equal except for ZB05_LITERAL.
 * */
typedef struct WadiYield {
    double stop, slide; /* k */
    double cohesion;    /* c_k, Pa */
} WadiYield;

/* `friction_angle` in radians, in [0, pi/2); `cohesion` is Mohr-Coulomb's, Pa. */
WadiYield wadi_yield(WadiYieldRule rule, double friction_angle, double cohesion);

/* As in a scene file: "tan", "plane", "zb05", "triaxial", "zb05-literal". */
const char *wadi_yield_rule_name(WadiYieldRule rule);

#endif
