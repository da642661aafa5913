/* The law of two grains in contact and its constants. With the overlap xi, the effective radius
 * r = R_i R_j / (R_i + R_j) and mass m = m_i m_j / (m_i + m_j), the normal force is
 *   hertz         k xi^3/2 + c xi^1/4 xi',   k = stiffness r^1/2, c = damping (m k)^1/2    [TTI92]
 *   viscoelastic  k xi^3/2 + c xi^1/2 xi',   k as above,          c = damping k            [BYM05 sec. 3.1]
 *   linear        k xi + c xi',              k = stiffness,       c = damping m
 * and never pulls. `damping` follows from the restitution. */
#ifndef WADI_DEM_LAW_H
#define WADI_DEM_LAW_H

#include <stdbool.h>

typedef enum WadiDemLaw {
    WADI_DEM_HERTZ,        /* restitution independent of the speed */
    WADI_DEM_VISCOELASTIC, /* restitution falls with the speed */
    WADI_DEM_LINEAR,       /* a spring and a dashpot */
} WadiDemLaw;

/* Constants of one step. */
typedef struct WadiDemLawConstants {
    WadiDemLaw law;
    float stiffness;           /* linear: N/m; the others: Pa */
    float damping;             /* hertz: 1; viscoelastic: s; linear: 1/s */
    float last_dt, kick;       /* s: as WadiDemStep */
    float rupture;             /* m: gap at which bridges of water break; 0: there are none */
    bool has_viscous_friction; /* without springs [BYM05] */
} WadiDemLawConstants;

/* Of springs: tangential and rolling over normal stiffness, and damping over normal damping. */
static const float WADI_DEM_SIDE_STIFFNESS = 2.0f / 7.0f;
static const float WADI_DEM_SIDE_DAMPING = 0.5f;
/* m / kick: bound of the damping of side springs. Eight contacts of a grain then take its rotation away in a
 * step, and no more: 8 x 2 x 0.05 / (2 x 2/5) = 1. */
static const float WADI_DEM_LOSS_MAX = 0.05f;

/* A collision that the constants are found for. */
typedef struct WadiDemImpact {
    double radius; /* m, effective */
    double mass;   /* kg, effective */
    double speed;  /* m/s */
} WadiDemImpact;

/* `damping` for a restitution above 0; viscoelastic: at the impact's speed. */
double wadi_dem_damping(WadiDemLaw law, double stiffness, double restitution, const WadiDemImpact *impact);
/* Restitution at the number G of the collision, and its inverse:
 *   hertz  damping,   viscoelastic  damping (k / m)^2/5 v^1/5,   linear  damping (m / k)^1/2 */
double wadi_dem_restitution_at(WadiDemLaw law, double g);
double wadi_dem_damping_number(WadiDemLaw law, double restitution);
/* Duration and largest overlap of an undamped collision, s and m. */
double wadi_dem_contact_time(WadiDemLaw law, double stiffness, const WadiDemImpact *impact);
double wadi_dem_largest_overlap(WadiDemLaw law, double stiffness, const WadiDemImpact *impact);
/* Stiffness at which the collision overlaps by `overlap`, m, at most, and at which `force` does at rest. */
double wadi_dem_stiffness_of_impact(WadiDemLaw law, double overlap, const WadiDemImpact *impact);
double wadi_dem_stiffness_of_load(WadiDemLaw law, double overlap, double force, double radius);

#endif
