/* The stage of viscosity: the materials' own, and the small damping that lets water come to rest. */
#include "sph/sph.h"
#include "sph/viscosity/sph_viscosity.h"

enum { ITERATIONS = 200 };

static const double TOLERANCE = 0.01; /* of what gravity adds in the longest step */
static const double SOUND_DAMPING = 0.01, RIPPLE_DAMPING = 0.12; /* dx times their speed */

/* Of particles of different sizes. Where sizes differ the gradient of the pressure is off by some hundredths
 * of gravity, coarse ones and fine ones to opposite sides, which stirs water that should rest. With a quarter
 * of this it rests as well, later, but the pressure is noisier after splits. */
static const double MIXED_DAMPING = 4.0;

/* Sound and the ripples of single particles have to be damped too. */
static double damping_of(const WadiSph *sph, const WadiSphStep *step)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    const double sound =
        def->pressure == WADI_SPH_PRESSURE_TAIT ? wadi_sph_sound_speed(sph, step->time) : 0.0;
    const double ripple = wadi_sph_tension_speed(sph, step->time);
    const double mixed = step->size != NULL ? MIXED_DAMPING : 1.0;
    return mixed * def->damping * step->dt / sph->unit_time +
           (SOUND_DAMPING * sound + RIPPLE_DAMPING * ripple) * step->dt / sph->spacing;
}

WadiStatus wadi_sph_apply_viscosity(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const WadiScene *scene = sph->context.world->scene;
    WadiArena *arena = sph->context.scratch;
    const double dx = sph->spacing, scale = step->dt / (sph->materials.density * dx * dx);
    float of_material[WADI_MATERIALS_MAX], *coefficient = NULL;
    bool is_viscous = false;
    for (int m = 0; m < scene->material_count; ++m) {
        of_material[m] = (float)(scale * wadi_curve_value(&scene->materials[m].viscosity, step->time));
        is_viscous = is_viscous || (of_material[m] > 0.0f && !scene->materials[m].is_unused);
    }
    for (int32_t i = 0; i < step->count && step->mud != NULL && !is_viscous; ++i) {
        is_viscous = step->mud[i] > 0.0f;
    }
    if (is_viscous) {
        const uint8_t *material = sph->context.particles->material + step->sort.first;
        WADI_TRY(WADI_ARENA_NEW(arena, &coefficient, (size_t)step->count, "viscosity", error));
        for (int32_t i = 0; i < step->count; ++i) {
            const float mud = step->mud != NULL ? (float)scale * step->mud[i] : 0.0f;
            coefficient[i] = of_material[material[i]] + mud;
        }
    }
    const WadiSphViscosityIn in = { .pairs = &step->pairs,
                                    .walls = &step->walls,
                                    .lightness = step->lightness,
                                    .volume = step->volume,
                                    .waits = step->waits,
                                    .coefficient = coefficient,
                                    .damping = (float)damping_of(sph, step),
                                    .tolerance = TOLERANCE * wadi_sph_longest_step(sph) * dx /
                                                 (sph->unit_time * sph->unit_time),
                                    .max_iterations = ITERATIONS };
    WadiSphViscosityReport report;
    return in.damping > 0.0f || is_viscous ? wadi_sph_viscosity(step->velocity, &in, &report, arena, error)
                                           : WADI_OK;
}
