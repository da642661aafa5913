/* The stage of viscosity: the materials' own, and the small damping that lets water come to rest. */
#include <string.h>

#include "core/parallel.h"
#include "sph/sph.h"
#include "sph/viscosity/sph_viscosity.h"

enum { BLOCK = 4096 };

static const double SOUND_DAMPING = 0.01, RIPPLE_DAMPING = 0.12; /* dx times their speed */

/* Sound and the ripples of single particles have to be damped too. */
static double damping_of(const WadiSph *sph, const WadiSphStep *step)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    const double sound =
        def->pressure == WADI_SPH_PRESSURE_TAIT ? wadi_sph_sound_speed(sph, step->time) : 0.0;
    const double ripple = wadi_sph_tension_speed(sph, step->time);
    return def->damping * step->dt / sph->unit_time +
           (SOUND_DAMPING * sound + RIPPLE_DAMPING * ripple) * step->dt / sph->spacing;
}

typedef struct Coefficients {
    const WadiSph *sph;
    const WadiSphStep *step;
    WadiSphWetting wetting; /* in a scene with pores */
    float scale;            /* of a viscosity of 1 Pa s */
    float of_material[WADI_MATERIALS_MAX];
} Coefficients;

/* Returns the largest. */
static double coefficient_block(void *context, int64_t first, int64_t end)
{
    const Coefficients *c = context;
    const uint8_t *material = c->sph->context.particles->material + c->step->sort.first;
    float largest = 0.0f;
    for (int64_t i = first; i < end; ++i) {
        const float mud = c->sph->has_pores ? c->scale * wadi_sph_wetting_viscosity(&c->wetting, i) : 0.0f;
        const float all = c->of_material[material[i]] + mud;
        c->step->viscosity[i] = all;
        largest = all > largest ? all : largest;
    }
    return (double)largest;
}

WadiStatus wadi_sph_find_viscosity(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const WadiScene *scene = sph->context.world->scene;
    WadiArena *arena = sph->context.scratch;
    const double dx = sph->spacing, scale = step->dt / (sph->materials.density * dx * dx);
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Coefficients c = { .sph = sph, .step = step, .scale = (float)scale };
    for (int m = 0; m < scene->material_count; ++m) {
        c.of_material[m] = (float)(scale * wadi_curve_value(&scene->materials[m].viscosity, step->time));
    }
    const size_t blocks = (size_t)wadi_parallel_block_count(step->count, BLOCK);
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, blocks, "viscosity", error));
    if (sph->has_pores) {
        wadi_sph_wetting_begin(&c.wetting, sph, step);
    }
    step->thickest = (float)wadi_parallel_max(step->count, BLOCK, coefficient_block, &c, partials);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

typedef struct Copy {
    WadiF4 *to;
    const WadiF4 *from;
} Copy;

WadiStatus wadi_sph_solve_viscosity(const WadiSph *sph, WadiSphStep *step, WadiF4 *velocity, WadiError *error)
{
    const WadiSphViscosityIn in = { .pairs = &step->pairs,
                                    .walls = &step->walls,
                                    .inverse_density = step->inverse_density,
                                    .volume = step->volume,
                                    .role = step->role,
                                    .coefficient = step->viscosity,
                                    .damping = (float)damping_of(sph, step),
                                    .tolerance = wadi_sph_tolerance(sph),
                                    .max_iterations =
                                        wadi_sph_def(sph->context.world->scene)->pressure_iterations };
    WadiSphViscosityReport report;
    return wadi_sph_viscosity(velocity, step->loads.drag, step->velocity, &in, &report, sph->context.scratch,
                              error);
}

static void copy_block(void *context, int64_t first, int64_t end)
{
    const Copy *copy = context;
    memcpy(copy->to + first, copy->from + first, (size_t)(end - first) * sizeof *copy->to);
}

WadiStatus wadi_sph_apply_viscosity(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WadiArena *arena = sph->context.scratch;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WadiF4 *velocity = NULL;
    if (step->thickest <= 0.0f && !(damping_of(sph, step) > 0.0)) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &velocity, (size_t)step->count, "viscosity", error));
    wadi_parallel_for(step->count, BLOCK, copy_block, &(Copy){ velocity, step->velocity });
    WADI_TRY(wadi_sph_solve_viscosity(sph, step, velocity, error));
    wadi_parallel_for(step->count, BLOCK, copy_block, &(Copy){ step->velocity, velocity });
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
