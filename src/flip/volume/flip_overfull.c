/* Find material that has too little space. [theory 7.3] The number of particles in one cell is noise, so
 * tiles of 8^3 cells are measured. Tiles that touch form one body; a body that touches no air and holds
 * more than at rest is overfull. Behind thin walls a full body may touch tiles with air: there a single
 * tile without air must be far too dense. */
#include "flip/flip.h"

#include <string.h>

#include "grid/row_vectors.h"
#include "grid/tile_bodies.h"

/* Largest mean fill of a body without air: water is never denser, sand (band 0.2) may be. */
static const double LARGEST_FILL_WATER = 1.03, LARGEST_FILL_SAND = 1.22;
/* Largest mean fill of one tile: above the peaks of impacts. */
static const double LARGEST_FILL_TILE = 1.4;
/* Fraction of the cells outside solids that is empty by chance. */
static const double EMPTY_FRACTION = 0.02;
/* Fewer cells give no reliable mean. */
enum { MIN_CELLS = 64 };

WadiStatus wadi_flip_overfull_begin(const WadiFlip *flip, const WadiFlipStep *step,
                                    WadiOverfullList *overfull, WadiError *error)
{
    *overfull = (WadiOverfullList){ 0 };
    return WADI_ARENA_NEW(flip->context.scratch, &overfull->region, (size_t)step->grid.tiles.count,
                          "overfull tiles", error);
}

/* Sums over the cells that no solid cuts. */
typedef struct Count {
    double fill;
    int64_t cells, empty;
} Count;

static Count count_tile(const WadiFlipStep *step, int32_t tile)
{
    const WadiRows *rows = &step->grid.rows;
    Count count = { 0 };
    for (int32_t row = rows->first[tile]; row < rows->first[tile + 1]; ++row) {
        const float *fraction = step->solid.fraction + 8 * (size_t)step->solid.row[row];
        const float *fill = step->cells.fill + 8 * (size_t)row;
        for (int l = 0; l < 8; ++l) {
            const bool is_open = fraction[l] <= 0.0f;
            count.cells += is_open;
            count.empty += is_open && fill[l] <= 0.0f;
            count.fill += is_open ? (double)fill[l] : 0.0;
        }
    }
    return count;
}

static bool has_air(const Count *count)
{
    return (double)count->empty > EMPTY_FRACTION * (double)count->cells;
}

WadiStatus wadi_flip_find_overfull(const WadiFlip *flip, const WadiFlipStep *step, WadiOverfullList *overfull,
                                   WadiError *error)
{
    const WadiTileMap *tiles = &step->grid.tiles; /* includes the air next to the material */
    const double largest_fill = flip->materials.has_sand ? LARGEST_FILL_SAND : LARGEST_FILL_WATER;
    const double size = WADI_TILE_SIDE * step->grid.cell_size;
    Count *tile = NULL, *body = NULL;
    int32_t *body_of = NULL;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(flip->context.scratch, &tile, (size_t)tiles->count, "overfull tiles",
                                      error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(flip->context.scratch, &body, (size_t)tiles->count, "overfull tiles",
                                      error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(flip->context.scratch, &body_of, (size_t)tiles->count, "overfull tiles",
                                      error));
    memset(body, 0, (size_t)tiles->count * sizeof *body);
    for (int32_t n = 0; n < tiles->count; ++n) {
        tile[n] = count_tile(step, n);
    }
    wadi_tile_bodies_find(tiles, body_of);
    for (int32_t n = 0; n < tiles->count; ++n) {
        Count *all = &body[body_of[n]];
        all->fill += tile[n].fill;
        all->cells += tile[n].cells;
        all->empty += tile[n].empty;
    }
    for (int32_t n = 0; n < tiles->count; ++n) {
        const Count *all = &body[body_of[n]];
        const bool is_closed = all->cells >= MIN_CELLS && !has_air(all);
        const bool is_overfull = is_closed ? all->fill > largest_fill * (double)all->cells
                                           : tile[n].cells >= MIN_CELLS && !has_air(&tile[n]) &&
                                                 tile[n].fill > LARGEST_FILL_TILE * (double)tile[n].cells;
        if (is_overfull && step->grid.sort_tile[n] >= 0) {
            const WadiVec3 low = { size * tiles->tiles[n].x, size * tiles->tiles[n].y,
                                   size * tiles->tiles[n].z };
            const Count *dense = is_closed ? all : &tile[n];
            overfull->region[overfull->count++] =
                (WadiOverfullRegion){ { low, wadi_add(low, wadi_vec3(size, size, size)) },
                                      dense->fill / (double)dense->cells,
                                      is_closed };
        }
    }
    return WADI_OK;
}
