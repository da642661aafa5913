#include "geom/read/mesh_gather.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "geom/mesh/mesh.h"

static const double coordinate_max = 1e12; /* m; squares of it still fit Embree's floats */

void wadi_gather_free(WadiMeshGather *gather)
{
    WADI_ARRAY_FREE(&gather->vertices);
    WADI_ARRAY_FREE(&gather->corners);
    WADI_ARRAY_FREE(&gather->polygon);
    WADI_ARRAY_FREE(&gather->flat);
    WADI_ARRAY_FREE(&gather->neighbour);
}

WadiStatus wadi_gather_fail(const WadiMeshGather *gather, const char *format, ...)
{
    char reason[256];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return gather->line > 0
               ? wadi_fail(gather->error, WADI_ERR_FORMAT, "%s:%zu: %s", gather->name, gather->line, reason)
               : wadi_fail(gather->error, WADI_ERR_FORMAT, "%s: %s", gather->name, reason);
}

WadiStatus wadi_gather_vertex(WadiMeshGather *gather, WadiVec3 p)
{
    if (!(fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) <= coordinate_max) || !wadi_is_finite(p)) {
        return wadi_gather_fail(gather,
                                "vertex %zu is (%g, %g, %g): coordinates must be finite and below 1e12",
                                gather->vertices.count, p.x, p.y, p.z);
    }
    if (gather->vertices.count >= UINT32_MAX - 1) {
        return wadi_gather_fail(gather, "more than 4294967294 vertices");
    }
    return WADI_ARRAY_PUSH(&gather->vertices, p, "mesh vertices", gather->error);
}

WadiStatus wadi_gather_corner(WadiMeshGather *gather, int64_t index)
{
    if (index < 0 || (uint64_t)index >= gather->vertices.count) {
        return wadi_gather_fail(
            gather, "a face names vertex %lld (counted from 0), but there are only %zu: cut off or damaged?",
            (long long)index, gather->vertices.count);
    }
    gather->face_hash = wadi_hash_combine(gather->face_hash, (uint64_t)index);
    return WADI_ARRAY_PUSH(&gather->polygon, (uint32_t)index, "mesh face", gather->error);
}

WadiStatus wadi_gather_triangle(WadiMeshGather *gather, uint32_t a, uint32_t b, uint32_t c)
{
    if (gather->corners.count >= 3 * (size_t)WADI_MESH_TRIANGLES_MAX) {
        return wadi_gather_fail(gather, "more than %d triangles", WADI_MESH_TRIANGLES_MAX);
    }
    WADI_TRY(
        WADI_ARRAY_RESERVE(&gather->corners, gather->corners.count + 3, "mesh triangles", gather->error));
    uint32_t *corner = gather->corners.data + gather->corners.count;
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;
    gather->corners.count += 3;
    return WADI_OK;
}

WadiStatus wadi_gather_strip(WadiMeshGather *gather)
{
    const uint32_t *v = gather->polygon.data;
    for (size_t i = 2; i < gather->polygon.count; ++i) {
        size_t odd = i % 2; /* every second triangle would face the other way */
        WADI_TRY(wadi_gather_triangle(gather, v[i - 2 + odd], v[i - 1 - odd], v[i]));
    }
    gather->face_hash = wadi_hash_mix(gather->face_hash);
    gather->polygon.count = 0;
    return WADI_OK;
}

WadiStatus wadi_gather_compact(WadiMeshGather *gather)
{
    size_t count = gather->vertices.count, kept = 0;
    uint32_t *new_index; /* 1 where used, then the new number */
    WADI_TRY(WADI_NEW(&new_index, count, "mesh vertex numbers", gather->error));
    for (size_t i = 0; i < gather->corners.count; ++i) {
        new_index[gather->corners.data[i]] = 1;
    }
    for (size_t i = 0; i < count; ++i) {
        if (new_index[i] != 0) {
            gather->vertices.data[kept] = gather->vertices.data[i];
            new_index[i] = (uint32_t)kept++;
        }
    }
    gather->vertices.count = kept;
    for (size_t i = 0; i < gather->corners.count; ++i) {
        gather->corners.data[i] = new_index[gather->corners.data[i]];
    }
    WADI_DELETE(new_index, count);
    return WADI_OK;
}
