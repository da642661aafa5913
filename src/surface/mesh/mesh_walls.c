/* Opens a mesh where it lies against the walls of a box: water behind glass has no surface there.
 *
 * A triangle is dropped when its corners lie in walls and it faces them: one wall, or several where marching
 * cubes bevels the edge between them. A triangle of the free surface that touches two walls in a corner of
 * the tank faces neither and is kept. */
#include <string.h>

#include "core/alloc.h"
#include "surface/mesh/mesh_rim.h"

/* Cells between the split vertices of sheets that touched. */
#define SEPARATION 1e-2

static bool is_against_walls(const WadiMesh *mesh, const uint8_t *walls, size_t t)
{
    const uint32_t *v = mesh->triangles[t];
    if (walls[v[0]] == 0 || walls[v[1]] == 0 || walls[v[2]] == 0) {
        return false;
    }
    unsigned touched = walls[v[0]] | walls[v[1]] | walls[v[2]];
    WadiVec3 a = mesh->vertices[v[0]];
    WadiVec3 normal = wadi_cross(wadi_sub(mesh->vertices[v[1]], a), wadi_sub(mesh->vertices[v[2]], a));
    double facing = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        double n = wadi_component(normal, axis);
        bool is_facing = (touched >> (2 * axis + (n > 0.0)) & 1) != 0;
        facing += is_facing ? n * n : 0.0;
    }
    return facing > 0.5 * wadi_dot(normal, normal);
}

/* Copies elements [0, count) of a column to their new numbers (NULL: unchanged). */
static void copy_column(void *to, const void *from, size_t size, const uint32_t *number, size_t count)
{
    if (number == NULL) {
        memcpy(to, from, size * count);
        return;
    }
    for (size_t v = 0; v < count; ++v) {
        if (number[v] != UINT32_MAX) {
            memcpy((unsigned char *)to + size * number[v], (const unsigned char *)from + size * v, size);
        }
    }
}

/* Copies the kept triangles (NULL: all) and the vertices that have a number (UINT32_MAX: none). */
static WadiStatus copy_kept(WadiSurfaceMesh *to, const WadiSurfaceMesh *from, const uint8_t *is_kept,
                            size_t triangles, const uint32_t *number, size_t vertices, WadiError *error)
{
    size_t count = from->mesh.vertex_count;
    to->cell = from->cell;
    WADI_TRY(WADI_NEW(&to->mesh.vertices, vertices, "surface vertices", error));
    to->mesh.vertex_count = vertices;
    WADI_TRY(WADI_NEW(&to->mesh.triangles, triangles, "surface triangles", error));
    to->mesh.triangle_count = triangles;
    copy_column(to->mesh.vertices, from->mesh.vertices, sizeof *to->mesh.vertices, number, count);
    WADI_TRY(WADI_NEW(&to->normal, vertices, "surface normals", error));
    copy_column(to->normal, from->normal, sizeof *to->normal, number, count);
    for (int a = 0; a < from->attribute_count; ++a) {
        size_t components = (size_t)from->attribute[a].components;
        to->attribute[a] = from->attribute[a];
        to->attribute[a].values = NULL;
        to->attribute_count = a + 1;
        WADI_TRY(WADI_NEW(&to->attribute[a].values, vertices * components, "surface attributes", error));
        copy_column(to->attribute[a].values, from->attribute[a].values, components * sizeof(float), number,
                    count);
    }
    size_t next = 0;
    for (size_t t = 0; t < from->mesh.triangle_count; ++t) {
        if (is_kept != NULL && !is_kept[t]) {
            continue;
        }
        for (int c = 0; c < 3; ++c) {
            uint32_t v = from->mesh.triangles[t][c];
            to->mesh.triangles[next][c] = number != NULL ? number[v] : v;
        }
        ++next;
    }
    return WADI_OK;
}

static void copy_sources(void *column, size_t size, const WadiMeshSplit *split, size_t count)
{
    for (size_t n = 0; n < split->added; ++n) {
        memcpy((char *)column + size * (count + n), (char *)column + size * split->source[n], size);
    }
}

/* Moves a new vertex slightly towards its own sheet, within its walls, since readers merge vertices at equal
 * positions. */
