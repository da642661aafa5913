/* A block of particles with its walls and pairs, for the tests of sph. Lengths in spacings. */
#ifndef WADI_TESTS_SPH_BLOCK_H
#define WADI_TESTS_SPH_BLOCK_H

#include "core/random.h"
#include "expect.h"
#include "sph/pairs/sph_pairs.h"

typedef struct Block {
    WadiParticles particles;
    WadiArena arena;
    WadiTileSort sort;
    WadiSphKernel kernel;
    WadiSolids solids;
    WadiSphWalls walls;
    WadiSphPairs pairs;
    double spacing;
    int32_t count;
    float *density, *ones, *zeros;
    uint8_t *is_sand, *none; /* no flag is set, and all roles are active */
    WadiF4 *velocity;
} Block;

/* nx x ny x nz particles half a spacing inside the box from 0 to (nx, ny, nz), moved by up to half of
 * `jitter`; the sides with bits in `closed` are walls. */
static inline void block_make(Block *b, int nx, int ny, int nz, double jitter, int closed, double spacing)
{
    WadiError error;
    int32_t first;
    *b = (Block){ .spacing = spacing, .count = nx * ny * nz };
    CHECK_OK(wadi_particles_init(&b->particles, &error), error);
    CHECK_OK(wadi_particles_append(&b->particles, b->count, &first, &error), error);
    for (int32_t i = 0; i < b->count; ++i) {
        double u[3];
        wadi_random_unit3(7, (uint64_t)i, WADI_RANDOM_TEST, u);
        b->particles.x[i] = spacing * (i % nx + 0.5 + jitter * (u[0] - 0.5));
        b->particles.y[i] = spacing * (i / nx % ny + 0.5 + jitter * (u[1] - 0.5));
        b->particles.z[i] = spacing * (i / (nx * ny) + 0.5 + jitter * (u[2] - 0.5));
    }
    wadi_sph_kernel_init(&b->kernel, false);
    b->solids = (WadiSolids){ .domain = { { 0, 0, 0 }, { nx * spacing, ny * spacing, nz * spacing } },
                              .closed_sides = closed };
}

/* With `ones` as sizes, and the kinds. */
static inline void block_find_walls(Block *b)
{
    WadiError error;
    const WadiSphWallsIn walls = { .solids = &b->solids,
                                   .particles = &b->particles,
                                   .sort = &b->sort,
                                   .kernel = &b->kernel,
                                   .spacing = b->spacing,
                                   .size = b->ones,
                                   .is_sand = b->is_sand };
    CHECK_OK(wadi_sph_walls_find(&b->walls, &walls, &b->arena, &error), error);
}

static inline void block_find_pairs(Block *b)
{
    WadiError error;
    CHECK_OK(wadi_arena_reset(&b->arena, &error), error);
    CHECK_OK(wadi_tile_sort(&b->sort, &b->particles, WADI_SPH_WATER_SUPPORT * b->spacing, &b->arena, &error),
             error);
    const size_t count = (size_t)b->count;
    CHECK_OK(WADI_ARENA_NEW(&b->arena, &b->density, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&b->arena, &b->ones, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&b->arena, &b->zeros, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&b->arena, &b->is_sand, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&b->arena, &b->none, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&b->arena, &b->velocity, count, "test", &error), error);
    for (size_t i = 0; i < count; ++i) {
        b->ones[i] = 1.0f;
        b->zeros[i] = 0.0f;
        b->is_sand[i] = b->none[i] = 0;
        b->velocity[i] = (WadiF4){ 0 };
    }
    block_find_walls(b);
    const WadiSphPairsIn pairs = { .sort = &b->sort,
                                   .particles = &b->particles,
                                   .kernel = &b->kernel,
                                   .walls = &b->walls,
                                   .spacing = b->spacing,
                                   .is_sand = b->is_sand,
                                   .volume = b->ones,
                                   .size = b->ones,
                                   .role = b->none };
    CHECK_OK(wadi_sph_pairs_find(&b->pairs, b->density, &pairs, &b->arena, &error), error);
}

static inline void block_free(Block *b)
{
    wadi_arena_free(&b->arena);
    wadi_particles_free(&b->particles);
}

#endif
