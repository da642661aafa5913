/* Friction of sand as one global problem: the stress inside the yield set that leaves the least kinetic
 * energy.
 *   minimise 1/2 sum over free faces of m |u_b + (1/m) div tau|^2,   sigma_bar(tau) <= k P+ + c in every
 *   FLUID cell,   |t| <= mu P+ on every wall facet,   |T| <= mu P+ |A| on every wall across a cell
 * Unknowns are scaled to velocities: P = p dt / (rho dx), tau = tau_SI dt / (rho dx); stencils are plain
 * differences. m is the face's open part times its density over the reference: the pressure's mass.
 *
 * A face is free if it is open (voxels: neither of its cells is solid) and at least one of its cells is
 * FLUID. Shear lives on the cell edges; an edge is active if its four faces are free (so the surface is free
 * of stress). A wall facet is a closed side of a FLUID cell on a wall along the grid; where other walls cut a
 * cell they are oblique, with the area vector A that the open parts give.
 *
 * One step: wadi_friction_begin rows -> unknowns, started from the last step's stresses
 *            wadi_friction_add     u* += div tau, before the first pressure solve
 *            wadi_friction_solve   per outer iteration, with P of the last pressure solve, u_b = u* - grad P
 *            wadi_friction_store    stresses -> memory of the next step
 * Same bytes for any thread count. */
#ifndef WADI_FLIP_FRICTION_H
#define WADI_FLIP_FRICTION_H

#include <stdbool.h>

#include "core/arena.h"
#include "grid/tile_memory.h"

/* The solid nearest to a point. */
typedef struct WadiFrictionWallPoint {
    float friction;    /* mu, finite, >= 0; 0: frictionless */
    float velocity[3]; /* m/s */
    float normal[3];   /* unit, out of the solid */
} WadiFrictionWallPoint;

/* `at` in cells: cell (i, j, k) is [i, i + 1] x ... Called from several threads. */
typedef WadiFrictionWallPoint (*WadiFrictionSampleWall)(const void *context, const double at[3]);

/* Cells of sand. Every array is borrowed until the step ends. Rows hold the six neighbours of each FLUID
 * cell; a cell without a row counts as air. */
typedef struct WadiFrictionGrid {
    const WadiRows *rows;
    const uint8_t *fluid; /* per row: bit l set where lane l is FLUID */
    const uint8_t *solid; /* per row: cells inside solids; disjoint from fluid */
    /* Per row: sleeping FLUID cells, all of the row or none; NULL: none. Their faces do not move and their
     * stress is that of `sleeping_memory` [theory 8.2]. */
    const uint8_t *sleeping;
    const struct WadiFrictionMemory *sleeping_memory;
    /* Per row: its row in `open` and solid_speed (flip_row_table.h); may be NULL. */
    const int32_t *solid_row;
    const float *open[3]; /* per face: open part, as in the pressure solve; all NULL: voxels, by `solid` */
    WadiFrictionSampleWall sample_wall; /* called on walls only */
    const void *wall_context;
    /* Per face: velocity of the solid; only for the local rule (flip_rigid.h). */
    const float *solid_speed[3];
    const float *density[3]; /* per face of FLUID cells, kg/m^3; NULL: the reference everywhere */
    /* Per face: mass over that of a full face, as in the pressure solve; NULL: 1. */
    const float *fraction[3];
    /* Per cell: strain rate of the displacement beyond D(u) times the cell size, m/s: xx, yy, zz, xy, xz, yz
     * [theory 2.3]; all NULL: 0. */
    const float *turn_strain[6];
    const int32_t *turn_row; /* per row: its row in turn_strain (flip_row_table.h); may be NULL */
    /* Per row: its row in the pressure of a load (flip_row_table.h); may be NULL. */
    const int32_t *pressure_row;
    double reference_density; /* kg/m^3; that of the pressure */
    double weight[3];         /* gravity times dt, m/s: least force of a cell on its floor [theory 6.8] */
} WadiFrictionGrid;

/* Bounds of the stress; per cell over rows. */
typedef struct WadiFrictionLoad {
    const double *pressure; /* P in velocity units; less than -tension counts as that */
    const float *k;         /* yield slope of FLUID cells, >= 0 */
    const float *cohesion;  /* c_k dt / (rho dx), >= 0; NULL: none */
    const float *tension;   /* T dt / (rho dx), >= 0; NULL: none */
} WadiFrictionLoad;

/* Bound of sigma_bar in a cell with pressure P: k max(P, -T) + c, not negative [theory 6.13]. */
static inline float wadi_friction_yield(const WadiFrictionLoad *load, size_t cell, float pressure)
{
    const float tension = load->tension != NULL ? load->tension[cell] : 0.0f;
    const float p = pressure > -tension ? pressure : -tension;
    const float yield = load->k[cell] * p + (load->cohesion != NULL ? load->cohesion[cell] : 0.0f);
    return yield > 0.0f ? yield : 0.0f;
}

