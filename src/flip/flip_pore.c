/* The pressure that grains press on each other with, where sand and water are in one scene.
 *
 * The pressure solve treats sand and water as one fluid of varying density, but only what the grains carry makes friction: the
 * total pressure less that of the water in the pores (Terzaghi). The pore pressure is that of still water in the sand,
 * p_w = p_contact + rho_w g.(x - x_contact), continued from the nearest contact with water. So sand under water presses with its
 * buoyant weight, a bank beside a pool stands or slumps by its friction angle, and sand above water does not rest on it.
 *
 * Differs: water does not seep [LD09 has porous flow]. Its pressure acts at once in the sand that its volume could fill, nearest
 * first: a puddle does not soften a dune. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "grid/row_lanes.h"

enum { LANES = WADI_ROW_CELLS };

static const double pore_volume = 0.4; /* of a volume of sand */

typedef struct Pore {
    const WadiRows *rows;
    const uint8_t *sand;    /* per row: cells of sand under pressure */
    const uint8_t *known;   /* per row: cells whose head is known */
    uint8_t *next;          /* the same after this layer */
    const int32_t *table;   /* of the next two and the result: rows under pressure (flip_row_table.h) */
    const double *pressure; /* P, m/s */
    double *head;           /* P less the weight of water from the origin, m/s */
    double weight[3];       /* P of still water per cell along each axis, m/s */
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

static void start_heads(void *user, int64_t first, int64_t end)
{
    const Pore *pore = user;
    for (int32_t r = first > 0 ? (int32_t)first : 1; r < end; ++r) {
        const int32_t at = pore->table[r];
        double weight[LANES];
        if (at == 0) {
            continue;
        }
        cell_weight(pore, r, weight);
        for (int l = 0; l < LANES; ++l) {
            pore->head[8 * at + l] = fmax(pore->pressure[8 * at + l], 0.0) - weight[l];
        }
    }
}

/* Cells of sand beside known ones take the mean of their heads. Returns how many. */
static double spread(void *user, int64_t first, int64_t end)
{
    const Pore *pore = user;
    int64_t reached = 0;
    for (int32_t r = first > 0 ? (int32_t)first : 1; r < end; ++r) {
        unsigned open = pore->sand[r] & ~(unsigned)pore->known[r];
        pore->next[r] = pore->known[r];
        if (open == 0) {
            continue;
        }
        for (unsigned left = open; left != 0; left &= left - 1) {
            int l = __builtin_ctz(left), count = 0;
            double sum = 0.0;
            for (int side = 0; side < 6; ++side) {
                WadiRowCell at = wadi_row_cell_beside(pore->rows, (WadiRowCell){ r, l }, side);
                if ((pore->known[at.row] >> at.lane & 1) != 0) {
                    sum += pore->head[wadi_table_cell(pore->table, wadi_row_cell_index(at))];
                    ++count;
                }
            }
            if (count > 0) {
                pore->head[8 * pore->table[r] + l] =
                    sum / count; /* read by nobody in this layer: not yet known */
                pore->next[r] |= (uint8_t)(1u << l);
                ++reached;
            }
        }
    }
    return (double)reached;
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
            bool is_sand = (pore->sand[r] >> l & 1) != 0, is_wet = (pore->known[r] >> l & 1) != 0;
            double water = is_wet ? fmax(pore->head[cell] + weight[l], 0.0) : 0.0;
            pore->grain[cell] = is_sand ? fmax(pore->pressure[cell] - water, 0.0) : 0.0;
        }
    }
}

/* Labels, and the cells of sand that the water could fill. */
static double sort_cells(const WadiFlip *flip, const WadiFlipStep *step, uint8_t *sand, uint8_t *water)
{
    double volume = 0.0;
    for (int32_t r = 0; r < step->grid.rows.count; ++r) {
        unsigned is_sand = 0;
        for (int l = 0; l < LANES; ++l) {
            size_t cell = 8 * (size_t)r + (size_t)l;
            float share = wadi_flip_sand(flip, step, cell);
            is_sand |= (unsigned)(share >= 0.5f) << l;
            volume += (double)((1.0f - share) * step->fill[cell]);
        }
        sand[r] = step->fluid[r] & (uint8_t)is_sand;
        water[r] = step->fluid[r] & (uint8_t)~is_sand;
    }
    return volume / pore_volume;
}

static double water_density(const WadiScene *scene)
{
    for (int m = 0; m < scene->material_count; ++m) {
        if (scene->materials[m].kind == WADI_MATERIAL_WATER) {
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
    uint8_t *sand = NULL, *known = NULL, *next = NULL;
    Pore pore = { .rows = rows, .table = step->fluid_row, .pressure = step->pressure, .grain = grain };
    WADI_TRY(WADI_ARENA_NEW(arena, &sand, (size_t)rows->count, "pores", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &known, (size_t)rows->count, "pores", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &next, (size_t)rows->count, "pores", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pore.head, LANES * (size_t)step->fluid_rows, "pores", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &pore.partials,
                            (size_t)wadi_parallel_block_count(rows->count, WADI_ROW_BLOCK), "pores", error));
    double budget = sort_cells(flip, step, sand, known);
    WadiVec3 g = wadi_curve_value3(&scene->gravity, step->time);
    double scale = step->kick * water_density(scene) / flip->materials.density;
    pore.weight[0] = scale * g.x;
    pore.weight[1] = scale * g.y;
    pore.weight[2] = scale * g.z;
    pore.sand = sand;
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, start_heads, &pore);
    for (double reached = 1.0, total = 0.0; reached > 0.0 && total < budget; total += reached) {
        pore.known = known;
        pore.next = next;
        next[0] = 0;
        reached = wadi_parallel_sum(rows->count, WADI_ROW_BLOCK, spread, &pore, pore.partials);
        uint8_t *swap = known;
        known = next;
        next = swap;
    }
    pore.known = known;
    memset(grain, 0, LANES * sizeof *grain);
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, subtract, &pore);
    return WADI_OK;
}
