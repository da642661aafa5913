/* Height map reader on arbitrary bytes. */
#include "core/check.h"
#include "geom/mesh/heightmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    WadiMesh mesh;
    WadiError error;
    WadiBox box = { { 0, 0, 0 }, { 1, 2, 3 } };
    if (wadi_heightmap_read_memory(&mesh, data, size, "fuzz", box, &error) == WADI_OK) {
        WADI_ASSERT(mesh.triangle_count >= 2 && wadi_is_finite(wadi_mesh_bounds(&mesh).min));
    } else {
        WADI_ASSERT(mesh.triangle_count == 0 && mesh.vertices == NULL);
    }
    wadi_mesh_free(&mesh);
    return 0;
}
