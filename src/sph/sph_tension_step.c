/* The stage of surface tension, and the longest step with it. */
#include <math.h>

#include "sph/sph.h"
#include "sph/tension/sph_tension.h"

static const double PI = 3.14159265358979323846;
static const double STEP_FACTOR = 0.4; /* of the time of the shortest capillary wave */

static double tension_of(const WadiSph *sph, int material, double time)
{
    const WadiMaterial *m = &sph->context.world->scene->materials[material];
    return m->is_unused || sph->materials.is_sand[material] ? 0.0
                                                            : wadi_curve_value(&m->surface_tension, time);
}

double wadi_sph_tension_largest_dt(const WadiSph *sph, double time)
{
    double dt = (double)INFINITY;
    const double volume = sph->spacing * sph->spacing * sph->spacing;
    for (int m = 0; m < sph->materials.count; ++m) {
        const double mass = sph->context.world->scene->materials[m].density * volume;
        dt = fmin(dt, STEP_FACTOR * sqrt(mass / (2.0 * PI * (tension_of(sph, m, time) + 1e-300))));
    }
    return dt;
}

double wadi_sph_tension_speed(const WadiSph *sph, double time)
{
    double square = 0.0;
    for (int m = 0; m < sph->materials.count; ++m) {
        const double density = sph->context.world->scene->materials[m].density;
        square = fmax(square, tension_of(sph, m, time) / (density * sph->spacing));
    }
    return sqrt(square);
}

WadiStatus wadi_sph_apply_tension(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    float of_material[WADI_MATERIALS_MAX], *strength = NULL, largest = 0.0f;
    const double scale = step->dt / (sph->materials.density * sph->spacing * sph->spacing);
    for (int m = 0; m < sph->materials.count; ++m) {
        of_material[m] = (float)(scale * tension_of(sph, m, step->time));
        largest = fmaxf(largest, of_material[m]);
    }
    if (!(largest > 0.0f)) {
        return WADI_OK;
    }
    const uint8_t *material = sph->context.particles->material + step->sort.first;
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &strength, (size_t)step->count, "surface tension", error));
    for (int32_t i = 0; i < step->count; ++i) {
        strength[i] = of_material[material[i]];
    }
    const WadiSphTensionIn in = { .pairs = &step->pairs,
                                  .walls = &step->walls,
                                  .spline = &sph->kernel.of[0],
                                  .inverse_density = step->inverse_density,
                                  .volume = step->volume,
                                  .strength = strength };
    return wadi_sph_tension(step->velocity, &in, sph->context.scratch, error);
}
