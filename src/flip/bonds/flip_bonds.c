/* Bonds of cohesive sand: which particles have them, what they bear in each cell, where they break and heal,
 * where sand lifts off walls, and the masses of faces at the surface of bonded sand [theory 6.13]. */
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_lanes.h"
#include "grid/row_vectors.h"

enum { TILE_BLOCK = 16 };
/* Least mass of a face over that of a full one. The friction solve's step falls with it. */
#define LEAST_FRACTION 0.25f
/* Bits of the particle column: the bonds are broken; sand of the cell has lifted off the wall at a side, six
 * bits; its stress reached the yield law. */
enum { PARTED = 1, LIFTED = 2, ALL_LIFTED = 63 * LIFTED, YIELDS = 128 };

bool wadi_flip_is_cohesive(const WadiMaterial *material)
{
    bool is_cohesive = wadi_curve_value(&material->cohesion, 0.0) > 0.0;
    for (int k = 0; k < material->cohesion.key_count; ++k) {
        is_cohesive = is_cohesive || material->cohesion.keys[k].value[0] > 0.0;
    }
    return material->kind == WADI_MATERIAL_SAND && is_cohesive;
}

WadiStatus wadi_flip_bonds_add(WadiFlip *flip, WadiError *error)
{
    const WadiScene *scene = flip->context.world->scene;
    bool is_cohesive = false;
    for (int m = 0; m < scene->material_count; ++m) {
        is_cohesive =
            is_cohesive || (wadi_flip_is_cohesive(&scene->materials[m]) && !scene->materials[m].is_unused);
    }
    flip->bonds_column = -1;
    if (!is_cohesive || flip->materials.has_water ||
        wadi_flip_def(scene)->friction != WADI_FLIP_FRICTION_SOLVE ||
        wadi_flip_def(scene)->pressure == WADI_FLIP_PRESSURE_GAUSS_SEIDEL) {
        return WADI_OK;
    }
    return wadi_particles_add_column(flip->context.particles, "bonds", WADI_TYPE_U8, &flip->bonds_column,
                                     error);
}

typedef struct Bonds {
    const WadiFlip *flip;
    WadiFlipStep *step;
    uint8_t *bits;                /* of the particles */
    uint8_t *loose;               /* per row: cells with broken bonds, then also those around them */
    const WadiFriction *friction; /* after the solve */
    const WadiFrictionLoad *load;
    float full; /* mass of the particles at a full face */
} Bonds;

static void face_rows(void *user, int64_t first, int64_t end)
{
    const Bonds *bonds = user;
    const float scale = 1.0f / bonds->full;
    for (int64_t row = first; row < end; ++row) {
        for (int a = 0; a < 3; ++a) {
            WADI_ROW_OUT(bonds->step->face_fraction[a], row) =
                scale * WADI_ROW(bonds->step->grid.face_mass[a], row);
        }
    }
}

WadiStatus wadi_flip_save_face_fraction(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    if (flip->bonds_column < 0) {
        return WADI_OK;
    }
    const int per_axis = flip->context.world->scene->particles_per_axis;
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &step->face_fraction[a],
                                wadi_rows_floats(&step->grid.rows), "face masses", error));
    }
    wadi_parallel_for(
        step->grid.rows.count, WADI_ROW_BLOCK, face_rows,
        &(Bonds){ .flip = flip, .step = step, .full = (float)(per_axis * per_axis * per_axis) });
    return WADI_OK;
}

/* Calls `visit` for each cell of tiles with its particles. */
typedef void (*VisitCell)(const Bonds *bonds, WadiRowCell cell, int32_t first, int32_t end);

static void visit_cells(const Bonds *bonds, int64_t first, int64_t end, VisitCell visit)
{
    const WadiFlipStep *step = bonds->step;
    const WadiTileSort *sort = &step->sort;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        int32_t occupied = sort->row_first[t];
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++occupied) {
            const int32_t row = wadi_rows_at(&step->grid.rows, step->grid.tile_of[t], __builtin_ctzll(left));
            const int32_t *start = &sort->cell_start[8 * (size_t)occupied];
            for (int l = 0; l < 8; ++l) {
                if (start[l + 1] > start[l]) {
                    visit(bonds, (WadiRowCell){ row, l }, start[l], start[l + 1]);
                }
            }
        }
    }
}

