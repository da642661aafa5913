/* A slab of sand, periodic along x and y, on a floor at z = 0: particles, their pairs and contacts, and steps
 * of pressure, friction, pressure. Lengths are in spacings. Positions wrap at 2^32 places, which are one
 * period here: the slab must be two spacings thinner than its period. */
#ifndef WADI_TESTS_SPH_SLAB_H
#define WADI_TESTS_SPH_SLAB_H

#include <string.h>

#include "expect.h"
#include "random_values.h"
#include "sph/friction/sph_friction.h"
#include "sph_solve.h"

enum { SLAB_MAX = 1200, SLAB_PAIRS = SLAB_MAX * 100 };

typedef struct Slab {
    int period, count;
    double spacing, gravity[3], dt; /* m, m/s^2, s */
    float slope, cohesion, wall_friction;
    double x[SLAB_MAX][3];
    WadiF4 velocity[SLAB_MAX];
    float pressure[SLAB_MAX], inverse_density[SLAB_MAX], density[SLAB_MAX], bound[SLAB_MAX], source[SLAB_MAX];
    float ones[SLAB_MAX]; /* volumes and sizes */
    float unit[SLAB_MAX];
    uint8_t is_sand[SLAB_MAX], none[SLAB_MAX]; /* none: no flag is set, and all roles are active */
    WadiSphKernel kernel;
    WadiSphPairs pairs;
    WadiSphWalls walls;
    WadiSphFriction friction;
    uint32_t start[SLAB_MAX + 1];
    uint32_t mirror_start[SLAB_MAX + 1]; /* sand has no images */
    int32_t same[SLAB_MAX];
    WadiSphNearBits of[(SLAB_MAX + 63) / 64];
    uint32_t offset[SLAB_PAIRS];
    uint16_t pair_slope[SLAB_PAIRS];
    float cover[SLAB_MAX];
    WadiI4 place[SLAB_MAX];
    WadiF4 sum[SLAB_MAX];
    uint8_t contact_count[SLAB_MAX];
    WadiSphContact contact[SLAB_MAX], *contacts[SLAB_MAX];
    WadiF4 gradient[SLAB_MAX];
    float stress[WADI_SPH_STRESSES][SLAB_MAX], last[SLAB_MAX], mean[SLAB_MAX], mean_at[SLAB_MAX];
    WadiF4 row[SLAB_MAX], force[3][SLAB_MAX], traction_at[SLAB_MAX];
    WadiSphMoment moment[SLAB_MAX];
    WadiSphStrain chord[SLAB_MAX]; /* none */
    float zeros[SLAB_MAX];
    float tension[SLAB_MAX], cohesion_of[SLAB_MAX]; /* of bonds: none */
    WadiF4 traction[SLAB_MAX]; /* of the particle: all are numbered as near, with room for one contact */
    double largest, largest_friction;
} Slab;

static inline double slab_places(const Slab *slab)
{
    return 4294967296.0 / slab->period;
}

/* Points of a lattice, displaced by up to half of `jitter`. */
static inline Slab *slab_create(int period, int depth, double jitter)
{
    Slab *slab = calloc(1, sizeof *slab);
    *slab = (Slab){ .period = period, .spacing = 0.01, .dt = 0.1 * sqrt(0.01 / 9.81) };
    wadi_sph_kernel_init(&slab->kernel, false);
    for (int n = 0; n < period * period * depth; ++n) {
        const int cell[3] = { n % period, n / period % period, n / (period * period) };
        for (int a = 0; a < 3; ++a) {
            slab->x[n][a] = cell[a] + 0.5 + 0.5 * jitter * random_signed(1, (uint64_t)(3 * n + a));
        }
        slab->is_sand[n] = 1;
        slab->inverse_density[n] = slab->ones[n] = 1.0f;
    }
    slab->count = period * period * depth;
    slab->pairs = (WadiSphPairs){ .count = slab->count, .start = slab->start, .same = slab->same };
    slab->pairs.offset = slab->offset, slab->pairs.slope = slab->pair_slope, slab->pairs.place = slab->place;
    slab->pairs.mirror_start = slab->mirror_start, slab->pairs.sum = slab->sum;
    slab->pairs.volume = slab->pairs.size = slab->ones, slab->pairs.unit = slab->unit;
    slab->walls = (WadiSphWalls){ .of = slab->of, .count = slab->count, .cover = slab->cover };
    slab->walls.contact_count = slab->contact_count, slab->walls.contact = slab->contacts;
    slab->walls.gradient = slab->gradient;
    slab->friction = (WadiSphFriction){
        .traction = slab->traction, .row = slab->row, .last = slab->last, .traction_at = slab->traction_at
    };
    slab->friction.mean = slab->mean, slab->friction.mean_at = slab->mean_at;
    for (int c = 0; c < 3; ++c) {
        slab->friction.force[c] = slab->force[c];
    }
    for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
        slab->friction.stress[c] = slab->stress[c];
    }
    return slab;
}

