/* Contacts of one particle at one instant: what touches it, what its velocity becomes, and the way out of
 * a solid. Used by collide.c alone. */
#ifndef WADI_PARTICLES_CONTACT_H
#define WADI_PARTICLES_CONTACT_H

#include "particles/collide.h"

/* A surface nearer than this many skins is touched. Wider than one skin so that a marching particle
 * arrives in finitely many steps, and so that rounding does not decide whether something rests. */
#define WADI_CONTACT_BAND 2.0

/* Respond to every surface within `band` metres of x that v approaches, to those just ahead, and to `met` (may be NULL), a
 * surface that the path is known to meet. Returns
 * the new velocity, for which none of them is approached unless they close in on the particle. */
WadiVec3 wadi_contact_velocity(const WadiCollideIn *in, WadiVec3 x, WadiVec3 v, double time, double band,
                               const WadiSolidPoint *met);

/* The direction away from all surfaces within `radius` of x; zero when they face each other. */
WadiVec3 wadi_contact_open_direction(const WadiCollideIn *in, WadiVec3 x, double radius, double time);

/* Move x out of what it is inside of, to a skin and a half from the surface. false: there is no way out
 * nearby, and *x is the least deep place that was found. */
bool wadi_contact_push_out(const WadiCollideIn *in, WadiVec3 *x, double time);

#endif