/* Sides at which most particles of a cell have lifted off the wall. */
static unsigned lifted_sides(const Bonds *bonds, int32_t first, int32_t end)
{
    unsigned any = 0, sides = 0;
    for (int32_t i = first; i < end; ++i) {
        any |= bonds->bits[i];
    }
    for (int side = 0; side < 6 && (any & ALL_LIFTED) != 0; ++side) {
        int32_t count = 0;
        for (int32_t i = first; i < end; ++i) {
            count += bonds->bits[i] >> side & LIFTED;
        }
        sides |= (unsigned)(count > end - first) << side; /* LIFTED is 2: more than half */
    }
    return sides;
}

static WadiRowCell face_of(const WadiRows *rows, WadiRowCell cell, int side)
{
    return (side & 1) != 0 ? wadi_row_cell_neighbour(rows, cell, side) : cell;
}

/* Index of a face in the arrays of the solids. */
static size_t solid_index(const WadiFlipStep *step, WadiRowCell face)
{
    return wadi_table_cell(step->solid.row, wadi_row_cell_index(face));
}

/* Velocity of a face out of the wall at a side of a cell, relative to the wall. */
static float leaving_speed(const WadiFlipStep *step, WadiRowCell face, int side, float velocity)
{
    const float *solid = step->solid.velocity[side >> 1];
    const float apart = velocity - (solid != NULL ? solid[solid_index(step, face)] : 0.0f);
    return (side & 1) != 0 ? -apart : apart;
}

/* Is a side of a cell on a wall along the grid? */
static bool is_at_wall(const WadiFlipStep *step, WadiRowCell cell, int side)
{
    const WadiRowCell face = face_of(&step->grid.rows, cell, side),
                      beside = wadi_row_cell_neighbour(&step->grid.rows, cell, side);
    return face.row != 0 && step->solid.open[side >> 1][solid_index(step, face)] <= 0.0f &&
           (step->cells.sleeping.sand[beside.row] >> beside.lane & 1) == 0;
}

static bool is_bonded(const WadiFlipStep *step, WadiRowCell cell)
{
    return step->cells.bonds.tension[wadi_row_cell_index(cell)] > 0.0f;
}

static void open_side(WadiFlipStep *step, WadiRowCell cell, int side)
{
    const WadiRowCell face = face_of(&step->grid.rows, cell, side);
    step->solid.open[side >> 1][solid_index(step, face)] = 1.0f;
    step->lifted[wadi_row_cell_index(cell)] |= (uint8_t)(1u << side);
}

/* Open the sides where bonded sand has lifted off a wall and does not come back. */
static void open_lifted(const Bonds *bonds, WadiRowCell cell, int32_t first, int32_t end)
{
    WadiFlipStep *step = bonds->step;
    const unsigned lifted = is_bonded(step, cell) ? lifted_sides(bonds, first, end) : 0;
    for (int side = 0; side < 6; ++side) {
        const WadiRowCell face = face_of(&step->grid.rows, cell, side);
        const size_t at = wadi_table_cell(step->saved_row, wadi_row_cell_index(face));
        if ((lifted >> side & 1) != 0 && is_at_wall(step, cell, side) &&
            leaving_speed(step, face, side, step->saved[side >> 1][at]) >= 0.0f) {
            open_side(step, cell, side);
        }
    }
}

/* A wall across a cell has no side of its own that could open: the cell bears no tension. */
static bool is_cut(const WadiFlipStep *step, WadiRowCell cell)
{
    bool is_cut = false;
    for (int side = 0; side < 6; ++side) {
        const WadiRowCell face = face_of(&step->grid.rows, cell, side);
        const float open = face.row != 0 ? step->solid.open[side >> 1][solid_index(step, face)] : 1.0f;
        is_cut = is_cut || (open > 0.0f && open < 1.0f);
    }
    return is_cut;
}

