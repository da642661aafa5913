/* Marching cubes bevels the edge between a wall and another side of a body over one cell. The vertices of
 * that side nearest to the wall are moved into it, along the lines from their neighbours farther away, so
 * that both sides reach the edge. */
#include "core/alloc.h"
#include "surface/mesh/surface_mesh.h"

/* A vertex whose normal has more than this component into the box belongs to the far side of a thin layer. */
static const double FACING = 0.5;
/* Neighbours that are farther away by this many cells give the direction; nothing moves farther than FARTHEST
 * cells along the wall. */
static const double FARTHER = 0.25, FARTHEST = 1.0;

typedef struct Wall {
    int axis;
    double plane, inward; /* inward: +1 when the box lies above the plane */
} Wall;

/* Per vertex: the sum of the directions from neighbours, per unit of depth, and their number. */
typedef struct Way {
    WadiVec3 sum;
    int count;
} Way;

static double depth_of(const Wall *wall, WadiVec3 x)
{
    return wall->inward * (wadi_component(x, wall->axis) - wall->plane);
}

static bool is_beside(const Wall *wall, const WadiSurfaceMesh *surface, uint32_t v)
{
    double depth = depth_of(wall, surface->mesh.vertices[v]);
    return depth > 0.0 && depth < surface->cell &&
           wall->inward * (double)surface->normal[v][wall->axis] < FACING;
}

static bool has_any_beside(const Wall *wall, const WadiSurfaceMesh *surface)
{
    bool is_any = false;
    for (size_t v = 0; v < surface->mesh.vertex_count && !is_any; ++v) {
        is_any = is_beside(wall, surface, (uint32_t)v);
    }
    return is_any;
}

static void add_ways(const Wall *wall, const WadiSurfaceMesh *surface, Way *way)
{
    const WadiVec3 *at = surface->mesh.vertices;
    for (size_t c = 0; c < 6 * surface->mesh.triangle_count; ++c) { /* both directions of every side */
        const uint32_t *v = surface->mesh.triangles[c / 6];
        uint32_t from = v[c % 3], to = v[(c % 3 + 1 + c / 3 % 2) % 3];
        double farther = depth_of(wall, at[to]) - depth_of(wall, at[from]);
        if (farther > FARTHER * surface->cell && is_beside(wall, surface, from)) {
            way[from].sum = wadi_add_scaled(way[from].sum, wadi_sub(at[from], at[to]), 1.0 / farther);
            way[from].count += 1;
        }
    }
}

static WadiVec3 moved_into(const Wall *wall, WadiVec3 x, const Way *way, double cell)
{
    double depth = depth_of(wall, x);
    WadiVec3 step = wadi_scale(way->sum, way->count > 0 ? depth / way->count : 0.0);
    if (wadi_norm(step) < FARTHEST * cell + depth) {
        x = wadi_add(x, step);
    }
    double *coordinate = wall->axis == 0 ? &x.x : wall->axis == 1 ? &x.y : &x.z;
    *coordinate = wall->plane;
    return x;
}

WadiStatus wadi_surface_sharpen(WadiSurfaceMesh *surface, WadiBox box, WadiArena *arena, WadiError *error)
{
    /* where the field was clipped: not in the planes themselves, which are drawn too */
    box = wadi_box_grown(box, -0.5 * WADI_SURFACE_WALL_TOLERANCE * surface->cell);
    const size_t count = surface->mesh.vertex_count;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Way *way;
    WADI_TRY(WADI_ARENA_NEW(arena, &way, count, "edges of a surface", error));
    for (int side = 0; side < 6; ++side) {
        const Wall wall = { side / 2, wadi_component(side % 2 == 0 ? box.min : box.max, side / 2),
                            side % 2 == 0 ? 1.0 : -1.0 };
        if (!isfinite(wall.plane) || !has_any_beside(&wall, surface)) {
            continue;
        }
        for (size_t v = 0; v < count; ++v) {
            way[v] = (Way){ 0 };
        }
        add_ways(&wall, surface, way);
        for (size_t v = 0; v < count; ++v) {
            if (is_beside(&wall, surface, (uint32_t)v)) {
                surface->mesh.vertices[v] =
                    moved_into(&wall, surface->mesh.vertices[v], &way[v], surface->cell);
            }
        }
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
