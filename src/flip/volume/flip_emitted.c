/* Fill of the cells by particles emitted since the last step, for flip_density.c. */
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"

enum { TILE_BLOCK = 16 };

typedef struct Emitted {
    const WadiFlip *flip;
    const WadiFlipStep *step;
    float *fill;
} Emitted;

static void count_tiles(void *user, int64_t first, int64_t end)
{
    const Emitted *emitted = user;
    const WadiFlipStep *step = emitted->step;
    const WadiTileSort *sort = &step->sort;
    const uint32_t *id = emitted->flip->context.particles->id;
    const int per_axis = emitted->flip->context.world->scene->particles_per_axis;
    const float particle_fill = 1.0f / (float)(per_axis * per_axis * per_axis);
    for (int32_t t = (int32_t)first; t < end; ++t) {
        int32_t occupied = sort->row_first[t];
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++occupied) {
            const int32_t row = wadi_rows_at(&step->grid.rows, step->grid.tile_of[t], __builtin_ctzll(left));
            const int32_t *start = &sort->cell_start[WADI_ROW_CELLS * (size_t)occupied];
            for (size_t l = 0; l < WADI_ROW_CELLS; ++l) {
                int32_t count = 0;
                for (int32_t i = start[l]; i < start[l + 1]; ++i) {
                    count += id[i] >= step->first_new_id;
                }
                emitted->fill[WADI_ROW_CELLS * (size_t)row + l] = particle_fill * (float)count;
            }
        }
    }
}

WadiStatus wadi_flip_emitted_fill(const WadiFlip *flip, const WadiFlipStep *step, float **fill,
                                  WadiError *error)
{
    *fill = NULL;
    if (flip->context.particles->next_id <= step->first_new_id || !flip->materials.has_water) {
        return WADI_OK;
    }
    Emitted emitted = { flip, step, NULL };
    const size_t floats = wadi_rows_floats(&step->grid.rows);
    WADI_TRY(
        WADI_ARENA_NEW_TEMPORARY(flip->context.scratch, &emitted.fill, floats, "emitted particles", error));
    memset(emitted.fill, 0, floats * sizeof *emitted.fill);
    wadi_parallel_for(step->sort.tiles.count, TILE_BLOCK, count_tiles, &emitted);
    *fill = emitted.fill;
    return WADI_OK;
}