/* Means over the particles of each cell. */
static void mean_of_cell(const Bonds *bonds, WadiRowCell cell, int32_t first, int32_t end)
{
    const WadiMaterials *materials = &bonds->flip->materials;
    const uint8_t *material = bonds->flip->context.particles->material;
    float cohesion = 0.0f, tension = 0.0f;
    unsigned any = 0;
    for (int32_t i = first; i < end; ++i) {
        const bool has_parted = (bonds->bits[i] & PARTED) != 0;
        any |= bonds->bits[i];
        cohesion += materials->cohesion[material[i]] - (has_parted ? materials->bond[material[i]] : 0.0f);
        tension += has_parted ? 0.0f : materials->tension[material[i]];
    }
    const size_t at = wadi_row_cell_index(cell);
    const unsigned has_bonds = tension > 0.0f, lane = (unsigned)cell.lane;
    bonds->loose[cell.row] |= (uint8_t)((any & PARTED) << lane);
    bonds->step->cells.bonds.held[cell.row] |=
        (uint8_t)(((any & (PARTED | YIELDS)) == 0 && has_bonds) << lane);
    bonds->step->cells.bonds.cohesion[at] = cohesion / (float)(end - first);
    bonds->step->cells.bonds.tension[at] = is_cut(bonds->step, cell) ? 0.0f : tension / (float)(end - first);
}

static void mean_tiles(void *user, int64_t first, int64_t end)
{
    visit_cells(user, first, end, mean_of_cell);
}

/* Adds the cells beside loose ones, also across edges and corners. */
static WadiStatus spread_loose(const Bonds *bonds, WadiArena *scratch, WadiError *error)
{
    const WadiRows *rows = &bonds->step->grid.rows;
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    uint8_t *before;
    WADI_TRY(WADI_ARENA_NEW(scratch, &before, (size_t)rows->count, "bonds", error));
    for (int axis = 0; axis < 3; ++axis) {
        memcpy(before, bonds->loose, (size_t)rows->count);
        for (int32_t row = 1; row < rows->count; ++row) {
            bonds->loose[row] |= (uint8_t)(wadi_row_neighbour_bits(rows, before, row, 2 * axis) |
                                           wadi_row_neighbour_bits(rows, before, row, 2 * axis + 1));
        }
    }
    wadi_arena_release(scratch, mark);
    return WADI_OK;
}

/* The part of the hats of a row of faces that lies outside walls, from the open parts of faces: 3/4 of a
 * hat's width is the face's own, 1/8 that of the next face to either side. */
static WadiF8 open_part(const WadiFlipStep *step, int32_t row, int axis)
{
    const WadiF8 least = (WadiF8){ 0 } + LEAST_FRACTION;
    const float *open = step->solid.open[axis];
    const WadiF8 own = WADI_ROW(open, wadi_table_row(step->solid.row, row));
    WadiF8 part = own;
    for (int side = 0; side < 6; ++side) {
        float beside[8];
        if (side >> 1 != axis) {
            wadi_table_row_neighbours(&step->grid.rows, step->solid.row, open, row, side, beside);
            part += 0.125f * (*(const WadiF8 *)beside - own);
        }
    }
    return WADI_MAX8(part, least);
}

/* Faces of bonded sand beside air, and those whose hat reaches broken bonds, have the mass of the particles
 * at them: what forces add to such a face is what its particles receive. Others have that of a full one. */
