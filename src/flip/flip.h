/* The flip solver: particles and a sparse staggered grid; water, and sand by frictional plasticity. [ZB05] */
#ifndef WADI_FLIP_FLIP_H
#define WADI_FLIP_FLIP_H

#include "flip/flip_friction.h"
#include "flip/flip_grid.h"
#include "flip/flip_pressure_memory.h"
#include "flip/flip_project.h"
#include "flip/flip_sleep.h"
#include "flip/flip_solid.h"
#include "world/solver.h"

extern const WadiSolverType wadi_flip_solver;

/* What outlives a step. */
typedef struct WadiFlip {
    WadiSolverContext context;
    bool
        is_sand; /* what the scene's bodies and emitters are of; sand and water together are not in this version */
    double density;    /* kg/m^3 of the first material: the reference of the pressure */
    float mass[256];   /* of a particle by material, relative to the reference */
    float yield_slope; /* k of the sand */
    WadiFlipSolidCache solid_cache;
    WadiFrictionMemory friction_memory;
    WadiFlipPressureMemory pressure_memory;
    WadiFlipSleep sleep;
} WadiFlip;

/* The grid of one step and what the stages leave on it; everything lives in the step's arena. */
typedef struct WadiFlipStep {
    double time, dt;
    WadiFlipSort sort;
    WadiFlipGrid grid;
    float *saved[3]; /* velocities as the particles gave them */
    WadiFlipSolid solid;
    uint8_t *fluid;  /* cells whose pressure is unknown: with particles, or cut by a solid under them */
    uint8_t *inside; /* cells inside solids: friction needs them */
    float *fill;     /* per cell: volume of its particles / volume of a cell */
    float *theta[3];
    float *expansion; /* per cell: divergence wanted, 1/s */
    double *pressure; /* P, m/s */
    uint8_t *known[3];
    double max_divergence;
} WadiFlipStep;

/* Labels, fill, surface and density correction: flip_cells.c. */
WadiStatus wadi_flip_label(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
WadiStatus wadi_flip_correct_density(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* Pressure, and for sand friction between two pressure solves: flip_solve.c. */
WadiStatus wadi_flip_solve(WadiFlip *flip, WadiFlipStep *step, WadiError *error);

#endif
