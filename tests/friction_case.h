/* Grids of sand with noise on them, for the tests of the friction solve. */
#ifndef WADI_TESTS_FRICTION_CASE_H
#define WADI_TESTS_FRICTION_CASE_H

#include <string.h>

#include "core/random.h"
#include "flip/friction/flip_friction.h"
#include "flip_test_grid.h"
#include "random_values.h"

typedef struct Case {
    TestGrid grid;
    float *velocity[3], *k, *cohesion, *start[3];
    double *pressure;
    float *turn_strain[6]; /* NULL: none */
} Case;

static inline void case_make(Case *it, const int low[3], const int high[3], TestLabel label,
                             const void *context)
{
    grid_make(&it->grid, low, high, label, context);
    for (int axis = 0; axis < 3; ++axis) {
        it->velocity[axis] = grid_floats(&it->grid, 0.0f);
        it->start[axis] = grid_floats(&it->grid, 0.0f);
    }
    memset(it->turn_strain, 0, sizeof it->turn_strain);
    it->k = grid_floats(&it->grid, 0.5f);
    it->cohesion = grid_floats(&it->grid, 0.0f);
    it->pressure = grid_alloc(&it->grid, wadi_rows_floats(&it->grid.rows), sizeof *it->pressure);
}

static inline WadiFrictionWallPoint wall_same(const void *context, const double at[3])
{
    (void)at;
    return *(const WadiFrictionWallPoint *)context;
}

/* mu 1/2, at rest. */
static inline WadiFrictionWallPoint wall_half(const void *context, const double at[3])
{
    (void)context, (void)at;
    return (WadiFrictionWallPoint){ .friction = 0.5f };
}

/* Closed faces are at rest, all others get noise; pressures, slopes and cohesion vary from cell to cell. */
static inline void case_randomise(Case *it, uint64_t seed, double pressure)
{
    const TestGrid *grid = &it->grid;
    for (int32_t r = 1; r < grid->rows.count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(&grid->rows, r, cell);
        for (int lane = 0; lane < 8; ++lane) {
            uint64_t at = 8 * (uint64_t)r + (uint64_t)lane;
            for (int axis = 0; axis < 3; ++axis) {
                bool is_free = grid_face_is_free(grid, axis, cell[0] + lane, cell[1], cell[2]);
                it->velocity[axis][at] = is_free ? (float)random_signed(seed + (uint64_t)axis, at) : 0.0f;
                it->start[axis][at] = it->velocity[axis][at];
            }
            it->pressure[at] = pressure * (random_signed(seed + 3, at) + 0.8);
            it->k[at] = (float)(0.6 + 0.3 * random_signed(seed + 4, at));
            it->cohesion[at] = (float)(0.02 * (1.0 + random_signed(seed + 5, at)));
        }
    }
}

static inline WadiFrictionSettings settings_of(double alpha, int iterations, bool has_momentum)
{
    return (WadiFrictionSettings){
        .alpha = alpha, .min_iterations = 1, .max_iterations = iterations, .has_momentum = has_momentum
    };
}

static inline WadiFriction *case_solve(Case *it, const WadiFrictionSettings *settings, WadiArena *arena,
                                       WadiFrictionReport *report)
{
    WadiError error;
    WadiFriction *friction;
    WadiFrictionGrid cells = {
        .rows = &it->grid.rows, .fluid = it->grid.fluid, .solid = it->grid.solid, .sample_wall = wall_half
    };
    for (int n = 0; n < 6; ++n) {
        cells.turn_strain[n] = it->turn_strain[n];
    }
    CHECK_OK(wadi_friction_begin(&friction, &cells, NULL, 0.01, arena, &error), error);
    WadiFrictionLoad load = { it->pressure, it->k, it->cohesion, NULL };
    const float *before[3] = { it->start[0], it->start[1], it->start[2] };
    CHECK_OK(wadi_friction_solve(friction, before, &load, settings, arena, report, &error), error);
    wadi_friction_add(friction, it->velocity);
    return friction;
}

/* A ball in the air, across tile borders and negative coordinates. */
static inline TestCell ball_label(const void *context, int i, int j, int k)
{
    double radius = *(const double *)context;
    double x = i + 0.5, y = j + 0.5, z = k + 0.5;
    return x * x + y * y + z * z < radius * radius ? CELL_FLUID : CELL_AIR;
}

static inline void ball_make(Case *it, double radius)
{
    int n = (int)radius + 3;
    case_make(it, (int[3]){ -n, -n, -n }, (int[3]){ n, n, n }, ball_label, &radius);
}

/* Random sand in a box of solid walls with a pillar: every kind of edge and facet. */
static inline TestCell rubble_label(const void *context, int i, int j, int k)
{
    uint64_t seed = *(const uint64_t *)context;
    if (i < -4 || i > 12 || j < 0 || j > 9 || k < 0 || k > 8 || (i == 3 && j > 2 && j < 6)) {
        return CELL_SOLID;
    }
    uint64_t at = (uint64_t)(i + 8 + 32 * (j + 8) + 1024 * (k + 8));
    return wadi_random_unit(seed, at, WADI_RANDOM_TEST) < 0.75 ? CELL_FLUID : CELL_AIR;
}

static inline void rubble_make(Case *it, uint64_t seed)
{
    case_make(it, (int[3]){ -6, -2, -2 }, (int[3]){ 15, 12, 11 }, rubble_label, &seed);
}

#endif
