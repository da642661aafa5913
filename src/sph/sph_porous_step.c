/* The stages of water in sand: what it does to the particles at the start of a step, and its flow at the
 * end. [LD09 sec. 3; theory 11.6] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "matter/wetting.h"
#include "sph/sph.h"
#include "world/water.h"

enum { BLOCK = 2048 };

static const double DEGREE = 3.14159265358979323846 / 180.0;
/* Over which the pressure of water beside sand is a mean, sqrt(dx/g): that of a single step is noisy. */
static const double MEAN_TIME = 1.0;
/* Part of a particle of water that a gradient of 1 may move into sand in a step. With more, water and coarse
 * sand exchange all they have within few steps by that noise. */
static const double MOST_ENTRY = 0.03;
static const double LEAST_VISCOSITY = 1e-3; /* Pa s: of water, where the scene gives none */

bool wadi_sph_has_pores(const WadiScene *scene)
{
    bool is_permeable = false, has_water = false, is_moist = false;
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        const bool is_sand = material->kind == WADI_MATERIAL_SAND;
        is_permeable =
            is_permeable || (is_sand && !material->is_unused && material->pores.permeability > 0.0);
        has_water = has_water || (!is_sand && !material->is_unused);
    }
    for (int b = 0; b < scene->body_count; ++b) {
        is_moist = is_moist || scene->bodies[b].saturation > 0.0;
    }
    for (int e = 0; e < scene->emitter_count; ++e) {
        is_moist = is_moist || scene->emitters[e].saturation > 0.0;
    }
    return is_moist || (is_permeable && has_water);
}

/* -1: none. */
static int densest_water(const WadiScene *scene)
{
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        if (material->kind == WADI_MATERIAL_WATER && !material->is_unused &&
            material->density == wadi_water_density(scene)) {
            return m;
        }
    }
    return -1;
}

double wadi_sph_water_viscosity(const WadiSph *sph, double time)
{
    const int m = sph->spawned_material;
    const WadiScene *scene = sph->context.world->scene;
    return fmax(m >= 0 ? wadi_curve_value(&scene->materials[m].viscosity, time) : 0.0, LEAST_VISCOSITY);
}

WadiStatus wadi_sph_porous_create(WadiSph *sph, WadiError *error)
{
    WadiParticles *p = sph->context.particles;
    if (!wadi_sph_has_pores(sph->context.world->scene)) {
        return WADI_OK;
    }
    sph->has_pores = true;
    sph->lattice = wadi_sph_lattice(&sph->kernel);
    sph->spawned_material = densest_water(sph->context.world->scene);
    WADI_TRY(wadi_particles_add_column(p, "water", WADI_TYPE_F64, &sph->water_column, error));
    WADI_TRY(wadi_particles_add_column(p, "wetness", WADI_TYPE_F32, &sph->wetness_column, error));
    wadi_particles_show_column(p, sph->wetness_column);
    WADI_TRY(wadi_particles_add_column(p, "film", WADI_TYPE_F64, &sph->film_column, error));
    WADI_TRY(wadi_particles_add_column(p, "pore_pressure", WADI_TYPE_F32, &sph->pore_column, error));
    wadi_particles_show_column(p, sph->pore_column);
    return WADI_OK;
}

void wadi_sph_wetting_begin(WadiSphWetting *wetting, const WadiSph *sph, const WadiSphStep *step)
{
    const WadiScene *scene = sph->context.world->scene;
    const double *water = wadi_particles_column(sph->context.particles, sph->water_column);
    *wetting = (WadiSphWetting){ .sph = sph,
                                 .step = step,
                                 .water = water + step->sort.first,
                                 .per_pascal = step->dt / (sph->materials.density * sph->spacing) };
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        if (material->kind == WADI_MATERIAL_SAND) {
            wetting->yield[m] = wadi_yield_of_material(material, material->yield, step->time);
            wetting->cosine[m] = cos(DEGREE * wadi_curve_value(&material->friction_angle, step->time));
        }
    }
}

static const WadiMaterial *material_of(const WadiSphWetting *w, int64_t i, int *m)
{
    *m = w->sph->context.particles->material[w->step->sort.first + i];
    return &w->sph->context.world->scene->materials[*m];
}

/* Of a particle of sand. */
static double saturation_of(const WadiSphWetting *w, const WadiMaterial *material, int64_t i)
{
    return fmin(1.0, w->water[i] / (w->step->rest_volume[i] * material->pores.porosity));
}

/* How far a particle of saturated sand is under water, 0 to 1. The pores of sand that carries no more than
 * its buoyant weight p - u have the pressure u = (p - u) rho_w / (rho_sat - rho_w). More of it is water above
 * the sand, which counts in full from the depth of a support on. */