static inline void slab_find_walls(Slab *slab)
{
    for (int i = 0; i < slab->count; ++i) {
        double part, slope;
        wadi_sph_kernel_wall(&slab->kernel.of[1], slab->x[i][2], &part, &slope);
        slab->of[i / 64] = (WadiSphNearBits){ .bits = UINT64_MAX, .first = i / 64 * 64 };
        slab->cover[i] = (float)part;
        slab->gradient[i] = (WadiF4){ 0, 0, (float)slope, 0 };
        slab->contact_count[i] = slab->x[i][2] < WADI_SPH_WALL_REACH;
        slab->contacts[i] = &slab->contact[i];
        slab->contact[i] = (WadiSphContact){ .normal = { 0, 0, 1, (float)slab->x[i][2] },
                                             .velocity = { 0, 0, 0, (float)slope },
                                             .friction = slab->wall_friction,
                                             .solid = -1 };
    }
}

static inline void slab_find_pairs(Slab *slab)
{
    const double places = slab_places(slab), scale = (double)slab->kernel.of[1].scale;
    int64_t end = 0;
    slab->pairs.slope_unit = (float)(scale * 3.0 / places / UINT16_MAX);
    for (int i = 0; i < slab->count; ++i) {
        for (int a = 0; a < 3; ++a) {
            slab->place[i][a] = (int32_t)(uint32_t)(uint64_t)(int64_t)floor(slab->x[i][a] * places);
        }
        slab->place[i][3] = 0;
        slab->unit[i] = slab->pairs.slope_unit;
    }
    for (int i = 0; i < slab->count; ++i) {
        double density = (double)slab->kernel.of[1].own + (double)slab->cover[i];
        slab->start[i] = (uint32_t)end;
        slab->sum[i] = (WadiF4){ 0 };
        for (int j = 0; j < slab->count; ++j) {
            const WadiF4 d = WADI_SPH_OFFSET(slab->place[j], slab->place[i]) * (float)(1.0 / places);
            const double q = 0.5 * sqrt((double)(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
            if (j != i && 2.0 * q < WADI_SPH_REACH) {
                const double t = 1.0 - q, m = fmax(0.0, 0.5 - q);
                density += scale * (2.0 * t * t * t - 8.0 * m * m * m - WADI_SPH_CUT);
                assert_true(end + 8 < SLAB_PAIRS);
                const uint16_t pair_slope = (uint16_t)lrint(UINT16_MAX * 0.5 * (t * t - 4.0 * m * m) / q);
                WadiF4 offset = WADI_SPH_OFFSET(slab->place[i], slab->place[j]);
                offset[3] = 1.0f;
                slab->sum[i] += offset * (float)pair_slope;
                slab->offset[end] = 16 * (uint32_t)j;
                slab->pair_slope[end++] = pair_slope;
            }
        }
        slab->same[i] = (int32_t)(end - slab->start[i]);
        slab->density[i] = (float)density;
    }
    slab->start[slab->count] = (uint32_t)end;
    wadi_sph_friction_fill_surface(slab->density, &slab->pairs, &slab->walls, slab->is_sand);
}

static inline WadiSphFrictionIn slab_friction(const Slab *slab)
{
    return (WadiSphFrictionIn){ .pairs = &slab->pairs,
                                .walls = &slab->walls,
                                .is_sand = slab->is_sand,
                                .role = slab->none,
                                .moment = slab->moment,
                                .chord = slab->chord,
                                .slope = slab->zeros,
                                .tension = slab->tension,
                                .lift = slab->zeros,
                                .inverse_density = slab->inverse_density,
                                .pressure = slab->pressure,
                                .bound = slab->bound,
                                .largest = slab->largest_friction,
                                .tolerance = 1e-3 * 9.81 * slab->dt,
                                .max_iterations = 60 };
}

static inline void slab_solve_pressure(Slab *slab, WadiArena *arena)
{
    WadiError error;
    const double per_step = slab->spacing / slab->dt, fastest = 0.05 * sqrt(9.81 * slab->spacing);
    for (int i = 0; i < slab->count; ++i) {
        const double room = 1.0 - (double)slab->density[i];
        slab->source[i] = (float)(room > 0.0 ? room * per_step : fmax(0.1 * room * per_step, -fastest));
    }
    WadiSphPressureIn in = { .pairs = &slab->pairs,
                             .walls = &slab->walls,
                             .is_sand = slab->is_sand,
                             .inverse_density = slab->inverse_density,
                             .volume = slab->ones,
                             .is_idle = slab->none,
                             .source = slab->source,
                             .tension = slab->zeros,
                             .smooth = { 0, 0.3f * (float)(slab_places(slab) / WADI_SPH_PLACES) },
                             .largest = slab->largest,
                             .tolerance = 1e-3 * 9.81 * slab->dt,
                             .max_iterations = 100 };
    float inverse[SLAB_MAX];
    wadi_sph_pressure_invert(inverse, &in);
    in.inverse = inverse;
    if (slab->largest == 0.0) {
        CHECK_OK(wadi_sph_pressure_largest(&in, 30, &slab->largest, arena, &error), error);
        slab->largest *= 1.2;
        in.largest = slab->largest;
    }
    sph_solve_pressure(slab->velocity, slab->pressure, in, arena);
}

/* The step of the solver, in metres and seconds; particles stay above the floor. */
static inline void slab_step(Slab *slab, WadiArena *arena)
{
    WadiError error;
    WadiSphFrictionReport report;
    static WadiF4 v_forces[SLAB_MAX], v_friction[SLAB_MAX], v_pressure[SLAB_MAX];
    slab_find_walls(slab);
    slab_find_pairs(slab);
    WadiSphFrictionIn in = slab_friction(slab);
    if (slab->largest_friction == 0.0) {
        CHECK_OK(wadi_sph_friction_largest(&in, 30, &slab->largest_friction, arena, &error), error);
        slab->largest_friction *= 1.2;
        in.largest = slab->largest_friction;
    }
    for (int i = 0; i < slab->count; ++i) {
        v_forces[i] = slab->velocity[i] + (WadiF4){ (float)(slab->gravity[0] * slab->dt), 0,
                                                    (float)(slab->gravity[2] * slab->dt), 0 };
    }
    wadi_sph_friction_apply(v_friction, v_forces, &slab->friction, &in);
    memcpy(slab->velocity, v_friction, sizeof v_friction);
    slab_solve_pressure(slab, arena);
    for (int i = 0; i < slab->count; ++i) {
        slab->bound[i] =
            slab->slope * wadi_sph_friction_pressure(&slab->pairs, slab->pressure, i) + slab->cohesion;
        v_pressure[i] = v_forces[i] + (slab->velocity[i] - v_friction[i]);
    }
    CHECK_OK(
        wadi_sph_friction_solve(slab->velocity, v_pressure, &slab->friction, &in, &report, arena, &error),
        error);
    for (int i = 0; i < slab->count; ++i) {
        slab->velocity[i] = v_forces[i] + (slab->velocity[i] - v_pressure[i]);
    }
    slab_solve_pressure(slab, arena);
    for (int i = 0; i < slab->count; ++i) {
        for (int a = 0; a < 3; ++a) {
            slab->x[i][a] += slab->dt * (double)slab->velocity[i][a] / slab->spacing;
        }
        slab->x[i][2] = fmax(slab->x[i][2], 1e-3);
    }
    CHECK_OK(wadi_arena_reset(arena, &error), error);
}

#endif
