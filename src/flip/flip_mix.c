/* Materials: their parameters in a step, and their means over the particles of each cell [theory 7.1,
 * 7.2]. */
#include <math.h>

#include "flip/flip.h"
#include "math/exp.h"
#include "matter/yield.h"

/* A loss per second, not per step. The times, 8 units of water and 2 of sand, were measured with cells of 1
 * to 2 cm: 0.33 s and 0.08 s. */
double wadi_flip_kept_fraction(const WadiFlip *flip, bool is_sand, double dt)
{
    return wadi_exp(-dt / ((is_sand ? 2.0 : 8.0) * flip->unit_time));
}

static double flip_fraction_of(const WadiFlip *flip, const WadiMaterial *material, double dt)
{
    return material->flip_fraction < 0.0
               ? wadi_flip_kept_fraction(flip, material->kind == WADI_MATERIAL_SAND, dt)
               : pow(material->flip_fraction, 100.0 * dt);
}

void wadi_flip_materials_at(WadiFlip *flip, double time, double dt, double force_dt)
{
    WadiMaterials *materials = &flip->materials;
    const WadiScene *scene = flip->context.world->scene;
    const double cell_size = flip->context.world->cell_size;
    for (int m = 0; m < materials->count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        double fraction = flip_fraction_of(flip, material, dt);
        /* Viscosity damps motion below the grid scale like the shortest wave of the grid. The rate is
         * limited, because this damping also slows rotation. */
        double fine = 3.14159265358979323846 / cell_size;
        fraction *= wadi_exp(-fmin(0.4 / flip->unit_time, wadi_curve_value(&material->viscosity, time) /
                                                              material->density * fine * fine) *
                             dt);
        /* Ripples below the grid scale: a tenth of the rate of capillary waves of one cell. */
        double capillary = sqrt(wadi_curve_value(&material->surface_tension, time) /
                                (material->density * cell_size * cell_size * cell_size));
        fraction *= wadi_exp(-0.1 * capillary * dt);
        flip->flip_fraction[m] = material->transfer == WADI_TRANSFER_FLIP ? (float)fraction : 0.0f;
        if (materials->is_sand[m]) {
            const bool is_printed = wadi_flip_def(scene)->published == WADI_FLIP_PUBLISHED_ZB05;
            WadiYield yield = wadi_yield_of_material(
                material, is_printed ? WADI_YIELD_ZB05_PRINTED : material->yield, time);
            materials->slope[m] = (float)yield.slide;
            double gravity = wadi_norm(wadi_curve_value3(&scene->gravity, time));
            double stairs = wadi_flip_def(scene)->friction == WADI_FLIP_FRICTION_SOLVE
                                ? wadi_yield_of_stairs(yield.slide) * gravity
                                : 0.0;
            const double unit = force_dt / (materials->density * cell_size);
            materials->cohesion[m] =
                (float)((yield.cohesion / (materials->density * cell_size) + stairs) * force_dt);
            materials->bond[m] = (float)(yield.cohesion * unit);
            materials->tension[m] = (float)(yield.tension * unit);
        }
    }
    for (int m = 0; m < materials->count;
         ++m) { /* unused materials are like the first, so that the transfer may find all equal */
        flip->flip_fraction[m] = flip->flip_fraction[scene->materials[m].is_unused ? materials->first : m];
    }
}

WadiStatus wadi_flip_mix(const WadiFlip *flip, WadiFlipStep *step, WadiError *error)
{
    const WadiMaterials *materials = &flip->materials;
    if (materials->used_count <= 1) {
        return WADI_OK;
    }
    float density[WADI_MATERIALS_MAX], sand[WADI_MATERIALS_MAX];
    for (int m = 0; m < materials->count; ++m) {
        density[m] = (float)materials->density * materials->mass[m];
        sand[m] = (float)materials->is_sand[m];
    }
    WADI_TRY(wadi_flip_material_mean(flip, step, density, &step->cells.mix.density, error));
    WADI_TRY(wadi_flip_material_mean(flip, step, sand, &step->cells.mix.sand, error));
    WADI_TRY(wadi_flip_material_mean(flip, step, materials->slope, &step->cells.mix.slope, error));
    return wadi_flip_material_mean(flip, step, materials->cohesion, &step->cells.mix.cohesion, error);
}
