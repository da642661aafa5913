#include "geom/solids.h"

#include "core/check.h"
#include "geom/shape_internal.h"

static const WadiVec3 inward[6] = { { 1, 0, 0 },  { -1, 0, 0 }, { 0, 1, 0 },
                                    { 0, -1, 0 }, { 0, 0, 1 },  { 0, 0, -1 } };

/* Distances to the sides, positive inside. */
static inline void side_distances(const WadiBox *box, WadiVec3 x, double d[6])
{
    d[0] = x.x - box->min.x, d[1] = box->max.x - x.x;
    d[2] = x.y - box->min.y, d[3] = box->max.y - x.y;
    d[4] = x.z - box->min.z, d[5] = box->max.z - x.z;
}

WadiSurfacePoint wadi_solids_wall(const WadiSolids *solids, int side, WadiVec3 x)
{
    double d[6];
    side_distances(&solids->domain, x, d);
    return (WadiSurfacePoint){ d[side], inward[side], { 0, 0, 0 } };
}

double wadi_solids_wall_distance(const WadiSolids *solids, WadiVec3 x, WadiVec3 *normal)
{
    double d[6];
    side_distances(&solids->domain, x, d);
    double best = INFINITY;
    for (int side = 0; side < 6; ++side) {
        if ((solids->closed_sides & (1 << side)) != 0 && d[side] < best) {
            best = d[side];
            *normal = inward[side];
        }
    }
    return best;
}

typedef WadiSurfacePoint (*SampleFn)(const WadiShape *shape, WadiVec3 x, double time);

/* sample_shape NULL: wadi_shape_sample_within. */
static WadiSolidPoint sample(const WadiSolids *solids, WadiVec3 x, double time, SampleFn sample_shape,
                             double within)
{
    WadiSolidPoint out = { .surface = { INFINITY, { 0, 0, 1 }, { 0, 0, 0 } }, .index = -2 };
    /* Walls first: they are cheap, and shapes beyond them need no query. */
    WadiVec3 normal;
    double wall = wadi_solids_wall_distance(solids, x, &normal);
    if (wall < out.surface.distance) {
        out.surface = (WadiSurfacePoint){ wall, normal, { 0, 0, 0 } };
        out.index = -1;
    }
    for (int i = 0; i < solids->count; ++i) {
        if (wadi_shape_may_be_nearer(solids->solids[i].shape, x, out.surface.distance)) {
            const WadiShape *shape = solids->solids[i].shape;
            WadiSurfacePoint point = sample_shape != NULL ? sample_shape(shape, x, time)
                                                          : wadi_shape_sample_within(shape, x, time, within);
            /* A shape flush with a wall takes precedence over it. */
            if (point.distance < out.surface.distance ||
                (out.index == -1 && point.distance == out.surface.distance)) {
                out.surface = point;
                out.index = i;
            }
        }
    }
    if (out.index >= 0) {
        out.friction = wadi_curve_value_or_zero(solids->solids[out.index].friction, time);
        out.restitution = wadi_curve_value_or_zero(solids->solids[out.index].restitution, time);
    } else if (out.index == -1) {
        out.friction = wadi_curve_value_or_zero(solids->wall_friction, time);
        out.restitution = wadi_curve_value_or_zero(solids->wall_restitution, time);
    }
    return out;
}

WadiSolidPoint wadi_solids_sample(const WadiSolids *solids, WadiVec3 x, double time)
{
    return sample(solids, x, time, wadi_shape_sample_from_outside, 0.0);
}

WadiSolidPoint wadi_solids_sample_for_grid(const WadiSolids *solids, WadiVec3 x, double time)
{
    return sample(solids, x, time, wadi_shape_sample_for_grid, 0.0);
}

double wadi_solids_distance_for_grid(const WadiSolids *solids, WadiVec3 x, double time)
{
    WadiVec3 unused;
    double best = wadi_solids_wall_distance(solids, x, &unused);
    for (int i = 0; i < solids->count; ++i) {
        const WadiShape *shape = solids->solids[i].shape;
        if (wadi_shape_may_be_nearer(shape, x, best)) {
            best = fmin(best, wadi_shape_distance_for_grid(shape, x, time));
        }
    }
    return best;
}

bool wadi_solids_carry_velocity(const WadiSolids *solids, int index, WadiVec3 x, double time,
                                WadiVec3 *velocity)
{
    WADI_ASSERT_ELSE(index < solids->count, return false);
    *velocity = wadi_vec3(0, 0, 0);
    return index < 0 || wadi_shape_carry_velocity(solids->solids[index].shape, x, time, velocity);
}

WadiVec3 wadi_solids_carry_change(const WadiSolids *solids, int index, WadiVec3 x, WadiVec3 displacement,
                                  double time)
{
    WadiVec3 here, there;
    if (!wadi_solids_carry_velocity(solids, index, x, time, &here) ||
        !wadi_solids_carry_velocity(solids, index, wadi_add(x, displacement), time, &there)) {
        return wadi_vec3(0, 0, 0);
    }
    return wadi_sub(there, here);
}

