#include "surface/mesh/shape_surface.h"

#include <string.h>

#include "core/parallel.h"
#include "geom/shape_mesh.h"
#include "grid/row_lanes.h"
#include "surface/mesh/surface_mesh.h"

/* Most tiles tested for a shape; beyond that the cells become larger. */
static const double TILES_MAX = 64000.0;

typedef struct Sampling {
    const WadiShape *shape;
    double time, cell;
    double level; /* m, of the distance whose surface is made */
    const WadiRows *rows;
    float *value;
} Sampling;

typedef struct Projection {
    const WadiShape *shape;
    double time;
    WadiVec3 *vertices;
} Projection;

enum { VERTEX_BLOCK = 1024 };

static void sample_rows(void *context, int64_t first, int64_t end)
{
    const Sampling *s = context;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        float *value = s->value + WADI_ROW_CELLS * (size_t)row;
        if (row == 0) {
            memset(value, 0, WADI_ROW_CELLS * sizeof *value);
            continue;
        }
        int32_t node[3];
        wadi_rows_cell(s->rows, row, node);
        for (int lane = 0; lane < WADI_ROW_CELLS; ++lane) {
            WadiVec3 x = wadi_scale(wadi_vec3(node[0] + lane, node[1], node[2]), s->cell);
            value[lane] = (float)(wadi_shape_distance(s->shape, x, s->time) - s->level);
        }
    }
}

static WadiBox visible_part(const WadiShape *shape, double time, WadiBox view)
{
    WadiBox wide = wadi_box_grown(view, wadi_norm(wadi_box_size(view)));
    return wadi_box_intersection(wadi_shape_bounds(shape, time), wide);
}

/* Tiles that the surface may cross, or come within two cells of. */
static WadiStatus find_tiles(const Sampling *s, WadiBox box, WadiTile **tiles, size_t *count,
                             WadiArena *arena, WadiError *error)
{
    double side = WADI_TILE_SIDE * s->cell;
    int32_t low[3], high[3];
    size_t capacity = 1;
    for (int axis = 0; axis < 3; ++axis) {
        low[axis] = (int32_t)floor(wadi_component(box.min, axis) / side) - 1;
        high[axis] = (int32_t)floor(wadi_component(box.max, axis) / side) + 1;
        capacity *= (size_t)(high[axis] - low[axis] + 1);
    }
    WADI_TRY(WADI_ARENA_NEW(arena, tiles, capacity, "tiles of a shape", error));
    *count = 0;
    double distance_max = (0.5 * sqrt(3.0) * WADI_TILE_SIDE + 2.0) * s->cell + s->level;
    for (int32_t z = low[2]; z <= high[2]; ++z) {
        for (int32_t y = low[1]; y <= high[1]; ++y) {
            for (int32_t x = low[0]; x <= high[0]; ++x) {
                WadiVec3 middle = wadi_scale(wadi_vec3(x + 0.5, y + 0.5, z + 0.5), side);
                if (fabs(wadi_shape_clearance(s->shape, middle, s->time)) <= distance_max) {
                    (*tiles)[(*count)++] = (WadiTile){ x, y, z };
                }
            }
        }
    }
    return WADI_OK;
}

static WadiStatus march_shape(WadiMesh *mesh, Sampling *s, WadiBox box, WadiArena *arena, WadiError *error)
{
    WadiField field = { .cell = s->cell };
    WadiTile *tiles;
    uint64_t *mask;
    size_t count = 0;
    WADI_TRY(find_tiles(s, box, &tiles, &count, arena, error));
    if (count == 0) {
        return WADI_OK;
    }
    WADI_TRY(wadi_tile_map_create_in_arena(&field.tiles, tiles, count, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &mask, count, "tiles of a shape", error));
    memset(mask, 0xff, count * sizeof *mask);
    WADI_TRY(wadi_rows_build(&field.rows, &field.tiles, mask, arena, error));
    WADI_TRY(
        WADI_ARENA_NEW(arena, &field.value, wadi_rows_floats(&field.rows), "distances of a shape", error));
    s->rows = &field.rows;
    s->value = field.value;
    wadi_parallel_for(field.rows.count, WADI_ROW_BLOCK, sample_rows, s);
    WadiSurfaceMesh surface;
    WADI_TRY(wadi_surface_march(&surface, &field, arena, error));
    *mesh = surface.mesh;
    /* wadi_surface_mesh_free needs the count for the normals */
    surface.mesh = (WadiMesh){ .vertex_count = mesh->vertex_count };
    wadi_surface_mesh_free(&surface);
    return WADI_OK;
}

static const double THIN_LEVEL = 0.75; /* cells: a sample is nearer than that to any plate or rod */

/* Moves the vertices of a level of the distance to its zero, along the normals there. */
static void project(void *context, int64_t first, int64_t end)
{
    const Projection *p = context;
    enum { ROUNDS = 3 };
    for (int64_t v = first; v < end; ++v) {
        for (int round = 0; round < ROUNDS; ++round) {
            const WadiSurfacePoint at = wadi_shape_sample(p->shape, p->vertices[v], p->time);
            p->vertices[v] = wadi_add_scaled(p->vertices[v], at.normal, -at.distance);
        }
    }
}

static WadiStatus make(WadiMesh *mesh, const WadiShape *shape, double time, WadiBox view, double cell,
                       double level, WadiArena *arena, WadiError *error)
{
    *mesh = (WadiMesh){ 0 };
    if (wadi_shape_has_mesh(shape)) {
        return wadi_shape_mesh(mesh, shape, time, view, 0.1 * cell, error);
    }
    WadiBox box = visible_part(shape, time, view);
    if (wadi_box_is_empty(box)) {
        return WADI_OK;
    }
    WadiVec3 size = wadi_box_size(box);
    double tiles = (size.x / (8 * cell) + 3) * (size.y / (8 * cell) + 3) * (size.z / (8 * cell) + 3);
    Sampling s = { .shape = shape, .time = time, .cell = cell * fmax(1.0, cbrt(tiles / TILES_MAX)) };
    s.level = level * s.cell;
    WadiArenaMark mark = wadi_arena_mark(arena);
    WadiStatus status = march_shape(mesh, &s, wadi_box_grown(box, s.level), arena, error);
    wadi_arena_release(arena, mark);
    if (status == WADI_OK && level > 0.0) {
        Projection projection = { shape, time, mesh->vertices };
        wadi_parallel_for((int64_t)mesh->vertex_count, VERTEX_BLOCK, project, &projection);
    }
    return status;
}

WadiStatus wadi_shape_surface(WadiMesh *mesh, const WadiShape *shape, double time, WadiBox view, double cell,
                              WadiArena *arena, WadiError *error)
{
    return make(mesh, shape, time, view, cell, 0.0, arena, error);
}

WadiStatus wadi_shape_surface_thin(WadiMesh *mesh, const WadiShape *shape, double time, WadiBox view,
                                   double cell, WadiArena *arena, WadiError *error)
{
    return make(mesh, shape, time, view, cell, THIN_LEVEL, arena, error);
}
