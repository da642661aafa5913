/* Warnings about scenes that are valid and yet hardly meant: bodies outside the domain, values in other units. Each names the place in
 * the file, the key and the likely mistake. */
#ifndef WADI_WORLD_WORLD_WARNINGS_H
#define WADI_WORLD_WORLD_WARNINGS_H

#include "world/world.h"

/* All warnings that can be found before particles are seeded. */
void wadi_world_warn(const WadiWorld *world, const WadiLog *log);

/* The two parts of it: numbers in likely wrong units, and shapes at places without effect. */
void wadi_warn_values(const WadiScene *scene, const WadiLog *log);
void wadi_warn_places(const WadiWorld *world, const WadiLog *log);

/* Body `index` got `count` particles: warn if these are none, and say why, or if it is thinner than a cell. */
void wadi_warn_count(const WadiWorld *world, int index, int64_t count, const WadiLog *log);

#endif
