/* The sort of a simulation's particles and the walls near them, as a step of sph has them. */
#ifndef WADI_TESTS_SPH_SIM_H
#define WADI_TESTS_SPH_SIM_H

#include "expect.h"
#include "sim/sim.h"
#include "sph/pairs/sph_role.h"
#include "sph/walls/sph_walls.h"

typedef struct SphSim {
    WadiTileSort sort;
    WadiSphKernel kernel;
    WadiSphWalls walls;
    float *ones; /* volumes and sizes */
    uint8_t *role, *is_sand;
} SphSim;

/* Memory in the arena, which begins anew. */
static inline void sph_sim_find_walls(SphSim *out, WadiSim *sim, WadiArena *arena)
{
    WadiError error;
    const double dx = sim->world->spacing;
    CHECK_OK(wadi_arena_reset(arena, &error), error);
    wadi_sph_kernel_init(&out->kernel, wadi_scene_has_sand(sim->scene));
    CHECK_OK(
        wadi_tile_sort(&out->sort, &sim->particles, (double)out->kernel.of[0].support * dx, arena, &error),
        error);
    CHECK_OK(WADI_ARENA_NEW(arena, &out->ones, (size_t)sim->particles.count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(arena, &out->role, (size_t)sim->particles.count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(arena, &out->is_sand, (size_t)sim->particles.count, "test", &error), error);
    for (int32_t i = 0; i < sim->particles.count; ++i) {
        const WadiMaterial *material = &sim->scene->materials[sim->particles.material[i]];
        out->is_sand[i] = material->kind == WADI_MATERIAL_SAND;
        out->ones[i] = 1.0f;
        out->role[i] = WADI_SPH_ACTIVE;
    }
    const WadiSphWallsIn in = { .solids = &sim->world->solids,
                                .particles = &sim->particles,
                                .sort = &out->sort,
                                .kernel = &out->kernel,
                                .spacing = dx,
                                .size = out->ones,
                                .is_sand = out->is_sand,
                                .time = sim->time };
    CHECK_OK(wadi_sph_walls_find(&out->walls, &in, arena, &error), error);
}

#endif
