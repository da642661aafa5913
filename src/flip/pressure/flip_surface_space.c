/* Open space near walls that never move.
 * Source: none. */
#include "flip/pressure/flip_surface_space.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_lanes.h"

enum { LANES = WADI_ROW_CELLS, TILE_BLOCK = 8 };

typedef struct SpaceContext {
    const WadiFlipSurfaceIn *in;
    WadiFlipSpace *space;
    float *moment;      /* per cell: first moment of its open part along `up` */
    uint8_t *cut;       /* per row: cells that a wall cuts */
    uint8_t *cut_tiles; /* per tile: one of them is in it */
} SpaceContext;

void wadi_flip_load_around(const WadiRows *rows, const float *values, int32_t row,
                           WadiF8 around[WADI_FLIP_AROUND])
{
    const int32_t column[3] = { rows->neighbour[row][WADI_ROW_X_MIN], row,
                                rows->neighbour[row][WADI_ROW_X_MAX] };
    for (int n = 0; n < WADI_FLIP_AROUND; n += 3) {
        const int dy = n / 3 % 3 - 1, dz = n / 9 - 1;
        WadiF8 line[3];
        for (int c = 0; c < 3; ++c) {
            int32_t at = column[c];
            at = dy != 0 ? rows->neighbour[at][dy < 0 ? WADI_ROW_Y_MIN : WADI_ROW_Y_MAX] : at;
            at = dz != 0 ? rows->neighbour[at][dz < 0 ? WADI_ROW_Z_MIN : WADI_ROW_Z_MAX] : at;
            line[c] = WADI_ROW(values, at);
        }
        around[n] = WADI_ROW_SHIFT_UP(line[0], line[1]);
        around[n + 1] = line[1];
        around[n + 2] = WADI_ROW_SHIFT_DOWN(line[1], line[2]);
    }
}

static void find_open(void *user, int64_t first, int64_t end)
{
    const SpaceContext *context = user;
    const WadiFlipSurfaceIn *in = context->in;
    const WadiRows *rows = in->rows;
    for (int32_t tile = (int32_t)first; tile < end; ++tile) {
        unsigned any = 0;
        for (int32_t row = rows->first[tile]; row < rows->first[tile + 1]; ++row) {
            const WadiF8 open = 1.0f - WADI_ROW(in->fraction, wadi_table_row(in->solid_row, row));
            const WadiI8 is_cut = (open > 0.0f) & (open < 1.0f);
            context->cut[row] = (uint8_t)wadi_row_bits(&is_cut);
            WADI_ROW_OUT(context->space->open, row) = open;
            any |= context->cut[row];
        }
        context->cut_tiles[tile] = any != 0;
    }
}

static void find_near_cut(void *user, int64_t first, int64_t end)
{
    const SpaceContext *context = user;
    const WadiTileMap *tiles = context->in->rows->tiles;
    for (int32_t tile = (int32_t)first; tile < end; ++tile) {
        uint8_t near = 0;
        for (int n = 0; n < WADI_FLIP_AROUND; ++n) {
            const int32_t other = tiles->neighbours[tile][n];
            near |= other >= 0 && context->cut_tiles[other] != 0;
        }
        context->space->near_cut[tile] = near;
    }
}

/* Zeros where no wall cuts the row. */
static void find_middles(void *user, int64_t first, int64_t end)
{
    const SpaceContext *context = user;
    const WadiRows *rows = context->in->rows;
    const float *values = context->space->open;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        WadiF8 middle = { 0 }, moment = { 0 };
        if (context->cut[row] != 0) {
            const WadiF8 open = WADI_ROW(values, row), zero = { 0 };
            WadiF8 sum = zero + 1e-6f, along = zero;
            WadiI8 is_cut;
            for (int axis = 0; axis < 3; ++axis) {
                float low[LANES], high[LANES];
                wadi_row_neighbours(rows, values, row, 2 * axis, low);
                wadi_row_neighbours(rows, values, row, 2 * axis + 1, high);
                const WadiF8 change = WADI_ROW(high, 0) - WADI_ROW(low, 0);
                sum += WADI_MAX8(change, -change);
                along += context->in->up[axis] * change;
            }
            middle = 0.5f * (1.0f - open) * along / sum;
            moment = open * 0.5f * (1.0f - open) * along / sum;
            wadi_row_mask(context->cut[row], &is_cut);
            middle = (WadiF8)((WadiI8)middle & is_cut);
            moment = (WadiF8)((WadiI8)moment & is_cut);
        }
        WADI_ROW_OUT(context->moment, row) = moment;
        WADI_ROW_OUT(context->space->middle, row) = middle;
    }
}

static void find_moments(void *user, int64_t first, int64_t end)
{
    const SpaceContext *context = user;
    const WadiFlipSurfaceIn *in = context->in;
    const WadiFlipSpace *space = context->space;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        if (space->near_cut[in->rows->tile[row]] == 0) {
            continue;
        }
        WadiF8 open[WADI_FLIP_AROUND], own[WADI_FLIP_AROUND], under_hat = { 0 }, moment = { 0 };
        WadiI8 is_cut = { 0 };
        wadi_flip_load_around(in->rows, space->open, row, open);
        wadi_flip_load_around(in->rows, context->moment, row, own);
        for (int n = 0; n < WADI_FLIP_AROUND; ++n) {
            const float weight = wadi_flip_hat_around(n);
            under_hat += weight * open[n];
            moment += weight * (own[n] + wadi_flip_height_around(in, n) * open[n]);
            is_cut |= (open[n] > 0.0f) & (open[n] < 1.0f);
        }
        WADI_ROW_OUT(space->under_hat, row) = under_hat;
        WADI_ROW_OUT(space->moment, row) = moment;
        space->cut_around[row] = (uint8_t)wadi_row_bits(&is_cut);
    }
}

WadiStatus wadi_flip_find_space(const WadiFlipSurfaceIn *in, WadiFlipSpace *space, WadiArena *scratch,
                                WadiError *error)
{
    const size_t rows = (size_t)in->rows->count, tiles = (size_t)in->rows->tiles->count;
    SpaceContext context = { .in = in, .space = space };
    float **cells[] = { &space->open, &space->middle, &space->under_hat, &space->moment, &context.moment };
    for (size_t n = 0; n < sizeof cells / sizeof *cells; ++n) {
        WADI_TRY(WADI_ARENA_NEW(scratch, cells[n], LANES * rows, "space near walls", error));
        memset(*cells[n], 0, LANES * sizeof(float));
    }
    WADI_TRY(WADI_ARENA_NEW(scratch, &space->cut_around, rows, "space near walls", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &space->near_cut, tiles, "space near walls", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &context.cut, rows, "space near walls", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &context.cut_tiles, tiles, "space near walls", error));
    wadi_parallel_for((int64_t)tiles, TILE_BLOCK, find_open, &context);
    wadi_parallel_for((int64_t)tiles, TILE_BLOCK, find_near_cut, &context);
    wadi_parallel_for((int64_t)rows, WADI_ROW_BLOCK, find_middles, &context);
    wadi_parallel_for((int64_t)rows, WADI_ROW_BLOCK, find_moments, &context);
    return WADI_OK;
}