static void move_apart(WadiMesh *mesh, const WadiMeshSplit *split, const uint8_t *walls, size_t count,
                       double distance)
{
    for (size_t n = 0; n < split->corner_count; ++n) {
        const WadiMovedCorner *corner = &split->corner[n];
        const uint32_t *v = mesh->triangles[corner->triangle];
        if (n > 0 && corner[-1].to == corner->to) {
            continue;
        }
        WadiVec3 at = mesh->vertices[split->source[corner->to - count]];
        WadiVec3 middle = wadi_scale(
            wadi_add(mesh->vertices[v[0]], wadi_add(mesh->vertices[v[1]], mesh->vertices[v[2]])), 1.0 / 3.0);
        WadiVec3 to = wadi_sub(middle, at);
        double along[3] = { to.x, to.y, to.z };
        for (int axis = 0; axis < 3; ++axis) {
            along[axis] = (walls[corner->from] >> (2 * axis) & 3) != 0 ? 0.0 : along[axis];
        }
        to = wadi_vec3(along[0], along[1], along[2]);
        double length = wadi_norm(to);
        mesh->vertices[corner->to] = length > 0.0 ? wadi_add_scaled(at, to, distance / length) : at;
    }
}

/* Gives each of two sheets that touch at a rim vertex its own vertex. */
static WadiStatus separate_sheets(WadiSurfaceMesh *surface, const uint8_t *walls, WadiArena *arena,
                                  WadiError *error)
{
    size_t count = surface->mesh.vertex_count;
    WadiMeshSplit split;
    WADI_TRY(wadi_surface_split(&split, &surface->mesh, arena, error));
    if (split.added == 0) {
        return WADI_OK;
    }
    WadiSurfaceMesh parted = { 0 };
    WadiStatus status =
        copy_kept(&parted, surface, NULL, surface->mesh.triangle_count, NULL, count + split.added, error);
    if (status != WADI_OK) {
        wadi_surface_mesh_free(&parted);
        return status;
    }
    copy_sources(parted.mesh.vertices, sizeof *parted.mesh.vertices, &split, count);
    copy_sources(parted.normal, sizeof *parted.normal, &split, count);
    for (int a = 0; a < parted.attribute_count; ++a) {
        copy_sources(parted.attribute[a].values, (size_t)parted.attribute[a].components * sizeof(float),
                     &split, count);
    }
    for (size_t n = 0; n < split.corner_count; ++n) {
        uint32_t *v = parted.mesh.triangles[split.corner[n].triangle];
        for (int c = 0; c < 3; ++c) {
            v[c] = v[c] == split.corner[n].from ? split.corner[n].to : v[c];
        }
    }
    move_apart(&parted.mesh, &split, walls, count, SEPARATION * surface->cell);
    wadi_surface_mesh_free(surface);
    *surface = parted;
    return WADI_OK;
}

static WadiStatus open_walls(WadiSurfaceMesh *surface, WadiBox box, double tolerance, WadiArena *arena,
                             WadiError *error)
{
    const WadiMesh *mesh = &surface->mesh;
    uint8_t *walls, *is_kept, *is_rim;
    uint32_t *number;
    WADI_TRY(WADI_ARENA_NEW(arena, &walls, mesh->vertex_count, "surface walls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &is_rim, mesh->vertex_count, "surface walls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &number, mesh->vertex_count, "surface walls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &is_kept, mesh->triangle_count, "surface walls", error));
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        walls[v] = (uint8_t)wadi_walls_at(box, tolerance, mesh->vertices[v]);
        is_rim[v] = 0;
        number[v] = UINT32_MAX;
    }
    size_t triangles = 0, vertices = 0;
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        is_kept[t] = !is_against_walls(mesh, walls, t);
        triangles += is_kept[t];
        for (int c = 0; c < 3; ++c) {
            uint32_t v = mesh->triangles[t][c];
            number[v] = is_kept[t] ? 0 : number[v];
            is_rim[v] |= !is_kept[t];
        }
    }
    if (triangles == mesh->triangle_count) {
        return WADI_OK;
    }
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        if (number[v] == 0) {
            walls[vertices] = walls[v];
            is_rim[vertices] = is_rim[v];
            number[v] = (uint32_t)vertices++;
        }
    }
    WadiSurfaceMesh kept = { 0 };
    WadiStatus status = copy_kept(&kept, surface, is_kept, triangles, number, vertices, error);
    if (status == WADI_OK) {
        status = wadi_surface_fit_rim(&kept, box, walls, is_rim, arena, error);
    }
    if (status == WADI_OK) {
        status = separate_sheets(&kept, walls, arena, error);
    }
    wadi_surface_mesh_free(status == WADI_OK ? surface : &kept);
    if (status == WADI_OK) {
        *surface = kept;
    }
    return status;
}

WadiStatus wadi_surface_open_walls(WadiSurfaceMesh *surface, WadiBox box, double tolerance, WadiArena *arena,
                                   WadiError *error)
{
    tolerance = fmax(tolerance, 0.5 * surface->cell);
    WadiArenaMark mark = wadi_arena_mark(arena);
    WadiStatus status = open_walls(surface, box, tolerance, arena, error);
    wadi_arena_release(arena, mark);
    return status;
}
