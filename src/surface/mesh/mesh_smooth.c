/* Smooths a mesh without shrinking it.
 * Source: [T95], a step towards the mean of the neighbours, then a slightly longer one away from it: together
 * they damp short waves and preserve long ones.
 * Differs: the volume, which this preserves only approximately, is restored part by part after each pass, to
 * rounding after the last, by moving all vertices of a part equally far along their normals. A vertex in a
 * wall moves within it; a rim vertex is fixed. */
#include "surface/mesh/mesh_smooth_internal.h"

enum { VERTEX_BLOCK = 2048, RESTORE_MAX = 12 };

/* A wave of n edges deviates from the mean of its neighbours by about (pi / n)^2 of its height; 1 / LAMBDA +
 * 1 / MU = 0.1 keeps waves of more than ten edges and damps shorter ones. */
static const double LAMBDA = 0.6, MU = -1.0 / (1.0 / 0.6 - 0.1);
static const double VOLUME_TOLERANCE = 1e-11;
static const double MOVE_MAX =
    0.25; /* cells a Newton step: parts that have no volume left cannot be restored */

/* Moves each vertex by `step` times the offset to the mean of its neighbours. Each neighbour of a vertex that
 * is not on a rim follows it in exactly one triangle. */
static void step_block(void *context, int64_t first, int64_t end)
{
    const WadiMeshSmooth *smooth = context;
    for (int64_t v = first; v < end; ++v) {
        const WadiVec3 *at = smooth->surface->mesh.vertices;
        WadiVec3 x = at[v], sum = { 0 };
        uint32_t count = smooth->start[v + 1] - smooth->start[v];
        for (uint32_t n = smooth->start[v]; n < smooth->start[v + 1]; ++n) {
            sum = wadi_add(sum, wadi_sub(at[smooth->neighbour[n][0]], x));
        }
        double fraction = count > 0 ? smooth->step / count : 0.0;
        smooth->next[v] = wadi_add_scaled(x, wadi_mesh_free_components(sum, smooth->fixed[v]), fraction);
    }
}

/* The volume is homogeneous of degree 3 in the positions: one third of position times gradient. */
static void measure_block(void *context, int64_t first, int64_t end)
{
    const WadiMeshSmooth *smooth = context;
    for (int64_t v = first; v < end; ++v) {
        const WadiVec3 *at = smooth->surface->mesh.vertices;
        WadiVec3 x = at[v], area = { 0 }; /* twice */
        for (uint32_t n = smooth->start[v]; n < smooth->start[v + 1]; ++n) {
            WadiVec3 b = wadi_sub(at[smooth->neighbour[n][0]], x);
            WadiVec3 c = wadi_sub(at[smooth->neighbour[n][1]], x);
            area = wadi_add(area, wadi_cross(b, c));
        }
        WadiVec3 normal = wadi_normalized_or(area, (WadiVec3){ 0 });
        smooth->normal[v] = normal;
        const WadiMeshPart *part = &smooth->parts[smooth->part[v]];
        smooth->terms[v][0] = wadi_dot(wadi_sub(x, part->middle), area) / 18.0;
        smooth->terms[v][1] = wadi_dot(wadi_mesh_free_components(normal, smooth->fixed[v]), area) / 6.0;
    }
}

static void offset_block(void *context, int64_t first, int64_t end)
{
    const WadiMeshSmooth *smooth = context;
    for (int64_t v = first; v < end; ++v) {
        const WadiMeshPart *part = &smooth->parts[smooth->part[v]];
        if (!part->is_open) {
            WadiVec3 *x = &smooth->surface->mesh.vertices[v];
            double most = MOVE_MAX * smooth->surface->cell;
            double distance = fmin(fmax((part->wanted - part->volume) / part->gain, -most), most);
            *x =
                wadi_add_scaled(*x, wadi_mesh_free_components(smooth->normal[v], smooth->fixed[v]), distance);
        }
    }
}

