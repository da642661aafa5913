/* New grains: their sizes, the spheres of each placed around its seed, and the random packing of bodies. */
#include <math.h>

#include "core/alloc.h"
#include "core/log.h"
#include "core/random.h"
#include "dem/dem.h"
#include "dem/pack/dem_pack.h"

/* Orientation of the grain with an id before it is packed. */
static void random_turn(const WadiDem *dem, uint32_t id, double turn[4])
{
    double random[3];
    wadi_random_unit3((uint64_t)dem->context.world->scene->seed, id, WADI_RANDOM_TURN, random);
    wadi_dem_random_turn(random, turn);
}

/* Sphere k of `count` grains, the first of which is particle `first`, is particle first + k count + n. */
typedef struct NewGrains {
    int32_t first, count;
} NewGrains;

void wadi_dem_place_spheres(const WadiDem *dem, int32_t i, int32_t stride, WadiVec3 centre,
                            const double turn[4])
{
    const WadiParticles *p = dem->context.particles;
    const WadiDemShape shape = (WadiDemShape)wadi_dem_def(dem->context.world->scene)->shape;
    const double radius = wadi_dem_radius_of(dem, i);
    for (int k = 0; k < dem->spheres_each; ++k) {
        const WadiVec3 arm = wadi_dem_turned(turn, wadi_scale(wadi_dem_member_centre(shape, k), radius));
        const int64_t sphere = i + (int64_t)k * stride;
        p->x[sphere] = centre.x + arm.x, p->y[sphere] = centre.y + arm.y, p->z[sphere] = centre.z + arm.z;
    }
}

/* Sizes at random, and orientations of grains of several spheres. */
static void make_grains(const WadiDem *dem, NewGrains born)
{
    const WadiParticles *p = dem->context.particles;
    uint8_t *size = wadi_particles_column(p, dem->size_column);
    for (int32_t s = born.first; s < born.first + born.count; ++s) {
        for (int k = 0; k < dem->spheres_each; ++k) {
            size[s + k * born.count] = (uint8_t)wadi_dem_random_class(dem, p->id[s]);
        }
        if (dem->grain_column >= 0) {
            uint32_t *grain = wadi_particles_column(p, dem->grain_column);
            double turn[4];
            random_turn(dem, p->id[s], turn);
            for (int k = 0; k < dem->spheres_each; ++k) {
                grain[s + k * born.count] = p->id[s];
            }
            wadi_dem_place_spheres(dem, s, born.count, (WadiVec3){ p->x[s], p->y[s], p->z[s] }, turn);
        }
    }
}

void wadi_dem_count_born(WadiDem *dem, int32_t first)
{
    const WadiParticles *p = dem->context.particles;
    float *radius = wadi_particles_column(p, dem->radius_column);
    for (int32_t i = first; i < p->count; ++i) {
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        radius[i] = (float)wadi_dem_radius_of(dem, i);
        dem->fastest_born = fmax(dem->fastest_born, wadi_norm(v));
        dem->fastest = fmax(dem->fastest, wadi_norm(v));
    }
    /* They fall: none is so slow that it waits long for its list. */
    dem->fastest_born = fmax(dem->fastest_born, dem->diameter / dem->unit_time);
    dem->known += p->count - first;
}

void wadi_dem_born(void *solver, int32_t first)
{
    WadiDem *dem = solver;
    const int32_t count = dem->context.particles->count;
    make_grains(dem, (NewGrains){ first, (count - first) / dem->spheres_each });
    wadi_dem_count_born(dem, first);
}

/* The body of the scene that a seed is of; -1: one that was added to a running simulation. */
static int32_t body_at(const WadiDem *dem, WadiVec3 x)
{
    const WadiWorld *world = dem->context.world;
    for (int32_t b = 0; b < world->scene->body_count && !(dem->now > 0.0); ++b) {
        if (wadi_shape_contains(world->body_shapes[b], x, 0.0)) {
            return b;
        }
    }
    return -1;
}