bool wadi_solids_sample_within(const WadiSolids *solids, WadiVec3 x, double time, double band,
                               WadiSolidPoint *point)
{
    bool may_be_near = solids->closed_sides != 0;
    for (int i = 0; i < solids->count && !may_be_near; ++i) {
        may_be_near = wadi_shape_may_be_nearer(solids->solids[i].shape, x, band);
    }
    if (!may_be_near) {
        return false;
    }
    *point = sample(solids, x, time, NULL, band * (1.0 + 1e-9));
    return point->surface.distance <= band;
}

static double distance_to(const WadiSolids *solids, WadiVec3 x, double time, double enough, bool was_outside)
{
    WadiVec3 unused;
    double best = wadi_solids_wall_distance(solids, x, &unused);
    for (int i = 0; i < solids->count; ++i) {
        const WadiShape *shape = solids->solids[i].shape;
        if (!wadi_shape_may_be_nearer(shape, x, best)) {
            continue;
        }
        if (enough >= 0.0 && !wadi_shape_may_be_nearer(shape, x, enough)) {
            best = fmin(best, enough);
            continue;
        }
        best = fmin(best, was_outside ? wadi_shape_clearance_from_outside(shape, x, time)
                                      : wadi_shape_clearance(shape, x, time));
    }
    return best;
}

double wadi_solids_distance(const WadiSolids *solids, WadiVec3 x, double time, double enough)
{
    return distance_to(solids, x, time, enough, false);
}

double wadi_solids_clearance(const WadiSolids *solids, WadiVec3 x, double time, double enough)
{
    return distance_to(solids, x, time, enough, true);
}

double wadi_solids_distance_within(const WadiSolids *solids, WadiVec3 x, double time, double within)
{
    double best = distance_to(solids, x, time, within, false);
    bool has_cuts = false;
    for (int i = 0; i < solids->count; ++i) {
        has_cuts = has_cuts || solids->solids[i].shape->is_cut;
    }
    if (!has_cuts || !(best >= 0.0 && best < within)) {
        return best;
    }
    WadiVec3 unused;
    best = fmin(within, wadi_solids_wall_distance(solids, x, &unused));
    for (int i = 0; i < solids->count; ++i) {
        const WadiShape *shape = solids->solids[i].shape;
        if (best > 0.0 && wadi_shape_may_be_nearer(shape, x, best)) {
            best = fmin(best, wadi_shape_sample_within(shape, x, time, best).distance);
        }
    }
    return best;
}

double wadi_solids_speed_bound(const WadiSolids *solids, WadiVec3 x, double radius, double t0, double t1)
{
    double bound = 0.0;
    for (int i = 0; i < solids->count; ++i) {
        bound = fmax(bound, wadi_shape_speed_bound(solids->solids[i].shape, x, radius, t0, t1));
    }
    return bound;
}

int wadi_solids_jump_count(const WadiSolids *solids, double t0, double t1)
{
    int count = 0;
    for (int i = 0; i < solids->count; ++i) {
        count += wadi_shape_jump_count(solids->solids[i].shape, t0, t1);
    }
    return count;
}

WadiVec3 wadi_solids_carry(const WadiSolids *solids, int index, WadiVec3 x, double t0, double t1)
{
    WADI_ASSERT_ELSE(index < solids->count, return x);
    return index >= 0 ? wadi_shape_carry(solids->solids[index].shape, x, t0, t1) : x;
}

bool wadi_solids_are_moving(const WadiSolids *solids)
{
    for (int i = 0; i < solids->count; ++i) {
        if (wadi_shape_is_moving(solids->solids[i].shape)) {
            return true;
        }
    }
    return false;
}

int wadi_box_sides_beyond(WadiBox box, WadiVec3 x)
{
    double d[6];
    int beyond = 0;
    side_distances(&box, x, d);
    for (int side = 0; side < 6; ++side) {
        beyond |= (d[side] < 0.0) << side;
    }
    return beyond;
}

WadiBox wadi_box_closed_sides(WadiBox box, int closed_sides)
{
    const double far = (double)INFINITY;
    box.min.x = (closed_sides & WADI_SIDE_X_MIN) != 0 ? box.min.x : -far;
    box.max.x = (closed_sides & WADI_SIDE_X_MAX) != 0 ? box.max.x : far;
    box.min.y = (closed_sides & WADI_SIDE_Y_MIN) != 0 ? box.min.y : -far;
    box.max.y = (closed_sides & WADI_SIDE_Y_MAX) != 0 ? box.max.y : far;
    box.min.z = (closed_sides & WADI_SIDE_Z_MIN) != 0 ? box.min.z : -far;
    box.max.z = (closed_sides & WADI_SIDE_Z_MAX) != 0 ? box.max.z : far;
    return box;
}
