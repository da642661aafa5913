/* Fill of the cells, and labels: pressure cells, cells inside solids. */
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "flip/pressure/flip_surface.h"
#include "flip/transfer/flip_split_at_faces.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"

enum { TILE_BLOCK = 16 };

typedef struct CellContext {
    const WadiFlip *flip;
    WadiFlipStep *step;
} CellContext;

static void empty_rows(void *user, int64_t first, int64_t end)
{
    const CellContext *context = user;
    memset(context->step->cells.fill + 8 * first, 0, (size_t)(8 * (end - first)) * sizeof(float));
}

/* Volume of the particles of each cell over the volume of a cell. */
static void fill_tiles(void *user, int64_t first, int64_t end)
{
    const CellContext *context = user;
    const WadiFlipStep *step = context->step;
    const WadiTileSort *sort = &step->sort;
    int per_axis = context->flip->context.world->scene->particles_per_axis;
    const float particle_fill = 1.0f / (float)(per_axis * per_axis * per_axis);
    for (int32_t t = (int32_t)first; t < end; ++t) {
        int32_t occupied = sort->row_first[t];
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++occupied) {
            int32_t row = wadi_rows_at(&step->grid.rows, step->grid.tile_of[t], __builtin_ctzll(left));
            const int32_t *start = &sort->cell_start[8 * (size_t)occupied];
            for (int l = 0; l < 8; ++l) {
                step->cells.fill[8 * (size_t)row + (size_t)l] =
                    particle_fill * (float)(start[l + 1] - start[l]);
            }
        }
    }
}

static void mark_inside(void *user, int64_t first, int64_t end)
{
    const CellContext *context = user;
    const WadiFlipStep *step = context->step;
    for (int64_t r = first; r < end; ++r) {
        const WadiI8 is_inside = WADI_ROW(step->solid.distance, step->solid.row[r]) < 0.0f;
        unsigned inside = wadi_row_bits(&is_inside);
        step->cells.inside[r] = r == 0 ? 0 : (uint8_t)(inside & ~(unsigned)step->cells.pressure_cells[r]);
    }
}

/* Order of the free surface. `auto`: first order for sand alone [theory 4.1] and with Gauss-Seidel, as in
 * [A24]; otherwise second order. */
static WadiFlipTheta surface_theta(const WadiFlip *flip)
{
    const WadiFlipDef *def = wadi_flip_def(flip->context.world->scene);
    switch (def->surface) {
    case WADI_FLIP_SURFACE_FIRST_ORDER: return WADI_FLIP_THETA_ONE;
    case WADI_FLIP_SURFACE_FACE: return WADI_FLIP_THETA_HALF;
    case WADI_FLIP_SURFACE_GHOST_FLUID: return WADI_FLIP_THETA_GHOST;
    case WADI_FLIP_SURFACE_AUTO: break;
    }
    bool is_plain = !flip->materials.has_water || def->pressure == WADI_FLIP_PRESSURE_GAUSS_SEIDEL;
    return is_plain ? WADI_FLIP_THETA_ONE : WADI_FLIP_THETA_GHOST;
}

/* With sand and water in one scene, cells of sand are pressure cells with one particle. */
static void add_sand_cells(const WadiFlip *flip, const WadiFlipStep *step, const uint8_t *filled)
{
    for (int32_t r = 1; r < step->grid.rows.count; ++r) {
        for (unsigned left = filled[r]; left != 0; left &= left - 1) {
            int l = __builtin_ctz(left);
            if (wadi_flip_sand(flip, step, 8 * (size_t)r + (size_t)l) >= 0.5f) {
                step->cells.pressure_cells[r] |= (uint8_t)(1u << l);
            }
        }
    }
}

/* Values per cell that last until the solves, or are temporary. */
static WadiStatus new_cells(WadiArena *arena, bool is_used_in_solve, size_t floats, float **cells,
                            const char *what, WadiError *error)
{
    return is_used_in_solve ? WADI_ARENA_NEW(arena, cells, floats, what, error)
                            : WADI_ARENA_NEW_TEMPORARY(arena, cells, floats, what, error);
}

