/* Density correction: cells with too many particles expand, cells with too few contract. [theory 4.3]
 *   div u = rate (n - 1 -+ band) outside the band,   n = 1/2 fill + 1/12 fill of each of six neighbours
 * Neighbours inside solids count as the cell itself. Where solids occupy part of these cells, n is divided
 * by the same mean of their open fractions, and the divergence is multiplied by the cell's open fraction:
 * otherwise material collects at oblique walls. Cells near air only expand.
 * With Gauss-Seidel the rule of [A24]: a fraction of the excess each step.
 * Differs: the printed rule also contracts, which draws surfaces together, and has no band, without which
 * still water swells by 10 % in 10 s. */
#include "flip/volume/flip_density.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "grid/row_vectors.h"

/* Fractions of sqrt(g dx) below which the correction fades out: linearly in sand, quadratically in water.
 * No flow removes the random part of the counts; without fading the correction would drive a flow of its
 * own. */
#define SLOW_WATER 0.2
#define SLOW_SAND 0.02
/* Mean open fraction of a cell and its neighbours below which they hold too few particles for a density. */
#define MIN_OPEN 0.1f

typedef struct Correct {
    const WadiFlipDensityIn *in;
    float *expansion;
} Correct;

static void speed_of(const WadiFlipDensityIn *in, int32_t row, float speed[WADI_ROW_CELLS])
{
    float square[WADI_ROW_CELLS] = { 0 };
    for (int axis = 0; axis < 3; ++axis) {
        float high[WADI_ROW_CELLS];
        wadi_table_row_neighbours(in->rows, in->velocity_row, in->velocity[axis], row, 2 * axis + 1, high);
        const float *low =
            in->velocity[axis] + WADI_ROW_CELLS * (size_t)wadi_table_row(in->velocity_row, row);
        for (int l = 0; l < WADI_ROW_CELLS; ++l) {
            float mean = 0.5f * (low[l] + high[l]);
            square[l] += mean * mean;
        }
    }
    for (int l = 0; l < WADI_ROW_CELLS; ++l) {
        speed[l] = sqrtf(square[l]);
    }
}

/* Factor of the correction in the cells of a row: 0 at rest, 1 from the speed `slow` on. */
static inline void find_fade(const WadiFlipDensityIn *in, int32_t row, const WadiI8 *is_sand, WadiF8 *fade)
{
    const WadiF8 one = (WadiF8){ 0 } + 1.0f;
    float speeds[WADI_ROW_CELLS];
    speed_of(in, row, speeds);
    const WadiF8 speed = *(const WadiF8 *)speeds;
    WadiF8 sand = one, water = one;
    if (in->slow[1] > 0.0f) {
        sand = WADI_MIN8(one, speed / in->slow[1]);
    }
    if (in->slow[0] > 0.0f) {
        const WadiF8 ratio = speed / in->slow[0];
        water = WADI_MIN8(one, ratio * ratio);
    }
    *fade = WADI_ROW_SELECT(*is_sand, sand, water);
}

/* Remove within one step the excess that was emitted since the last one: at the rate of the correction,
 * water would reach twice its density inside an emitter. Not in sand, which may be denser where it lands. */
static inline void push_out_emitted(const WadiFlipDensityIn *in, int32_t row, unsigned inner,
                                    const WadiI8 *is_sand, const WadiF8 *over, const WadiF8 *open,
                                    WadiF8 *divergence)
{
    if (in->emitted == NULL) {
        return;
    }
    WadiI8 is_inner;
    wadi_row_mask(inner, &is_inner);
    const WadiF8 excess = *over * *open, added = WADI_MIN8(WADI_ROW(in->emitted, row), excess);
    const WadiF8 faster = WADI_MAX8(*divergence, in->emitted_rate * added);
    *divergence = WADI_ROW_SELECT(is_inner & ~*is_sand & (excess > 0.0f), faster, *divergence);
}

/* A row with its neighbours. */
typedef struct Around {
    WadiF8 fill, open;        /* means: half of the cell itself, a twelfth of each neighbour */
    unsigned air, compressed; /* cells beside air; with marked particles, or beside them */
} Around;

