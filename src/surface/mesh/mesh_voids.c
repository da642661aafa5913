/* Removes the surfaces of closed voids: components that face inwards, whose volume is negative. */
#include <string.h>

#include "core/alloc.h"
#include "surface/mesh/mesh_smooth_internal.h"

WadiStatus wadi_surface_drop_voids(WadiSurfaceMesh *surface, WadiArena *arena, WadiError *error)
{
    WadiMesh *mesh = &surface->mesh;
    if (mesh->triangle_count == 0) {
        return WADI_OK;
    }
    WadiArenaMark mark = wadi_arena_mark(arena);
    WadiMeshSmooth parts = { .surface = surface };
    WadiStatus status = wadi_mesh_smooth_prepare(&parts, false, (WadiBox){ 0 }, arena, error);
    size_t kept = 0;
    for (size_t t = 0; status == WADI_OK && t < mesh->triangle_count; ++t) {
        if (parts.parts[parts.part[mesh->triangles[t][0]]].volume >= 0.0) {
            memmove(mesh->triangles[kept++], mesh->triangles[t], sizeof mesh->triangles[t]);
        }
    }
    if (status == WADI_OK && kept > 0 && kept < mesh->triangle_count) {
        status = WADI_RESIZE(&mesh->triangles, mesh->triangle_count, kept, "surface triangles", error);
        mesh->triangle_count = status == WADI_OK ? kept : mesh->triangle_count;
    }
    wadi_arena_release(arena, mark);
    return status;
}