typedef struct WadiFrictionSettings {
    /* Gradient step: converges up to 1/8 (the operator's largest eigenvalue is 8). In cut cells it is
     * multiplied by 0.8 and by the least mass of their faces. */
    double alpha;
    /* Stop when no stress and no wall traction changes by more than tolerance (m/s) + relative times the root
     * mean square of the shear rate [theory 6.5]. */
    double tolerance, relative;
    int min_iterations; /* 4: a single small change may be chance */
    int max_iterations;
    bool has_momentum; /* false: plain projected gradient, for tests */
} WadiFrictionSettings;

typedef struct WadiFrictionReport {
    int iterations;
    int restarts;
    double last_change; /* largest change of a stress in the last iteration, m/s */
    bool has_converged;
    /* 1/2 sum m u^2 over free faces, of u_b and of the result; checking build only. */
    double energy_before, energy_after;
} WadiFrictionReport;

/* Stresses of the last step. A zeroed memory is valid and empty. */
typedef struct WadiFrictionMemory {
    WadiTileMemory stress; /* per row: 14 numbers of 8 lanes */
    int32_t (*wall)[7];    /* per stored row: its wall facets by side, then walls across cells; -1: none */
    float (*traction)[32]; /* per wall row: 4 numbers of 8 lanes */
    size_t wall_count, wall_capacity, traction_capacity;
} WadiFrictionMemory;

void wadi_friction_memory_free(WadiFrictionMemory *memory);
/* As wadi_tile_memory_join. */
WadiStatus wadi_friction_memory_join(WadiFrictionMemory *result, const WadiFrictionMemory *a,
                                     const uint8_t *flags_a, const WadiFrictionMemory *b,
                                     const uint8_t *flags_b, WadiError *error);
/* Checkpoints: arrays named "NAME_...". A load that fails leaves the memory empty. */
WadiStatus wadi_friction_memory_save(const WadiFrictionMemory *memory, const char *name, WadiState *state,
                                     WadiError *error);
WadiStatus wadi_friction_memory_load(WadiFrictionMemory *memory, const char *name, const WadiState *state,
                                     WadiError *error);

typedef struct WadiFriction WadiFriction; /* lives in the arena given to begin */

/* `memory` may be NULL: start from zero. */
WadiStatus wadi_friction_begin(WadiFriction **friction, const WadiFrictionGrid *grid,
                               const WadiFrictionMemory *memory, double dt, WadiArena *arena,
                               WadiError *error);

/* Longest run of FLUID cells along an axis (0, 1, 2): the depth of wadi_friction_settings. */
WadiStatus wadi_friction_depth(const WadiFriction *friction, int axis, int *depth, WadiArena *arena,
                               WadiError *error);

/* Depth in cells, gravity * dt in m/s. The tolerance falls with the depth beyond 16 cells [theory 6.5]; the
 * largest number of iterations is that of a start from no stress [theory 6.7]. */
WadiFrictionSettings wadi_friction_settings(int depth, double gravity_dt);
/* For a start from no stress: an error of the first step is not made good by a later one. */
WadiFrictionSettings wadi_friction_cold_settings(int depth, double gravity_dt);

/* First stress from coarser grids, for columns deeper than 32 cells [theory 6.7]. Arguments as for solve. */
WadiStatus wadi_friction_coarse_guess(WadiFriction *friction, const float *const before[3],
                                      const WadiFrictionLoad *load, int depth, double gravity_dt,
                                      WadiArena *arena, WadiError *error);

/* Add the divergence of the stress to the free faces. */
void wadi_friction_add(WadiFriction *friction, float *const velocity[3]);
/* Subtract it. */
void wadi_friction_subtract(WadiFriction *friction, float *const velocity[3]);

/* `before` is u_b per face (u, v, w), closed faces with the solid's velocity. Result: the stress in
 * `friction`. */
WadiStatus wadi_friction_solve(WadiFriction *friction, const float *const before[3],
                               const WadiFrictionLoad *load, const WadiFrictionSettings *settings,
                               WadiArena *arena, WadiFrictionReport *report, WadiError *error);

/* On failure the memory is empty. */
WadiStatus wadi_friction_store(const WadiFriction *friction, WadiFrictionMemory *memory, WadiError *error);

/* Norm of the difference between a cell's stress and the stored one, which counts as 0 where none is stored;
 * the norm of wadi_friction_stress. */
double wadi_friction_change(const WadiFriction *friction, const WadiFrictionMemory *sleeping_memory,
                            int32_t row, int lane);
/* sigma_bar of a cell's stress, in the norm that the yield test uses; 0 outside FLUID cells. For tests and
 * output. */
double wadi_friction_stress(const WadiFriction *friction, int32_t row, int lane);
/* Deviatoric normal stress of a cell along an axis, tension positive; times the open part in cut cells. */
double wadi_friction_normal_stress(const WadiFriction *friction, int32_t row, int lane, int axis);
/* Size of the traction on a cell's wall facet (side as in WadiRows.neighbour), or of a wall across it (6). */
enum { WADI_FRICTION_SIDES = 7 };
double wadi_friction_traction(const WadiFriction *friction, int32_t row, int lane, int side);
/* Impulse of that wall on the cell's faces, by axis, as P times the area of a face. false: it is 0. */
bool wadi_friction_wall_impulse(const WadiFriction *friction, int32_t row, int lane, int side,
                                double impulse[3]);

#endif