static void fraction_rows(void *user, int64_t first, int64_t end)
{
    const Bonds *bonds = user;
    const WadiFlipStep *step = bonds->step;
    const WadiRows *rows = &step->grid.rows;
    const WadiF8 one = (WadiF8){ 0 } + 1.0f, least = (WadiF8){ 0 } + LEAST_FRACTION;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        float near[8];
        const WadiI8 here = WADI_ROW(step->cells.bonds.tension, row) > 0.0f;
        step->bonded[row] = (uint8_t)(wadi_row_bits(&here) & step->cells.pressure_cells[row]);
        for (int a = 0; a < 3; ++a) {
            wadi_row_neighbours(rows, step->cells.bonds.tension, row, 2 * a, near);
            const WadiI8 there = *(const WadiF8 *)near > 0.0f;
            WadiI8 has_one, is_loose;
            wadi_row_mask(step->cells.pressure_cells[row] ^
                              wadi_row_neighbour_bits(rows, step->cells.pressure_cells, row, 2 * a),
                          &has_one);
            wadi_row_mask(bonds->loose[row] | wadi_row_neighbour_bits(rows, bonds->loose, row, 2 * a),
                          &is_loose);
            const WadiF8 mass = WADI_ROW(step->face_fraction[a], row) / open_part(step, row, a);
            const WadiF8 fraction = WADI_MAX8(WADI_MIN8(mass, one), least);
            WADI_ROW_OUT(step->cells.bonds.fraction[a], row) =
                WADI_ROW_SELECT((has_one & (here | there)) | is_loose, fraction, one);
        }
    }
}

/* Faces of pressure cells that no particle reaches move with the opposite face of the cell: at rest they
 * would slow a body that has just entered a cell. */
static void move_unreached(WadiFlipStep *step)
{
    const WadiRows *rows = &step->grid.rows;
    for (int32_t row = 1; row < rows->count; ++row) {
        for (int side = 0; side < 6; ++side) {
            const int axis = side >> 1;
            float *u = step->grid.velocity[axis];
            for (unsigned left = step->bonded[row]; left != 0; left &= left - 1) {
                const WadiRowCell cell = { row, __builtin_ctz(left) };
                const WadiRowCell face = face_of(rows, cell, side), opposite = face_of(rows, cell, side ^ 1);
                if ((step->reached[axis][face.row] >> face.lane & 1) == 0 && face.row != 0) {
                    u[wadi_row_cell_index(face)] = u[wadi_row_cell_index(opposite)];
                }
            }
        }
    }
}

WadiStatus wadi_flip_find_bonds(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    if (flip->bonds_column < 0) {
        return WADI_OK;
    }
    WadiArena *arena = flip->context.scratch;
    const size_t floats = wadi_rows_floats(&step->grid.rows);
    WadiFlipBonds *bonds = &step->cells.bonds;
    WADI_TRY(WADI_ARENA_NEW(arena, &bonds->cohesion, floats, "bonds", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &bonds->tension, floats, "bonds", error));
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &bonds->fraction[a], floats, "bonds", error));
    }
    memset(bonds->cohesion, 0, floats * sizeof(float));
    memset(bonds->tension, 0, floats * sizeof(float));
    Bonds context = { .flip = flip,
                      .step = step,
                      .bits = wadi_particles_column(flip->context.particles, flip->bonds_column) };
    WADI_TRY(WADI_ARENA_NEW(arena, &context.loose, (size_t)step->grid.rows.count, "bonds", error));
    memset(context.loose, 0, (size_t)step->grid.rows.count);
    WADI_TRY(WADI_ARENA_NEW(arena, &bonds->held, (size_t)step->grid.rows.count, "bonds", error));
    memset(bonds->held, 0, (size_t)step->grid.rows.count);
    WADI_TRY(WADI_ARENA_NEW(arena, &step->lifted, floats, "bonds", error));
    memset(step->lifted, 0, floats);
    wadi_parallel_for(step->sort.tiles.count, TILE_BLOCK, mean_tiles, &context);
    visit_cells(&context, 0, step->sort.tiles.count, open_lifted);
    WADI_TRY(spread_loose(&context, arena, error));
    wadi_parallel_for(step->grid.rows.count, WADI_ROW_BLOCK, fraction_rows, &context);
    move_unreached(step);
    return WADI_OK;
}

/* Traction of the wall at a side of a cell, positive where it pushes: P less the deviatoric stress. */
static double push_of_wall(const Bonds *bonds, WadiRowCell cell, int side)
{
    const WadiFlipStep *step = bonds->step;
    return step->cells.pressure[wadi_table_cell(step->cells.pressure_row, wadi_row_cell_index(cell))] -
           wadi_friction_normal_stress(bonds->friction, cell.row, cell.lane, side >> 1);
}

