/* Pressure by an equation of state, explicit, for comparison: p = rho c^2 / 7 (density^7 - 1), at least 0.
 * The speed of sound c is ten times that of a fall through all of the material, so that its density varies
 * by about one per cent. Source: [LD09; theory 11.7]. */
#include <math.h>
#include <string.h>

#include "sph/sph.h"
#include "sph/sph_stage.h"

static const double SOUND_FACTOR = 10.0, EXPONENT = 7.0;
static const double STEP_FACTOR = 0.3; /* spacings that sound moves in a step */

/* Extent of the particles along gravity, m. */
static double fall_height(const WadiSph *sph, WadiVec3 down)
{
    const WadiParticles *p = sph->context.particles;
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < p->count; ++i) {
        const double depth = wadi_dot(down, (WadiVec3){ p->x[i], p->y[i], p->z[i] });
        low = fmin(low, depth), high = fmax(high, depth);
    }
    return p->count > 0 ? high - low : 0.0;
}

double wadi_sph_sound_speed(const WadiSph *sph, double time)
{
    const WadiVec3 gravity = wadi_curve_value3(&sph->context.world->scene->gravity, time), none = { 0, 0, 1 };
    const double g = sph->spacing / (sph->unit_time * sph->unit_time);
    const double height = sph->spacing + fall_height(sph, wadi_normalized_or(gravity, none));
    return fmax(sph->sound_speed, SOUND_FACTOR * sqrt(2.0 * g * height));
}

double wadi_sph_sound_step(const WadiSph *sph, double time)
{
    return STEP_FACTOR * sph->spacing / wadi_sph_sound_speed(sph, time);
}

static WadiStatus tait_pressure(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WadiSphSolve *solve = &step->solve;
    const size_t count = (size_t)step->count;
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &solve->is_idle, count, "pressure", error));
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &solve->laplacian, count, "pressure", error));
    memset(solve->is_idle, 0, count);
    sph->sound_speed = wadi_sph_sound_speed(sph, step->time);
    const double c = sph->sound_speed, scale = c * c * step->dt / (EXPONENT * sph->spacing);
    for (int32_t i = 0; i < step->count; ++i) {
        const double density = (double)step->density[i];
        step->pressure[i] = (float)(scale * fmax(0.0, pow(density, EXPONENT) - 1.0));
    }
    const WadiSphPressureIn in = { .pairs = &step->pairs,
                                   .walls = &step->walls,
                                   .is_sand = step->is_sand,
                                   .inverse_density = step->inverse_density,
                                   .volume = step->volume,
                                   .is_idle = solve->is_idle,
                                   .laplacian = solve->laplacian };
    wadi_sph_pressure_apply(step->velocity, step->pressure, &in);
    return WADI_OK;
}

WadiStatus wadi_sph_solve_tait(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    RUN("viscosity", wadi_sph_apply_viscosity(sph, step, error));
    RUN("pressure", tait_pressure(sph, step, error));
    return WADI_OK;
}
