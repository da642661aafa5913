#include "surface/mesh/surface_mesh.h"

#include <string.h>

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

float *wadi_surface_mesh_attribute(const WadiSurfaceMesh *surface, const char *name, int components)
{
    for (int a = 0; a < surface->attribute_count; ++a) {
        if (strcmp(surface->attribute[a].name, name) == 0 && surface->attribute[a].components == components) {
            return surface->attribute[a].values;
        }
    }
    return NULL;
}

static void turn(float v[3])
{
    float y = v[1];
    v[1] = v[2];
    v[2] = -y;
}

void wadi_surface_mesh_turn_up(WadiSurfaceMesh *surface)
{
    size_t count = surface->mesh.vertex_count;
    for (size_t v = 0; v < count; ++v) {
        WadiVec3 x = surface->mesh.vertices[v];
        surface->mesh.vertices[v] = wadi_vec3(x.x, x.z, -x.y);
        turn(surface->normal[v]);
    }
    for (int a = 0; a < surface->attribute_count; ++a) {
        const WadiCloudAttribute *attribute = &surface->attribute[a];
        bool is_velocity = strcmp(attribute->name, "velocity") == 0 && attribute->components == 3;
        for (size_t v = 0; v < count && is_velocity; ++v) {
            turn(attribute->values + 3 * v);
        }
    }
}
