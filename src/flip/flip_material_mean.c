/* A property of the materials as a field: its mean over the particles of each cell. */
#include "core/parallel.h"
#include "flip/flip.h"
#include "grid/row_lanes.h"

enum { LANES = WADI_ROW_CELLS, TILE_BLOCK = 16 };

typedef struct Mixed {
    const WadiFlip *flip;
    const WadiFlipStep *step;
    const float *of_material;
    float *mean, *spread;
} Mixed;

static void mix_tiles(void *user, int64_t first, int64_t end)
{
    const Mixed *mixed = user;
    const WadiTileSort *sort = &mixed->step->sort;
    const uint8_t *material = mixed->flip->context.particles->material;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        int32_t occupied = sort->row_first[t];
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++occupied) {
            int32_t row =
                wadi_rows_at(&mixed->step->grid.rows, mixed->step->grid.tile_of[t], __builtin_ctzll(left));
            const int32_t *start = &sort->cell_start[LANES * (size_t)occupied];
            for (size_t l = 0; l < LANES; ++l) {
                if (start[l + 1] > start[l]) {
                    mixed->mean[LANES * (size_t)row + l] =
                        wadi_materials_mean(mixed->of_material, material, start[l], start[l + 1]);
                }
            }
        }
    }
}

/* Cells without particles get the mean of their occupied neighbours: the surface and walls cut such cells. */
static void spread_rows(void *user, int64_t first, int64_t end)
{
    const Mixed *mixed = user;
    const WadiRows *rows = &mixed->step->grid.rows;
    const uint8_t *occupied = mixed->step->grid.occupied;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        float sum[LANES] = { 0 }, count[LANES] = { 0 }, value[LANES];
        const float *own = mixed->mean + (size_t)LANES * (size_t)row;
        for (int side = 0; side < 6 && occupied[row] != 0xff; ++side) {
            unsigned has = wadi_row_neighbour_bits(rows, occupied, row, side);
            wadi_row_neighbours(rows, mixed->mean, row, side, value);
            for (int l = 0; l < LANES; ++l) {
                sum[l] += has >> l & 1 ? value[l] : 0.0f;
                count[l] += (float)(has >> l & 1);
            }
        }
        for (int l = 0; l < LANES; ++l) {
            bool is_own = (occupied[row] >> l & 1) != 0 || count[l] == 0.0f;
            mixed->spread[(size_t)LANES * (size_t)row + (size_t)l] = is_own ? own[l] : sum[l] / count[l];
        }
    }
}

WadiStatus wadi_flip_material_mean(const WadiFlip *flip, const WadiFlipStep *step, const float *of_material,
                                   float **mean, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    const WadiRows *rows = &step->grid.rows;
    const size_t floats = wadi_rows_floats(rows);
    Mixed mixed = { .flip = flip, .step = step, .of_material = of_material };
    WADI_TRY(WADI_ARENA_NEW(arena, &mixed.mean, floats, "means of materials", error));
    for (size_t i = 0; i < floats; ++i) {
        mixed.mean[i] = of_material[flip->materials.first];
    }
    mixed.spread = mixed.mean;
    if (flip->materials.used_count > 1) {
        WADI_TRY(WADI_ARENA_NEW(arena, &mixed.spread, floats, "means of materials", error));
        wadi_parallel_for(step->sort.tiles.count, TILE_BLOCK, mix_tiles, &mixed);
        wadi_parallel_for(rows->count, WADI_ROW_BLOCK, spread_rows, &mixed);
    }
    *mean = mixed.spread;
    return WADI_OK;
}
