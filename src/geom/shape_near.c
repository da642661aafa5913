#include "geom/shape_near.h"

#include "geom/sdf_band_internal.h"

static const WadiVec3 up = { 0.0, 0.0, 1.0 };

static void nearest_in_list(const WadiShape *shape, const WadiBandCell *cell, WadiVec3 p,
                            WadiMeshNearest *nearest)
{
    const WadiVec3 offset = { cell->fx - 0.5, cell->fy - 0.5, cell->fz - 0.5 };
    wadi_mesh_nearest_of(&shape->solid->mesh, shape->band->candidates + cell->list->first,
                         (int)cell->list->count, p, shape->band->cell * wadi_norm(offset), nearest);
}

/* The nearest triangle, by the list of the cell; without one by the tree. */
static void nearest_in(const WadiShape *shape, const WadiBandCell *cell, WadiVec3 p, double half,
                       WadiMeshNearest *nearest)
{
    if (cell->list->count > 0) {
        nearest_in_list(shape, cell, p, nearest);
        return;
    }
    const double error = wadi_band_cell_error(cell, shape->band->cell);
    const double distance = wadi_band_cell_distance(cell, NULL);
    const double most = half > 0.0 ? fmax(distance + error + half, 0.0) : fabs(distance) + error;
    wadi_mesh_solid_nearest(shape->solid, p, most, nearest);
}

bool wadi_shape_band_nearest(const WadiShape *shape, WadiVec3 p, WadiMeshNearest *nearest)
{
    WadiBandCell cell;
    double beyond;
    if (!wadi_sdf_band_find(shape->band, p, NULL, &cell, &beyond) || cell.list == NULL ||
        cell.list->count == 0) {
        return false;
    }
    nearest_in_list(shape, &cell, p, nearest);
    return true;
}

/* Whether a point is outside a mesh, given the point of the mesh nearest to it. */
static bool is_outside(const WadiShape *shape, const WadiBandCell *cell, WadiVec3 p,
                       const WadiMeshNearest *nearest)
{
    const WadiMeshSolid *solid = shape->solid;
    int side = 0;
    if (solid->topology.is_oriented) {
        side = wadi_band_cell_side(cell, shape->band->cell, nearest->distance);
    }
    if (side == 0) {
        side = wadi_mesh_solid_side(solid, p, nearest);
        side = side < 0 && !solid->topology.is_oriented ? 0 : side;
    }
    return side != 0 ? side > 0 : !wadi_mesh_solid_contains(solid, p);
}

static double exact_distance(const WadiShape *shape, const WadiBandCell *cell, WadiVec3 p, double half)
{
    WadiMeshNearest nearest;
    nearest_in(shape, cell, p, half, &nearest);
    return half > 0.0                             ? nearest.distance - half
           : is_outside(shape, cell, p, &nearest) ? nearest.distance
                                                  : -nearest.distance;
}

static inline double band_distance(const WadiShape *shape, WadiVec3 p, double half, WadiBandHint *hint)
{
    WadiBandCell cell;
    double beyond;
    if (!wadi_sdf_band_find(shape->band, p, hint, &cell, &beyond)) {
        return beyond;
    }
    return cell.list == NULL ? wadi_band_cell_distance(&cell, NULL) : exact_distance(shape, &cell, p, half);
}

double wadi_shape_band_distance(const WadiShape *shape, WadiVec3 p, double half, WadiBandHint *hint)
{
    return band_distance(shape, p, half, hint);
}

static inline WadiSurfacePoint band_sample(const WadiShape *shape, WadiVec3 p, double half,
                                           WadiBandHint *hint, double normal_within)
{
    WadiSurfacePoint out = { .normal = up };
    WadiBandCell cell;
    if (!wadi_sdf_band_find(shape->band, p, hint, &cell, &out.distance)) {
        return out;
    }
    if (cell.list == NULL) {
        WadiVec3 gradient;
        out.distance = wadi_band_cell_distance(&cell, &gradient);
        out.normal = fabs(out.distance) <= normal_within ? wadi_normalized_or(gradient, up) : up;
        return out;
    }
    WadiMeshNearest nearest;
    nearest_in(shape, &cell, p, half, &nearest);
    const bool is_shell = half > 0.0, was_outside = is_shell || is_outside(shape, &cell, p, &nearest);
    out.distance = (was_outside ? nearest.distance : -nearest.distance) - half;
    out.normal = wadi_mesh_solid_normal(shape->solid, p, was_outside, &nearest);
    return out;
}

WadiSurfacePoint wadi_shape_band_sample(const WadiShape *shape, WadiVec3 p, double half, WadiBandHint *hint)
{
    return band_sample(shape, p, half, hint, INFINITY);
}

bool wadi_shape_near_begin(WadiShapeNear *near, const WadiShape *shape, double time)
{
    if (shape->band == NULL || shape->solid == NULL || shape->placing != WADI_PLACING_MOVING) {
        return false;
    }
    WadiPlacement scratch;
    near->shape = shape;
    near->at = *wadi_shape_placement(shape, time, &scratch);
    near->half = wadi_shape_half_thickness(shape, time);
    wadi_sdf_band_hint_clear(&near->hint);
    return true;
}

double wadi_shape_near_distance(WadiShapeNear *near, WadiVec3 x)
{
    const WadiVec3 p = wadi_affine_point(&near->at.inverse, x);
    return near->at.stretch * band_distance(near->shape, p, near->half, &near->hint);
}

WadiSurfacePoint wadi_shape_near_sample(WadiShapeNear *near, WadiVec3 x, double normal_within)
{
    const WadiVec3 p = wadi_affine_point(&near->at.inverse, x);
    const WadiSurfacePoint local =
        band_sample(near->shape, p, near->half, &near->hint, normal_within / near->at.stretch);
    if (!(near->at.stretch * fabs(local.distance) <= normal_within)) {
        return (WadiSurfacePoint){ near->at.stretch * local.distance, up, { 0, 0, 0 } };
    }
    const WadiVec3 normal = wadi_affine_transposed_vector(&near->at.inverse, local.normal);
    return (
        WadiSurfacePoint){ near->at.stretch * local.distance, wadi_normalized_or(normal, up), { 0, 0, 0 } };
}