static inline void look_around(const WadiFlipDensityIn *in, int32_t row, const WadiF8 *own,
                               const WadiF8 *own_open, Around *around)
{
    *around = (Around){ 0.5f * *own, 0.5f * *own_open, 0, in->compressed != NULL ? in->compressed[row] : 0 };
    for (int side = 0; side < 6; ++side) {
        const int32_t next = in->rows->neighbour[row][side];
        const WadiF8 other = WADI_ROW(in->fill, next);
        const WadiF8 other_open = 1.0f - WADI_ROW(in->fraction, wadi_table_row(in->solid_row, next));
        WadiF8 neighbour = other, open = other_open;
        if (side == WADI_ROW_X_MIN) {
            neighbour = WADI_ROW_SHIFT_UP(other, *own);
            open = WADI_ROW_SHIFT_UP(other_open, *own_open);
        } else if (side == WADI_ROW_X_MAX) {
            neighbour = WADI_ROW_SHIFT_DOWN(*own, other);
            open = WADI_ROW_SHIFT_DOWN(*own_open, other_open);
        }
        const unsigned solid = wadi_row_neighbour_bits(in->rows, in->solid, row, side);
        WadiI8 is_solid;
        wadi_row_mask(solid, &is_solid);
        around->fill += WADI_ROW_SELECT(is_solid, *own, neighbour) / 12.0f;
        around->open += WADI_ROW_SELECT(is_solid, *own_open, open) / 12.0f;
        around->air |= ~(solid | wadi_row_neighbour_bits(in->rows, in->fluid, row, side));
        if (in->compressed != NULL) {
            around->compressed |= wadi_row_neighbour_bits(in->rows, in->compressed, row, side);
        }
    }
}

static void correct_rows(void *user, int64_t first, int64_t end)
{
    const Correct *correct = user;
    const WadiFlipDensityIn *in = correct->in;
    const WadiF8 zero = { 0 };
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const unsigned fluid = in->fluid[row];
        if (fluid == 0) {
            if (in->fluid_row == NULL || row == 0) {
                WADI_ROW_OUT(correct->expansion, row) = zero;
            }
            continue;
        }
        const WadiF8 own = WADI_ROW(in->fill, row);
        const WadiF8 own_open = 1.0f - WADI_ROW(in->fraction, wadi_table_row(in->solid_row, row));
        Around around;
        look_around(in, row, &own, &own_open, &around);
        WadiI8 is_sand = (WadiI8){ 0 } - (int32_t)in->is_all_sand;
        if (in->sand != NULL) {
            is_sand = WADI_ROW(in->sand, row) >= 0.5f;
        }
        const WadiF8 band = WADI_ROW_SELECT(is_sand, zero + in->band[1], zero + in->band[0]);
        WadiI8 is_fluid, may_shrink, is_compressed, holds_compressed;
        wadi_row_mask(fluid, &is_fluid);
        wadi_row_mask(around.compressed, &is_compressed);
        wadi_row_mask(in->compressed != NULL ? in->compressed[row] : 0, &holds_compressed);
        const WadiI8 is_reliable = (around.open > MIN_OPEN) | ((around.open > 0.0f) & holds_compressed);
        wadi_row_mask(in->is_one_sided ? 0 : ~around.air & 0xff, &may_shrink);
        const WadiF8 excess = around.fill / WADI_ROW_SELECT(is_reliable, around.open, zero + 1.0f) - 1.0f,
                     over = excess - band, under = excess + band;
        WadiF8 divergence = (WadiF8)((WadiI8)over & (over > 0.0f));
        divergence += (WadiF8)((WadiI8)under & (under < 0.0f) & may_shrink);
        divergence *= in->rate * own_open;
        if (in->velocity[0] != NULL) {
            WadiF8 fade;
            find_fade(in, row, &is_sand, &fade);
            divergence *= WADI_ROW_SELECT(is_compressed, zero + 1.0f, fade);
        }
        if (in->held != NULL) {
            WadiI8 is_held;
            wadi_row_mask(in->held[row], &is_held);
            divergence = (WadiF8)((WadiI8)divergence & (~is_held | is_compressed));
        }
        if (in->compressed != NULL) {
            const WadiI8 is_dense = (over > 0.0f) & is_fluid;
            in->has_room[row] = (uint8_t)((unsigned)wadi_row_bits(&is_dense) ^ 0xffu);
        }
        push_out_emitted(in, row, ~around.air & 0xff, &is_sand, &over, &own_open, &divergence);
        WADI_ROW_OUT(correct->expansion, wadi_table_row(in->fluid_row, row)) =
            (WadiF8)((WadiI8)divergence & is_fluid & is_reliable);
    }
}

