#include "geom/mesh/mesh.h"

#include <string.h>

#include "core/alloc.h"
#include "core/check.h"

WadiStatus wadi_mesh_create(WadiMesh *mesh, const WadiVec3 *vertices, size_t vertex_count,
                            const uint32_t (*triangles)[3], size_t triangle_count, WadiError *error)
{
    *mesh = (WadiMesh){ 0 };
    for (size_t t = 0; t < triangle_count; ++t) {
        WADI_ASSERT_TRY(triangles[t][0] < vertex_count && triangles[t][1] < vertex_count &&
                            triangles[t][2] < vertex_count,
                        error);
    }
    WadiMesh made = { .vertex_count = vertex_count, .triangle_count = triangle_count };
    WadiStatus status = WADI_NEW(&made.vertices, vertex_count, "mesh vertices", error);
    if (status == WADI_OK) {
        status = WADI_NEW(&made.triangles, triangle_count, "mesh triangles", error);
    }
    if (status != WADI_OK) {
        wadi_mesh_free(&made);
        return status;
    }
    memcpy(made.vertices, vertices, vertex_count * sizeof *vertices);
    memcpy(made.triangles, triangles, triangle_count * sizeof *triangles);
    *mesh = made;
    return WADI_OK;
}

void wadi_mesh_free(WadiMesh *mesh)
{
    WADI_DELETE(mesh->vertices, mesh->vertex_count);
    WADI_DELETE(mesh->triangles, mesh->triangle_count);
    *mesh = (WadiMesh){ 0 };
}

WadiBox wadi_mesh_bounds(const WadiMesh *mesh)
{
    WadiBox box = wadi_box_empty();
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        for (int k = 0; k < 3; ++k) {
            box = wadi_box_add_point(box, mesh->vertices[mesh->triangles[t][k]]);
        }
    }
    return box;
}

double wadi_mesh_area(const WadiMesh *mesh)
{
    double area = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *v = mesh->triangles[t];
        WadiVec3 a = mesh->vertices[v[0]];
        area +=
            0.5 * wadi_norm(wadi_cross(wadi_sub(mesh->vertices[v[1]], a), wadi_sub(mesh->vertices[v[2]], a)));
    }
    return area;
}

double wadi_mesh_volume(const WadiMesh *mesh)
{
    WadiBox box = wadi_mesh_bounds(mesh);
    WadiVec3 middle = wadi_scale(wadi_add(box.min, box.max), 0.5);
    double volume = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *v = mesh->triangles[t];
        WadiVec3 a = wadi_sub(mesh->vertices[v[0]], middle), b = wadi_sub(mesh->vertices[v[1]], middle);
        WadiVec3 c = wadi_sub(mesh->vertices[v[2]], middle);
        volume += wadi_dot(a, wadi_cross(b, c)) / 6.0;
    }
    return volume;
}