/* The fill for the surface distance, with particles near faces split between cells. */
static WadiStatus split_fill(const WadiFlip *flip, const WadiFlipStep *step, const float **fill,
                             WadiError *error)
{
    const WadiScene *scene = flip->context.world->scene;
    const double per_axis = scene->particles_per_axis;
    const size_t floats = wadi_rows_floats(&step->grid.rows);
    WadiFlipSplitIn in = { .rows = &step->grid.rows,
                           .sort = &step->sort,
                           .tile_of = step->grid.tile_of,
                           .particles = flip->context.particles,
                           .cells_per_metre = 1.0 / step->grid.cell_size,
                           .volume = (float)(1.0 / (per_axis * per_axis * per_axis)),
                           .speed = (float)(step->grid.cell_size / flip->unit_time) };
    float *split = NULL;
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &split, floats, "split fill", error));
    memcpy(split, step->cells.fill, floats * sizeof *split);
    *fill = split;
    return wadi_flip_split_at_faces(&in, split, flip->context.scratch, error);
}

/* Distance of the free surface, and the labels that agree with it. */
static WadiStatus find_surface(const WadiFlip *flip, const WadiFlipStep *step, const uint8_t *filled,
                               const uint8_t *occupied, float *distance, uint8_t *liquid, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    const WadiVec3 gravity = wadi_curve_value3(&flip->context.world->scene->gravity, step->time);
    const WadiVec3 down = wadi_normalized_or(gravity, (WadiVec3){ 0, 0, 0 });
    WadiFlipSurfaceIn in = { .rows = &step->grid.rows,
                             .fluid = filled,
                             .occupied = occupied,
                             .fill = step->cells.fill,
                             .solid_row = step->solid.row,
                             .fraction = step->solid.fraction,
                             .is_at_rest = !wadi_solids_are_moving(&flip->context.world->solids),
                             .cell_size = step->grid.cell_size };
    for (int a = 0; a < 3; ++a) {
        in.up[a] = -(float)wadi_component(down, a);
    }
    const WadiArenaMark mark = wadi_arena_mark(arena);
    if (!flip->materials.has_sand) {
        WADI_TRY(split_fill(flip, step, &in.fill, error));
    }
    WADI_TRY(wadi_flip_surface_distance(&in, distance, liquid, arena, error));
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

WadiStatus wadi_flip_label(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    const WadiRows *rows = &step->grid.rows;
    size_t floats = wadi_rows_floats(rows), count = (size_t)rows->count;
    const bool has_pores = flip->materials.has_sand && flip->materials.has_water;
    step->cells.is_fill_used_in_solve = has_pores;
    WADI_TRY(new_cells(arena, has_pores, floats, &step->cells.fill, "fill of cells", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->cells.pressure_cells, count, "labels", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->cells.inside, count, "labels", error));
    WadiFlipTheta theta = surface_theta(flip);
    const bool has_sand_cells = flip->materials.has_sand &&
                                wadi_flip_def(flip->context.world->scene)->surface == WADI_FLIP_SURFACE_AUTO;
    for (int a = 0; a < 3 && theta == WADI_FLIP_THETA_HALF; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->cells.theta[a], floats, "surface fractions", error));
    }
    CellContext context = { flip, step };
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, empty_rows, &context);
    wadi_parallel_for(step->sort.tiles.count, TILE_BLOCK, fill_tiles, &context);
    const uint8_t *occupied = NULL;
    WADI_TRY(wadi_flip_find_sleeping(flip, step, &occupied, error));
    uint8_t *filled = NULL, *liquid = NULL;
    float *distance = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &filled, count, "labels", error));
    if (wadi_flip_published(flip) != WADI_FLIP_PUBLISHED_NONE) {
        wadi_flip_label_published(step, occupied, filled);
    } else {
        wadi_flip_solid_fill_cut_cells(rows, &step->solid, step->grid.cell_size, occupied, filled);
    }
    memcpy(step->cells.pressure_cells, filled, count);
    WADI_TRY(wadi_flip_mix(flip, step, error));
    if (theta == WADI_FLIP_THETA_GHOST) {
        WADI_TRY(WADI_ARENA_NEW(arena, &liquid, count, "labels", error));
        WADI_TRY(WADI_ARENA_NEW(arena, &distance, floats, "surface distance", error));
        WADI_TRY(find_surface(flip, step, filled, occupied, distance, liquid, error));
        memcpy(step->cells.pressure_cells, liquid, count);
        step->cells.surface_distance = distance;
        if (has_sand_cells) {
            add_sand_cells(flip, step, filled);
        }
    } else if (theta == WADI_FLIP_THETA_HALF) {
        wadi_flip_surface_theta(rows, step->cells.pressure_cells, NULL, theta, step->cells.theta);
    }
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, mark_inside, &context);
    WADI_TRY(wadi_flip_exclude_sleeping(flip, step, error));
    WADI_TRY(wadi_flip_face_density(flip, step, error));
    return wadi_table_of_rows(rows, step->cells.pressure_cells, &step->cells.pressure_row,
                              &step->cells.pressure_rows, arena, error);
}