void wadi_flip_density(const WadiFlipDensityIn *in, float *expansion)
{
    Correct correct = { in, expansion };
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, correct_rows, &correct);
}

/* 1/s. 20/s for cells of 1.6 cm, with which it was measured. */
static float density_rate(const WadiFlip *flip)
{
    const double setting = wadi_flip_def(flip->context.world->scene)->density_rate;
    return (float)(setting >= 0.0 ? setting : 0.8 / flip->unit_time);
}

/* Only plain water fades: viscous liquids and water in sand flow slowly and still need the correction. */
static bool does_water_fade(const WadiFlip *flip)
{
    return !flip->materials.has_sand && !wadi_flip_is_viscous(flip);
}

WadiStatus wadi_flip_correct_density(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    if (wadi_flip_published(flip) != WADI_FLIP_PUBLISHED_NONE) {
        return wadi_flip_density_published(flip, step, error);
    }
    const WadiFlipDef *def = wadi_flip_def(flip->context.world->scene);
    const bool is_gauss_seidel = def->pressure == WADI_FLIP_PRESSURE_GAUSS_SEIDEL;
    const float setting = (float)def->density_band;
    const float water = setting >= 0.0f ? setting : 0.05f, sand = setting >= 0.0f ? setting : 0.2f;
    WadiFlipDensityIn in = { .rows = &step->grid.rows,
                             .fluid = step->cells.pressure_cells,
                             .solid = step->cells.inside,
                             .fill = step->cells.fill,
                             .solid_row = step->solid.row,
                             .fraction = step->solid.fraction,
                             .sand = step->cells.mix.sand,
                             .held = step->cells.bonds.held,
                             .fluid_row = step->cells.pressure_row,
                             .band = { flip->materials.has_water ? water : sand, sand },
                             .rate = is_gauss_seidel ? (float)(def->density_alpha / step->dt)
                                                     : density_rate(flip),
                             .is_one_sided = is_gauss_seidel };
    if (!is_gauss_seidel) {
        const double speed = step->grid.cell_size / flip->unit_time;
        in.slow[0] = does_water_fade(flip) ? (float)(SLOW_WATER * speed) : 0.0f;
        in.slow[1] = (float)(SLOW_SAND * speed);
        in.is_all_sand = !flip->materials.has_water;
        in.velocity_row = step->saved_row;
        for (int axis = 0; axis < 3; ++axis) {
            in.velocity[axis] = step->saved[axis];
        }
    }
    float *emitted = NULL;
    uint8_t *compressed = NULL;
    WADI_TRY(wadi_flip_compressed_cells(flip, step, &compressed, error));
    if (compressed != NULL) {
        WADI_TRY(WADI_ARENA_NEW_TEMPORARY(flip->context.scratch, &in.has_room, (size_t)step->grid.rows.count,
                                          "compressed cells", error));
        memset(in.has_room, 0xff, (size_t)step->grid.rows.count);
        in.compressed = compressed;
    }
    if (!is_gauss_seidel) {
        WADI_TRY(wadi_flip_emitted_fill(flip, step, &emitted, error));
        in.emitted = emitted;
        in.emitted_rate = (float)(1.0 / step->dt);
    }
    if (is_gauss_seidel && setting < 0.0f) {
        in.band[0] = in.band[1] = 0.1f;
    }
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &step->cells.expansion,
                            WADI_ROW_CELLS * (size_t)step->cells.pressure_rows, "density correction", error));
    wadi_flip_density(&in, step->cells.expansion);
    if (compressed != NULL) {
        wadi_flip_compressed_clear(flip, step, in.has_room);
    }
    wadi_flip_swell(step);
    return WADI_OK;
}
