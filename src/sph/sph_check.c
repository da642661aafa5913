/* Search for values that are not finite, after every stage of the checking build. */
#include "sph/sph.h"

#ifdef WADI_CHECKS
#include <math.h>

/* An array of the step; its lifetime has ended, or not begun, where there is none. */
typedef struct Array {
    const char *what;
    const float *values;
    int width, used; /* numbers of an item, and how many of them count */
} Array;

static WadiStatus check_array(const WadiSph *sph, const WadiSphStep *step, const char *stage,
                              const Array *array, WadiError *error)
{
    const WadiParticles *p = sph->context.particles;
    for (int64_t i = 0; array->values != NULL && i < step->count; ++i) {
        for (int c = 0; c < array->used; ++c) {
            const double value = (double)array->values[array->width * i + c];
            const int64_t k = step->sort.first + i;
            if (!isfinite(value) && k < p->count) {
                return wadi_fail(error, WADI_ERR_NUMERIC,
                                 "stage '%s' made %s of particle %u %g at (%g, %g, %g) m, t = %.6g s", stage,
                                 array->what, (unsigned)p->id[k], value, p->x[k], p->y[k], p->z[k],
                                 step->time);
            }
        }
    }
    return WADI_OK;
}

static WadiStatus check_arrays(const WadiSph *sph, const WadiSphStep *step, const char *stage,
                               WadiError *error)
{
    const WadiSphSolve *solve = &step->solve;
    const WadiSphSand *sand = &step->sand;
    const Array arrays[] = {
        { "the size", step->size, 1, 1 },
        { "the volume", step->volume, 1, 1 },
        { "the inverse density", step->inverse_density, 1, 1 },
        { "the density", step->density, 1, 1 },
        { "the velocity", (const float *)step->velocity, 4, 3 },
        { "the pressure", step->pressure, 1, 1 },
        { "the shift", (const float *)step->shift, 4, 3 },
        { "the pressure in pores", step->pore_pressure, 1, 1 },
        { "the viscosity", step->viscosity, 1, 1 },
        { "the inverse diagonal", solve->inverse, 1, 1 },
        { "the velocity without pressure", (const float *)solve->v_star, 4, 3 },
        { "the source of the pressure", solve->source, 1, 1 },
        { "the Laplacian of the pressure", solve->laplacian, 1, 1 },
        { "the Laplacian of the weight", solve->carried, 1, 1 },
        { "the tension of the pressure", solve->tension, 1, 1 },
        { "the rate of straight paths", solve->chord, 1, 1 },
        { "the slope of the yield law", sand->slope, 1, 1 },
        { "the cohesion", sand->cohesion, 1, 1 },
        { "the tension of bonds", sand->tension, 1, 1 },
        { "the mean pressure", sand->mean_pressure, 1, 1 },
        { "the velocity with forces only", (const float *)sand->v_forces, 4, 3 },
        { "the velocity without friction", (const float *)sand->v_pressure, 4, 3 },
        { "the isotropic stress", sand->friction.mean, 1, 1 },
        { "the stress xx", sand->friction.stress[0], 1, 1 },
        { "the stress yy", sand->friction.stress[1], 1, 1 },
        { "the stress xy", sand->friction.stress[2], 1, 1 },
        { "the stress yz", sand->friction.stress[3], 1, 1 },
        { "the stress zx", sand->friction.stress[4], 1, 1 },
    };
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; ++n) {
        WADI_TRY(check_array(sph, step, stage, &arrays[n], error));
    }
    return WADI_OK;
}
#endif

WadiStatus wadi_sph_check_stage(const WadiSph *sph, const WadiSphStep *step, const char *stage,
                                WadiError *error)
{
#ifdef WADI_CHECKS
    WADI_TRY(check_arrays(sph, step, stage, error));
#else
    (void)step;
#endif
    return wadi_solver_check_stage(&sph->context, stage, error);
}
