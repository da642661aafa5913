/* Water that leaves saturated sand becomes particles: a film grows on the sand, and where it is enough and no
 * water is near, a particle of it appears outside. Under water it goes to the particles there, which are
 * split when they have grown. [LAD08; theory 11.6] */
#include <math.h>

#include "sph/sph.h"
#include "world/water.h"

/* Mass from which a particle of water is split in two, over a full one; a film that is as much as a half
 * becomes one. */
static const double SPLIT = 1.4;

typedef struct WadiSphSpawn {
    int32_t particle; /* of the store */
    WadiVec3 offset;  /* m */
    double water;
} WadiSphSpawn;

/* Away from the neighbours. */
static WadiVec3 outwards(const WadiSphStep *step, int32_t i)
{
    const WadiSphPairs *pairs = &step->pairs;
    WadiVec3 sum = { 0 };
    for (int64_t n = pairs->start[i]; n < pairs->start[i + 1]; ++n) {
        const WadiI4 d = WADI_SPH_PLACES_BETWEEN(pairs->place[i], pairs->place[wadi_sph_other(pairs, n)]);
        const WadiVec3 away = { (double)d[0], (double)d[1], (double)d[2] };
        sum = wadi_add_scaled(sum, away, (double)wadi_sph_slope(pairs, i, n));
    }
    const int32_t near = wadi_sph_near(&step->walls, i);
    if (near >= 0) {
        const WadiF4 w = step->walls.gradient[near];
        sum = wadi_sub(sum, wadi_vec3((double)w[0], (double)w[1], (double)w[2]));
    }
    return wadi_normalized_or(sum, wadi_vec3(0.0, 0.0, 1.0));
}

/* m: as in a lattice. New particles have the size 1, halves of water that of the other half. */
static double distance_of(const WadiSph *sph, const WadiSphStep *step, int32_t i)
{
    const double size = (double)wadi_sph_size(&step->pairs, i);
    return sph->spacing * (step->is_sand[i] ? 0.5 * (1.0 + size) : size);
}

/* What a new particle beside the one with index i in the step would have; 0: there is none. */
static double new_water(const WadiSph *sph, const WadiSphStep *step, int32_t i)
{
    const WadiParticles *p = sph->context.particles;
    const WadiScene *scene = sph->context.world->scene;
    const int32_t from = step->sort.first + i;
    const WadiMaterial *material = &scene->materials[p->material[from]];
    const double *film = wadi_particles_column(p, sph->film_column);
    const double *water = wadi_particles_column(p, sph->water_column);
    if (material->kind == WADI_MATERIAL_SAND) {
        return film[from] >= 0.5 * SPLIT ? film[from] : 0.0;
    }
    const double full = step->rest_volume[i] * material->density / wadi_water_density(scene);
    const double half = floor(0.5 * water[from] * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
    return water[from] >= SPLIT * full && (double)step->density[i] < 1.0 + WADI_SPH_OVER_DENSE ? half : 0.0;
}

WadiStatus wadi_sph_find_spawns(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const int32_t first = step->sort.first;
    int32_t count = 0;
    for (int32_t i = 0; i < step->count; ++i) {
        count += new_water(sph, step, i) > 0.0;
    }
    step->spawn_count = 0;
    if (count == 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &step->spawns, (size_t)count, "new water", error));
    for (int32_t i = 0; i < step->count; ++i) {
        if (new_water(sph, step, i) > 0.0) {
            step->spawns[step->spawn_count++] =
                (WadiSphSpawn){ .particle = first + i,
                                .offset = wadi_scale(outwards(step, i), distance_of(sph, step, i)),
                                .water = new_water(sph, step, i) };
        }
    }
    return WADI_OK;
}

static void spawn(const WadiSph *sph, const WadiSphSpawn *at, int32_t to)
{
    WadiParticles *p = sph->context.particles;
    double *water = wadi_particles_column(p, sph->water_column);
    const int32_t from = at->particle;
    const bool is_sand = sph->context.world->scene->materials[p->material[from]].kind == WADI_MATERIAL_SAND;
    double *source = is_sand ? wadi_particles_column(p, sph->film_column) : water;
    p->x[to] = p->x[from] + at->offset.x;
    p->y[to] = p->y[from] + at->offset.y;
    p->z[to] = p->z[from] + at->offset.z;
    p->vx[to] = p->vx[from], p->vy[to] = p->vy[from], p->vz[to] = p->vz[from];
    p->material[to] = is_sand ? (uint8_t)sph->spawned_material : p->material[from];
    if (sph->volume_column >= 0) {
        double *volume = wadi_particles_column(p, sph->volume_column);
        volume[to] = is_sand ? 1.0 : volume[from];
    }
    water[to] = at->water;
    source[from] -= water[to];
}

/* No particle is made inside a solid: the film stays on the sand. */
static bool is_free(const WadiSph *sph, const WadiSphStep *step, const WadiSphSpawn *at)
{
    const WadiParticles *p = sph->context.particles;
    const WadiVec3 x =
        wadi_add(wadi_vec3(p->x[at->particle], p->y[at->particle], p->z[at->particle]), at->offset);
    const double clearance = (double)wadi_sph_nearest(&sph->kernel.of[0]) * sph->spacing;
    return wadi_solids_distance_within(&sph->context.world->solids, x, step->time + step->dt, clearance) >=
           clearance;
}

WadiStatus wadi_sph_spawn_and_remove(const WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WadiParticles *p = sph->context.particles;
    int32_t count = 0, first;
    for (int32_t n = 0; n < step->spawn_count; ++n) {
        if (is_free(sph, step, &step->spawns[n])) {
            step->spawns[count++] = step->spawns[n];
        }
    }
    if (count > 0) {
        WADI_TRY(wadi_particles_append(p, count, &first, error));
    }
    for (int32_t n = 0; n < count; ++n) {
        spawn(sph, &step->spawns[n], first + n);
    }
    if (step->removed > 0) {
        wadi_particles_remove(p, step->is_removed);
    }
    return WADI_OK;
}
