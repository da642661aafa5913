/* The step that pressed particles allow. The forces of a pressure p push uneven particles back to even
 * distances as springs do: every second plane of a lattice with the frequency w, w^2 = 2 mu p / (rho dx^2),
 * mu a sum of the kernel's second derivatives. Divergence-free modes of these springs are explicit, and
 * stable while w dt <= 1. Viscosity, which is implicit, damps them: where velocities follow forces and
 * positions these velocities, longest steps grow by w^2 dt^2 <= 1 + lambda / 2, lambda the eigenvalue of
 * the viscosity. [theory 11.4, 11.7] */
#include <math.h>

#include "core/parallel.h"
#include "sph/sph.h"
#include "sph/viscosity/sph_viscosity.h"

enum { BLOCK = 8192 };

/* Part of its change that w^2 of a step adds to the mean of the last ones: steps that follow each single
 * pressure shake what is deep. */
static const double CHANGE = 0.1;
/* lambda / c of the waves that the springs shake first. A cubic lattice has 11 at its shortest waves; with
 * that honey of 1000 Pa s in a slit is 2 % too dense, with 6 within 1 %. */
static const double LAMBDA = 6.0;

static double twice_mu(const WadiSph *sph, int material)
{
    return 2.0 * (double)sph->kernel.of[sph->materials.is_sand[material]].stiffness;
}

WadiSphStiffness wadi_sph_stiffness(const WadiSph *sph, double time)
{
    const WadiScene *scene = sph->context.world->scene;
    const double g = sph->spacing / (sph->unit_time * sph->unit_time), longest = wadi_sph_longest_step(sph);
    WadiSphStiffness of = { { 0 }, { 0 } };
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        const double rate =
            wadi_curve_value(&material->viscosity, time) / (material->density * sph->spacing * sph->spacing);
        const bool is_thick = !sph->materials.is_sand[m] && rate * longest > (double)WADI_SPH_THICK;
        of.per_pascal[m] = (float)(twice_mu(sph, m) / (material->density * g * sph->spacing));
        of.viscous[m] = is_thick ? (float)(LAMBDA * rate * sph->unit_time) : 0.0f;
    }
    return of;
}

float wadi_sph_stiffness_of(const WadiSphStiffness *of, int material, float pressure, float size)
{
    const float a = of->per_pascal[material] * pressure / (size * size);
    const float b = 0.5f * of->viscous[material] / (size * size);
    if (!(a > 0.0f)) {
        return 0.0f;
    }
    const float dt = (b + sqrtf(b * b + 4.0f * a)) / (2.0f * a); /* a dt^2 = 1 + b dt */
    return 1.0f / (dt * dt);
}

typedef struct Depth {
    const WadiParticles *particles;
    WadiVec3 down; /* gravity, in spacings of head a metre */
} Depth;

static double lowest_depth(void *context, int64_t first, int64_t end)
{
    const Depth *depth = context;
    const WadiParticles *p = depth->particles;
    double most = -INFINITY;
    for (int64_t i = first; i < end; ++i) {
        most = fmax(most, wadi_dot(depth->down, (WadiVec3){ p->x[i], p->y[i], p->z[i] }));
    }
    return most;
}

/* Of a column as high as all particles, of the stiffest material. */
static WadiStatus find_depth(const WadiSph *sph, double time, double *out, WadiError *error)
{
    const WadiParticles *p = sph->context.particles;
    WadiArena *arena = sph->context.scratch;
    const double per_metre = sph->unit_time * sph->unit_time / (sph->spacing * sph->spacing);
    const WadiVec3 g = wadi_world_gravity(sph->context.world, time);
    const WadiArenaMark mark = wadi_arena_mark(arena);
    double *partials = NULL, most = 0.0;
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, (size_t)wadi_parallel_block_count(p->count, BLOCK), "pressures",
                            error));
    Depth down = { p, wadi_scale(g, per_metre) }, up = { p, wadi_scale(g, -per_metre) };
    const double depth = wadi_parallel_max(p->count, BLOCK, lowest_depth, &down, partials) +
                         wadi_parallel_max(p->count, BLOCK, lowest_depth, &up, partials);
    for (int m = 0; m < sph->context.world->scene->material_count; ++m) {
        most = fmax(most, twice_mu(sph, m));
    }
    *out = depth > 0.0 ? depth * most : 0.0;
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

WadiStatus wadi_sph_watch_pressure(WadiSph *sph, double time, double stiffness, WadiError *error)
{
    if (sph->steps == 0) {
        return find_depth(sph, time, &sph->stiffness, error);
    }
    sph->stiffness += CHANGE * (stiffness - sph->stiffness);
    return WADI_OK;
}

/* Before the first step there is no pressure: that of a column as high as all particles. */
double wadi_sph_pressure_limited_dt(const WadiSph *sph, double time)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    double stiffness = sph->stiffness;
    if (def->pressure == WADI_SPH_PRESSURE_TAIT) {
        return INFINITY;
    }
    if (sph->steps == 0 && find_depth(sph, time, &stiffness, NULL) != WADI_OK) {
        return INFINITY;
    }
    return stiffness > 0.0 ? sph->unit_time / sqrt(stiffness) : (double)INFINITY;
}
