/* The solids of a step. */
#include <string.h>

#include "flip/flip.h"

/* Rows whose faces wadi_flip_close_sleeping will close: rows of sleeping tiles, and their high neighbours. */
static WadiStatus rows_to_close(const WadiFlip *flip, const WadiRows *rows, uint64_t **closed_rows,
                                WadiError *error)
{
    const WadiTileMap *tiles = rows->tiles;
    *closed_rows = NULL;
    if (flip->sleep.tile_count == 0 && flip->bonds_column < 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(flip->context.scratch, closed_rows, (size_t)tiles->count, "solid cells",
                                      error));
    memset(*closed_rows, 0, (size_t)tiles->count * sizeof **closed_rows);
    for (int32_t t = 0; t < tiles->count; ++t) {
        if (wadi_sleep_find(&flip->sleep, tiles->tiles[t]) < 0) {
            continue;
        }
        (*closed_rows)[t] = UINT64_MAX;
        for (int32_t r = rows->first[t]; r < rows->first[t + 1]; ++r) {
            for (int axis = 0; axis < 3; ++axis) {
                const int32_t next = rows->neighbour[r][2 * axis + 1];
                if (next != 0) {
                    (*closed_rows)[rows->tile[next]] |= UINT64_C(1) << rows->index_in_tile[next];
                }
            }
        }
    }
    return WADI_OK;
}

WadiStatus wadi_flip_find_solids(WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiWorld *world = flip->context.world;
    const WadiFlipDef *def = wadi_flip_def(world->scene);
    WadiFlipSolidIn in = {
        .rows = &step->grid.rows,
        .solids = &world->solids,
        .cell_size = step->grid.cell_size,
        /* Those of the particles; velocities belong to the middle of the step [theory 1.5]. */
        .time = step->time,
        .velocity_delay = 0.5 * step->dt,
        /* Closed slivers bend the wall: 0.1 slows sliding sand by 5 %, 0.02 by none. */
        .min_open = flip->materials.has_sand ? 0.02f : 0.1f,
        /* The paper's friction is defined for whole cells only. */
        .is_binary = def->solids == WADI_FLIP_SOLIDS_VOXELS ||
                     (flip->materials.has_sand && def->friction != WADI_FLIP_FRICTION_SOLVE)
    };
    uint64_t *closed_rows = NULL;
    WADI_TRY(rows_to_close(flip, &step->grid.rows, &closed_rows, error));
    if (flip->bonds_column >= 0) {
        wadi_flip_unshare_lifted(flip, step, closed_rows);
    }
    in.unshared_rows = closed_rows;
    return wadi_flip_solid(&in, &flip->solid_cache, &step->solid, flip->context.scratch, error);
}
