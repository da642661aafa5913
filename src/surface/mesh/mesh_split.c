/* Splits vertices at which parts of a mesh touch: where walls are opened, two sheets may have been joined
 * only by the wall's triangles. */
#include <string.h>

#include "core/parallel.h"
#include "surface/mesh/mesh_rim.h"

/* A triangle at a vertex, with its other corners in the triangle's order. */
typedef struct Corner {
    uint32_t triangle, next, last;
    uint32_t fan;
} Corner;

typedef struct Corners {
    int32_t *first; /* per vertex + 1 */
    Corner *corner;
} Corners;

static WadiStatus list_corners(Corners *list, const WadiMesh *mesh, WadiArena *arena, WadiError *error)
{
    size_t corners = 3 * mesh->triangle_count;
    int32_t *fill;
    WADI_TRY(WADI_ARENA_NEW(arena, &list->first, mesh->vertex_count + 1, "surface rim", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &fill, mesh->vertex_count, "surface rim", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &list->corner, corners, "surface rim", error));
    memset(list->first, 0, (mesh->vertex_count + 1) * sizeof *list->first);
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        for (int c = 0; c < 3; ++c) {
            list->first[mesh->triangles[t][c]] += 1;
        }
    }
    wadi_prefix_sum(list->first, (int64_t)mesh->vertex_count);
    memcpy(fill, list->first, mesh->vertex_count * sizeof *fill);
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *v = mesh->triangles[t];
        for (int c = 0; c < 3; ++c) {
            list->corner[fill[v[c]]++] =
                (Corner){ .triangle = (uint32_t)t, .next = v[(c + 1) % 3], .last = v[(c + 2) % 3] };
        }
    }
    return WADI_OK;
}

/* Numbers the fans of a vertex from 1: triangles that share an edge are in one fan. Returns the count. */
static uint32_t number_fans(Corner *corner, int32_t count)
{
    uint32_t fans = 0;
    for (int32_t n = 0; n < count; ++n) {
        if (corner[n].fan != 0) {
            continue;
        }
        corner[n].fan = ++fans;
        for (bool has_grown = true; has_grown;) {
            has_grown = false;
            for (int32_t a = 0; a < count; ++a) {
                for (int32_t b = 0; b < count && corner[a].fan == 0; ++b) {
                    bool is_adjacent = corner[b].next == corner[a].last || corner[b].last == corner[a].next;
                    if (corner[b].fan == fans && is_adjacent) {
                        corner[a].fan = fans;
                        has_grown = true;
                    }
                }
            }
        }
    }
    return fans;
}

WadiStatus wadi_surface_split(WadiMeshSplit *split, const WadiMesh *mesh, WadiArena *arena, WadiError *error)
{
    *split = (WadiMeshSplit){ 0 };
    if (mesh->vertex_count == 0) {
        return WADI_OK;
    }
    Corners list;
    WADI_TRY(list_corners(&list, mesh, arena, error));
    size_t moved = 0;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        Corner *corner = list.corner + list.first[v];
        int32_t count = list.first[v + 1] - list.first[v];
        uint32_t fans = number_fans(corner, count);
        split->added += fans > 1 ? fans - 1 : 0;
        for (int32_t n = 0; n < count; ++n) {
            moved += corner[n].fan > 1;
        }
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &split->source, split->added, "surface rim", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &split->corner, moved, "surface rim", error));
    uint32_t next = (uint32_t)mesh->vertex_count;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        uint32_t fans = 1;
        for (int32_t n = list.first[v]; n < list.first[v + 1]; ++n) {
            const Corner *corner = &list.corner[n];
            fans = corner->fan > fans ? corner->fan : fans;
            if (corner->fan > 1) {
                split->corner[split->corner_count++] =
                    (WadiMovedCorner){ corner->triangle, (uint32_t)v, next + corner->fan - 2 };
            }
        }
        for (uint32_t fan = 1; fan < fans; ++fan) {
            split->source[next++ - mesh->vertex_count] = (uint32_t)v;
        }
    }
    return WADI_OK;
}
