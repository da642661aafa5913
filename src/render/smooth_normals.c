#include "render/smooth_normals.h"

#include "core/alloc.h"

static const double CREASE_COSINE = 0.766; /* 40 degrees */

typedef struct Corners {
    uint32_t *start;    /* of each vertex in `triangle`, and the end */
    uint32_t *triangle; /* around the vertices, in order */
} Corners;

static WadiStatus find_corners(Corners *corners, const WadiMesh *mesh, WadiArena *arena, WadiError *error)
{
    WADI_TRY(WADI_ARENA_NEW(arena, &corners->start, mesh->vertex_count + 2, "corners of a mesh", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &corners->triangle, 3 * mesh->triangle_count, "corners of a mesh", error));
    uint32_t *start = corners->start;
    for (size_t v = 0; v < mesh->vertex_count + 2; ++v) {
        start[v] = 0;
    }
    for (size_t c = 0; c < 3 * mesh->triangle_count; ++c) {
        start[mesh->triangles[c / 3][c % 3] + 2] += 1;
    }
    for (size_t v = 2; v < mesh->vertex_count + 2; ++v) {
        start[v] += start[v - 1];
    }
    for (size_t c = 0; c < 3 * mesh->triangle_count; ++c) { /* start[v + 1] moves to the end of v */
        corners->triangle[start[mesh->triangles[c / 3][c % 3] + 1]++] = (uint32_t)(c / 3);
    }
    return WADI_OK;
}

WadiStatus wadi_smooth_normals(float (**normal)[3], const WadiMesh *mesh, WadiArena *arena, WadiError *error)
{
    Corners corners;
    WadiVec3 *area;
    WADI_TRY(WADI_ARENA_NEW(arena, normal, 3 * mesh->triangle_count, "normals of a solid", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &area, mesh->triangle_count, "normals of a solid", error));
    WADI_TRY(find_corners(&corners, mesh, arena, error));
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *v = mesh->triangles[t];
        WadiVec3 a = mesh->vertices[v[0]];
        area[t] = wadi_cross(wadi_sub(mesh->vertices[v[1]], a), wadi_sub(mesh->vertices[v[2]], a));
    }
    for (size_t c = 0; c < 3 * mesh->triangle_count; ++c) {
        uint32_t v = mesh->triangles[c / 3][c % 3];
        WadiVec3 own = area[c / 3], sum = { 0 };
        for (uint32_t n = corners.start[v]; n < corners.start[v + 1]; ++n) {
            WadiVec3 other = area[corners.triangle[n]];
            if (wadi_dot(own, other) > CREASE_COSINE * wadi_norm(own) * wadi_norm(other)) {
                sum = wadi_add(sum, other);
            }
        }
        (*normal)[c][0] = (float)sum.x;
        (*normal)[c][1] = (float)sum.y;
        (*normal)[c][2] = (float)sum.z;
    }
    return WADI_OK;
}