static void write_normals(void *context, int64_t first, int64_t end)
{
    const WadiMeshSmooth *smooth = context;
    for (int64_t v = first; v < end; ++v) {
        WadiVec3 n = smooth->normal[v];
        if (wadi_dot(n, n) > 0.0) {
            float *to = smooth->surface->normal[v];
            to[0] = (float)n.x;
            to[1] = (float)n.y;
            to[2] = (float)n.z;
        }
    }
}

static void over_vertices(WadiMeshSmooth *smooth, WadiBlockFn body)
{
    wadi_parallel_for((int64_t)smooth->surface->mesh.vertex_count, VERTEX_BLOCK, body, smooth);
}

static void measure(WadiMeshSmooth *smooth)
{
    over_vertices(smooth, measure_block);
    for (uint32_t p = 0; p < smooth->part_count; ++p) {
        smooth->parts[p].volume = smooth->parts[p].gain = 0.0;
    }
    for (size_t v = 0; v < smooth->surface->mesh.vertex_count; ++v) {
        WadiMeshPart *part = &smooth->parts[smooth->part[v]];
        part->volume += smooth->terms[v][0];
        part->gain += smooth->terms[v][1];
    }
}

void wadi_mesh_smooth_restore(WadiMeshSmooth *smooth, int steps)
{
    for (int n = 0; n < steps; ++n) {
        measure(smooth);
        bool is_done = true;
        for (uint32_t p = 0; p < smooth->part_count; ++p) {
            WadiMeshPart *part = &smooth->parts[p];
            double missing = fabs(part->wanted - part->volume);
            bool is_matched = part->is_open || missing <= VOLUME_TOLERANCE * fabs(part->wanted);
            is_done = is_done && is_matched;
        }
        if (is_done) {
            return;
        }
        over_vertices(smooth, offset_block);
    }
}

/* Swaps the positions with `next`; the mesh has its own memory again after two steps. */
static void step_vertices(WadiMeshSmooth *smooth, double factor)
{
    smooth->step = factor;
    over_vertices(smooth, step_block);
    WadiVec3 *swapped = smooth->surface->mesh.vertices;
    smooth->surface->mesh.vertices = smooth->next;
    smooth->next = swapped;
}

static void link_corners(WadiMeshSmooth *smooth)
{
    const WadiMesh *mesh = &smooth->surface->mesh;
    size_t corners = 3 * mesh->triangle_count;
    for (size_t v = 0; v <= mesh->vertex_count; ++v) {
        smooth->start[v] = 0;
    }
    for (size_t c = 0; c < corners; ++c) {
        ++smooth->start[mesh->triangles[c / 3][c % 3]];
    }
    uint32_t sum = 0;
    for (size_t v = 0; v <= mesh->vertex_count; ++v) {
        sum += smooth->start[v];
        smooth->start[v] = sum;
    }
    for (size_t c = corners; c-- > 0;) {
        const uint32_t *triangle = mesh->triangles[c / 3];
        uint32_t *neighbour = smooth->neighbour[--smooth->start[triangle[c % 3]]];
        neighbour[0] = triangle[(c + 1) % 3];
        neighbour[1] = triangle[(c + 2) % 3];
    }
}

static uint32_t find_root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/* Numbers the components in the order of their first vertices. `parent` is scratch. */
static void count_parts(WadiMeshSmooth *smooth, uint32_t *parent)
{
    const WadiMesh *mesh = &smooth->surface->mesh;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        parent[v] = (uint32_t)v;
    }
    for (size_t c = 0; c < 3 * mesh->triangle_count; ++c) {
        const uint32_t *triangle = mesh->triangles[c / 3];
        uint32_t p = find_root(parent, triangle[c % 3]), q = find_root(parent, triangle[(c + 1) % 3]);
        parent[p > q ? p : q] = p > q ? q : p;
    }
    /* A root is the smallest index of its component. */
    for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
        uint32_t root = find_root(parent, v);
        smooth->part[v] = root == v ? smooth->part_count++ : smooth->part[root];
    }
}

