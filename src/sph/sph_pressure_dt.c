/* The step that pressed particles allow. The forces of a pressure p push uneven particles back to even
 * distances as springs do: every second plane of a lattice with the frequency w, w^2 = 2 mu p / (rho dx^2), mu a
 * sum of the kernel's second derivatives. Divergence-free modes of these springs are explicit, and stable while
 * w dt <= 1. [theory 11.4] */
#include <math.h>

#include "core/parallel.h"
#include "sph/sph.h"

enum { BLOCK = 8192 };

/* Part of its change that w^2 of a step adds to the mean of the last ones: steps that follow each single
 * pressure shake what is deep. */
static const double CHANGE = 0.1;

static double twice_mu(const WadiSph *sph, int material)
{
    return 2.0 * (double)sph->kernel.of[sph->materials.is_sand[material]].stiffness;
}

void wadi_sph_stiffness_per_pascal(const WadiSph *sph, float per_pascal[WADI_MATERIALS_MAX])
{
    const double g = sph->spacing / (sph->unit_time * sph->unit_time);
    for (int m = 0; m < sph->context.world->scene->material_count; ++m) {
        const double density = sph->materials.density * (double)sph->materials.mass[m];
        per_pascal[m] = (float)(twice_mu(sph, m) / (density * g * sph->spacing));
    }
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
