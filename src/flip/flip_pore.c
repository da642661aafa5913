/* Pressure between grains, if sand and water are in one scene. [theory 7.2]
 *
 * The pressure solve treats sand and water as one fluid of varying density, but friction depends only on
 * the load of the grains: the total pressure less the pore pressure [T43]. In wet sand that is the
 * pressure of still water, continued from the nearest contact with water, p_w = p_contact + rho_w g.(x -
 * x_contact); in dry sand it is 0. So sand under water has its buoyant weight, and sand above water does
 * not rest on it.
 *
 * Sand is wet if it is nearer to water than to air, counted in cells through the sand, and no farther from
 * water than the water above the contact could fill the pores. Sand on top of water is wet as far up as
 * that water could fill it.
 * Differs: water does not seep [LD09 has porous flow]. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "flip/pressure/flip_surface.h"
#include "grid/row_lanes.h"

enum { LANES = WADI_ROW_CELLS };

static const float PORE_VOLUME = 0.4f; /* fraction of the volume of sand */
static const float UNLIMITED = 1e6f;   /* cells: without gravity the distance is not limited by a depth */

/* Cells of sand known to be wet or dry: one bit a cell. */
typedef struct Known {
    uint8_t *wet; /* includes water */
    uint8_t *dry;
} Known;

typedef struct Pore {
    const WadiFlip *flip;
    const WadiFlipStep *step;
    const WadiRows *rows;
    uint8_t *sand; /* per row: cells of sand under pressure */
    uint8_t *air;
    Known known, next; /* before and after a layer of cells */
    /* Rows of the arrays below and of the result: rows under pressure (flip_row_table.h). */
    const int32_t *table;
    const double *pressure; /* P, m/s */
    double *head;           /* P less the weight of water from the origin, m/s */
    float *range, *rise;    /* cells that the water can still go: in any direction, and straight up */
    int up, down;           /* sides of a cell against and along gravity; -1: no gravity */
    double weight[3];       /* P of still water per cell along each axis, m/s */
    double half_cell;       /* P of half a cell of the reference density, m/s; 0: P has it */
    double *grain, *partials;
} Pore;

static void cell_weight(const Pore *pore, int32_t row, double weight[LANES])
{
    int32_t cell[3];
    wadi_rows_cell(pore->rows, row, cell);
    for (int l = 0; l < LANES; ++l) {
        weight[l] = pore->weight[0] * (cell[0] + l) + pore->weight[1] * cell[1] + pore->weight[2] * cell[2];
    }
}

/* Number of water cells in a straight line from a water cell, which counts. */
static int water_cells(const Pore *pore, WadiRowCell cell, int side, WadiRowCell *beyond)
{
    int count = 0;
    for (; cell.row > 0 && (pore->known.wet[cell.row] >> cell.lane & 1) != 0; ++count) {
        cell = wadi_row_cell_neighbour(pore->rows, cell, side);
    }
    *beyond = cell;
    return count;
}

/* Cells of sand that the water of a cell can fill: the water above it fills pores. The uppermost cell,
 * which is not full, does not count. */
static void start_range(const Pore *pore, WadiRowCell cell, float *range, float *rise)
{
    WadiRowCell above, below;
    if (pore->up < 0) {
        *range = UNLIMITED;
        return;
    }
    const int over = water_cells(pore, cell, pore->up, &above) - 1;
    *range = (float)over / PORE_VOLUME;
    if (over == 0 && (pore->sand[above.row] >> above.lane & 1) != 0) {
        *rise = (float)(water_cells(pore, cell, pore->down, &below) - 1) / PORE_VOLUME;
    }
}

static void start_heads(void *user, int64_t first, int64_t end)
{
    const Pore *pore = user;
    for (int32_t r = first > 0 ? (int32_t)first : 1; r < end; ++r) {
        const size_t at = 8 * (size_t)pore->table[r];
        double weight[LANES];
        if (at == 0) {
            continue;
        }
        unsigned next_to_sand = 0;
        for (int side = 0; side < 6; ++side) {
            next_to_sand |= wadi_row_neighbour_bits(pore->rows, pore->sand, r, side);
        }
        cell_weight(pore, r, weight);
        for (int l = 0; l < LANES; ++l) {
            pore->head[at + (size_t)l] = fmax(pore->pressure[at + (size_t)l], 0.0) - weight[l];
            pore->range[at + (size_t)l] = pore->rise[at + (size_t)l] = 0.0f;
            if ((pore->known.wet[r] & next_to_sand) >> l & 1) {
                start_range(pore, (WadiRowCell){ r, l }, &pore->range[at + (size_t)l],
                            &pore->rise[at + (size_t)l]);
            }
        }
    }
}

