/* Sand that water has touched, in runs whose solver has no water inside sand: it is wet, and dries after the
 * water has left. Changes nothing but the look. */
#ifndef WADI_SECONDARY_WET_SAND_H
#define WADI_SECONDARY_WET_SAND_H

#include "core/array.h"
#include "secondary/flow.h"
#include "world/scene.h"

typedef struct WadiWetParticle {
    uint32_t id;
    float wetness; /* more than 0, at most 1 */
} WadiWetParticle;

/* In rising order of ids. A zeroed list is valid: all sand is dry. */
typedef struct WadiWetSand {
    WADI_ARRAY(WadiWetParticle) list;
} WadiWetSand;

void wadi_wet_sand_free(WadiWetSand *wet);

/* Whether sand of this scene is wetted so: it has sand and water, and the frame has no wetness of its own. */
bool wadi_wet_sand_applies(const WadiScene *scene, const WadiState *frame);

/* Dries for dt s, then wets what touches water in the frame. */
WadiStatus wadi_wet_sand_step(WadiWetSand *wet, const WadiScene *scene, const WadiState *frame, double dt,
                              WadiArena *arena, WadiError *error);

/* Gives the frame the array `wetness`. */
WadiStatus wadi_wet_sand_apply(const WadiWetSand *wet, WadiState *frame, WadiError *error);

/* The wet particles of a frame as a frame of their own: position, velocity, id, material, radius, wetness. */
WadiStatus wadi_wet_sand_save(const WadiWetSand *wet, const WadiState *frame, WadiState *state,
                              WadiError *error);
WadiStatus wadi_wet_sand_load(WadiWetSand *wet, const WadiState *state, WadiError *error);

#endif
