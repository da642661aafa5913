/* The solids of a step. */
#include <string.h>

#include "flip/flip.h"

static void unshare(const WadiRows *rows, int32_t row, uint64_t *unshared)
{
    unshared[rows->tile[row]] |= UINT64_C(1) << rows->index_in_tile[row];
    for (int axis = 0; axis < 3; ++axis) {
        const int32_t next = rows->neighbour[row][2 * axis + 1];
        if (next != 0) {
            unshared[rows->tile[next]] |= UINT64_C(1) << rows->index_in_tile[next];
        }
    }
}

/* Rows whose faces wadi_flip_close_sleeping will close or flip_bonds.c open: rows of sleeping tiles and
 * of bonded sand, and their high neighbours. */
static WadiStatus rows_to_change(const WadiFlip *flip, const WadiFlipStep *step, uint64_t **changed,
                                 WadiError *error)
{
    const WadiRows *rows = &step->grid.rows;
    const WadiTileMap *tiles = rows->tiles;
    *changed = NULL;
    if (flip->sleep.tile_count == 0 && flip->bonds_column < 0) {
        return WADI_OK;
    }
    WADI_TRY(
        WADI_ARENA_NEW_TEMPORARY(flip->context.scratch, changed, (size_t)tiles->count, "solid cells", error));
    memset(*changed, 0, (size_t)tiles->count * sizeof **changed);
    for (int32_t t = 0; t < tiles->count; ++t) {
        const bool is_asleep = wadi_sleep_find(&flip->sleep, tiles->tiles[t]) >= 0;
        (*changed)[t] |= is_asleep ? UINT64_MAX : 0;
        for (int32_t r = rows->first[t]; r < rows->first[t + 1]; ++r) {
            if (is_asleep || (flip->bonds_column >= 0 && step->grid.occupied[r] != 0)) {
                unshare(rows, r, *changed);
            }
        }
    }
    return WADI_OK;
}

bool wadi_flip_has_small_faces(const WadiFlip *flip)
{
    return !flip->materials.has_sand && !wadi_solids_are_moving(&flip->context.world->solids);
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
        /* Closed slivers bend the wall: 0.1 slows sliding sand by 5 %, 0.02 by none, and water that turns
         * in a leaning vessel by 7 % a revolution. */
        .min_open = flip->materials.has_sand          ? 0.02f
                    : wadi_flip_has_small_faces(flip) ? 0.005f
                                                      : 0.1f,
        /* The paper's friction is defined for whole cells only. */
        .is_binary = def->solids == WADI_FLIP_SOLIDS_VOXELS ||
                     (flip->materials.has_sand && def->friction != WADI_FLIP_FRICTION_SOLVE)
    };
    uint64_t *changed = NULL;
    WADI_TRY(rows_to_change(flip, step, &changed, error));
    in.unshared_rows = changed;
    return wadi_flip_solid(&in, &flip->solid_cache, &step->solid, flip->context.scratch, error);
}
