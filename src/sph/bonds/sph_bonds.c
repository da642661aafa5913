/* Bonds of cohesive sand: the yield law of each particle, the tension that its bonds bear, where they break
 * and heal. [theory 6.13, 11.5] */
#include <math.h>

#include "core/parallel.h"
#include "sph/sph.h"

enum { BLOCK = 4096 };

/* Part of the yield stress at which a bond under tension breaks: the solve comes from below. */
static const float BREAKING = 0.999f;

static bool is_cohesive(const WadiMaterial *material)
{
    bool is_cohesive = wadi_curve_value(&material->cohesion, 0.0) > 0.0;
    for (int k = 0; k < material->cohesion.key_count; ++k) {
        is_cohesive = is_cohesive || material->cohesion.keys[k].value[0] > 0.0;
    }
    return material->kind == WADI_MATERIAL_SAND && !material->is_unused && is_cohesive;
}

WadiStatus wadi_sph_add_bonds_column(WadiSph *sph, WadiError *error)
{
    const WadiScene *scene = sph->context.world->scene;
    bool has_bonds = wadi_sph_has_pores(scene);
    for (int m = 0; m < scene->material_count; ++m) {
        has_bonds = has_bonds || is_cohesive(&scene->materials[m]);
    }
    if (!has_bonds || wadi_sph_def(scene)->pressure != WADI_SPH_PRESSURE_SOLVE) {
        return WADI_OK;
    }
    return wadi_particles_add_column(sph->context.particles, "bonds", WADI_TYPE_U8, &sph->bonds_column,
                                     error);
}

typedef struct Bonds {
    const WadiSph *sph;
    const WadiSphStep *step;
    WadiSphWetting wetting; /* in a scene with pores */
    uint8_t *has_parted;    /* column, from the first particle of the sort on; in a scene with bonds */
    float per_pascal;       /* unit of P a pascal */
} Bonds;

static Bonds bonds_of(const WadiSph *sph, const WadiSphStep *step)
{
    Bonds b = { .sph = sph,
                .step = step,
                .per_pascal = (float)(step->dt / (sph->materials.density * sph->spacing)) };
    if (sph->bonds_column >= 0) {
        b.has_parted =
            (uint8_t *)wadi_particles_column(sph->context.particles, sph->bonds_column) + step->sort.first;
    }
    return b;
}

static void set_yield(WadiSph *sph, const WadiSphStep *step)
{
    const WadiScene *scene = sph->context.world->scene;
    WadiMaterials *materials = &sph->materials;
    for (int m = 0; m < materials->count; ++m) {
        if (materials->is_sand[m]) {
            const WadiMaterial *material = &scene->materials[m];
            const WadiYield yield = wadi_yield_of_material(material, material->yield, step->time);
            materials->slope[m] = (float)yield.slide;
            materials->cohesion[m] = (float)(yield.cohesion * step->dt / (materials->density * sph->spacing));
        }
    }
}

static void strength_block(void *context, int64_t first, int64_t end)
{
    const Bonds *b = context;
    const WadiSphStep *step = b->step;
    const WadiSphSand *sand = &step->sand;
    const WadiMaterials *materials = &b->sph->materials;
    const WadiScene *scene = b->sph->context.world->scene;
    const uint8_t *material = b->sph->context.particles->material + step->sort.first;
    for (int64_t i = first; i < end; ++i) {
        float slope = materials->slope[material[i]], cohesion = materials->cohesion[material[i]];
        if (b->sph->has_pores) {
            wadi_sph_wetting_strength(&b->wetting, i, &slope, &cohesion);
        }
        sand->slope[i] = slope;
        sand->cohesion[i] = cohesion;
        sand->tension[i] = 0.0f;
        if (b->sph->bonds_column >= 0) {
            const double strength = scene->materials[material[i]].tensile_strength;
            const bool has_parted = b->has_parted[i] != 0;
            sand->cohesion[i] = has_parted ? 0.0f : cohesion;
            sand->tension[i] = (float)wadi_tension_limit((double)slope, (double)sand->cohesion[i],
                                                         strength * (double)b->per_pascal);
        }
    }
}

/* Walls do not pull: beside them the pressure bears no tension. */
static void tension_block(void *context, int64_t first, int64_t end)
{
    const Bonds *b = context;
    const WadiSphStep *step = b->step;
    for (int64_t i = first; i < end; ++i) {
        const float tension = step->sand.tension[i];
        step->solve.is_bonded[i] = tension > 0.0f;
        step->solve.tension[i] = wadi_sph_near(&step->walls, i) >= 0 ? 0.0f : tension;
        step->pressure[i] = fmaxf(step->pressure[i], -step->solve.tension[i]);
    }
}

void wadi_sph_find_strength(WadiSph *sph, WadiSphStep *step)
{
    Bonds bonds = bonds_of(sph, step);
    set_yield(sph, step);
    if (sph->has_pores) {
        wadi_sph_wetting_begin(&bonds.wetting, sph, step);
    }
    wadi_parallel_for(step->count, BLOCK, strength_block, &bonds);
    wadi_sph_friction_moments(step->sand.moment, step->sand.tension, step->sand.cohesion, &step->pairs,
                              step->role);
    wadi_parallel_for(step->count, BLOCK, tension_block, &bonds);
    step->sand.has_bonds = false;
    for (int32_t i = 0; i < step->count && sph->bonds_column >= 0; ++i) {
        const bool is_bonded = step->solve.is_bonded[i] != 0 && step->role[i] == WADI_SPH_ACTIVE;
        step->sand.has_bonds = step->sand.has_bonds || is_bonded;
    }
}

/* Bonds break where tension reaches the yield law or its cut-off, and heal under compression. */
static void update_block(void *context, int64_t first, int64_t end)
{
    const Bonds *b = context;
    const WadiSphStep *step = b->step;
    const WadiSphSand *sand = &step->sand;
    for (int64_t i = first; i < end; ++i) {
        float t[WADI_SPH_STRESSES];
        if (!step->is_sand[i] || step->role[i] != WADI_SPH_ACTIVE) {
            continue;
        }
        for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
            t[c] = sand->friction.stress[c][i];
        }
        const float p = wadi_sph_friction_smooth(&step->pairs, step->pressure[i], step->solve.laplacian[i],
                                                 step->inverse_density[i], (int32_t)i) -
                        step->pore_pressure[i] * b->per_pascal;
        const float tension = sand->tension[i];
        const float yield = sand->slope[i] * fmaxf(p, -tension) + sand->cohesion[i];
        const bool breaks = tension > 0.0f && p < 0.0f &&
                            (p <= -tension || sqrtf(0.5f * wadi_sph_stress_square(t)) >= BREAKING * yield);
        b->has_parted[i] = breaks || (p <= 0.0f && b->has_parted[i] != 0);
    }
}

void wadi_sph_update_bonds(const WadiSph *sph, const WadiSphStep *step)
{
    if (sph->bonds_column >= 0) {
        Bonds bonds = bonds_of(sph, step);
        wadi_parallel_for(step->count, BLOCK, update_block, &bonds);
    }
}
