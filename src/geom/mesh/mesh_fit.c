#include "geom/mesh/mesh_fit.h"

/* Rotations by right angles, so that numbers are exact. */
static WadiVec3 upright(WadiVec3 p, int up)
{
    switch ((WadiMeshUp)up) {
    case WADI_MESH_UP_Y: return wadi_vec3(p.x, -p.z, p.y);
    case WADI_MESH_UP_X: return wadi_vec3(-p.z, p.y, p.x);
    case WADI_MESH_UP_MINUS_X: return wadi_vec3(p.z, p.y, -p.x);
    case WADI_MESH_UP_MINUS_Y: return wadi_vec3(p.x, p.z, -p.y);
    case WADI_MESH_UP_MINUS_Z: return wadi_vec3(p.x, -p.y, -p.z);
    case WADI_MESH_UP_Z: break;
    }
    return p;
}

/* A direction in which the mesh is flat does not limit the factor. */
static double factor_of(WadiVec3 extent, WadiVec3 size)
{
    double factor = INFINITY;
    factor = extent.x > 0.0 ? fmin(factor, size.x / extent.x) : factor;
    factor = extent.y > 0.0 ? fmin(factor, size.y / extent.y) : factor;
    return extent.z > 0.0 ? fmin(factor, size.z / extent.z) : factor;
}

WadiStatus wadi_mesh_fit(WadiMesh *mesh, const WadiMeshFit *fit, WadiError *error)
{
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        mesh->vertices[v] = upright(mesh->vertices[v], fit->up);
    }
    if (!fit->has_size && !fit->has_center) {
        return WADI_OK;
    }
    const WadiBox box = wadi_mesh_bounds(mesh);
    const double factor = fit->has_size ? factor_of(wadi_box_size(box), fit->size) : 1.0;
    const WadiVec3 middle = wadi_scale(wadi_add(box.min, box.max), 0.5), origin = { 0, 0, 0 };
    if (!isfinite(factor) || !(factor > 0.0)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "the mesh has no size that could be scaled; leave out fit");
    }
    const WadiVec3 fixed = fit->has_center ? middle : origin, moved = fit->has_center ? fit->center : origin;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        mesh->vertices[v] = wadi_add_scaled(moved, wadi_sub(mesh->vertices[v], fixed), factor);
    }
    return WADI_OK;
}
