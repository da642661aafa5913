/* Materials: their numbers in a step, and what the particles of each cell are made of.
 * Several sands share a cell by the mean of their yield slopes; sand and water are one fluid of varying density to the pressure
 * [friction notes 7.7]. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "flip/flip.h"
#include "flip/flip_yield.h"
#include "grid/row_lanes.h"

enum { TILE_BLOCK = 16 };

void wadi_flip_materials_init(WadiFlipMaterials *materials, const WadiScene *scene)
{
    *materials =
        (WadiFlipMaterials){ .count = scene->material_count, .density = scene->materials[0].density };
    for (int m = 0; m < scene->material_count; ++m) {
        bool is_sand = scene->materials[m].kind == WADI_MATERIAL_SAND;
        materials->is_sand[m] = is_sand;
        materials->mass[m] = (float)(scene->materials[m].density / materials->density);
        materials->has_sand = materials->has_sand || is_sand;
        materials->has_water = materials->has_water || !is_sand;
    }
}

/* Strength in rho g h that slippery sand is given. Its surface is a stair of cells, and a step one cell high is held by what the
 * pressure of the first-order surface has too much, half a cell: k / 2. That holds from tan 30 degrees on; below, the steps
 * walk downhill for ever (0.1 cells/s at 10 degrees). Vanishes with the cell, and for sand without friction. */
static double stair_strength(double slope)
{
    return fmin(slope, 0.5 * fmax(0.0, 0.5773502691896258 - slope));
}

void wadi_flip_materials_at(WadiFlipMaterials *materials, const WadiScene *scene, double time, double dt,
                            double kick, double cell_size)
{
    const double degree = 3.14159265358979323846 / 180.0;
    for (int m = 0; m < materials->count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        /* What is lost is lost per second, not per step. */
        double keep = pow(material->flip_share, 100.0 * dt);
        /* Motion finer than the grid dies by viscosity as the finest wave of the grid does; not faster than in a tenth of a
         * second, since what takes it away also slows rotation. */
        double fine = 3.14159265358979323846 / cell_size;
        keep *= exp(
            -fmin(10.0, wadi_curve_value(&material->viscosity, time) / material->density * fine * fine) * dt);
        /* Ripples finer than the grid: at a tenth of the rate of capillary waves of a cell. */
        double capillary = sqrt(wadi_curve_value(&material->surface_tension, time) /
                                (material->density * cell_size * cell_size * cell_size));
        keep *= exp(-0.1 * capillary * dt);
        materials->keep[m] = material->transfer == WADI_TRANSFER_FLIP ? (float)keep : 0.0f;
        if (materials->is_sand[m]) {
            WadiYieldRule rule = scene->flip.friction == WADI_FLIP_FRICTION_ZB05_LITERAL
                                     ? WADI_YIELD_ZB05_LITERAL
                                     : material->yield;
            WadiYield yield = wadi_yield(rule, degree * wadi_curve_value(&material->friction_angle, time),
                                         wadi_curve_value(&material->cohesion, time));
            materials->slope[m] = (float)yield.slide;
            double gravity = wadi_norm(wadi_curve_value3(&scene->gravity, time));
            double held = scene->flip.friction == WADI_FLIP_FRICTION_SOLVE
                              ? stair_strength(yield.slide) * gravity
                              : 0.0;
            materials->cohesion[m] =
                (float)((yield.cohesion / (materials->density * cell_size) + held) * kick);
        }
    }
}

typedef struct MixContext {
    const WadiFlip *flip;
    WadiFlipStep *step;
} MixContext;

