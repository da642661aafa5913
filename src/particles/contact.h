/* Contacts of one particle at one instant: touching surfaces, the velocity after contact, and the
 * displacement out of a solid. Used by collide.c alone. */
#ifndef WADI_PARTICLES_CONTACT_H
#define WADI_PARTICLES_CONTACT_H

#include "particles/collide.h"

/* A surface nearer than this many skins is touched. More than one skin, so that a marching particle
 * arrives in finitely many steps and rounding does not decide whether it is at rest. */
#define WADI_CONTACT_BAND 2.0

/* wadi_solids_clearance of one solid or the walls, with the true distance where it would be a contact: the
 * end of a cut in the open is none. */
double wadi_contact_clearance(const WadiSolids *one, WadiVec3 x, double time, double enough, double skin);

/* Respond to every surface within `band` metres of x that v approaches, to those just ahead, and to `met`
 * (may be NULL), a surface on the path. Returns the new velocity; it approaches none of them, unless they
 * close in on the particle. */
WadiVec3 wadi_contact_velocity(const WadiCollideIn *in, WadiVec3 x, WadiVec3 v, double time, double band,
                               const WadiSolidPoint *met);

/* The direction away from all surfaces within `radius` of x; zero when they are opposite to each other. */
WadiVec3 wadi_contact_open_direction(const WadiCollideIn *in, WadiVec3 x, double radius, double time);

/* Move x out of the solid that contains it, to a skin and a half from the surface. false: no exit nearby,
 * and *x is the least deep position found. */
bool wadi_contact_push_out(const WadiCollideIn *in, WadiVec3 *x, double time);

/* A squeezed particle may be left beyond a closed side of the domain: moves it onto that side, and removes
 * the part of its velocity that points out. */
void wadi_contact_return_to_domain(const WadiSolids *solids, WadiVec3 *x, WadiVec3 *v);

#endif
