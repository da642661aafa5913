/* Contact friction of grains by the friction angle of the sand that they stand for [theory 13.1]. */
#ifndef WADI_DEM_FRICTION_H
#define WADI_DEM_FRICTION_H

#include "dem/bodies/dem_shapes.h"

/* Degrees between which the slopes of grains of a shape are calibrated. */
void wadi_dem_angles_of(WadiDemShape shape, double *least, double *most);
/* Sliding friction between grains whose rolling friction is that below, so that their slopes have the angle
 * `degrees`. Outside the calibrated range it is extrapolated, 0 at least. */
double wadi_dem_friction_of_angle(WadiDemShape shape, double degrees);
/* Rolling friction of grains with a sliding friction: where it is as large, a contact slides before it rolls.
 * Spheres do not roll at all in a bed, as angular grains [Cal08]. */
double wadi_dem_rolling_of_friction(WadiDemShape shape, double sliding);

#endif
