/* Find material that has too little space. [theory 7.3] The number of particles in one cell is noise, so
 * tiles of 8^3 cells are measured. Tiles that touch form one body; a body that touches no air and holds
 * more than at rest is overfull. Behind thin walls a full body may touch tiles with air: there a single
 * tile without air must be far too dense. */
#include "flip/flip.h"

#include <string.h>

#include "grid/row_vectors.h"

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
    int32_t body; /* an earlier tile of the same body, or this tile (union-find) */
} Count;

static Count count_tile(const WadiFlipStep *step, int32_t tile)
{
    const WadiRows *rows = &step->grid.rows;
    Count count = { .body = tile };
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

static int32_t first_of_body(Count *count, int32_t tile)
{
    while (count[tile].body != tile) {
        count[tile].body = count[count[tile].body].body;
        tile = count[tile].body;
    }
    return tile;
}

static void join_bodies(const WadiTileMap *tiles, Count *count)
{
    for (int32_t n = 0; n < tiles->count; ++n) {
        for (int axis = 0; axis < 3; ++axis) {
            WadiTile next = tiles->tiles[n];
            next.x += axis == 0;
            next.y += axis == 1;
            next.z += axis == 2;
            const int32_t other = wadi_tile_map_find(tiles, next);
            if (other >= 0) {
                const int32_t a = first_of_body(count, n), b = first_of_body(count, other);
                count[a > b ? a : b].body = a > b ? b : a;
            }
        }
    }
}

WadiStatus wadi_flip_find_overfull(const WadiFlip *flip, const WadiFlipStep *step, WadiOverfullList *overfull,
                                   WadiError *error)
{
    const WadiTileMap *tiles = &step->grid.tiles; /* includes the air next to the material */
    const double largest_fill = flip->materials.has_sand ? LARGEST_FILL_SAND : LARGEST_FILL_WATER;
    const double size = WADI_TILE_SIDE * step->grid.cell_size;
    Count *tile = NULL, *body = NULL;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(flip->context.scratch, &tile, (size_t)tiles->count, "overfull tiles",
                                      error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(flip->context.scratch, &body, (size_t)tiles->count, "overfull tiles",
                                      error));
    memset(body, 0, (size_t)tiles->count * sizeof *body);
    for (int32_t n = 0; n < tiles->count; ++n) {
        tile[n] = count_tile(step, n);
    }
    join_bodies(tiles, tile);
    for (int32_t n = 0; n < tiles->count; ++n) {
        Count *all = &body[first_of_body(tile, n)];
        all->fill += tile[n].fill;
        all->cells += tile[n].cells;
        all->empty += tile[n].empty;
    }
    for (int32_t n = 0; n < tiles->count; ++n) {
        const Count *all = &body[tile[n].body];
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