/* The grains from `first` on as a packing, and all others as spheres that do not move. */
static WadiStatus gather(const WadiDem *dem, NewGrains born, WadiDemPack *pack, WadiArena *memory,
                         WadiError *error)
{
    const WadiParticles *p = dem->context.particles;
    const float *radius = wadi_particles_column(p, dem->radius_column);
    WadiVec3 *fixed = NULL;
    double *fixed_radius = NULL;
    WADI_TRY(WADI_ARENA_NEW(memory, &pack->centre, (size_t)born.count, "packing", error));
    WADI_TRY(WADI_ARENA_NEW(memory, &pack->turn, (size_t)born.count, "packing", error));
    WADI_TRY(WADI_ARENA_NEW(memory, &pack->radius, (size_t)born.count, "packing", error));
    WADI_TRY(WADI_ARENA_NEW(memory, &pack->body_of, (size_t)born.count, "packing", error));
    WADI_TRY(WADI_ARENA_NEW(memory, &fixed, (size_t)born.first, "packing", error));
    WADI_TRY(WADI_ARENA_NEW(memory, &fixed_radius, (size_t)born.first, "packing", error));
    for (int32_t g = 0; g < born.count; ++g) {
        WadiVec3 sum = { 0, 0, 0 };
        for (int k = 0; k < dem->spheres_each; ++k) {
            const int32_t i = born.first + k * born.count + g;
            sum = wadi_add(sum, (WadiVec3){ p->x[i], p->y[i], p->z[i] });
        }
        pack->centre[g] = wadi_scale(sum, 1.0 / dem->spheres_each);
        pack->radius[g] = wadi_dem_radius_of(dem, born.first + g);
        random_turn(dem, p->id[born.first + g], pack->turn[g]);
        pack->body_of[g] = body_at(dem, pack->centre[g]);
    }
    for (int32_t i = 0; i < born.first; ++i) {
        fixed[i] = (WadiVec3){ p->x[i], p->y[i], p->z[i] };
        fixed_radius[i] = (double)radius[i];
    }
    pack->body = (const WadiShape *const *)dem->context.world->body_shapes;
    pack->count = born.count;
    pack->fixed_count = born.first;
    pack->fixed = fixed;
    pack->fixed_radius = fixed_radius;
    return WADI_OK;
}

/* Spheres of a packed grain, with the motion that their body has there. */
static void place_packed(const WadiDem *dem, NewGrains born, int32_t g, const WadiDemPack *pack)
{
    const WadiParticles *p = dem->context.particles;
    const int32_t first = born.first + g, body = pack->body_of[g];
    WadiVec3 mean = { 0, 0, 0 };
    for (int k = 0; k < dem->spheres_each; ++k) {
        const int32_t i = first + k * born.count;
        mean = wadi_add_scaled(mean, (WadiVec3){ p->x[i], p->y[i], p->z[i] }, 1.0 / dem->spheres_each);
    }
    wadi_dem_place_spheres(dem, first, born.count, pack->centre[g], pack->turn[g]);
    if (body < 0) {
        return;
    }
    const WadiVec3 spin = dem->context.world->scene->bodies[body].angular_velocity;
    for (int k = 0; k < dem->spheres_each; ++k) {
        const int32_t i = first + k * born.count;
        /* Seeds have the velocity of their centre. */
        const WadiVec3 moved = wadi_sub((WadiVec3){ p->x[i], p->y[i], p->z[i] }, mean);
        const WadiVec3 v = wadi_cross(spin, moved);
        p->vx[i] += (float)v.x, p->vy[i] += (float)v.y, p->vz[i] += (float)v.z;
        for (int c = 0; c < 3; ++c) {
            float *omega = wadi_particles_column(p, dem->angular_velocity_column + c);
            omega[i] = (float)wadi_component(spin, c);
        }
    }
}

static WadiStatus pack_grains(const WadiDem *dem, NewGrains born, WadiArena *memory, WadiError *error)
{
    const WadiScene *scene = dem->context.world->scene;
    WadiDemPack pack = { .shape = (WadiDemShape)wadi_dem_def(scene)->shape,
                         .solids = &dem->context.world->solids,
                         .time = dem->now,
                         .period = (double)INFINITY,
                         .diameter = dem->diameter };
    WadiDemPackReport report;
    WADI_TRY(gather(dem, born, &pack, memory, error));
    WADI_TRY(wadi_dem_pack(&pack, &report, error));
    for (int32_t g = 0; g < born.count; ++g) {
        place_packed(dem, born, g, &pack);
    }
    if (report.overlap > WADI_DEM_PACKED_OVERLAP) {
        wadi_log(
            dem->context.log, WADI_LOG_WARNING,
            "no room for all grains: packed at random they overlap by up to %.2g diameters; make the body "
            "smaller, or the grains by dem.grain_size, or leave space above it",
            report.overlap);
    }
    return WADI_OK;
}

WadiStatus wadi_dem_pack_bodies(void *solver, int32_t first, WadiError *error)
{
    const WadiDem *dem = solver;
    const int32_t count = (dem->context.particles->count - first) / dem->spheres_each;
    if (dem->field != NULL) {
        return WADI_OK; /* a height field has no contacts */
    }
    WadiArena memory = { 0 };
    const WadiStatus status = pack_grains(dem, (NewGrains){ first, count }, &memory, error);
    wadi_arena_free(&memory);
    return status;
}
