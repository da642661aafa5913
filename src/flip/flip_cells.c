/* What the cells of a step are: how full, under pressure or not, inside solids, and how much they should swell or shrink. */
#include <math.h>
#include <string.h>

#include "flip/flip.h"
#include "flip/flip_surface.h"
#include "grid/row_lanes.h"

/* Below this part of sqrt(g h) the density correction of sand fades out. */
#define SLOW 0.02

/* Volume of the particles of each cell over the volume of a cell. */
static void fill_cells(const WadiFlip *flip, WadiFlipStep *step)
{
    const WadiFlipSort *sort = &step->sort;
    const WadiRows *rows = &step->grid.rows;
    int per_axis = flip->context.world->scene->particles_per_axis;
    float share = 1.0f / (float)(per_axis * per_axis * per_axis);
    memset(step->fill, 0, wadi_rows_floats(rows) * sizeof *step->fill);
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        int32_t occupied = sort->row_first[t];
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++occupied) {
            int32_t row = wadi_rows_at(rows, step->grid.tile_of[t], __builtin_ctzll(left));
            for (int l = 0; l < 8; ++l) {
                int32_t count = sort->cell_start[8 * occupied + l + 1] - sort->cell_start[8 * occupied + l];
                step->fill[8 * row + l] = share * (float)count;
            }
        }
    }
}

/* The order of the free surface that the scene asks for; `auto` keeps sand of its own to first order: the cleanest rest
 * [friction notes 3.7]. */
static WadiFlipTheta surface_theta(const WadiFlip *flip)
{
    switch (flip->context.world->scene->flip.surface) {
    case WADI_FLIP_SURFACE_FIRST_ORDER: return WADI_FLIP_THETA_ONE;
    case WADI_FLIP_SURFACE_FACE: return WADI_FLIP_THETA_HALF;
    case WADI_FLIP_SURFACE_GHOST_FLUID: return WADI_FLIP_THETA_GHOST;
    case WADI_FLIP_SURFACE_AUTO: break;
    }
    return flip->materials.has_water ? WADI_FLIP_THETA_GHOST : WADI_FLIP_THETA_ONE;
}

/* Where sand and water are in one scene, cells of sand stay fluid with their first particle and meet air at its centre. */
static void keep_sand_first_order(const WadiFlip *flip, WadiFlipStep *step, const uint8_t *filled,
                                  const float *distance)
{
    const WadiRows *rows = &step->grid.rows;
    for (int32_t r = 1; r < rows->count; ++r) {
        for (unsigned left = filled[r]; left != 0; left &= left - 1) {
            int l = __builtin_ctz(left);
            if (wadi_flip_sand(flip, step, 8 * (size_t)r + (size_t)l) >= 0.5f) {
                step->fluid[r] |= (uint8_t)(1u << l);
            }
        }
    }
    wadi_flip_surface_theta(rows, step->fluid, distance, WADI_FLIP_THETA_GHOST, step->theta);
    for (int32_t r = 1; r < rows->count; ++r) {
        for (unsigned left = step->fluid[r]; left != 0; left &= left - 1) {
            WadiRowCell cell = { r, __builtin_ctz(left) };
            if (wadi_flip_sand(flip, step, wadi_row_cell_index(cell)) < 0.5f) {
                continue;
            }
            for (int axis = 0; axis < 3; ++axis) {
                step->theta[axis][wadi_row_cell_index(cell)] = 1.0f;
                WadiRowCell above = wadi_row_cell_beside(rows, cell, 2 * axis + 1);
                if (above.row != 0) {
                    step->theta[axis][wadi_row_cell_index(above)] = 1.0f;
                }
            }
        }
    }
}

WadiStatus wadi_flip_label(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    WadiArena *arena = flip->context.scratch;
    const WadiRows *rows = &step->grid.rows;
    size_t floats = wadi_rows_floats(rows), count = (size_t)rows->count;
    WADI_TRY(WADI_ARENA_NEW(arena, &step->fill, floats, "fill of cells", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->fluid, count, "labels", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &step->inside, count, "labels", error));
    for (int a = 0; a < 3; ++a) {
        WADI_TRY(WADI_ARENA_NEW(arena, &step->theta[a], floats, "surface fractions", error));
    }
    fill_cells(flip, step);
    uint8_t *filled = NULL, *liquid = NULL;
    float *distance = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &filled, count, "labels", error));
    wadi_flip_solid_fill_cut_cells(rows, &step->solid, step->grid.cell_size, step->grid.fluid, filled);
    memcpy(step->fluid, filled, count);
    WADI_TRY(wadi_flip_mix(flip, step, error));
    WadiFlipTheta theta = surface_theta(flip);
    if (theta == WADI_FLIP_THETA_GHOST) {
        WADI_TRY(WADI_ARENA_NEW(arena, &liquid, count, "labels", error));
        WADI_TRY(WADI_ARENA_NEW(arena, &distance, floats, "surface distance", error));
        WadiFlipSurfaceIn in = { .rows = rows,
                                 .fluid = filled,
                                 .fill = step->fill,
                                 .fraction = step->solid.fraction,
                                 .cell_size = step->grid.cell_size };
        WADI_TRY(wadi_flip_surface_distance(&in, distance, liquid, arena, error));
        memcpy(step->fluid, liquid, count);
    }
    wadi_flip_surface_theta(rows, step->fluid, distance, theta, step->theta);
    if (theta == WADI_FLIP_THETA_GHOST && flip->materials.has_sand &&
        flip->context.world->scene->flip.surface == WADI_FLIP_SURFACE_AUTO) {
        keep_sand_first_order(flip, step, filled, distance);
    }
    for (int32_t r = 0; r < rows->count; ++r) {
        uint8_t inside = 0;
        for (int l = 0; l < 8; ++l) {
            inside |= (uint8_t)((step->solid.distance[8 * r + l] < 0.0f) << l);
        }
        step->inside[r] = r == 0 ? 0 : inside & (uint8_t)~step->fluid[r];
    }
    return WADI_OK;
}

