/* A step with `published: ld09` or `t10`: what the papers print, in the order of their sections [LD09; T10].
 * Sorting, walls, gravity, moving and collision with solids are those of the other modes. */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "matter/wetting.h"
#include "matter/yield.h"
#include "sph/published/sph_printed.h"
#include "sph/sph.h"
#include "sph/sph_stage.h"
#include "world/water.h"

static const double DEGREE = 3.14159265358979323846 / 180.0;
static const double VISCOUS_STEP = 0.25; /* dx^2 / nu: Laplacians are up to 3.4 / dx^2 */
static const double T10_STEP = 1e-3;     /* s: "a fixed integration, we use 0.001s" */
static const double IMPACT = 0.1;        /* of c: a fall through all of the material */
static const double LEAST_WATER = 1e-3;  /* of a full particle: less is deleted */

/* What the stages of such a step pass on. */
typedef struct Printed {
    WadiSphPrinted p;
    WadiSphPrintedPores pores;
    WadiSphPrintedSand sand;
    WadiSphPrintedClusters clusters;
    WadiVec3 *v_star; /* velocity without friction */
    double *full, *permeability, *porosity, *capillary, *capillary_exponent, *flow_exponent;
} Printed;

static bool is_t10(const WadiSph *sph)
{
    return wadi_sph_def(sph->context.world->scene)->published == WADI_SPH_PUBLISHED_T10;
}

static const WadiMaterial *material_of(const WadiSph *sph, int32_t i)
{
    return &sph->context.world->scene->materials[sph->context.particles->material[i]];
}

/* Pa s: of everything, by `damping`, and for sound what the artificial viscosity of [BT07] amounts to. */
static double damping_of(const WadiSph *sph, double density, double time)
{
    const double damping = wadi_sph_def(sph->context.world->scene)->damping;
    const double speed =
        damping * sph->spacing / sph->unit_time + WADI_SPH_SOUND_VISCOSITY * wadi_sph_sound_speed(sph, time);
    return speed * density * sph->spacing;
}

double wadi_sph_published_largest_dt(const WadiSph *sph, double time)
{
    const WadiScene *scene = sph->context.world->scene;
    double least = is_t10(sph) ? T10_STEP : (double)INFINITY;
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        const double own = material->kind == WADI_MATERIAL_SAND
                               ? material->pores.mud_viscosity
                               : wadi_curve_value(&material->viscosity, time);
        if (!material->is_unused) {
            const double viscosity = own + damping_of(sph, material->density, time);
            const double square = sph->spacing * sph->spacing;
            least = fmin(least, VISCOUS_STEP * square * material->density / (viscosity + 1e-30));
        }
    }
    return least;
}

static WadiStatus make_arrays(const WadiSph *sph, Printed *s, WadiError *error)
{
    WadiArena *arena = sph->context.scratch;
    const size_t count = (size_t)s->p.count;
    WADI_TRY(WADI_ARENA_NEW(arena, &s->p.radius, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->p.mass, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->p.rest_density, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->p.density, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->p.pressure, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->p.viscosity, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->p.cohesion, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->p.friction, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->p.velocity, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->p.force, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->v_star, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->pores.water, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->pores.saturation, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->pores.pore_pressure, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->full, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->permeability, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->porosity, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->capillary, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->capillary_exponent, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->flow_exponent, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->sand.strain, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->sand.gradient, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->sand.stress, count, "published step", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->sand.is_sliding, count, "published step", error));
    return WADI_ARENA_NEW(arena, &s->sand.is_rigid, count, "published step", error);
}

/* kg: of a unit of the column of water. */
static double water_unit(const WadiSph *sph)
{
    const double dx = sph->spacing;
    return wadi_water_density(sph->context.world->scene) * dx * dx * dx;
}

/* Masses with their water. Where no water can enter sand, there is no column of it. */
static void set_masses(const WadiSph *sph, const WadiSphStep *step, Printed *s)
{
    const double cube = sph->spacing * sph->spacing * sph->spacing;
    for (int32_t i = 0; i < s->p.count; ++i) {
        const double own = material_of(sph, i)->density * cube * step->rest_volume[i];
        s->p.mass[i] = sph->has_pores && !s->p.is_sand[i] ? s->pores.water[i] : own;
        s->p.mass[i] += sph->has_pores && s->p.is_sand[i] ? s->pores.water[i] : 0.0;
    }
}

