/* Shapes that rest on others: the key `on`. */
#ifndef WADI_WORLD_REST_ON_H
#define WADI_WORLD_REST_ON_H

#include "core/log.h"
#include "world/scene.h"

/* The name that stands for the floor of the domain, z = 0 without a domain, unless a collider has it. */
#define WADI_REST_ON_GROUND "ground"

/* What the shape rests on; NULL: nothing. */
const char *wadi_rests_on(const WadiShapeDef *def);
/* Index of the collider of that name, or -1. */
int wadi_rest_find(const WadiScene *scene, const char *name);

/* wadi_shape_create. A shape that rests on something is raised: without its own translation its lowest point
 * at time 0 is as high as the highest point of that collider. */
WadiStatus wadi_rest_create_shape(WadiShape **shape, const WadiScene *scene, const WadiShapeDef *def,
                                  const WadiLog *log, WadiError *error);

#endif
