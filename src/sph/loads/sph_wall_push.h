/* What the pressure of walls adds to the momentum of a particle, by contact. [theory 11.3] */
#ifndef WADI_SPH_WALL_PUSH_H
#define WADI_SPH_WALL_PUSH_H

#include "sph/pairs/sph_pairs.h"

/* The force on near particle `near` of its walls and of the images in them, for the pressures in `place`,
 * along the normals of the walls: the part of images along a wall is opposite for two particles, and nothing
 * that the wall gives. */
void wadi_sph_wall_push(const WadiSphPairs *pairs, const WadiSphWalls *walls, int32_t near, float own,
                        WadiF4 *push);

/* Splits a force on a particle with the pressure P = `own` among its contacts: P times the share of each, and
 * the rest such that what lies along one normal is one contact's. The parts add up to `push`. */
void wadi_sph_split_push(const WadiSphContact *contact, int count, float own, WadiF4 push,
                         WadiF4 part[WADI_SPH_CONTACT_MAX]);

#endif
