/* A given pressure at the free surface. */
#ifndef WADI_FLIP_TENSION_PUSH_H
#define WADI_FLIP_TENSION_PUSH_H

#include "flip/pressure/flip_project.h"

/* Call it before a projection with the same `in`, whose P then has the value surface_pressure at the
 * surface instead of 0 (per cell, m/s, interpolated between a fluid and an air cell). The equations are
 * linear in this value: u -= gradient (P_c - P_s) becomes u += gradient P_s here and u -= gradient P_c in
 * the projection. */
void wadi_flip_push_faces(const WadiFlipProjectIn *in, const float *surface_pressure,
                          float *const velocity[3]);

#endif
