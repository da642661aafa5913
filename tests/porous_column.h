/* A column of particles whose neighbours repeat sideways without end: water moves along z only, and a known
 * answer in one dimension holds for it. And a heap of particles at random positions. */
#ifndef WADI_TESTS_POROUS_COLUMN_H
#define WADI_TESTS_POROUS_COLUMN_H

#include <string.h>

#include "expect.h"
#include "random_values.h"
#include "sph/porous/sph_porous.h"
#include "world/water.h"

enum { COLUMN_MAX = 2001, SAND = 0, WATER = 1, OTHER_SAND = 2 };

typedef struct Column {
    WadiSphKernel kernel;
    WadiSphPairs pairs;
    WadiMaterial materials[3];
    WadiSphPorousIn in;
    WadiArena arena;
    uint32_t start[COLUMN_MAX + 1];
    int32_t same[COLUMN_MAX];
    uint32_t offset[2 * COLUMN_MAX + 8]; /* eight valid ones follow the last */
    uint16_t slope[2 * COLUMN_MAX + 8];
    WadiI4 place[COLUMN_MAX];
    uint8_t is_sand[COLUMN_MAX], material[COLUMN_MAX], role[COLUMN_MAX];
    WadiF4 velocity[COLUMN_MAX];
    double zero[COLUMN_MAX], z[COLUMN_MAX], rest_volume[COLUMN_MAX];
    float ones[COLUMN_MAX]; /* volumes and sizes */
    float unit[COLUMN_MAX];
    double pressure[COLUMN_MAX], water[COLUMN_MAX];
} Column;

static inline WadiPoresDef usual_pores(void)
{
    return (WadiPoresDef){ .porosity = 0.4,
                           .permeability = 1e-9,
                           .capillary_pressure = 1000.0,
                           .capillary_exponent = 0.5,
                           .flow_exponent = 3.0,
                           .ideal_saturation = 0.4,
                           .residual_friction = 0.2 };
}

static inline double quantum(double mass)
{
    return rint(mass * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
}

/* Kernel weight dx^2 V F of a lattice's layer with its next one. */
static inline double layer_weight(const Column *c)
{
    return 0.5 * wadi_sph_lattice(&c->kernel).laplacian;
}

static inline void column_link(Column *c, int32_t i, int32_t j, int64_t *n)
{
    c->offset[*n] = 16 * (uint32_t)j;
    c->slope[*n] = 1;
    c->same[i] += c->is_sand[i] == c->is_sand[j];
    *n += 1;
}

/* `count` particles from z = 0 upwards; the first `below` and the last `above` are water. */
static inline void column_init(Column *c, int count, int below, int above, double spacing, double gravity)
{
    *c = (Column){ 0 };
    wadi_sph_kernel_init(&c->kernel, false);
    c->materials[SAND] =
        (WadiMaterial){ .kind = WADI_MATERIAL_SAND, .density = 1600.0, .pores = usual_pores() };
    c->materials[OTHER_SAND] = c->materials[SAND];
    c->materials[WATER] = (WadiMaterial){ .kind = WADI_MATERIAL_WATER, .density = 1000.0 };
    int64_t n = 0;
    for (int i = 0; i < count; ++i) {
        c->is_sand[i] = i >= below && i < count - above;
        c->material[i] = c->is_sand[i] ? SAND : WATER;
        c->water[i] = c->is_sand[i] ? 0.0 : 1.0;
        c->z[i] = i * spacing;
        c->rest_volume[i] = 1.0;
        c->ones[i] = 1.0f;
        c->unit[i] = (float)(layer_weight(c) / WADI_SPH_PLACES);
        c->place[i] = (WadiI4){ 0, 0, i * (int32_t)WADI_SPH_PLACES, 0 };
    }
    for (int i = 0; i < count; ++i) {
        c->start[i] = (uint32_t)n;
        /* Own kind first. */
        for (int is_other = 0; is_other < 2; ++is_other) {
            for (int j = i - 1; j <= i + 1; j += 2) {
                if (j >= 0 && j < count && (c->is_sand[i] != c->is_sand[j]) == (is_other != 0)) {
                    column_link(c, i, j, &n);
                }
            }
        }
    }
    c->start[count] = (uint32_t)n;
    c->pairs = (WadiSphPairs){ .count = count,
                               .start = c->start,
                               .same = c->same,
                               .offset = c->offset,
                               .slope = c->slope,
                               .slope_unit = (float)(layer_weight(c) / WADI_SPH_PLACES),
                               .volume = c->ones,
                               .size = c->ones,
                               .unit = c->unit,
                               .place = c->place };
    c->in = (WadiSphPorousIn){ .pairs = &c->pairs,
                               .x = c->zero,
                               .y = c->zero,
                               .z = c->z,
                               .is_sand = c->is_sand,
                               .material = c->material,
                               .materials = c->materials,
                               .rest_volume = c->rest_volume,
                               .role = c->role,
                               .pressure = c->pressure,
                               .lattice = wadi_sph_lattice(&c->kernel),
                               .gravity = { 0.0, 0.0, -gravity },
                               .water_density = 1000.0,
                               .viscosity = 1e-3,
                               .spacing = spacing };
}

/* One exchange of `dt` seconds; reservoirs of water are full again after it. Returns the water that those
 * from `first` on have given. */
static inline double column_step(Column *c, double dt, int first)
{
    WadiError error = { 0 };
    WadiSphPorousReport report;
    double given = 0.0;
    c->in.dt = dt;
    CHECK_OK(wadi_sph_porous_exchange(c->water, c->velocity, &c->in, &report, &c->arena, &error), error);
    for (int i = 0; i < c->pairs.count; ++i) {
        if (!c->is_sand[i]) {
            given += i >= first ? 1.0 - c->water[i] : 0.0;
            c->water[i] = 1.0;
        }
        assert_true(c->water[i] >= 0.0);
        assert_true(!c->is_sand[i] ||
                    c->water[i] <= (1.0 + WADI_SPH_SLACK) * c->materials[SAND].pores.porosity);
    }
    return given;
}

static inline double column_saturation(const Column *c, int i)
{
    return c->water[i] / c->materials[SAND].pores.porosity;
}

static inline void column_free(Column *c)
{
    wadi_arena_free(&c->arena);
}

#endif