static double submergence_of(const WadiSphWetting *w, const WadiMaterial *material, int64_t i)
{
    const WadiSphStep *step = w->step;
    const double water = wadi_water_density(w->sph->context.world->scene);
    const double buoyant = material->density + (material->pores.porosity - 1.0) * water;
    const double u = (double)step->pore_pressure[i];
    const double p =
        (double)wadi_sph_friction_pressure(&step->pairs, step->pressure, (int32_t)i) / w->per_pascal;
    const double g = w->sph->spacing / (w->sph->unit_time * w->sph->unit_time);
    const double above = u - fmax(0.0, p - u) * water / fmax(buoyant, 1e-3 * water);
    return fmin(1.0, fmax(0.0, above / (water * g * WADI_SPH_SUPPORT * w->sph->spacing)));
}

void wadi_sph_wetting_strength(const WadiSphWetting *w, int64_t i, float *slope, float *cohesion)
{
    *slope = *cohesion = 0.0f;
    if (!w->step->is_sand[i]) {
        return;
    }
    int m;
    const WadiMaterial *material = material_of(w, i, &m);
    const double s = saturation_of(w, material, i);
    const double dry = w->yield[m].cohesion; /* times the cosine already, as all below */
    const double wet = wadi_wet_cohesion(&material->pores, 0.0, s) * w->cosine[m];
    const double dry_part =
        s < material->pores.ideal_saturation ? 1.0 - s / material->pores.ideal_saturation : 0.0;
    double friction = wadi_wet_friction(&material->pores, s);
    if (friction < 1.0 && w->step->role[i] == WADI_SPH_ACTIVE) {
        friction += (1.0 - friction) * submergence_of(w, material, i);
    }
    *slope = (float)(w->yield[m].stop * friction);
    *cohesion = (float)((dry * dry_part + wet) * w->per_pascal);
}

float wadi_sph_wetting_viscosity(const WadiSphWetting *w, int64_t i)
{
    if (!w->step->is_sand[i]) {
        return 0.0f;
    }
    int m;
    const WadiMaterial *material = material_of(w, i, &m);
    return (float)wadi_mud_viscosity(&material->pores, saturation_of(w, material, i));
}

typedef struct Masses {
    const WadiSph *sph;
    const WadiSphStep *step;
    const double *water;        /* columns, from the first particle of the sort on */
    const float *pore_pressure; /* Pa */
} Masses;

static void wet_block(void *context, int64_t first, int64_t end)
{
    const Masses *w = context;
    const WadiSphStep *step = w->step;
    const WadiScene *scene = w->sph->context.world->scene;
    const double unit = wadi_water_density(scene);
    for (int64_t i = first; i < end; ++i) {
        const WadiMaterial *material =
            &scene->materials[w->sph->context.particles->material[step->sort.first + i]];
        const double rest_volume = step->rest_volume[i], water = w->water[i];
        step->pore_pressure[i] = w->pore_pressure[i];
        step->volume[i] = step->is_sand[i] ? (float)rest_volume : (float)(water * unit / material->density);
        if (step->is_sand[i] && step->role[i] != WADI_SPH_GHOST) {
            step->inverse_density[i] =
                (float)(w->sph->materials.density / (material->density + water / rest_volume * unit));
        }
    }
}

WadiStatus wadi_sph_wet(const WadiSph *sph, WadiSphStep *step)
{
    const WadiParticles *p = sph->context.particles;
    if (!sph->has_pores) {
        return WADI_OK;
    }
    const double *water = wadi_particles_column(p, sph->water_column);
    const float *pore_pressure = wadi_particles_column(p, sph->pore_column);
    const int32_t first = step->sort.first;
    wadi_parallel_for(step->count, BLOCK, wet_block,
                      &(Masses){ sph, step, water + first, pore_pressure + first });
    return WADI_OK;
}

/* Walls pull moist sand within a spacing: dv = -dt k_s d (1 - d) n, d the distance in sizes of the
 * particle [LD09]. */
