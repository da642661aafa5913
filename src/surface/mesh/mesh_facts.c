/* Topology of a mesh, in time linear in its size.
 *
 * All triangles of a vertex are visited together. A neighbour in only one of them is the other end of a rim
 * edge; one that follows the vertex as often as it precedes it belongs to a consistently oriented edge; and
 * when the neighbours, joined by their triangles, are connected, the triangles form one fan.
 * (geom/mesh/mesh_topology.c, which also finds the holes, sorts all edges.) */
#include "core/alloc.h"
#include "surface/mesh/surface_mesh.h"

/* A neighbour of the current vertex, `center`. */
typedef struct Neighbour {
    uint32_t center;      /* the vertex that the other members refer to, + 1 */
    uint32_t parent;      /* union-find among the neighbours */
    uint32_t ahead, back; /* triangles that contain center -> this, this -> center */
} Neighbour;

typedef struct Links {
    uint32_t *start;      /* per vertex + 1: its triangles in `triangle` */
    uint32_t *corner;     /* 3 triangle + corner, by vertex */
    Neighbour *neighbour; /* per vertex */
} Links;

typedef struct Tally {
    size_t used, edges;
    size_t rim_ends, unpaired_ends, excess_ends, split_vertices;
    WadiBox bounds;
} Tally;

static WadiStatus link_corners(Links *links, const WadiMesh *mesh, WadiError *error)
{
    size_t corners = 3 * mesh->triangle_count;
    WADI_TRY(WADI_NEW(&links->start, mesh->vertex_count + 1, "mesh fans", error));
    WADI_TRY(WADI_NEW(&links->corner, corners, "mesh fans", error));
    WADI_TRY(WADI_NEW(&links->neighbour, mesh->vertex_count, "mesh fans", error));
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

static uint32_t find_root(Neighbour *neighbour, uint32_t v)
{
    while (neighbour[v].parent != v) {
        neighbour[v].parent = neighbour[neighbour[v].parent].parent;
        v = neighbour[v].parent;
    }
    return v;
}

static Neighbour *visit_neighbour(Links *links, uint32_t center, uint32_t v, size_t *parts)
{
    Neighbour *neighbour = &links->neighbour[v];
    if (neighbour->center != center + 1) {
        *neighbour = (Neighbour){ .center = center + 1, .parent = v };
        ++*parts;
    }
    return neighbour;
}

/* An edge is counted at its lower end, everything else at both ends. */
static void count_neighbour(Links *links, uint32_t center, uint32_t v, Tally *tally)
{
    Neighbour *neighbour = &links->neighbour[v];
    uint32_t all = neighbour->ahead + neighbour->back;
    if (all == 0) {
        return;
    }
    tally->edges += center < v;
    tally->rim_ends += all == 1;
    tally->unpaired_ends += neighbour->ahead != neighbour->back;
    tally->excess_ends += all > 2;
    neighbour->ahead = neighbour->back = 0;
}

static void count_around(Links *links, const WadiMesh *mesh, uint32_t center, Tally *tally)
{
    uint32_t first = links->start[center], end = links->start[center + 1];
    size_t parts = 0;
    for (uint32_t n = first; n < end; ++n) {
        uint32_t c = links->corner[n];
        const uint32_t *triangle = mesh->triangles[c / 3];
        uint32_t b = triangle[(c + 1) % 3], d = triangle[(c + 2) % 3];
        ++visit_neighbour(links, center, b, &parts)->ahead;
        ++visit_neighbour(links, center, d, &parts)->back;
        uint32_t p = find_root(links->neighbour, b), q = find_root(links->neighbour, d);
        links->neighbour[q].parent = p;
        parts -= p != q;
    }
    for (uint32_t n = first; n < end; ++n) {
        uint32_t c = links->corner[n];
        count_neighbour(links, center, mesh->triangles[c / 3][(c + 1) % 3], tally);
        count_neighbour(links, center, mesh->triangles[c / 3][(c + 2) % 3], tally);
    }
    if (end > first) {
        ++tally->used;
        tally->bounds = wadi_box_add_point(tally->bounds, mesh->vertices[center]);
    }
    tally->split_vertices += parts > 1;
}

/* Number of connected components. */
static size_t count_parts(Links *links, const WadiMesh *mesh, size_t used)
{
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        links->neighbour[v].parent = (uint32_t)v;
    }
    size_t parts = used;
    for (size_t c = 0; c < 3 * mesh->triangle_count; ++c) {
        const uint32_t *triangle = mesh->triangles[c / 3];
        uint32_t p = find_root(links->neighbour, triangle[c % 3]);
        uint32_t q = find_root(links->neighbour, triangle[(c + 1) % 3]);
        links->neighbour[p > q ? p : q].parent = p > q ? q : p;
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
            count_around(&links, mesh, v, &tally);
        }
        *facts = (WadiSurfaceFacts){
            .vertices = mesh->vertex_count,
            .triangles = mesh->triangle_count,
            .parts = count_parts(&links, mesh, tally.used),
            .area = wadi_mesh_area(mesh),
            .euler = (int64_t)tally.used - (int64_t)tally.edges + (int64_t)mesh->triangle_count,
            .is_closed = tally.rim_ends == 0,
            .is_oriented = tally.unpaired_ends == 0,
            .is_manifold = tally.excess_ends == 0 && tally.split_vertices == 0,
            .bounds = tally.bounds,
        };
        facts->volume = facts->is_closed && facts->is_oriented ? wadi_mesh_volume(mesh) : 0.0;
    }
    WADI_DELETE(links.start, mesh->vertex_count + 1);
    WADI_DELETE(links.corner, 3 * mesh->triangle_count);
    WADI_DELETE(links.neighbour, mesh->vertex_count);
    return status;
}
