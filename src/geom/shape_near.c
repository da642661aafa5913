#include "geom/shape_near.h"

bool wadi_shape_near_begin(WadiShapeNear *near, const WadiShape *shape, double spacing, double time)
{
    if (shape->band == NULL || shape->solid == NULL || shape->placing != WADI_PLACING_MOVING) {
        return false;
    }
    WadiPlacement scratch;
    near->shape = shape;
    near->at = *wadi_shape_placement(shape, time, &scratch);
    near->half = wadi_shape_half_thickness(shape, time);
    near->block = spacing / near->at.stretch;
    wadi_sdf_band_hint_clear(&near->hint);
    for (int n = 0; n < WADI_NEAR_BLOCKS; ++n) {
        near->blocks[n].count = -1;
    }
    return true;
}

/* The list of the cube that contains p; cubes with the same table index replace each other. */
static WadiMeshBlock *block_at(WadiShapeNear *near, WadiVec3 p, double search_radius)
{
    const WadiVec3 u = wadi_scale(p, 1.0 / near->block);
    const double at[3] = { floor(u.x), floor(u.y), floor(u.z) };
    if (!(fmax(fabs(at[0]), fmax(fabs(at[1]), fabs(at[2]))) < 1e9)) {
        return NULL;
    }
    const int32_t i = (int32_t)at[0], j = (int32_t)at[1], k = (int32_t)at[2];
    WadiMeshBlock *block = &near->blocks[(i & 7) | (j & 7) << 3 | (k & 3) << 6];
    if (block->count == -1 || block->at[0] != i || block->at[1] != j || block->at[2] != k) {
        const double half = 0.5 * near->block;
        const WadiVec3 centre = wadi_scale(wadi_vec3(at[0] + 0.5, at[1] + 0.5, at[2] + 0.5), near->block);
        block->at[0] = i;
        block->at[1] = j;
        block->at[2] = k;
        const double radius = 1.001 * sqrt(3.0) * half;
        const int count =
            wadi_mesh_tree_gather(near->shape->solid->tree, centre, radius, search_radius + radius,
                                  block->triangle, WADI_BLOCK_TRIANGLES);
        block->count = count >= 0 ? count : -2;
    }
    return block;
}

static void nearest_of(WadiShapeNear *near, WadiVec3 p, double search_radius, WadiMeshNearest *nearest)
{
    const WadiMeshSolid *solid = near->shape->solid;
    WadiMeshBlock *block = block_at(near, p, search_radius);
    if (block == NULL || block->count <= 0) {
        wadi_mesh_solid_nearest(solid, p, search_radius, nearest);
        return;
    }
    wadi_mesh_nearest_of(&solid->mesh, block->triangle, block->count, p, nearest);
}

double wadi_shape_near_distance(WadiShapeNear *near, WadiVec3 x)
{
    const WadiShape *shape = near->shape;
    const WadiVec3 p = wadi_affine_point(&near->at.inverse, x);
    WadiSurfacePoint point;
    double search_radius;
    if (!wadi_shape_band_samples(shape, p, near->half, &near->hint, &point, &search_radius)) {
        WadiMeshNearest nearest;
        nearest_of(near, p, search_radius, &nearest);
        point.distance = near->half > 0.0 ? nearest.distance - near->half
                         : wadi_shape_is_outside_mesh(shape, p, &nearest, &near->hint, WADI_QUERY_BAND)
                             ? nearest.distance
                             : -nearest.distance;
    }
    return near->at.stretch * point.distance;
}

WadiSurfacePoint wadi_shape_near_sample(WadiShapeNear *near, WadiVec3 x)
{
    const WadiShape *shape = near->shape;
    const WadiVec3 p = wadi_affine_point(&near->at.inverse, x);
    WadiSurfacePoint local = { 0 };
    double search_radius;
    if (!wadi_shape_band_samples(shape, p, near->half, &near->hint, &local, &search_radius)) {
        WadiMeshNearest nearest;
        nearest_of(near, p, search_radius, &nearest);
        const bool is_shell = near->half > 0.0;
        const bool is_outside =
            is_shell || wadi_shape_is_outside_mesh(shape, p, &nearest, &near->hint, WADI_QUERY_BAND);
        local.distance = (is_outside ? nearest.distance : -nearest.distance) - near->half;
        local.normal = wadi_mesh_solid_normal(shape->solid, p, is_outside, &nearest);
    }
    const WadiVec3 normal = wadi_affine_transposed_vector(&near->at.inverse, local.normal);
    return (WadiSurfacePoint){ near->at.stretch * local.distance,
                               wadi_normalized_or(normal, wadi_vec3(0, 0, 1)),
                               { 0, 0, 0 } };
}