bool wadi_flip_lift_pulled(const WadiFlip *flip, WadiFlipStep *step, const WadiFriction *friction)
{
    const Bonds bonds = { .flip = flip, .step = step, .friction = friction };
    const double layer = wadi_flip_gravity_step(flip, step);
    bool has_any = false;
    for (int32_t row = 1; row < step->grid.rows.count && flip->bonds_column >= 0; ++row) {
        for (unsigned left = step->bonded[row]; left != 0; left &= left - 1) {
            const WadiRowCell cell = { row, __builtin_ctz(left) };
            for (int side = 0; side < 6; ++side) {
                if (is_at_wall(step, cell, side) && push_of_wall(&bonds, cell, side) < -layer) {
                    open_side(step, cell, side);
                    has_any = true;
                }
            }
        }
    }
    return has_any;
}

/* Sand lifts off where the wall would pull, and meets it again where it moves towards it. */
static unsigned find_lifted(const Bonds *bonds, WadiRowCell cell)
{
    WadiFlipStep *step = bonds->step;
    unsigned lifted = 0;
    for (int side = 0; side < 6; ++side) {
        const WadiRowCell face = face_of(&step->grid.rows, cell, side);
        const int axis = side >> 1;
        const size_t at = solid_index(step, face);
        if ((step->lifted[wadi_row_cell_index(cell)] >> side & 1) != 0) {
            float *u = &step->grid.velocity[axis][wadi_row_cell_index(face)];
            const bool is_leaving = leaving_speed(step, face, side, *u) >= 0.0f;
            const float solid = step->solid.velocity[axis] != NULL ? step->solid.velocity[axis][at] : 0.0f;
            *u = is_leaving ? *u : solid;
            lifted |= (unsigned)is_leaving << side;
        } else if (is_at_wall(step, cell, side)) {
            lifted |= (unsigned)(push_of_wall(bonds, cell, side) < 0.0) << side;
        }
    }
    return lifted;
}

/* Bonds break where tension reaches the yield law or its cut-off, and heal where sand is pressed. */
static void update_cell(const Bonds *bonds, WadiRowCell cell, int32_t first, int32_t end)
{
    const WadiFlipStep *step = bonds->step;
    const size_t at = wadi_row_cell_index(cell);
    if ((step->cells.pressure_cells[cell.row] >> cell.lane & 1) == 0) {
        return;
    }
    const bool has_bonds = is_bonded(step, cell);
    const float pressure = (float)step->cells.pressure[wadi_table_cell(step->cells.pressure_row, at)];
    const float yield = wadi_friction_yield(bonds->load, at, pressure);
    const bool yields =
        has_bonds && wadi_friction_stress(bonds->friction, cell.row, cell.lane) >= 0.999 * (double)yield;
    const bool breaks =
        has_bonds && pressure < 0.0f && (yields || pressure <= -step->cells.bonds.tension[at]);
    const unsigned lifted = has_bonds && !breaks ? LIFTED * find_lifted(bonds, cell) : 0;
    for (int32_t i = first; i < end; ++i) {
        const unsigned parted = breaks || (pressure <= 0.0f && (bonds->bits[i] & PARTED) != 0) ? PARTED : 0;
        bonds->bits[i] = (uint8_t)(parted | lifted | (yields ? YIELDS : 0));
    }
}

static void update_tiles(void *user, int64_t first, int64_t end)
{
    visit_cells(user, first, end, update_cell);
}

void wadi_flip_update_bonds(const WadiFlip *flip, WadiFlipStep *step, const WadiFriction *friction,
                            const WadiFrictionLoad *load)
{
    if (flip->bonds_column >= 0) {
        Bonds context = { .flip = flip,
                          .step = step,
                          .bits = wadi_particles_column(flip->context.particles, flip->bonds_column),
                          .friction = friction,
                          .load = load };
        wadi_parallel_for(step->sort.tiles.count, TILE_BLOCK, update_tiles, &context);
    }
}