/* Half of a cell and a twelfth of each of its six neighbours: what counts is the density of the neighbourhood, not the noise of
 * one cell. Neighbours inside solids count as the cell itself. */
static float smooth_fill(const WadiFlipStep *step, int32_t row, int lane, bool *has_air)
{
    const WadiRows *rows = &step->grid.rows;
    const int32_t *beside = rows->neighbour[row];
    const struct {
        int32_t row;
        int lane;
    } at[6] = { { lane > 0 ? row : beside[WADI_ROW_X_MIN], lane > 0 ? lane - 1 : 7 },
                { lane < 7 ? row : beside[WADI_ROW_X_MAX], lane < 7 ? lane + 1 : 0 },
                { beside[WADI_ROW_Y_MIN], lane },
                { beside[WADI_ROW_Y_MAX], lane },
                { beside[WADI_ROW_Z_MIN], lane },
                { beside[WADI_ROW_Z_MAX], lane } };
    float own = step->fill[8 * row + lane], sum = 0.5f * own;
    *has_air = false;
    for (int n = 0; n < 6; ++n) {
        bool is_solid = (step->inside[at[n].row] >> at[n].lane & 1) != 0;
        sum += (is_solid ? own : step->fill[8 * at[n].row + at[n].lane]) / 12.0f;
        *has_air = *has_air || (!is_solid && (step->fluid[at[n].row] >> at[n].lane & 1) == 0);
    }
    return sum;
}

/* Speed of a cell's material at the beginning of the step, m/s. */
static float cell_speed(const WadiFlipStep *step, int32_t row, int lane)
{
    WadiRowCell cell = { row, lane };
    float square = 0.0f;
    for (int axis = 0; axis < 3; ++axis) {
        WadiRowCell high = wadi_row_cell_beside(&step->grid.rows, cell, 2 * axis + 1);
        float mean = 0.5f * (step->saved[axis][wadi_row_cell_index(cell)] +
                             step->saved[axis][wadi_row_cell_index(high)]);
        square += mean * mean;
    }
    return sqrtf(square);
}

/* Two-sided, with a dead band, and only swelling where air is near: falling sand is thin and would stay so where it lands; water
 * would lose or gain volume over the run [friction notes 7.2]. */
WadiStatus wadi_flip_correct_density(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiFlipDef *def = &flip->context.world->scene->flip;
    const float rate = (float)def->density_rate; /* 1/s */
    const double g = wadi_norm(wadi_curve_value3(&flip->context.world->scene->gravity, step->time));
    const float slow = (float)(SLOW * sqrt(g * step->grid.cell_size)) + 1e-30f;
    const WadiRows *rows = &step->grid.rows;
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &step->expansion, wadi_rows_floats(rows),
                            "density correction", error));
    memset(step->expansion, 0, wadi_rows_floats(rows) * sizeof *step->expansion);
    for (int32_t r = 1; r < rows->count; ++r) {
        for (int l = 0; l < 8 && step->fluid[r] != 0; ++l) {
            /* Cut cells hold less than a cell's worth by right. */
            if ((step->fluid[r] >> l & 1) == 0 || step->solid.fraction[8 * r + l] > 0.0f) {
                continue;
            }
            bool has_air;
            bool is_sand = wadi_flip_sand(flip, step, 8 * (size_t)r + (size_t)l) >= 0.5f;
            float band = def->density_band >= 0.0 ? (float)def->density_band : is_sand ? 0.2f : 0.05f;
            float excess = smooth_fill(step, r, l, &has_air) - 1.0f;
            float wanted = excess > band ? excess - band : excess < -band && !has_air ? excess + band : 0.0f;
            if (wanted != 0.0f && is_sand) {
                /* Sand that has come to rest is left as it is, or a heap would creep for seconds. */
                wanted *= wadi_lesser(1.0f, cell_speed(step, r, l) / slow);
            }
            step->expansion[8 * r + l] = rate * wanted;
        }
    }
    return WADI_OK;
}