/* Cells next to air that has other air next to it: a hole of one cell in a bed is not the open air. */
static unsigned next_to_air(const Pore *pore, int32_t r)
{
    unsigned bits = 0;
    for (int side = 0; side < 6; ++side) {
        bits |= wadi_row_neighbour_bits(pore->rows, pore->air, r, side);
    }
    return bits;
}

static void start_dry(void *user, int64_t first, int64_t end)
{
    const Pore *pore = user;
    for (int32_t r = (int32_t)first; r < end; ++r) {
        pore->known.dry[r] = (uint8_t)(r > 0 ? pore->sand[r] & next_to_air(pore, r) : 0);
    }
}

/* Make a cell wet if the water of its neighbours can go so far; a dry cell only from below. */
static bool wet_cell(const Pore *pore, int32_t r, int l, bool is_dry)
{
    const size_t own = 8 * (size_t)pore->table[r] + (size_t)l;
    double sum = 0.0;
    float range = 0.0f, rise = 0.0f;
    int count = 0;
    for (int side = 0; side < 6; ++side) {
        const WadiRowCell at = wadi_row_cell_neighbour(pore->rows, (WadiRowCell){ r, l }, side);
        const size_t from = wadi_table_cell(pore->table, wadi_row_cell_index(at));
        const bool does_rise = side == pore->down && pore->rise[from] >= 1.0f;
        if ((pore->known.wet[at.row] >> at.lane & 1) != 0 &&
            (does_rise || (!is_dry && pore->range[from] >= 1.0f))) {
            sum += pore->head[from];
            range = wadi_maxf(range, pore->range[from] - 1.0f);
            rise = does_rise ? pore->rise[from] - 1.0f : rise;
            ++count;
        }
    }
    if (count > 0) { /* not yet marked as known, so no other cell reads it in this layer */
        pore->head[own] = sum / count;
        pore->range[own] = range;
        pore->rise[own] = rise;
    }
    return count > 0;
}

/* Add one layer of cells known to be wet or dry. Returns the number of wet ones. */
static double spread(void *user, int64_t first, int64_t end)
{
    const Pore *pore = user;
    int64_t reached = 0;
    for (int32_t r = (int32_t)first; r < end; ++r) {
        const unsigned wet = pore->known.wet[r];
        unsigned open = r > 0 ? pore->sand[r] & ~wet : 0, dry = pore->known.dry[r], next_to_wet = 0, more = 0;
        for (int side = 0; side < 6 && open != 0; ++side) {
            dry |= wadi_row_neighbour_bits(pore->rows, pore->known.dry, r, side) & open;
            next_to_wet |= wadi_row_neighbour_bits(pore->rows, pore->known.wet, r, side) & open;
        }
        for (unsigned left = next_to_wet; left != 0; left &= left - 1) {
            const int l = __builtin_ctz(left);
            more |= (unsigned)wet_cell(pore, r, l, (dry >> l & 1) != 0) << l;
        }
        reached += __builtin_popcount(more);
        pore->next.wet[r] = (uint8_t)(wet | more);
        pore->next.dry[r] = (uint8_t)(dry & ~more);
    }
    return (double)reached;
}

/* Half the weight of a cell of dry sand at rest, which a surface of first order adds to P where there is
 * sand only [theory 4.1]. Even the lightest cell at rest bears the least theta of the ghost fluid. */
static double stairs_load(const Pore *pore, size_t cell, double grain)
{
    const double half =
        pore->half_cell * (double)pore->step->cells.mix.density[cell] / pore->flip->materials.density;
    return fmin(half, 0.5 * grain / (double)WADI_FLIP_THETA_MIN);
}

static void subtract(void *user, int64_t first, int64_t end)
{
    const Pore *pore = user;
    for (int32_t r = first > 0 ? (int32_t)first : 1; r < end; ++r) {
        double weight[LANES];
        if (pore->table[r] == 0) {
            continue;
        }
        cell_weight(pore, r, weight);
        for (int l = 0; l < LANES; ++l) {
            size_t cell = 8 * (size_t)pore->table[r] + (size_t)l;
            bool is_sand = (pore->sand[r] >> l & 1) != 0, is_wet = (pore->known.wet[r] >> l & 1) != 0;
            double water = is_wet ? fmax(pore->head[cell] + weight[l], 0.0) : 0.0;
            double grain = fmax(pore->pressure[cell] - water, 0.0);
            grain += is_wet ? 0.0 : stairs_load(pore, 8 * (size_t)r + (size_t)l, grain);
            pore->grain[cell] = is_sand ? grain : 0.0;
        }
    }
}

