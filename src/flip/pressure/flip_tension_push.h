/* A given pressure at the free surface. */
#ifndef WADI_FLIP_TENSION_PUSH_H
#define WADI_FLIP_TENSION_PUSH_H

#include "flip/pressure/flip_project.h"

/* To be called before a projection with the same `in`: afterwards its P is that of a surface with P = surface_pressure (per
 * cell, m/s, interpolated to where the surface lies between a fluid and an air cell) instead of 0. The equations are linear in
 * the surface's value, so its push can be given to the velocity at once: u -= gradient (P_c - P_s) is u + gradient P_s first
 * and - gradient P_c then. */
void wadi_flip_push_faces(const WadiFlipProjectIn *in, const float *surface_pressure,
                          float *const velocity[3]);

#endif