/* Eq. 31: rho_0 + S phi rho_water. */
static void set_rest_densities(const WadiSph *sph, Printed *s)
{
    const double water = wadi_water_density(sph->context.world->scene);
    for (int32_t i = 0; i < s->p.count; ++i) {
        const bool is_wet = sph->has_pores && s->p.is_sand[i];
        s->p.rest_density[i] =
            material_of(sph, i)->density + (is_wet ? s->pores.saturation[i] * s->porosity[i] * water : 0.0);
    }
}

/* What water meets in the sand of the scene, where a particle of it stands for a pore. */
static const WadiPoresDef *open_pores(const WadiScene *scene)
{
    const WadiPoresDef *best = &scene->materials[0].pores;
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        if (material->kind == WADI_MATERIAL_SAND && !material->is_unused &&
            (best == &scene->materials[0].pores || material->pores.permeability > best->permeability)) {
            best = &material->pores;
        }
    }
    return best;
}

static WadiStatus begin(const WadiSph *sph, const WadiSphStep *step, Printed *s, WadiError *error)
{
    const WadiParticles *particles = sph->context.particles;
    const WadiScene *scene = sph->context.world->scene;
    const double *water = sph->has_pores ? wadi_particles_column(particles, sph->water_column) : NULL;
    const WadiPoresDef *open = open_pores(scene);
    const double cube = sph->spacing * sph->spacing * sph->spacing;
    s->p = (WadiSphPrinted){ .count = step->count,
                             .spacing = sph->spacing,
                             .dt = step->dt,
                             .x = particles->x,
                             .y = particles->y,
                             .z = particles->z,
                             .is_sand = step->is_sand,
                             .walls = &step->walls,
                             .is_t10 = is_t10(sph) };
    WADI_TRY(make_arrays(sph, s, error));
    for (int32_t i = 0; i < step->count; ++i) {
        const WadiMaterial *material = material_of(sph, i);
        const bool is_sand = step->is_sand[i] != 0;
        const WadiPoresDef *pores = is_sand ? &material->pores : open;
        const WadiF4 v = step->velocity[i];
        s->p.radius[i] = WADI_SPH_PRINTED_SUPPORT * sph->spacing * (double)step->size[i];
        s->p.reach = fmax(s->p.reach, s->p.radius[i]);
        s->p.velocity[i] = (WadiVec3){ (double)v[0], (double)v[1], (double)v[2] };
        s->pores.water[i] = water != NULL ? water[i] * water_unit(sph) : 0.0;
        s->full[i] = material->density * cube * step->rest_volume[i];
        s->permeability[i] = pores->permeability;
        s->porosity[i] = is_sand ? pores->porosity : 1.0;
        s->capillary[i] = pores->capillary_pressure;
        s->capillary_exponent[i] = pores->capillary_exponent;
        s->flow_exponent[i] = pores->flow_exponent;
        const double pore = s->porosity[i] * step->rest_volume[i];
        s->pores.saturation[i] = is_sand && water != NULL ? fmin(1.0, water[i] / pore) : 0.0;
    }
    set_masses(sph, step, s);
    set_rest_densities(sph, s);
    return WADI_OK;
}

static WadiStatus find_neighbours(const WadiSph *sph, Printed *s, WadiError *error)
{
    WadiCells cells;
    WADI_TRY(wadi_cells_build(&cells, sph->context.particles, s->p.reach, sph->context.scratch, error));
    return wadi_neighbours_fixed(&s->p.near, &cells, sph->context.particles, s->p.reach, sph->context.scratch,
                                 error);
}

/* T10 eq. 24, with the density over that at rest. */
static void set_porosity(const WadiSph *sph, Printed *s)
{
    for (int32_t i = 0; i < s->p.count && is_t10(sph); ++i) {
        if (s->p.is_sand[i]) {
            const double phi = material_of(sph, i)->pores.porosity;
            s->porosity[i] = fmin(1.0, phi * s->p.rest_density[i] / s->p.density[i]);
        }
    }
}

