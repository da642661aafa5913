#include "geom/solids_near.h"

void wadi_solids_near_begin(WadiSolidsNear *near, const WadiSolids *solids, WadiVec3 middle, double radius,
                            double within, double time)
{
    near->wall_count = 0;
    for (int side = 0; side < 6; ++side) {
        const WadiVec3 end = side % 2 == 0 ? solids->domain.min : solids->domain.max;
        const double distance = wadi_solids_wall(solids, side, middle).distance;
        if ((solids->closed_sides & (1 << side)) != 0 && distance < radius) {
            near->wall[near->wall_count++] =
                (WadiNearWall){ wadi_component(end, side / 2), side % 2 == 0 ? 1.0 : -1.0, side, side / 2 };
        }
    }
    near->solids = solids;
    near->time = time;
    near->within = within;
    near->mesh_count = 0;
    for (int i = 0; i < solids->count && near->mesh_count < WADI_SOLIDS_NEAR_MAX; ++i) {
        if (wadi_shape_near_begin(&near->near[near->mesh_count], solids->solids[i].shape, time)) {
            near->mesh[near->mesh_count++] = i;
        }
    }
    near->has_others = near->mesh_count < solids->count;
}

/* Distance to the nearest wall, and its index in near->wall, or -1. */
static inline double wall_distance(const WadiSolidsNear *near, WadiVec3 x, int *index)
{
    const double at[3] = { x.x, x.y, x.z };
    double best = HUGE_VAL;
    *index = -1;
    for (int n = 0; n < near->wall_count; ++n) {
        const WadiNearWall *wall = &near->wall[n];
        const double d = wall->sign * (at[wall->axis] - wall->position);
        *index = d < best ? n : *index;
        best = d < best ? d : best;
    }
    return best;
}

static bool is_bound(const WadiSolidsNear *near, const WadiShape *shape, double distance)
{
    return shape->is_cut && distance >= 0.0 && distance < near->within;
}

double wadi_solids_near_distance(WadiSolidsNear *near, WadiVec3 x)
{
    const WadiSolids *solids = near->solids;
    int unused;
    double best = wall_distance(near, x, &unused);
    if (!near->has_others) {
        for (int n = 0; n < near->mesh_count; ++n) {
            const double d = wadi_shape_near_distance(&near->near[n], x);
            best = d < best ? d : best;
        }
        return best;
    }
    for (int i = 0, n = 0; i < solids->count; ++i) {
        const WadiShape *shape = solids->solids[i].shape;
        if (n < near->mesh_count && near->mesh[n] == i) {
            const double d = wadi_shape_near_distance(&near->near[n++], x);
            best = d < best ? d : best;
        } else if (wadi_shape_may_be_nearer(shape, x, best)) {
            double d = wadi_shape_distance_for_grid(shape, x, near->time);
            if (is_bound(near, shape, d)) {
                d = wadi_shape_sample_within(shape, x, near->time, near->within).distance;
            }
            best = fmin(best, d);
        }
    }
    return best;
}

WadiSolidPoint wadi_solids_near_sample(WadiSolidsNear *near, WadiVec3 x, double normal_within)
{
    const WadiSolids *solids = near->solids;
    WadiSolidPoint out = { .surface = { INFINITY, { 0, 0, 1 }, { 0, 0, 0 } }, .index = -2 };
    int wall;
    if (wall_distance(near, x, &wall) < HUGE_VAL) {
        out.surface = wadi_solids_wall(solids, near->wall[wall].side, x);
        out.index = -1;
    }
    for (int i = 0, n = 0; i < solids->count; ++i) {
        const WadiShape *shape = solids->solids[i].shape;
        const bool is_mesh = n < near->mesh_count && near->mesh[n] == i;
        if (!is_mesh && !wadi_shape_may_be_nearer(shape, x, out.surface.distance)) {
            continue;
        }
        WadiSurfacePoint point = is_mesh ? wadi_shape_near_sample(&near->near[n++], x, normal_within)
                                         : wadi_shape_sample_for_grid(shape, x, near->time);
        if (!is_mesh && is_bound(near, shape, point.distance)) {
            point = wadi_shape_sample_within(shape, x, near->time, near->within);
        }
        /* A shape flush with a wall takes precedence over it. */
        if (point.distance < out.surface.distance ||
            (out.index == -1 && point.distance == out.surface.distance)) {
            out.surface = point;
            out.index = i;
        }
    }
    return out;
}
