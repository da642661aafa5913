/* Moves the rim of an opened mesh to the walls.
 *
 * Marching cubes bevels the edge between a free surface and a wall: the remaining rim lies up to a cell below
 * the surface, in steps from node to node. Each rim vertex moves within its wall to where the neighbouring
 * free surface would meet it, and into the plane of the wall. A move that would flip a triangle is undone.
 * Normals near the rim are then those of the triangles, since the field's are affected by the wall. */
#include "surface/mesh/mesh_rim.h"

#include <string.h>

/* Sums over the settled neighbours of a rim vertex. */
typedef struct Neighbours {
    WadiVec3 sum, normal;
    int count;
} Neighbours;

typedef struct Rim {
    WadiSurfaceMesh *surface;
    WadiBox box;
    const uint8_t *walls;
    const uint8_t *is_rim;
    uint8_t *is_settled; /* not on the rim, or already moved */
    WadiVec3 *before;    /* positions */
    WadiVec3 *normal;    /* of the free surface */
    Neighbours *neighbour;
} Rim;

unsigned wadi_walls_at(WadiBox box, double tolerance, WadiVec3 x)
{
    unsigned walls = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double at = wadi_component(x, axis);
        walls |= (unsigned)(fabs(at - wadi_component(box.min, axis)) <= tolerance) << 2 * axis;
        walls |= (unsigned)(fabs(at - wadi_component(box.max, axis)) <= tolerance) << (2 * axis + 1);
    }
    return walls;
}

static WadiVec3 area_of(const WadiMesh *mesh, const WadiVec3 *at, size_t t)
{
    const uint32_t *v = mesh->triangles[t];
    return wadi_cross(wadi_sub(at[v[1]], at[v[0]]), wadi_sub(at[v[2]], at[v[0]]));
}

static bool is_at_rim(const Rim *rim, size_t t)
{
    const uint32_t *v = rim->surface->mesh.triangles[t];
    return rim->is_rim[v[0]] || rim->is_rim[v[1]] || rim->is_rim[v[2]];
}

/* Where the neighbouring free surface meets the vertex's walls. */
static WadiVec3 project_to_walls(const Rim *rim, size_t v)
{
    const Neighbours *neighbour = &rim->neighbour[v];
    double x[3], along[3], limit = 2.0 * rim->surface->cell;
    for (int axis = 0; axis < 3; ++axis) {
        bool is_low = (rim->walls[v] >> 2 * axis & 1) != 0,
             is_high = (rim->walls[v] >> (2 * axis + 1) & 1) != 0;
        x[axis] = is_low    ? wadi_component(rim->box.min, axis)
                  : is_high ? wadi_component(rim->box.max, axis)
                            : wadi_component(rim->before[v], axis);
        along[axis] = is_low || is_high ? 0.0 : wadi_component(neighbour->normal, axis);
    }
    WadiVec3 position = { x[0], x[1], x[2] }, up = { along[0], along[1], along[2] };
    /* A surface parallel to the wall does not meet it. */
    if (neighbour->count == 0 || wadi_dot(up, up) < 0.1 * wadi_dot(neighbour->normal, neighbour->normal)) {
        return position;
    }
    up = wadi_normalized_or(up, (WadiVec3){ 0 });
    double rise = wadi_dot(up, wadi_sub(wadi_scale(neighbour->sum, 1.0 / neighbour->count), position));
    return wadi_add_scaled(position, up, fmax(-limit, fmin(limit, rise)));
}

/* Moves the rim vertices that have a settled neighbour; with `is_last` all others too. */
static void settle(Rim *rim, bool is_last)
{
    const WadiMesh *mesh = &rim->surface->mesh;
    memset(rim->neighbour, 0, mesh->vertex_count * sizeof *rim->neighbour);
    for (size_t c = 0; c < 3 * mesh->triangle_count; ++c) {
        Neighbours *neighbour = &rim->neighbour[mesh->triangles[c / 3][c % 3]];
        for (size_t n = 1; n < 3; ++n) {
            uint32_t other = mesh->triangles[c / 3][(c + n) % 3];
            if (rim->is_settled[other]) {
                neighbour->sum = wadi_add(neighbour->sum, mesh->vertices[other]);
                neighbour->normal = wadi_add(neighbour->normal, rim->normal[other]);
                ++neighbour->count;
            }
        }
    }
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        if (!rim->is_settled[v] && (rim->neighbour[v].count > 0 || is_last)) {
            mesh->vertices[v] = project_to_walls(rim, v);
            rim->normal[v] = wadi_normalized_or(rim->neighbour[v].normal, (WadiVec3){ 0 });
            rim->is_settled[v] = 1;
        }
    }
}