/* Water flows; its mass and momentum count from here on. Particles of water that have none left are
 * marked. */
static WadiStatus flow(const WadiSph *sph, WadiSphStep *step, Printed *s, WadiError *error)
{
    const WadiScene *scene = sph->context.world->scene;
    const WadiParticles *particles = sph->context.particles;
    double made = 0.0;
    if (!sph->has_pores) {
        return WADI_OK;
    }
    set_porosity(sph, s);
    s->pores.full = s->full;
    s->pores.permeability = s->permeability, s->pores.porosity = s->porosity;
    s->pores.capillary = s->capillary, s->pores.capillary_exponent = s->capillary_exponent;
    s->pores.flow_exponent = s->flow_exponent;
    s->pores.water_density = wadi_water_density(scene);
    s->pores.viscosity = wadi_sph_water_viscosity(sph, step->time);
    s->pores.pore_stiffness = open_pores(scene)->capillary_pressure; /* k^p: printed nowhere */
    s->pores.gravity = wadi_world_gravity(sph->context.world, step->time);
    WADI_TRY(wadi_sph_printed_flow(&s->p, &s->pores, &made, sph->context.scratch, error));
    double *water = wadi_particles_column(particles, sph->water_column);
    float *wetness = wadi_particles_column(particles, sph->wetness_column);
    float *pore = wadi_particles_column(particles, sph->pore_column);
    WADI_TRY(
        WADI_ARENA_NEW(sph->context.scratch, &step->is_removed, (size_t)step->count, "porous flow", error));
    for (int32_t i = 0; i < step->count; ++i) {
        water[i] = floor(s->pores.water[i] / water_unit(sph) * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
        wetness[i] = s->p.is_sand[i] ? (float)s->pores.saturation[i] : 0.0f;
        pore[i] = s->p.is_sand[i] ? (float)s->pores.pore_pressure[i] : 0.0f;
        step->is_removed[i] = !s->p.is_sand[i] && water[i] < LEAST_WATER * step->rest_volume[i];
        step->removed += step->is_removed[i];
        s->pores.water[i] = fmax(water[i], LEAST_WATER * 1e-3) * water_unit(sph);
    }
    set_masses(sph, step, s);
    set_rest_densities(sph, s);
    wadi_sph_printed_density(&s->p);
    return WADI_OK;
}

/* Viscosity, cohesion and friction by the saturation [LD09 sec. 3, eq. 6]. T10 prints constants. Its eq. 32,
 * of elastic bodies, has no number for eta and is left out. */
static void set_strengths(const WadiSph *sph, const WadiSphStep *step, Printed *s)
{
    const double unit = damping_of(sph, 1.0, step->time);
    for (int32_t i = 0; i < s->p.count; ++i) {
        const WadiMaterial *material = material_of(sph, i);
        const double damping = unit * material->density;
        s->p.cohesion[i] = s->p.friction[i] = 0.0;
        if (!s->p.is_sand[i]) {
            s->p.viscosity[i] = damping + wadi_curve_value(&material->viscosity, step->time);
            continue;
        }
        WadiPoresDef pores = material->pores;
        pores.residual_friction = 0.0; /* as printed: none at S = 1 */
        const double saturation = sph->has_pores && !is_t10(sph) ? s->pores.saturation[i] : 0.0;
        const double dry = wadi_curve_value(&material->cohesion, step->time);
        s->p.viscosity[i] = damping + wadi_mud_viscosity(&pores, saturation);
        s->p.cohesion[i] = wadi_wet_cohesion(&pores, dry, saturation);
        s->p.friction[i] = sin(DEGREE * wadi_curve_value(&material->friction_angle, step->time)) *
                           wadi_wet_friction(&pores, saturation);
    }
}

static void set_pressures(WadiSph *sph, WadiSphStep *step, Printed *s)
{
    sph->sound_speed = wadi_sph_sound_speed(sph, step->time);
    wadi_sph_printed_pressure(&s->p, sph->sound_speed);
    const double unit = step->dt / (sph->materials.density * sph->spacing);
    for (int32_t i = 0; i < s->p.count; ++i) {
        step->pressure[i] = (float)(s->p.pressure[i] * unit);
        step->density[i] = (float)(s->p.density[i] / s->p.rest_density[i]);
    }
}

/* p->velocity after the forces. */
static void push(const WadiSphPrinted *p, WadiVec3 *velocity)
{
    for (int32_t i = 0; i < p->count; ++i) {
        velocity[i] = wadi_add_scaled(p->velocity[i], p->force[i], p->dt / p->mass[i]);
    }
}

/* T10 secs. 3.2 and 3.5. */
static WadiStatus add_contacts(const WadiSph *sph, const WadiSphStep *step, Printed *s, WadiError *error)
{
    double *kappa = NULL;
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &kappa, (size_t)s->p.count, "published step", error));
    for (int32_t i = 0; i < s->p.count; ++i) {
        const WadiMaterial *material = material_of(sph, i);
        const double tension = wadi_curve_value(&material->surface_tension, step->time);
        kappa[i] = s->p.is_sand[i] ? 0.0 : tension / material->density;
    }
    wadi_sph_printed_cohere(&s->p, kappa);
    wadi_sph_printed_collide(&s->p, IMPACT * sph->sound_speed);
    return WADI_OK;
}