/* Classify the cells. Air has neither particles nor solids, and other air next to it. */
static void classify_cells(void *user, int64_t first, int64_t end)
{
    const Pore *pore = user;
    const WadiFlipStep *step = pore->step;
    for (int64_t r = first; r < end; ++r) {
        unsigned is_sand = 0;
        for (int l = 0; l < LANES; ++l) {
            is_sand |= (unsigned)(wadi_flip_sand(pore->flip, step, 8 * (size_t)r + (size_t)l) >= 0.5f) << l;
        }
        const unsigned sleeping = step->cells.sleeping.cells != NULL ? step->cells.sleeping.cells[r] : 0;
        pore->sand[r] = step->cells.pressure_cells[r] & (uint8_t)is_sand;
        pore->known.wet[r] = step->cells.pressure_cells[r] & (uint8_t)~is_sand;
        pore->next.dry[r] = (uint8_t)(~(step->cells.pressure_cells[r] | step->grid.occupied[r] |
                                        step->cells.inside[r] | sleeping));
    }
}

static void find_air(void *user, int64_t first, int64_t end)
{
    Pore pore = *(const Pore *)user;
    uint8_t *air = pore.air;
    pore.air = pore.next.dry;
    for (int32_t r = (int32_t)first; r < end; ++r) {
        air[r] = (uint8_t)(r > 0 ? pore.air[r] & next_to_air(&pore, r) : 0);
    }
}

/* Sides of a cell along the grid axis nearest to gravity. */
static void set_sides(Pore *pore)
{
    int axis = 0;
    for (int a = 1; a < 3; ++a) {
        axis = fabs(pore->weight[a]) > fabs(pore->weight[axis]) ? a : axis;
    }
    const double along = pore->weight[axis];
    pore->down = along > 0.0 ? 2 * axis + 1 : 2 * axis;
    pore->up = along > 0.0 ? 2 * axis : 2 * axis + 1;
    if (along == 0.0) {
        pore->up = pore->down = -1;
    }
}

static double water_density(const WadiScene *scene)
{
    for (int m = 0; m < scene->material_count; ++m) {
        if (scene->materials[m].kind == WADI_MATERIAL_WATER && !scene->materials[m].is_unused) {
            return scene->materials[m].density;
        }
    }
    return 0.0;
}

WadiStatus wadi_flip_grain_pressure(const WadiFlip *flip, const WadiFlipStep *step, double *grain,
                                    WadiError *error)
{
    const WadiScene *scene = flip->context.world->scene;
    const WadiRows *rows = &step->grid.rows;
    WadiArena *arena = flip->context.scratch;
    Pore pore = { .flip = flip,
                  .step = step,
                  .rows = rows,
                  .table = step->cells.pressure_row,
                  .pressure = step->cells.pressure,
                  .grain = grain };
    uint8_t **const bits[] = { &pore.sand,      &pore.air,      &pore.known.wet,
                               &pore.known.dry, &pore.next.wet, &pore.next.dry };
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; ++i) {
        WADI_TRY(WADI_ARENA_NEW(arena, bits[i], (size_t)rows->count, "pores", error));
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &pore.head, LANES * (size_t)step->cells.pressure_rows, "pores", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pore.range, LANES * (size_t)step->cells.pressure_rows, "pores", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pore.rise, LANES * (size_t)step->cells.pressure_rows, "pores", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pore.partials,
                            (size_t)wadi_parallel_block_count(rows->count, WADI_ROW_BLOCK), "pores", error));
    WadiVec3 g = wadi_curve_value3(&scene->gravity, step->time);
    double scale = step->force_dt * water_density(scene) / flip->materials.density;
    pore.weight[0] = scale * g.x;
    pore.weight[1] = scale * g.y;
    pore.weight[2] = scale * g.z;
    const bool is_first_order = step->cells.theta[0] == NULL && step->cells.surface_distance == NULL;
    pore.half_cell = is_first_order ? 0.0 : 0.5 * step->force_dt * wadi_norm(g);
    set_sides(&pore);
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, classify_cells, &pore);
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, find_air, &pore);
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, start_dry, &pore);
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, start_heads, &pore);
    while (wadi_parallel_sum(rows->count, WADI_ROW_BLOCK, spread, &pore, pore.partials) > 0.0) {
        const Known swap = pore.known;
        pore.known = pore.next;
        pore.next = swap;
    }
    memset(grain, 0, LANES * sizeof *grain);
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, subtract, &pore);
    return WADI_OK;
}
