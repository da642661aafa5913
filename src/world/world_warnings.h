/* Warnings about scenes that are valid but probably wrong: bodies outside the domain, values in other units.
 * Each names the location in the file, the key and the likely mistake. */
#ifndef WADI_WORLD_WORLD_WARNINGS_H
#define WADI_WORLD_WORLD_WARNINGS_H

#include "world/world.h"

/* All warnings that need no particles. */
void wadi_world_warn(const WadiWorld *world, const WadiLog *log);

/* Its two parts: numbers in likely wrong units, and shapes at positions without effect. */
void wadi_warn_values(const WadiScene *scene, const WadiLog *log);
void wadi_warn_positions(const WadiWorld *world, const WadiLog *log);

/* Body `index` has `count` particles: warns, with the reason, if there are none or if the body is thinner
 * than a cell. */
void wadi_warn_count(const WadiWorld *world, int index, int64_t count, const WadiLog *log);

#endif