/* Undoing one move may flip another triangle: repeat until none is flipped. */
static void undo_flips(const Rim *rim)
{
    const WadiMesh *mesh = &rim->surface->mesh;
    bool is_done = false;
    while (!is_done) {
        is_done = true;
        for (size_t t = 0; t < mesh->triangle_count; ++t) {
            const uint32_t *v = mesh->triangles[t];
            WadiVec3 old = area_of(mesh, rim->before, t), now = area_of(mesh, mesh->vertices, t);
            if (!is_at_rim(rim, t) || wadi_dot(old, now) > 0.01 * wadi_dot(old, old)) {
                continue;
            }
            for (int c = 0; c < 3; ++c) {
                WadiVec3 apart = wadi_sub(mesh->vertices[v[c]], rim->before[v[c]]);
                is_done = is_done && wadi_dot(apart, apart) == 0.0;
                mesh->vertices[v[c]] = rim->before[v[c]];
            }
        }
    }
}

/* Vertices without a normal get the mean of their neighbours'. */
static void spread_normals(Rim *rim)
{
    const WadiMesh *mesh = &rim->surface->mesh;
    memset(rim->neighbour, 0, mesh->vertex_count * sizeof *rim->neighbour);
    for (size_t c = 0; c < 3 * mesh->triangle_count; ++c) {
        const uint32_t *triangle = mesh->triangles[c / 3];
        WadiVec3 *sum = &rim->neighbour[triangle[c % 3]].normal;
        *sum =
            wadi_add(*sum, wadi_add(rim->normal[triangle[(c + 1) % 3]], rim->normal[triangle[(c + 2) % 3]]));
    }
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        if (wadi_dot(rim->normal[v], rim->normal[v]) == 0.0) {
            rim->normal[v] = wadi_normalized_or(rim->neighbour[v].normal, (WadiVec3){ 0 });
        }
    }
}

/* Normals from the triangles that do not touch the bevelled rim, spread to the other vertices: three rounds
 * suffice in a corner of the tank. The field's normal where none arrives. */
static void find_normals(Rim *rim)
{
    const WadiMesh *mesh = &rim->surface->mesh;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        rim->normal[v] = (WadiVec3){ 0 };
    }
    for (size_t c = 0; c < 3 * mesh->triangle_count; ++c) {
        WadiVec3 *normal = &rim->normal[mesh->triangles[c / 3][c % 3]];
        if (!is_at_rim(rim, c / 3)) {
            *normal = wadi_add(*normal, area_of(mesh, mesh->vertices, c / 3));
        }
    }
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        rim->normal[v] = wadi_normalized_or(rim->normal[v], (WadiVec3){ 0 });
    }
    for (int round = 0; round < 3; ++round) {
        spread_normals(rim);
    }
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        const float *n = rim->surface->normal[v];
        WadiVec3 of_field = { (double)n[0], (double)n[1], (double)n[2] };
        rim->normal[v] = wadi_normalized_or(rim->normal[v], of_field);
    }
}

static void write_normals(Rim *rim)
{
    const WadiMesh *mesh = &rim->surface->mesh;
    memset(rim->neighbour, 0, mesh->vertex_count * sizeof *rim->neighbour);
    for (size_t c = 0; c < 3 * mesh->triangle_count; ++c) {
        Neighbours *neighbour = &rim->neighbour[mesh->triangles[c / 3][c % 3]];
        neighbour->normal = wadi_add(neighbour->normal, area_of(mesh, mesh->vertices, c / 3));
        neighbour->count += is_at_rim(rim, c / 3);
    }
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        WadiVec3 normal = wadi_normalized_or(rim->neighbour[v].normal, (WadiVec3){ 0 });
        if (rim->neighbour[v].count > 0 && wadi_dot(normal, normal) > 0.0) {
            float *to = rim->surface->normal[v];
            to[0] = (float)normal.x;
            to[1] = (float)normal.y;
            to[2] = (float)normal.z;
        }
    }
}

WadiStatus wadi_surface_fit_rim(WadiSurfaceMesh *surface, WadiBox box, const uint8_t *walls,
                                const uint8_t *is_rim, WadiArena *arena, WadiError *error)
{
    size_t count = surface->mesh.vertex_count;
    if (count == 0) {
        return WADI_OK;
    }
    Rim rim = { .surface = surface, .box = box, .walls = walls, .is_rim = is_rim };
    WADI_TRY(WADI_ARENA_NEW(arena, &rim.is_settled, count, "surface rims", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &rim.before, count, "surface rims", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &rim.normal, count, "surface rims", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &rim.neighbour, count, "surface rims", error));
    for (size_t v = 0; v < count; ++v) {
        rim.before[v] = surface->mesh.vertices[v];
        rim.is_settled[v] = !is_rim[v];
    }
    find_normals(&rim);
    settle(&rim, false);
    settle(&rim, true);
    undo_flips(&rim);
    write_normals(&rim);
    return WADI_OK;
}
