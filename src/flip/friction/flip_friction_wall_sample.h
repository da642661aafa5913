/* Walls of the friction solve from the solids of the scene. */
#ifndef WADI_FLIP_FRICTION_WALL_SAMPLE_H
#define WADI_FLIP_FRICTION_WALL_SAMPLE_H

#include "flip/friction/flip_friction.h"
#include "geom/solids.h"

typedef struct WadiFrictionSolids {
    const WadiSolids *solids;
    double cell_size, time, velocity_time;
} WadiFrictionSolids;

/* A WadiFrictionSampleWall; the context is a WadiFrictionSolids. */
static inline WadiFrictionWallPoint wadi_friction_sample_solids(const void *context, const double at[3])
{
    const WadiFrictionSolids *walls = context;
    WadiVec3 x = wadi_vec3(walls->cell_size * at[0], walls->cell_size * at[1], walls->cell_size * at[2]);
    WadiSolidPoint point = wadi_solids_sample(walls->solids, x, walls->time);
    if (walls->velocity_time != walls->time && wadi_solids_are_moving(walls->solids)) {
        point.surface.velocity = wadi_solids_sample(walls->solids, x, walls->velocity_time).surface.velocity;
    }
    WadiFrictionWallPoint out = { .friction = (float)point.friction };
    for (int axis = 0; axis < 3; ++axis) {
        out.velocity[axis] = (float)wadi_component(point.surface.velocity, axis);
        out.normal[axis] = (float)wadi_component(point.surface.normal, axis);
    }
    return out;
}

#endif