/* Fixes the ends of edges that only one triangle uses. */
static void fix_rims(WadiMeshSmooth *smooth)
{
    const WadiMesh *mesh = &smooth->surface->mesh;
    for (uint32_t c = 0; c < 3 * mesh->triangle_count; ++c) {
        uint32_t from = mesh->triangles[c / 3][c % 3], to = mesh->triangles[c / 3][(c + 1) % 3];
        bool is_rim = true;
        for (uint32_t n = smooth->start[to]; n < smooth->start[to + 1]; ++n) {
            is_rim = is_rim && smooth->neighbour[n][0] != from;
        }
        if (is_rim) {
            smooth->fixed[from] = smooth->fixed[to] = 7;
            smooth->parts[smooth->part[from]].is_open = true;
        }
    }
}

static void fix_walls(WadiMeshSmooth *smooth, WadiBox box)
{
    const WadiMesh *mesh = &smooth->surface->mesh;
    double tolerance = WADI_SURFACE_WALL_TOLERANCE * smooth->surface->cell;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        for (int axis = 0; axis < 3; ++axis) {
            double at = wadi_component(mesh->vertices[v], axis);
            bool is_low = fabs(at - wadi_component(box.min, axis)) <= tolerance;
            bool is_high = fabs(at - wadi_component(box.max, axis)) <= tolerance;
            smooth->fixed[v] |= (uint8_t)((is_low || is_high) << axis);
        }
    }
}

WadiStatus wadi_mesh_smooth_prepare(WadiMeshSmooth *smooth, bool has_box, WadiBox box, WadiArena *arena,
                                    WadiError *error)
{
    size_t vertices = smooth->surface->mesh.vertex_count, corners = 3 * smooth->surface->mesh.triangle_count;
    uint32_t *parent;
    WADI_TRY(WADI_ARENA_NEW(arena, &smooth->start, vertices + 1, "surface smoothing", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &smooth->neighbour, corners, "surface smoothing", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &smooth->fixed, vertices, "surface smoothing", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &smooth->part, vertices, "surface smoothing", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &parent, vertices, "surface smoothing", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &smooth->next, vertices, "surface smoothing", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &smooth->normal, vertices, "surface smoothing", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &smooth->terms, vertices, "surface smoothing", error));
    link_corners(smooth);
    count_parts(smooth, parent);
    WADI_TRY(WADI_ARENA_NEW(arena, &smooth->parts, smooth->part_count, "surface smoothing", error));
    for (size_t v = vertices; v-- > 0;) {
        smooth->fixed[v] = 0;
        smooth->parts[smooth->part[v]] = (WadiMeshPart){ .middle = smooth->surface->mesh.vertices[v] };
    }
    fix_rims(smooth);
    if (has_box) {
        fix_walls(smooth, box);
    }
    measure(smooth);
    for (uint32_t p = 0; p < smooth->part_count; ++p) {
        WadiMeshPart *part = &smooth->parts[p];
        part->wanted = part->volume;
        part->is_open = part->is_open || !(part->gain > 0.0);
    }
    return WADI_OK;
}

void wadi_mesh_smooth_finish(WadiMeshSmooth *smooth)
{
    measure(smooth);
    over_vertices(smooth, write_normals);
}

WadiStatus wadi_surface_smooth(WadiSurfaceMesh *surface, int passes, bool has_box, WadiBox box,
                               WadiArena *arena, WadiError *error)
{
    if (passes <= 0 || surface->mesh.triangle_count == 0) {
        return WADI_OK;
    }
    WadiArenaMark mark = wadi_arena_mark(arena);
    WadiMeshSmooth smooth = { .surface = surface };
    WadiStatus status = wadi_mesh_smooth_prepare(&smooth, has_box, box, arena, error);
    for (int n = 0; status == WADI_OK && n < passes; ++n) {
        step_vertices(&smooth, LAMBDA);
        step_vertices(&smooth, MU);
        wadi_mesh_smooth_restore(&smooth, n + 1 < passes ? 1 : RESTORE_MAX);
    }
    if (status == WADI_OK) {
        wadi_mesh_smooth_finish(&smooth);
    }
    wadi_arena_release(arena, mark);
    return status;
}