WadiStatus wadi_sph_add_wall_adhesion(const WadiSph *sph, WadiSphStep *step)
{
    const WadiScene *scene = sph->context.world->scene;
    const WadiParticles *p = sph->context.particles;
    if (!sph->has_pores) {
        return WADI_OK;
    }
    const double *water = (const double *)wadi_particles_column(p, sph->water_column) + step->sort.first;
    for (int32_t i = 0; i < step->count; ++i) {
        const int32_t near = wadi_sph_near(&step->walls, i);
        const WadiPoresDef *pores = &scene->materials[p->material[step->sort.first + i]].pores;
        const bool is_active = step->role[i] == WADI_SPH_ACTIVE;
        if (near < 0 || !step->is_sand[i] || !is_active || pores->stickiness == 0.0) {
            continue;
        }
        const double s = fmin(1.0, water[i] / (step->rest_volume[i] * pores->porosity));
        const double pull = pores->stickiness * wadi_wet_stickiness(pores, s) * step->dt * sph->spacing;
        const float per_size = 1.0f / step->size[i];
        for (int c = 0; c < step->walls.contact_count[near]; ++c) {
            const WadiF4 n = step->walls.contact[near][c].normal;
            const float far = n[3] * per_size, d = far > 0.0f && far < 1.0f ? far * (1.0f - far) : 0.0f;
            const WadiF4 change = (WadiF4){ n[0], n[1], n[2], 0.0f } * (-d * (float)pull);
            step->velocity[i] += change;
            step->loads.adhesion[wadi_sph_first_contact(&step->walls, near) + (size_t)c] =
                change * (step->volume[i] / step->inverse_density[i]);
        }
    }
    return WADI_OK;
}

typedef struct Pressures {
    const WadiSph *sph;
    const WadiSphStep *step;
    double *pressure; /* Pa */
    double newest;    /* part of the present step in the mean over time */
    WadiVec3 weight;  /* of water, Pa a place */
    double to_pascal;
} Pressures;

/* Pressure of water at i, a mean over its neighbours of water: that of a single particle is noisy. */
static double mean_pressure(const Pressures *s, int32_t i)
{
    const WadiSphPairs *pairs = &s->step->pairs;
    const int64_t first = pairs->start[i], end = first + pairs->same[i];
    double sum = 0.0, all = 0.0;
    for (int64_t n = first; n < end; ++n) {
        const int32_t j = wadi_sph_other(pairs, n);
        const WadiI4 d = WADI_SPH_PLACES_BETWEEN(pairs->place[i], pairs->place[j]);
        const double slope = (double)wadi_sph_slope(pairs, i, n);
        const double below =
            (double)d[0] * s->weight.x + (double)d[1] * s->weight.y + (double)d[2] * s->weight.z;
        sum += slope * fmax(0.0, (double)s->step->pressure[j] * s->to_pascal + below);
        all += slope;
    }
    const double own = (double)s->step->pressure[i] * s->to_pascal;
    return all > 0.0 ? (0.25 * own * all + sum) / (1.25 * all) : own;
}

static void pressure_block(void *context, int64_t first, int64_t end)
{
    const Pressures *s = context;
    const WadiSphPairs *pairs = &s->step->pairs;
    for (int32_t i = (int32_t)first; i < end; ++i) {
        const bool has_sand = pairs->start[i] + pairs->same[i] < pairs->start[i + 1];
        /* A start of the solve; that of a checkpoint may be any number. */
        const float last = s->step->pore_pressure[i]; /* of water what it pressed with so far */
        const double pore = last >= 0.0f && last < 1e12f ? (double)last : 0.0;
        const double now = !s->step->is_sand[i] && has_sand ? mean_pressure(s, i) : 0.0;
        const double mean = pore > 0.0 ? pore + s->newest * (now - pore) : now;
        s->pressure[i] = s->step->is_sand[i] ? pore : has_sand ? mean : 0.0;
    }
}

static WadiStatus set_pressures(const WadiSph *sph, const WadiSphStep *step, double **pressure,
                                WadiError *error)
{
    const WadiScene *scene = sph->context.world->scene;
    const double place = wadi_water_density(scene) * sph->spacing / WADI_SPH_PLACES;
    WADI_TRY(
        WADI_ARENA_NEW_TEMPORARY(sph->context.scratch, pressure, (size_t)step->count, "porous flow", error));
    Pressures s = { .sph = sph,
                    .step = step,
                    .pressure = *pressure,
                    .newest = fmin(1.0, step->dt / (MEAN_TIME * sph->unit_time)),
                    .weight = wadi_scale(wadi_world_gravity(sph->context.world, step->time), place),
                    .to_pascal = sph->materials.density * sph->spacing / step->dt };
    wadi_parallel_for(step->count, BLOCK, pressure_block, &s);
    return WADI_OK;
}

/* Wet sand dries where it is exposed: in proportion to the part of the kernel that is empty. Returns the
 * quanta. */
