#include "particles/buried.h"

#include <string.h>

#include "particles/cells.h"

enum { WIDTH = 2, FULL = 5 }; /* spacings; particles of a full cell, of 8 in the mean */

static bool is_full(const WadiCells *cells, const int32_t at[3], int neighbour)
{
    const int32_t c = wadi_cells_find(cells, at[0] + neighbour % 3 - 1, at[1] + neighbour / 3 % 3 - 1,
                                      at[2] + neighbour / 9 - 1);
    return c >= 0 && cells->start[c + 1] - cells->start[c] >= FULL;
}

WadiStatus wadi_find_buried(const WadiParticles *particles, double spacing, WadiArena *arena,
                            uint8_t **is_buried, WadiError *error)
{
    WadiCells cells;
    WADI_TRY(WADI_ARENA_NEW(arena, is_buried, (size_t)particles->count, "hidden particles", error));
    memset(*is_buried, 0, (size_t)particles->count);
    WADI_TRY(wadi_cells_build(&cells, particles, WIDTH * spacing, arena, error));
    for (int32_t c = 0; c < cells.cell_count; ++c) {
        int neighbour = 0;
        while (neighbour < 27 && is_full(&cells, cells.coordinate[c], neighbour)) {
            ++neighbour;
        }
        for (int32_t k = cells.start[c]; neighbour == 27 && k < cells.start[c + 1]; ++k) {
            (*is_buried)[cells.order[k]] = 1;
        }
    }
    return WADI_OK;
}
