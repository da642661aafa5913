/* Marks of particles that a solid compressed: it jumped, or they fell on it in one step. No velocity moves
 * them apart; until their cell has room the density correction does not fade there. [theory 4.3] */
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"

enum { TILE_BLOCK = 16 };

WadiStatus wadi_flip_compressed_add(WadiFlip *flip, WadiError *error)
{
    return wadi_particles_add_column(flip->context.particles, "compressed", WADI_TYPE_U8,
                                     &flip->compressed_column, error);
}

static uint8_t *marks_of(const WadiFlip *flip)
{
    return wadi_particles_column(flip->context.particles, flip->compressed_column);
}

uint8_t *wadi_flip_compressed_marks(const WadiFlip *flip)
{
    return wadi_solids_are_moving(&flip->context.world->solids) ? marks_of(flip) : NULL;
}

static bool is_any_marked(const WadiFlip *flip)
{
    return memchr(marks_of(flip), 1, (size_t)flip->context.particles->count) != NULL;
}

void wadi_flip_compressed_skip_in_sort(const WadiFlip *flip, bool may_skip)
{
    wadi_particles_skip_in_sort(flip->context.particles, flip->compressed_column,
                                may_skip && !is_any_marked(flip));
}

typedef struct Compressed {
    const WadiFlipStep *step;
    uint8_t *marks;          /* of the particles */
    uint8_t *cells;          /* per row */
    const uint8_t *has_room; /* per row */
} Compressed;

/* Particles of the cells of an occupied row of the sort. */
static const int32_t *cells_of(const WadiTileSort *sort, int32_t occupied)
{
    return &sort->cell_start[WADI_ROW_CELLS * (size_t)occupied];
}

static void mark_tiles(void *user, int64_t first, int64_t end)
{
    const Compressed *work = user;
    const WadiFlipStep *step = work->step;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        int32_t occupied = step->sort.row_first[t];
        for (uint64_t left = step->sort.row_mask[t]; left != 0; left &= left - 1, ++occupied) {
            const int32_t row = wadi_rows_at(&step->grid.rows, step->grid.tile_of[t], __builtin_ctzll(left));
            const int32_t *start = cells_of(&step->sort, occupied);
            for (int l = 0; l < WADI_ROW_CELLS; ++l) {
                const size_t count = (size_t)(start[l + 1] - start[l]);
                const bool is_marked = count > 0 && memchr(work->marks + start[l], 1, count) != NULL;
                work->cells[row] |= (uint8_t)(is_marked << l);
            }
        }
    }
}

WadiStatus wadi_flip_compressed_cells(const WadiFlip *flip, const WadiFlipStep *step, uint8_t **cells,
                                      WadiError *error)
{
    const size_t rows = (size_t)step->grid.rows.count;
    Compressed work = { .step = step, .marks = marks_of(flip) };
    *cells = NULL;
    if (!is_any_marked(flip)) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(flip->context.scratch, &work.cells, rows, "compressed cells", error));
    memset(work.cells, 0, rows);
    wadi_parallel_for(step->sort.tiles.count, TILE_BLOCK, mark_tiles, &work);
    *cells = work.cells;
    return WADI_OK;
}

static void clear_tiles(void *user, int64_t first, int64_t end)
{
    const Compressed *work = user;
    const WadiFlipStep *step = work->step;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        int32_t occupied = step->sort.row_first[t];
        for (uint64_t left = step->sort.row_mask[t]; left != 0; left &= left - 1, ++occupied) {
            const int32_t row = wadi_rows_at(&step->grid.rows, step->grid.tile_of[t], __builtin_ctzll(left));
            const int32_t *start = cells_of(&step->sort, occupied);
            for (unsigned cells = work->has_room[row]; cells != 0; cells &= cells - 1) {
                const int l = __builtin_ctz(cells);
                memset(work->marks + start[l], 0, (size_t)(start[l + 1] - start[l]));
            }
        }
    }
}

void wadi_flip_compressed_clear(const WadiFlip *flip, const WadiFlipStep *step, const uint8_t *has_room)
{
    Compressed work = { .step = step, .marks = marks_of(flip), .has_room = has_room };
    wadi_parallel_for(step->sort.tiles.count, TILE_BLOCK, clear_tiles, &work);
}
