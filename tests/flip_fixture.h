/* A body of particles and its grid, for the tests of flip. Lengths in cells until `cell_size` is applied. */
#ifndef WADI_TESTS_FLIP_FIXTURE_H
#define WADI_TESTS_FLIP_FIXTURE_H

#include <string.h>

#include "core/random.h"
#include "expect.h"
#include "flip/transfer/flip_transfer.h"

typedef struct Fluid {
    WadiParticles particles;
    WadiFlipAffine affine;
    WadiArena arena;
    WadiTileSort sort;
    WadiFlipGrid grid;
    float *saved[3];
    float flip_fraction[2]; /* by material, for fluid_velocity */
    double cell_size;
} Fluid;

/* A ball of `radius` cells about `middle` (cells), eight jittered particles a cell, materials 0 and 1
 * alternating. */
static inline void fluid_make_ball(Fluid *fluid, double radius, WadiVec3 middle, double cell_size)
{
    WadiError error;
    *fluid = (Fluid){ .cell_size = cell_size };
    CHECK_OK(wadi_particles_init(&fluid->particles, &error), error);
    CHECK_OK(wadi_flip_affine_add(&fluid->particles, &fluid->affine, &error), error);
    int side = (int)ceil(2.0 * radius);
    for (int pass = 0; pass < 2; ++pass) {
        int32_t count = 0, first;
        for (int n = 0; n < 8 * side * side * side; ++n) {
            double u[3], x[3];
            wadi_random_unit3(5, (uint64_t)n, WADI_RANDOM_TEST, u);
            x[0] = 0.5 * (n % (2 * side) - side + u[0]);
            x[1] = 0.5 * (n / (2 * side) % (2 * side) - side + u[1]);
            x[2] = 0.5 * (n / (4 * side * side) - side + u[2]);
            if (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] > radius * radius) {
                continue;
            }
            if (pass == 1) {
                fluid->particles.x[count] = (middle.x + x[0]) * cell_size;
                fluid->particles.y[count] = (middle.y + x[1]) * cell_size;
                fluid->particles.z[count] = (middle.z + x[2]) * cell_size;
                fluid->particles.material[count] = (uint8_t)(count & 1);
            }
            ++count;
        }
        if (pass == 0) {
            CHECK_OK(wadi_particles_append(&fluid->particles, count, &first, &error), error);
        }
    }
}

/* Velocities in [-1, 1), by id. */
static inline void fluid_set_random_velocity(Fluid *fluid)
{
    for (int32_t i = 0; i < fluid->particles.count; ++i) {
        double u[3];
        wadi_random_unit3(6, fluid->particles.id[i], WADI_RANDOM_TEST, u);
        fluid->particles.vx[i] = (float)(2.0 * u[0] - 1.0);
        fluid->particles.vy[i] = (float)(2.0 * u[1] - 1.0);
        fluid->particles.vz[i] = (float)(2.0 * u[2] - 1.0);
    }
}

/* Sort, and a grid without velocities. */
static inline void fluid_make_grid(Fluid *fluid)
{
    WadiError error;
    CHECK_OK(wadi_arena_reset(&fluid->arena, &error), error);
    CHECK_OK(wadi_tile_sort(&fluid->sort, &fluid->particles, fluid->cell_size, &fluid->arena, &error), error);
    CHECK_OK(wadi_flip_grid_build(&fluid->grid, &fluid->sort, WADI_FLIP_MARGIN, &fluid->arena, &error),
             error);
}

static inline void fluid_to_grid(Fluid *fluid, const float *mass, int material_count, bool is_affine)
{
    WadiError error;
    WadiFlipToGridIn in = { &fluid->sort, &fluid->particles, mass, material_count,
                            is_affine ? &fluid->affine : NULL };
    CHECK_OK(wadi_flip_particles_to_grid(&fluid->grid, &in, &fluid->arena, &error), error);
    for (int a = 0; a < 3; ++a) {
        size_t floats = wadi_rows_floats(&fluid->grid.rows);
        CHECK_OK(WADI_ARENA_NEW(&fluid->arena, &fluid->saved[a], floats, "saved", &error), error);
        memcpy(fluid->saved[a], fluid->grid.velocity[a], floats * sizeof(float));
    }
}

static inline WadiFlipToParticlesIn fluid_velocity(Fluid *fluid, double flip, double dt, int order)
{
    fluid->flip_fraction[0] = fluid->flip_fraction[1] = (float)flip;
    return (WadiFlipToParticlesIn){ .sort = &fluid->sort,
                                    .grid = &fluid->grid,
                                    .saved = (const float *const *)fluid->saved,
                                    .flip_fraction = fluid->flip_fraction,
                                    .material_count = 2,
                                    .dt = dt,
                                    .order = order };
}

static inline WadiFlipPath fluid_to_particles(Fluid *fluid, double flip, bool is_affine, double dt, int order)
{
    WadiError error;
    WadiFlipToParticlesIn in = fluid_velocity(fluid, flip, dt, order);
    in.affine = is_affine ? &fluid->affine : NULL;
    WadiFlipPath path;
    CHECK_OK(wadi_flip_grid_to_particles(&fluid->particles, &path, &in, &fluid->arena, &error), error);
    return path;
}

/* Position of a face in metres: component c, lane l of a row. */
static inline WadiVec3 fluid_face(const Fluid *fluid, int32_t row, int lane, int c)
{
    int32_t cell[3];
    wadi_rows_cell(&fluid->grid.rows, row, cell);
    return wadi_vec3((cell[0] + lane + (c == 0 ? 0.0 : 0.5)) * fluid->cell_size,
                     (cell[1] + (c == 1 ? 0.0 : 0.5)) * fluid->cell_size,
                     (cell[2] + (c == 2 ? 0.0 : 0.5)) * fluid->cell_size);
}

/* Every face gets the velocity field's value: field(context, x). */
static inline void fluid_set_grid(Fluid *fluid, WadiVec3 (*field)(const void *context, WadiVec3 x),
                                  const void *context)
{
    for (int32_t row = 1; row < fluid->grid.rows.count; ++row) {
        for (int n = 0; n < 24; ++n) {
            WadiVec3 u = field(context, fluid_face(fluid, row, n & 7, n >> 3));
            fluid->grid.velocity[n >> 3][8 * (size_t)row + (size_t)(n & 7)] =
                (float)wadi_component(u, n >> 3);
        }
    }
}

static inline void fluid_free(Fluid *fluid)
{
    wadi_arena_free(&fluid->arena);
    wadi_particles_free(&fluid->particles);
}

#endif
