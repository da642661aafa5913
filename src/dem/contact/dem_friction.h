/* Contact friction of spheres by the friction angle of the sand that they stand for [theory 13.1]. */
#ifndef WADI_DEM_FRICTION_H
#define WADI_DEM_FRICTION_H

/* Degrees between which the map is calibrated. */
#define WADI_DEM_ANGLE_MIN 20.0
#define WADI_DEM_ANGLE_MAX 40.0

/* Sliding friction between spheres whose rolling friction is WADI_DEM_LOCKED, so that their slopes have the
 * angle `degrees`. Outside the calibrated range it is extrapolated: 0 at the 5.76 degrees of frictionless
 * spheres [PR08] and below. */
double wadi_dem_friction_of_angle(double degrees);

/* Rolling friction at which spheres in a bed slide and do not roll, as angular grains [Cal08]. */
static const double WADI_DEM_LOCKED = 1.0;

#endif
