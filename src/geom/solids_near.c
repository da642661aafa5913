#include "geom/solids_near.h"

void wadi_solids_near_begin(WadiSolidsNear *near, const WadiSolids *solids, WadiVec3 middle, double radius,
                            double spacing, double time)
{
    WadiVec3 unused;
    near->has_walls = wadi_solids_wall_distance(solids, middle, &unused) < radius;
    near->solids = solids;
    near->time = time;
    near->mesh_count = 0;
    for (int i = 0; i < solids->count && near->mesh_count < WADI_SOLIDS_NEAR_MAX; ++i) {
        if (wadi_shape_near_begin(&near->near[near->mesh_count], solids->solids[i].shape, spacing, time)) {
            near->mesh[near->mesh_count++] = i;
        }
    }
}

double wadi_solids_near_distance(WadiSolidsNear *near, WadiVec3 x)
{
    const WadiSolids *solids = near->solids;
    WadiVec3 unused;
    double best = near->has_walls ? wadi_solids_wall_distance(solids, x, &unused) : HUGE_VAL;
    for (int i = 0, n = 0; i < solids->count; ++i) {
        const WadiShape *shape = solids->solids[i].shape;
        if (n < near->mesh_count && near->mesh[n] == i) {
            best = fmin(best, wadi_shape_near_distance(&near->near[n++], x));
        } else if (wadi_shape_may_be_nearer(shape, x, best)) {
            best = fmin(best, wadi_shape_distance_for_grid(shape, x, near->time));
        }
    }
    return best;
}

WadiSolidPoint wadi_solids_near_sample(WadiSolidsNear *near, WadiVec3 x)
{
    const WadiSolids *solids = near->solids;
    WadiSolidPoint out = { .surface = { INFINITY, { 0, 0, 1 }, { 0, 0, 0 } }, .index = -2 };
    WadiVec3 normal;
    const double wall = near->has_walls ? wadi_solids_wall_distance(solids, x, &normal) : HUGE_VAL;
    if (wall < out.surface.distance) {
        out.surface = (WadiSurfacePoint){ wall, normal, { 0, 0, 0 } };
        out.index = -1;
    }
    for (int i = 0, n = 0; i < solids->count; ++i) {
        const WadiShape *shape = solids->solids[i].shape;
        const bool is_mesh = n < near->mesh_count && near->mesh[n] == i;
        if (!is_mesh && !wadi_shape_may_be_nearer(shape, x, out.surface.distance)) {
            continue;
        }
        const WadiSurfacePoint point = is_mesh ? wadi_shape_near_sample(&near->near[n++], x)
                                               : wadi_shape_sample_for_grid(shape, x, near->time);
        /* A shape flush with a wall takes precedence over it. */
        if (point.distance < out.surface.distance ||
            (out.index == -1 && point.distance == out.surface.distance)) {
            out.surface = point;
            out.index = i;
        }
    }
    return out;
}
