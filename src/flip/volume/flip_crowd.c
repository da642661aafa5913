/* Where the material has no room. The number of particles of one cell is noise: tiles of 8^3 cells are measured. Tiles that
 * touch are one body; a body that no air touches cannot swell, and one that then holds more than at rest has no room. Behind
 * thin walls a body may be full while the tiles it touches have air: there a tile without air must be far too dense. */
#include "flip/flip.h"

#include <string.h>

#include "grid/row_vectors.h"

/* Mean fill of a body without air that is too much: water is never denser, sand (band 0.2) may be. */
static const double CLOSED_WATER = 1.03, CLOSED_SAND = 1.22;
/* Mean fill of one tile that is too much: more than impacts make for a moment. */
static const double TILE_MOST = 1.4;
/* Of the cells outside solids: so many are empty by chance. */
static const double EMPTY_SHARE = 0.02;
/* Fewer cells say nothing. */
enum { CELLS_LEAST = 64 };

WadiStatus wadi_flip_crowds_begin(const WadiFlip *flip, const WadiFlipStep *step, WadiCrowds *crowds,
                                  WadiError *error)
{
    *crowds = (WadiCrowds){ 0 };
    return WADI_ARENA_NEW(flip->context.scratch, &crowds->crowd, (size_t)step->grid.tiles.count,
                          "crowded tiles", error);
}

/* Cells that no solid cuts. */
typedef struct Count {
    double fill;
    int64_t cells, empty;
    int32_t body; /* a tile of it that comes before, or this tile */
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
    return (double)count->empty > EMPTY_SHARE * (double)count->cells;
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

WadiStatus wadi_flip_find_crowds(const WadiFlip *flip, const WadiFlipStep *step, WadiCrowds *crowds,
                                 WadiError *error)
{
    const WadiTileMap *tiles = &step->grid.tiles; /* with the air beside the material */
    const double closed_most = flip->materials.has_sand ? CLOSED_SAND : CLOSED_WATER;
    const double size = WADI_TILE_SIDE * step->grid.cell_size;
    Count *tile = NULL, *body = NULL;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(flip->context.scratch, &tile, (size_t)tiles->count, "crowds", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(flip->context.scratch, &body, (size_t)tiles->count, "crowds", error));
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
        const bool is_closed = all->cells >= CELLS_LEAST && !has_air(all);
        const bool is_crowd = is_closed ? all->fill > closed_most * (double)all->cells
                                        : tile[n].cells >= CELLS_LEAST && !has_air(&tile[n]) &&
                                              tile[n].fill > TILE_MOST * (double)tile[n].cells;
        if (is_crowd && step->grid.sort_tile[n] >= 0) {
            const WadiVec3 low = { size * tiles->tiles[n].x, size * tiles->tiles[n].y,
                                   size * tiles->tiles[n].z };
            const Count *dense = is_closed ? all : &tile[n];
            crowds->crowd[crowds->count++] = (WadiCrowd){ { low, wadi_add(low, wadi_vec3(size, size, size)) },
                                                          dense->fill / (double)dense->cells,
                                                          is_closed };
        }
    }
    return WADI_OK;
}
