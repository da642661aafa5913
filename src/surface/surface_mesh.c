#include "surface/surface_mesh.h"

#include "core/alloc.h"

void wadi_surface_mesh_free(WadiSurfaceMesh *surface)
{
    size_t count = surface->mesh.vertex_count;
    WADI_DELETE(surface->normal, count);
    for (int a = 0; a < surface->attribute_count; ++a) {
        WADI_DELETE(surface->attribute[a].values, count * (size_t)surface->attribute[a].components);
    }
    wadi_mesh_free(&surface->mesh);
    *surface = (WadiSurfaceMesh){ 0 };
}
