/* Mesh reader on arbitrary bytes: the first byte picks the format, the rest is the file. */
#include <stdlib.h>

#include "core/check.h"
#include "geom/mesh/mesh_solid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = { "obj", "ply", "stl", "off", "gltf", "glb" };
    if (size < 2) {
        return 0;
    }
    WadiMesh mesh;
    WadiError error;
    if (wadi_mesh_read_memory(&mesh, data + 1, size - 1, formats[data[0] % 6], "fuzz", &error) != WADI_OK) {
        WADI_ASSERT(mesh.triangle_count == 0 && mesh.vertices == NULL);
        return 0;
    }
    for (size_t t = 0; t < mesh.triangle_count; ++t) {
        for (int k = 0; k < 3; ++k) {
            WADI_ASSERT(mesh.triangles[t][k] < mesh.vertex_count);
        }
    }
    if (mesh.triangle_count > 2000) {
        wadi_mesh_free(&mesh);
        return 0;
    }
    WadiMeshSolid solid;
    if (wadi_mesh_solid_create(&solid, &mesh, false, &error) == WADI_OK) {
        WadiMeshNearest nearest;
        WadiVec3 normal, x = wadi_lerp(solid.bounds.min, solid.bounds.max, 0.4);
        WADI_ASSERT(isfinite(wadi_mesh_solid_sample(&solid, x, false, &nearest, &normal)));
        WADI_ASSERT(fabs(wadi_norm(normal) - 1.0) < 1e-9);
        wadi_mesh_solid_free(&solid);
    }
    return 0;
}
