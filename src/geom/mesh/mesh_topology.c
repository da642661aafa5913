/* Defects of a mesh as the boundary of a solid, from one sort of its edges. */
#include <stdlib.h>

#include "core/alloc.h"
#include "geom/mesh/mesh.h"

typedef struct EdgeUse {
    uint32_t low, high;
    int direction; /* +1: the triangle runs low -> high */
} EdgeUse;

static int compare_edges(const void *left, const void *right)
{
    const EdgeUse *a = left, *b = right;
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    return a->high < b->high ? -1 : a->high > b->high;
}

static int compare_triples(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    for (int i = 0; i < 3; ++i) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

static void sort_three(const uint32_t in[3], uint32_t out[3])
{
    uint32_t a = in[0], b = in[1], c = in[2];
    out[0] = a < b ? (a < c ? a : c) : (b < c ? b : c);
    out[2] = a > b ? (a > c ? a : c) : (b > c ? b : c);
    out[1] = a ^ b ^ c ^ out[0] ^ out[2];
}

static WadiStatus count_triangles(const WadiMesh *mesh, WadiMeshTopology *out, WadiError *error)
{
    uint32_t(*sorted)[3];
    WADI_TRY(WADI_NEW(&sorted, mesh->triangle_count, "mesh triangles", error));
    out->degenerate_triangles = mesh->dropped_count;
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *v = mesh->triangles[t];
        WadiVec3 e = wadi_sub(mesh->vertices[v[1]], mesh->vertices[v[0]]);
        WadiVec3 f = wadi_sub(mesh->vertices[v[2]], mesh->vertices[v[0]]);
        double longest = fmax(wadi_dot(e, e), wadi_dot(f, f));
        out->degenerate_triangles += !(wadi_norm(wadi_cross(e, f)) > 1e-14 * longest);
        sort_three(v, sorted[t]);
    }
    qsort(sorted, mesh->triangle_count, sizeof *sorted, compare_triples);
    for (size_t t = 1; t < mesh->triangle_count; ++t) {
        out->duplicate_triangles += compare_triples(sorted[t - 1], sorted[t]) == 0;
    }
    WADI_DELETE(sorted, mesh->triangle_count);
    return WADI_OK;
}

static uint32_t find_root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/* Connected boundary edges (those of one triangle) form one hole. */
static WadiStatus find_holes(const WadiMesh *mesh, const EdgeUse *boundary, size_t count,
                             WadiMeshTopology *out, WadiError *error)
{
    typedef struct Hole {
        WadiBox box;
        WadiVec3 sum;
        size_t edges;
    } Hole;
    uint32_t *parent;
    Hole *holes = NULL;
    WadiStatus status = WADI_NEW(&parent, mesh->vertex_count, "mesh rims", error);
    if (status == WADI_OK) {
        status = WADI_NEW(&holes, mesh->vertex_count, "mesh rims", error);
    }
    if (status == WADI_OK) {
        for (size_t v = 0; v < mesh->vertex_count; ++v) {
            parent[v] = (uint32_t)v;
            holes[v].box = wadi_box_empty();
        }
        for (size_t i = 0; i < count; ++i) {
            uint32_t a = find_root(parent, boundary[i].low), b = find_root(parent, boundary[i].high);
            parent[a > b ? a : b] = a > b ? b : a;
        }
        for (size_t i = 0; i < count; ++i) {
            Hole *hole = &holes[find_root(parent, boundary[i].low)];
            WadiVec3 a = mesh->vertices[boundary[i].low], b = mesh->vertices[boundary[i].high];
            hole->box = wadi_box_add_point(wadi_box_add_point(hole->box, a), b);
            hole->sum = wadi_add(hole->sum, wadi_scale(wadi_add(a, b), 0.5));
            ++hole->edges;
        }
        for (size_t v = 0; v < mesh->vertex_count; ++v) {
            if (holes[v].edges == 0) {
                continue;
            }
            ++out->hole_count;
            WadiVec3 size = wadi_box_size(holes[v].box);
            double width = fmax(size.x, fmax(size.y, size.z));
            if (width > out->hole_width) {
                out->hole_width = width;
                out->hole_center = wadi_scale(holes[v].sum, 1.0 / (double)holes[v].edges);
            }
        }
    }
    WADI_DELETE(parent, mesh->vertex_count);
    WADI_DELETE(holes, mesh->vertex_count);
    return status;
}

/* Visits the runs of equal edges; boundary edges are packed to the front of `uses`, rims are written to
 * `rim`. */
static size_t count_edges(EdgeUse *uses, size_t count, WadiRimEdge *rim, WadiMeshTopology *out)
{
    size_t boundary = 0;
    for (size_t i = 0, end; i < count; i = end) {
        EdgeUse edge = uses[i];
        int net = 0;
        for (end = i; end < count && compare_edges(&edge, &uses[end]) == 0; ++end) {
            net += uses[end].direction;
        }
        size_t triangles = end - i;
        out->non_manifold_edges += triangles > 2;
        out->flipped_edges += triangles == 2 && net != 0;
        if (net != 0) {
            rim[out->rim_count++] = (WadiRimEdge){ edge.low, edge.high, net };
        }
        if (triangles == 1) {
            uses[boundary++] = edge;
        }
    }
    out->boundary_edges = boundary;
    return boundary;
}

WadiStatus wadi_mesh_topology(const WadiMesh *mesh, WadiMeshTopology *topology, WadiError *error)
{
    *topology = (WadiMeshTopology){ 0 };
    WADI_TRY(count_triangles(mesh, topology, error));
    size_t count = 3 * mesh->triangle_count;
    EdgeUse *uses;
    WadiRimEdge *rim = NULL;
    WADI_TRY(WADI_NEW(&uses, count, "mesh edges", error));
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        for (int k = 0; k < 3; ++k) {
            uint32_t a = mesh->triangles[t][k], b = mesh->triangles[t][(k + 1) % 3];
            uses[3 * t + (size_t)k] = (EdgeUse){ a < b ? a : b, a < b ? b : a, a < b ? 1 : -1 };
        }
    }
    qsort(uses, count, sizeof *uses, compare_edges);
    WadiStatus status = WADI_NEW(&rim, count, "mesh rims", error);
    if (status == WADI_OK) {
        size_t boundary = count_edges(uses, count, rim, topology);
        topology->is_closed = boundary == 0;
        topology->is_oriented = topology->rim_count == 0;
        status = boundary > 0 ? find_holes(mesh, uses, boundary, topology, error) : WADI_OK;
    }
    if (status == WADI_OK && topology->rim_count > 0) {
        status = WADI_RESIZE(&rim, count, topology->rim_count, "mesh rims", error);
        count = status == WADI_OK ? topology->rim_count : count;
    } else if (status == WADI_OK) {
        WADI_DELETE(rim, count);
        rim = NULL;
    }
    if (status == WADI_OK) {
        topology->rim = rim;
    } else {
        WADI_DELETE(rim, count);
        *topology = (WadiMeshTopology){ 0 };
    }
    WADI_DELETE(uses, 3 * mesh->triangle_count);
    return status;
}

void wadi_mesh_topology_free(WadiMeshTopology *topology)
{
    WADI_DELETE(topology->rim, topology->rim_count);
    *topology = (WadiMeshTopology){ 0 };
}
