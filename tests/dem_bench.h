/* A few grains with all their pairs, and perhaps a floor, for the tests of dem. */
#ifndef WADI_TESTS_DEM_BENCH_H
#define WADI_TESTS_DEM_BENCH_H

#include "core/alloc.h"
#include "dem/contact/dem_forces.h"
#include "dem/contact/dem_near.h"
#include "dem/walls/dem_walls.h"
#include "expect.h"

enum { BENCH_GRAINS = 64, BENCH_PAIRS = BENCH_GRAINS * BENCH_GRAINS / 2 };

typedef struct Bench {
    WadiDemGrains grains;
    WadiDemPairs pairs;
    WadiDemLawConstants law;
    WadiDemWalls walls;
    WadiSolids solids;
    WadiParticles particles;
    WadiArena arena;
    WadiCurve wall_friction, wall_restitution;
    WadiVec3 gravity;
    float damping_of[WADI_DEM_DAMPINGS];
    float mass[BENCH_GRAINS], radius[BENCH_GRAINS], list_skin[BENCH_GRAINS];
    uint32_t number[BENCH_GRAINS];
    WadiF4 shift[BENCH_GRAINS], mark[BENCH_GRAINS];
    float skin[BENCH_GRAINS];
    WadiF8 motion[BENCH_GRAINS], load[BENCH_GRAINS];
    float offset[3 * BENCH_PAIRS + 1];
    int32_t start[BENCH_GRAINS + 1], other[BENCH_PAIRS], target[BENCH_PAIRS], slot_start[BENCH_GRAINS + 1];
    int32_t chunk_slot[2], near_count[1], spring_start[2];
    WadiDemNear near[BENCH_PAIRS];
    int chosen; /* times that near pairs were chosen */
    uint8_t touches[BENCH_PAIRS];
} Bench;

/* Adds a grain of density 2500. */
static inline void bench_add(Bench *b, double radius, WadiVec3 x, WadiVec3 v, double friction, double rolling)
{
    WadiError error;
    int32_t i;
    if (b->particles.column_count == 0) {
        CHECK_OK(wadi_particles_init(&b->particles, &error), error);
    }
    CHECK_OK(wadi_particles_append(&b->particles, 1, &i, &error), error);
    b->particles.x[i] = x.x, b->particles.y[i] = x.y, b->particles.z[i] = x.z;
    b->mass[i] = (float)(2500.0 * 4.0 / 3.0 * 3.14159265358979324 * radius * radius * radius);
    b->radius[i] = (float)radius;
    b->list_skin[i] = 1e3f;
    b->shift[i] = (WadiF4){ 0, 0, 0, (float)radius };
    b->motion[i] = (WadiF8){ (float)v.x, (float)v.y, (float)v.z, (float)friction, 0, 0, 0, (float)rolling };
}

/* Lists all pairs; a floor at z = 0 with this friction, none where it is negative. */
static inline void bench_begin(Bench *b, double floor_friction)
{
    WadiError error;
    const WadiParticles *p = &b->particles;
    int32_t n = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        b->start[i] = n;
        for (int32_t j = i + 1; j < p->count; ++j, ++n) {
            b->other[n] = b->target[n] = j;
            b->offset[3 * n] = (float)(p->x[j] - p->x[i]);
            b->offset[3 * n + 1] = (float)(p->y[j] - p->y[i]);
            b->offset[3 * n + 2] = (float)(p->z[j] - p->z[i]);
        }
    }
    b->start[p->count] = n;
    b->grains = (WadiDemGrains){ .count = p->count,
                                 .shift = b->shift,
                                 .mark = b->mark,
                                 .grown_radius = b->radius,
                                 .skin = b->skin,
                                 .motion = b->motion,
                                 .mass = b->mass,
                                 .load = b->load };
    b->pairs = (WadiDemPairs){ .count = p->count,
                               .start = b->start,
                               .other = b->other,
                               .target = b->target,
                               .offset = b->offset,
                               .touches = b->touches,
                               .near = b->near,
                               .near_count = b->near_count,
                               .spring_start = b->spring_start,
                               .chunk_slot = b->chunk_slot,
                               .slot_start = b->slot_start };
    b->wall_friction = wadi_curve_constant(floor_friction);
    b->wall_restitution = wadi_curve_constant(0.0);
    b->solids = (WadiSolids){ .domain = { { -1e3, -1e3, 0 }, { 1e3, 1e3, 1e3 } },
                              .closed_sides = floor_friction >= 0.0 ? WADI_SIDE_Z_MIN : 0,
                              .wall_friction = &b->wall_friction,
                              .wall_restitution = &b->wall_restitution };
    for (int e = 0; e < WADI_DEM_DAMPINGS; ++e) {
        b->damping_of[e] = b->law.damping;
    }
    const WadiDemWallsIn in = { .solids = &b->solids,
                                .particles = p,
                                .radius = b->radius,
                                .skin = b->list_skin,
                                .list_index = b->number,
                                .diameter = 2.0 * (double)b->radius[0] };
    CHECK_OK(wadi_dem_walls_build(&b->walls, &in, &b->arena, &error), error);
}

/* Whether a grain has used its way since near pairs were chosen: always where ways are 0. */
static inline bool bench_is_stale(const Bench *b)
{
    bool is_stale = false;
    for (int32_t i = 0; i < b->grains.count; ++i) {
        const WadiF4 u = b->shift[i] - b->mark[i];
        const float most = WADI_DEM_NEAR_PART * b->skin[i];
        is_stale = is_stale || !(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] < most * most);
    }
    return is_stale;
}

static inline void bench_step(Bench *b, double dt)
{
    b->law.last_dt = b->law.kick = (float)dt;
    const bool chooses = b->chosen == 0 || bench_is_stale(b);
    b->chosen += chooses;
    WadiError error;
    if (chooses) {
        CHECK_OK(b->chosen == 1 ? wadi_dem_near_begin(&b->pairs, &b->grains, b->law.rupture, &error)
                                : wadi_dem_near_choose(&b->pairs, &b->grains, b->law.rupture, &error),
                 error);
    }
    wadi_dem_find_forces(&b->grains, &b->pairs, &b->law);
    const WadiDemWallForces in = { .solids = &b->solids,
                                   .particles = &b->particles,
                                   .grains = &b->grains,
                                   .pairs = &b->pairs,
                                   .mass = b->mass,
                                   .law = &b->law,
                                   .dt = dt,
                                   .diameter = 2.0 * (double)b->radius[0],
                                   .damping_of = b->damping_of };
    wadi_dem_add_wall_forces(&b->walls, &in);
    for (int32_t i = 0; i < b->grains.count; ++i) {
        const double m = (double)b->mass[i], r = (double)b->radius[i], inertia = 0.4 * m * r * r;
        const double g[3] = { b->gravity.x, b->gravity.y, b->gravity.z };
        for (int c = 0; c < 3; ++c) {
            b->motion[i][c] += (float)(dt * ((double)b->load[i][c] / m + g[c]));
            b->motion[i][4 + c] += (float)(dt * (double)b->load[i][4 + c] / inertia);
            b->shift[i][c] += (float)dt * b->motion[i][c];
        }
    }
}

static inline void bench_free(Bench *b)
{
    wadi_dem_walls_free(&b->walls);
    wadi_free(b->pairs.spring, b->pairs.spring_capacity, sizeof *b->pairs.spring);
    wadi_particles_free(&b->particles);
    wadi_arena_free(&b->arena);
    wadi_curve_free(&b->wall_friction);
    wadi_curve_free(&b->wall_restitution);
}

#endif