static WadiStatus friction(const WadiSph *sph, Printed *s, WadiError *error)
{
    const WadiSphDef *def = wadi_sph_def(sph->context.world->scene);
    const double range = is_t10(sph) ? s->p.reach : def->cluster_range * sph->spacing;
    WadiSphPrinted at_star = s->p;
    push(&s->p, s->v_star);
    at_star.velocity = s->v_star;
    wadi_sph_printed_strain(&at_star, &s->sand);
    wadi_sph_printed_yield(&s->p, &s->sand);
    wadi_sph_printed_friction(&s->p, &s->sand);
    WADI_TRY(wadi_sph_printed_clusters_find(&s->clusters, &s->p, s->sand.is_rigid, range,
                                            sph->context.scratch, error));
    push(&s->p, s->v_star);
    if (is_t10(sph)) {
        wadi_sph_printed_clusters_push(&s->p, &s->clusters, s->v_star);
        memset(s->sand.is_rigid, 0, (size_t)s->p.count);
    } else {
        wadi_sph_printed_clusters_move(&s->p, &s->clusters, s->v_star);
    }
    wadi_sph_printed_wall_friction(&s->p, s->sand.is_rigid, s->v_star);
    return WADI_OK;
}

/* T10 leaves sand as it is until water comes. */
static void store(const WadiSph *sph, const Printed *s, const WadiSphStep *step)
{
    const bool is_left = is_t10(sph) && !wadi_sph_printed_is_touched(&s->p, sph->context.particles);
    for (int32_t i = 0; i < s->p.count; ++i) {
        const WadiVec3 v = is_left && s->p.is_sand[i] ? (WadiVec3){ 0 } : s->v_star[i];
        step->velocity[i] = (WadiF4){ (float)v.x, (float)v.y, (float)v.z, 0.0f };
    }
}

WadiStatus wadi_sph_solve_published(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    Printed s = { .p = { .count = 0 } };
    WADI_ASSERT(step->sort.first == 0); /* nothing sleeps */
    RUN("sort", begin(sph, step, &s, error));
    RUN("neighbours", find_neighbours(sph, &s, error));
    WADI_STAGE(sph->context.times, "density", wadi_sph_printed_density(&s.p));
    RUN("porous", flow(sph, step, &s, error));
    set_strengths(sph, step, &s);
    WADI_STAGE(sph->context.times, "pressure", set_pressures(sph, step, &s));
    WADI_STAGE(sph->context.times, "pressure", wadi_sph_printed_forces(&s.p));
    if (is_t10(sph)) {
        RUN("collisions", add_contacts(sph, step, &s, error));
    }
    if (sph->materials.has_sand) {
        RUN("friction", friction(sph, &s, error));
    } else {
        push(&s.p, s.v_star);
    }
    store(sph, &s, step);
    return WADI_OK;
}
