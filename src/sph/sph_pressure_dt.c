/* The step that particles under pressure allow. The forces of a pressure p push uneven particles back to even
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

typedef struct Extent {
    const WadiParticles *particles;
    WadiVec3 down;
} Extent;

static double lowest_depth(void *context, int64_t first, int64_t end)
{
    const Extent *extent = context;
    const WadiParticles *p = extent->particles;
    double most = -INFINITY;
    for (int64_t i = first; i < end; ++i) {
        most = fmax(most, wadi_dot(extent->down, (WadiVec3){ p->x[i], p->y[i], p->z[i] }));
    }
    return most;
}

static double largest_square(void *context, int64_t first, int64_t end)
{
    const WadiParticles *p = ((const Extent *)context)->particles;
    float most = 0.0f;
    for (int64_t i = first; i < end; ++i) {
        const float square = p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i];
        most = square > most ? square : most;
    }
    return (double)most;
}

/* g times the height of all particles, and the square of the largest speed, (m/s)^2. */
static WadiStatus find_heads(const WadiSph *sph, double time, double *depth, double *square, WadiError *error)
{
    const WadiParticles *p = sph->context.particles;
    WadiArena *arena = sph->context.scratch;
    const WadiVec3 g = wadi_world_gravity(sph->context.world, time);
    const WadiArenaMark mark = wadi_arena_mark(arena);
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &partials, (size_t)wadi_parallel_block_count(p->count, BLOCK), "pressures",
                            error));
    Extent down = { p, g }, up = { p, wadi_scale(g, -1.0) };
    *depth = fmax(0.0, wadi_parallel_max(p->count, BLOCK, lowest_depth, &down, partials) +
                           wadi_parallel_max(p->count, BLOCK, lowest_depth, &up, partials));
    *square = wadi_parallel_max(p->count, BLOCK, largest_square, &down, partials);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

/* Where nothing is thick the pressure of a flow is at most rho (g depth + u^2): what exceeds it stands where
 * there is no room, and grows without bound. */
WadiStatus wadi_sph_find_stiffness(const WadiSph *sph, double time, WadiSphStiffness *out, WadiError *error)
{
    const WadiScene *scene = sph->context.world->scene;
    const double g = sph->spacing / (sph->unit_time * sph->unit_time), longest = wadi_sph_longest_step(sph);
    double depth, square;
    *out = (WadiSphStiffness){ { 0 }, { 0 }, { 0 } };
    WADI_TRY(find_heads(sph, time, &depth, &square, error));
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        const double rate =
            wadi_curve_value(&material->viscosity, time) / (material->density * sph->spacing * sph->spacing);
        const bool is_thick = !sph->materials.is_sand[m] && rate * longest > (double)WADI_SPH_THICK;
        out->per_pascal[m] = (float)(twice_mu(sph, m) / (material->density * g * sph->spacing));
        out->viscous[m] = is_thick ? (float)(LAMBDA * rate * sph->unit_time) : 0.0f;
        out->most[m] = is_thick ? INFINITY : (float)(material->density * (depth + square));
    }
    return WADI_OK;
}

float wadi_sph_stiffness_of(const WadiSphStiffness *of, int material, float pressure, float size)
{
    const float counted = pressure < of->most[material] ? pressure : of->most[material];
    const float a = of->per_pascal[material] * counted / (size * size);
    const float b = 0.5f * of->viscous[material] / (size * size);
    if (!(a > 0.0f)) {
        return 0.0f;
    }
    const float dt = (b + sqrtf(b * b + 4.0f * a)) / (2.0f * a); /* a dt^2 = 1 + b dt */
    return 1.0f / (dt * dt);
}

/* Of a column as high as all particles, of the stiffest material. */
static WadiStatus find_depth(const WadiSph *sph, double time, double *out, WadiError *error)
{
    const WadiScene *scene = sph->context.world->scene;
    const double per_head = sph->unit_time * sph->unit_time / (sph->spacing * sph->spacing);
    double depth, square, most = 0.0;
    WADI_TRY(find_heads(sph, time, &depth, &square, error));
    for (int m = 0; m < scene->material_count; ++m) {
        most = fmax(most, scene->materials[m].is_unused ? 0.0 : twice_mu(sph, m));
    }
    *out = depth * per_head * most;
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