static void mix_cell(const MixContext *context, size_t cell, int32_t first, int32_t end)
{
    const WadiFlipMaterials *m = &context->flip->materials;
    const WadiFlipMix *mix = &context->step->mix;
    const uint8_t *material = context->flip->context.particles->material;
    float mass = 0.0f, sand = 0.0f, slope = 0.0f, cohesion = 0.0f, each = 1.0f / (float)(end - first);
    for (int32_t i = first; i < end; ++i) {
        mass += m->mass[material[i]];
        sand += (float)m->is_sand[material[i]];
        slope += m->slope[material[i]];
        cohesion += m->cohesion[material[i]];
    }
    mix->density[cell] = (float)m->density * mass * each;
    mix->sand[cell] = sand * each;
    mix->slope[cell] = slope * each;
    mix->cohesion[cell] = cohesion * each;
}

static void mix_tiles(void *user, int64_t first, int64_t end)
{
    const MixContext *context = user;
    const WadiFlipSort *sort = &context->step->sort;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        int32_t occupied = sort->row_first[t];
        for (uint64_t left = sort->row_mask[t]; left != 0; left &= left - 1, ++occupied) {
            int32_t row = wadi_rows_at(&context->step->grid.rows, context->step->grid.tile_of[t],
                                       __builtin_ctzll(left));
            const int32_t *start = &sort->cell_start[8 * (size_t)occupied];
            for (size_t l = 0; l < 8; ++l) {
                if (start[l + 1] > start[l]) {
                    mix_cell(context, 8 * (size_t)row + l, start[l], start[l + 1]);
                }
            }
        }
    }
}

/* Fluid cells without particles: the mean of what is beside them, or the reference. */
static void mix_empty(void *user, int64_t first, int64_t end)
{
    const MixContext *context = user;
    const WadiFlipStep *step = context->step;
    const WadiFlipMix *mix = &step->mix;
    float *const of[4] = { mix->density, mix->sand, mix->slope, mix->cohesion };
    for (int32_t r = first > 0 ? (int32_t)first : 1; r < end; ++r) {
        unsigned empty = step->fluid[r] & ~(unsigned)step->grid.fluid[r];
        if (empty == 0) {
            continue;
        }
        float count[8] = { 0 }, sum[4][8] = { { 0 } };
        for (int side = 0; side < 6; ++side) {
            unsigned has = wadi_row_bits_beside(&step->grid.rows, step->grid.fluid, r, side);
            for (int k = 0; k < 4; ++k) {
                float value[8];
                wadi_row_beside(&step->grid.rows, of[k], r, side, value);
                for (int l = 0; l < 8; ++l) {
                    sum[k][l] += (has >> l & 1) != 0 ? value[l] : 0.0f;
                }
            }
            for (int l = 0; l < 8; ++l) {
                count[l] += (float)(has >> l & 1);
            }
        }
        for (int l = 0; l < 8; ++l) {
            for (int k = 0; k < 4 && (empty >> l & 1) != 0 && count[l] > 0.0f; ++k) {
                of[k][8 * r + l] = sum[k][l] / count[l];
            }
        }
    }
}

static void set_all(const WadiFlip *flip, const WadiFlipMix *mix, size_t floats)
{
    for (size_t i = 0; i < floats; ++i) {
        mix->density[i] = (float)flip->materials.density;
        mix->sand[i] = (float)flip->materials.is_sand[0];
        mix->slope[i] = flip->materials.slope[0];
        mix->cohesion[i] = flip->materials.cohesion[0];
    }
}

WadiStatus wadi_flip_mix(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    if (flip->materials.count == 1) {
        return WADI_OK;
    }
    WadiFlipMix *mix = &step->mix;
    size_t floats = wadi_rows_floats(&step->grid.rows);
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &mix->density, floats, "densities", error));
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &mix->sand, floats, "materials", error));
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &mix->slope, floats, "yield slopes", error));
    WADI_TRY(WADI_ARENA_NEW(flip->context.scratch, &mix->cohesion, floats, "cohesion", error));
    set_all(flip, mix, floats);
    MixContext context = { flip, step };
    wadi_parallel_for(step->sort.tiles.count, TILE_BLOCK, mix_tiles, &context);
    wadi_parallel_for(step->grid.rows.count, WADI_ROW_BLOCK, mix_empty, &context);
    return WADI_OK;
}
