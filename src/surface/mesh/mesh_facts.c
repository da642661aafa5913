/* What kind of surface a mesh is, in time linear in its size.
 *
 * Around each vertex its triangles are looked at together. A neighbour met by one triangle alone is the other end of a rim; one
 * met as often behind as ahead belongs to an edge that cancels; and the neighbours, joined where they share a triangle, hang
 * together when the triangles are one fan. (geom/mesh/mesh_topology.c, which finds the holes too, sorts all edges.) */
#include "core/alloc.h"
#include "surface/mesh/surface_mesh.h"

/* A vertex beside the one looked at. */
typedef struct Beside {
    uint32_t center;      /* vertex for which the rest holds, + 1 */
    uint32_t parent;      /* union-find among the vertices beside */
    uint32_t ahead, back; /* triangles that run center -> this, this -> center */
} Beside;

typedef struct Links {
    uint32_t *start;  /* per vertex + 1: its triangles in `triangle` */
    uint32_t *corner; /* 3 triangle + corner, by vertex */
    Beside *beside;   /* per vertex */
} Links;

typedef struct Tally {
    size_t used, edges;
    size_t rim_ends, uneven_ends, crowded_ends, split_vertices;
    WadiBox bounds;
} Tally;

static WadiStatus link_corners(Links *links, const WadiMesh *mesh, WadiError *error)
{
    size_t corners = 3 * mesh->triangle_count;
    WADI_TRY(WADI_NEW(&links->start, mesh->vertex_count + 1, "mesh fans", error));
    WADI_TRY(WADI_NEW(&links->corner, corners, "mesh fans", error));
    WADI_TRY(WADI_NEW(&links->beside, mesh->vertex_count, "mesh fans", error));
    for (size_t c = 0; c < corners; ++c) {
        ++links->start[mesh->triangles[c / 3][c % 3]];
    }
    uint32_t sum = 0;
    for (size_t v = 0; v <= mesh->vertex_count; ++v) {
        sum += links->start[v];
        links->start[v] = sum;
    }
    for (size_t c = corners; c-- > 0;) {
        links->corner[--links->start[mesh->triangles[c / 3][c % 3]]] = (uint32_t)c;
    }
    return WADI_OK;
}

static uint32_t find_root(Beside *beside, uint32_t v)
{
    while (beside[v].parent != v) {
        beside[v].parent = beside[beside[v].parent].parent;
        v = beside[v].parent;
    }
    return v;
}

static Beside *meet(Links *links, uint32_t center, uint32_t v, size_t *parts)
{
    Beside *beside = &links->beside[v];
    if (beside->center != center + 1) {
        *beside = (Beside){ .center = center + 1, .parent = v };
        ++*parts;
    }
    return beside;
}

/* An edge is counted at its lower end; everything else at both. */
static void count_beside(Links *links, uint32_t center, uint32_t v, Tally *tally)
{
    Beside *beside = &links->beside[v];
    uint32_t all = beside->ahead + beside->back;
    if (all == 0) {
        return;
    }
    tally->edges += center < v;
    tally->rim_ends += all == 1;
    tally->uneven_ends += beside->ahead != beside->back;
    tally->crowded_ends += all > 2;
    beside->ahead = beside->back = 0;
}

static void look_around(Links *links, const WadiMesh *mesh, uint32_t center, Tally *tally)
{
    uint32_t first = links->start[center], end = links->start[center + 1];
    size_t parts = 0;
    for (uint32_t n = first; n < end; ++n) {
        uint32_t c = links->corner[n];
        const uint32_t *triangle = mesh->triangles[c / 3];
        uint32_t b = triangle[(c + 1) % 3], d = triangle[(c + 2) % 3];
        ++meet(links, center, b, &parts)->ahead;
        ++meet(links, center, d, &parts)->back;
        uint32_t p = find_root(links->beside, b), q = find_root(links->beside, d);
        links->beside[q].parent = p;
        parts -= p != q;
    }
    for (uint32_t n = first; n < end; ++n) {
        uint32_t c = links->corner[n];
        count_beside(links, center, mesh->triangles[c / 3][(c + 1) % 3], tally);
        count_beside(links, center, mesh->triangles[c / 3][(c + 2) % 3], tally);
    }
    if (end > first) {
        ++tally->used;
        tally->bounds = wadi_box_add_point(tally->bounds, mesh->vertices[center]);
    }
    tally->split_vertices += parts > 1;
}

/* Vertices that triangles join, directly or not. */
static size_t count_parts(Links *links, const WadiMesh *mesh, size_t used)
{
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        links->beside[v].parent = (uint32_t)v;
    }
    size_t parts = used;
    for (size_t c = 0; c < 3 * mesh->triangle_count; ++c) {
        const uint32_t *triangle = mesh->triangles[c / 3];
        uint32_t p = find_root(links->beside, triangle[c % 3]);
        uint32_t q = find_root(links->beside, triangle[(c + 1) % 3]);
        links->beside[p > q ? p : q].parent = p > q ? q : p;
        parts -= p != q;
    }
    return parts;
}

WadiStatus wadi_surface_facts(WadiSurfaceFacts *facts, const WadiMesh *mesh, WadiError *error)
{
    *facts = (WadiSurfaceFacts){ .bounds = wadi_box_empty() };
    if (mesh->triangle_count > WADI_MESH_TRIANGLES_MAX || mesh->vertex_count >= UINT32_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the mesh has %zu triangles, at most %d are possible",
                         mesh->triangle_count, WADI_MESH_TRIANGLES_MAX);
    }
    Links links = { 0 };
    WadiStatus status = link_corners(&links, mesh, error);
    if (status == WADI_OK) {
        Tally tally = { .bounds = wadi_box_empty() };
        for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
            look_around(&links, mesh, v, &tally);
        }
        *facts = (WadiSurfaceFacts){
            .vertices = mesh->vertex_count,
            .triangles = mesh->triangle_count,
            .parts = count_parts(&links, mesh, tally.used),
            .area = wadi_mesh_area(mesh),
            .euler = (int64_t)tally.used - (int64_t)tally.edges + (int64_t)mesh->triangle_count,
            .is_closed = tally.rim_ends == 0,
            .is_oriented = tally.uneven_ends == 0,
            .is_manifold = tally.crowded_ends == 0 && tally.split_vertices == 0,
            .bounds = tally.bounds,
        };
        facts->volume = facts->is_closed && facts->is_oriented ? wadi_mesh_volume(mesh) : 0.0;
    }
    WADI_DELETE(links.start, mesh->vertex_count + 1);
    WADI_DELETE(links.corner, 3 * mesh->triangle_count);
    WADI_DELETE(links.beside, mesh->vertex_count);
    return status;
}