static int64_t evaporate(const WadiSph *sph, const WadiSphStep *step, double *water)
{
    const WadiScene *scene = sph->context.world->scene;
    const uint8_t *material = sph->context.particles->material + step->sort.first;
    const double lone = (double)sph->kernel.of[1].own;
    int64_t quanta = 0;
    bool is_drying = false;
    for (int m = 0; m < scene->material_count; ++m) {
        is_drying = is_drying || scene->materials[m].pores.evaporation > 0.0;
    }
    if (!is_drying) {
        return 0;
    }
    for (int32_t i = 0; i < step->count; ++i) {
        const WadiPoresDef *pores = &scene->materials[material[i]].pores;
        const bool is_ghost = step->role[i] == WADI_SPH_GHOST;
        if (step->is_sand[i] && !is_ghost && pores->evaporation > 0.0 && water[i] > 0.0) {
            const double bare = fmin(1.0, fmax(0.0, (1.0 - (double)step->density[i]) / (1.0 - lone)));
            const double evaporated =
                pores->evaporation * step->dt * step->rest_volume[i] * pores->porosity * bare;
            const double lost = floor(fmin(water[i], evaporated) * WADI_WATER_QUANTA);
            water[i] -= lost / WADI_WATER_QUANTA;
            step->seep[i] = bare > 0.0 ? INFINITY : step->seep[i];
            quanta += (int64_t)lost;
        }
    }
    return quanta;
}

/* What the flow leaves: saturations, pressures in pores, and how fast the saturations change. */
typedef struct Change {
    const WadiSphStep *step;
    const WadiSphPorousIn *in;
    const double *water, *before;
    float *wetness, *pore;
} Change;

static void change_block(void *context, int64_t first, int64_t end)
{
    const Change *w = context;
    const WadiSphStep *step = w->step;
    for (int64_t i = first; i < end; ++i) {
        const double pores = step->rest_volume[i] * w->in->materials[w->in->material[i]].pores.porosity;
        const float change = (float)(fabs(w->water[i] - w->before[i]) / (pores * step->dt));
        w->wetness[i] = step->is_sand[i] ? (float)fmin(1.0, w->water[i] / pores) : 0.0f;
        w->pore[i] = (float)w->in->pressure[i];
        step->seep[i] = step->is_sand[i] && change > step->seep[i] ? change : step->seep[i];
    }
}

WadiStatus wadi_sph_flow_in_pores(const WadiSph *sph, WadiSphStep *step, WadiStepReport *report,
                                  WadiError *error)
{
    WadiArena *arena = sph->context.scratch;
    const WadiScene *scene = sph->context.world->scene;
    WadiParticles *p = sph->context.particles;
    if (!sph->has_pores) {
        return WADI_OK;
    }
    const WadiVec3 gravity = wadi_world_gravity(sph->context.world, step->time);
    const double unit = wadi_water_density(scene);
    double *pressure = NULL;
    double *water = (double *)wadi_particles_column(p, sph->water_column) + step->sort.first;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(set_pressures(sph, step, &pressure, error));
    double *before = NULL;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &before, (size_t)step->count, "porous flow", error));
    memcpy(before, water, (size_t)step->count * sizeof *before);
    const WadiSphPorousIn in = { .pairs = &step->pairs,
                                 .x = p->x + step->sort.first,
                                 .y = p->y + step->sort.first,
                                 .z = p->z + step->sort.first,
                                 .is_sand = step->is_sand,
                                 .material = p->material + step->sort.first,
                                 .materials = scene->materials,
                                 .rest_volume = step->rest_volume,
                                 .role = step->role,
                                 .has_ghosts = step->copies > 0,
                                 .pressure = pressure,
                                 .leaks = sph->spawned_material >= 0,
                                 .density = step->density,
                                 .film =
                                     (double *)wadi_particles_column(p, sph->film_column) + step->sort.first,
                                 .seep = step->seep,
                                 .lattice = sph->lattice,
                                 .gravity = gravity,
                                 .water_density = unit,
                                 .viscosity = wadi_sph_water_viscosity(sph, step->time),
                                 .entry = MOST_ENTRY,
                                 .spacing = sph->spacing,
                                 .dt = step->dt };
    WadiSphPorousReport porous;
    WADI_TRY(wadi_sph_porous_exchange(water, step->velocity, &in, &porous, arena, error));
    wadi_sph_porous_drip(water, step->velocity, &in);
    WADI_TRY(wadi_sph_find_spawns(sph, step, error));
    const size_t most = (size_t)p->count + (size_t)step->spawn_count;
    WADI_TRY(WADI_ARENA_NEW(arena, &step->is_removed, most, "porous flow", error));
    memset(step->is_removed, 0, most);
    step->removed = wadi_sph_porous_merge(water, step->velocity, step->is_removed + step->sort.first, &in);
    report->evaporated_water += evaporate(sph, step, water);
    Change change = { .step = step,
                      .in = &in,
                      .water = water,
                      .before = before,
                      .wetness = (float *)wadi_particles_column(p, sph->wetness_column) + step->sort.first,
                      .pore = (float *)wadi_particles_column(p, sph->pore_column) + step->sort.first };
    wadi_parallel_for(step->count, BLOCK, change_block, &change);
    wadi_arena_release_temporaries(arena, mark);
    return WADI_OK;
}
