/* Merges vertices of equal position: a solid needs positions alone, while files repeat a vertex for every
 * texture coordinate, normal or triangle. */
#include <string.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "geom/mesh/mesh.h"

static uint64_t hash_position(WadiVec3 p)
{
    /* Adding zero turns -0 into 0. */
    double value[3] = { p.x + 0.0, p.y + 0.0, p.z + 0.0 };
    uint64_t bits[3];
    memcpy(bits, value, sizeof bits);
    return wadi_hash_combine(wadi_hash_combine(wadi_hash_mix(bits[0]), bits[1]), bits[2]);
}

/* Equal positions become one vertex, numbered by first use. */
static WadiStatus unify(const WadiVec3 *vertices, size_t count, WadiVec3 *kept, size_t *kept_count,
                        uint32_t *new_index, WadiError *error)
{
    size_t slots = 64;
    while (slots < 2 * count) {
        slots *= 2;
    }
    uint32_t *table; /* 1 + index into kept; 0: free */
    WADI_TRY(WADI_NEW(&table, slots, "mesh vertex table", error));
    *kept_count = 0;
    for (size_t i = 0; i < count; ++i) {
        WadiVec3 p = vertices[i];
        size_t slot = hash_position(p) & (slots - 1);
        while (table[slot] != 0) {
            WadiVec3 q = kept[table[slot] - 1];
            if (p.x == q.x && p.y == q.y && p.z == q.z) {
                break;
            }
            slot = (slot + 1) & (slots - 1);
        }
        if (table[slot] == 0) {
            kept[(*kept_count)++] = p;
            table[slot] = (uint32_t)*kept_count;
        }
        new_index[i] = table[slot] - 1;
    }
    WADI_DELETE(table, slots);
    return WADI_OK;
}

WadiStatus wadi_mesh_weld(WadiMesh *mesh, const WadiMesh *raw, uint32_t *new_index, const char *name,
                          WadiError *error)
{
    *mesh = (WadiMesh){ 0 };
    size_t kept_count = 0, triangle_count = 0;
    WadiVec3 *kept = NULL;
    uint32_t(*triangle)[3] = NULL;
    WadiStatus status = WADI_NEW(&kept, raw->vertex_count, "mesh vertices", error);
    if (status == WADI_OK) {
        status = WADI_NEW(&triangle, raw->triangle_count, "mesh triangles", error);
    }
    if (status == WADI_OK) {
        status = unify(raw->vertices, raw->vertex_count, kept, &kept_count, new_index, error);
    }
    for (size_t t = 0; t < raw->triangle_count && status == WADI_OK; ++t) {
        const uint32_t *v = raw->triangles[t];
        uint32_t a = new_index[v[0]], b = new_index[v[1]], c = new_index[v[2]];
        if (a != b && b != c && c != a) {
            memcpy(triangle[triangle_count++], (uint32_t[3]){ a, b, c }, sizeof *triangle);
        }
    }
    if (status == WADI_OK && triangle_count == 0) {
        status = wadi_fail(error, WADI_ERR_FORMAT, "%s: no triangles in it", name);
    }
    if (status == WADI_OK) {
        status =
            wadi_mesh_create(mesh, kept, kept_count, (const uint32_t(*)[3])triangle, triangle_count, error);
        mesh->dropped_count = raw->triangle_count - triangle_count;
    }
    WADI_DELETE(kept, raw->vertex_count);
    WADI_DELETE(triangle, raw->triangle_count);
    return status;
}
