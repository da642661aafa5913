/* The flip solver: particles and a sparse staggered grid; water, and sand by frictional plasticity. [ZB05] */
#ifndef WADI_FLIP_FLIP_H
#define WADI_FLIP_FLIP_H

#include "flip/friction/flip_friction.h"
#include "flip/pressure/flip_pressure_memory.h"
#include "flip/pressure/flip_project.h"
#include "flip/sleep/flip_sleep.h"
#include "flip/solids/flip_solid.h"
#include "flip/transfer/flip_grid.h"
#include "flip/transfer/flip_transfer.h"
#include "world/solver.h"

extern const WadiSolverType wadi_flip_solver;

/* What the solver needs of the scene's materials, by their numbers; the second half follows the clock (flip_mix.c). */
typedef struct WadiFlipMaterials {
    int count;
    bool has_sand, has_water;
    double density; /* kg/m^3 of the first one: the reference of the pressure */
    uint8_t is_sand[256];
    float mass[256]; /* of a particle, relative to the reference */

    float keep[256];     /* FLIP share of the step */
    float slope[256];    /* k of the yield law; 0 for water */
    float cohesion[256]; /* c_k dt / (rho h), m/s */
} WadiFlipMaterials;

/* What outlives a step. */
typedef struct WadiFlip {
    WadiSolverContext context;
    double unit_time; /* s, wadi_flip_unit_time */
    double last_dt;   /* s, of the last step; 0: velocities and positions are of one time */
    WadiFlipMaterials materials;
    bool has_affine; /* a material has APIC: */
    WadiFlipAffine affine;
    int pressure_column, rigid_column; /* of the particle store; rigid -1 without sand */
    bool are_attributes_old; /* the last step gave nobody pressure and rigid: who is awake needs none */
    WadiFlipSolidCache solid_cache;
    WadiFrictionMemory friction_memory;
    WadiFrictionReport friction_report; /* of the last friction solve; not part of the state */
    WadiFlipPressureMemory pressure_memory;
    WadiFlipSleep sleep;
} WadiFlip;

/* What the particles of each cell are made of: means over them, or over the cells beside where a cell has none. All NULL in a
 * scene of one material. */
typedef struct WadiFlipMix {
    float *density; /* kg/m^3 */
    float *sand;    /* part of the particles that is sand */
    float *slope, *cohesion;
} WadiFlipMix;

/* Sleeping sand beside the awake one (flip_sleep_held.c). */
typedef struct WadiFlipHeld {
    int32_t
        *sleeper;   /* per tile of the grid: which of the sleeping tiles it is, -1: none; NULL: no tile is */
    uint8_t *cells; /* per row: cells held; not FLUID, inside solids as far as others are concerned */
    uint8_t *sand;  /* per row: FLUID and held cells */
} WadiFlipHeld;

/* The grid of one step and what the stages leave on it; everything lives in the step's arena. */
typedef struct WadiFlipStep {
    double time, dt;
    double
        kick; /* s: how long forces act, half of the last step and half of this one: velocities live between positions */
    WadiFlipSort sort;
    WadiFlipGrid grid;
    float *saved[3];     /* velocities as the particles gave them, of the rows that they reach */
    int32_t *saved_row;  /* per row: its row there (flip_row_table.h) */
    uint8_t *reached[3]; /* per row: faces that particles gave a velocity */
    WadiFlipSolid solid;
    WadiFlipMix mix;
    uint8_t *fluid;  /* cells whose pressure is unknown: with particles, or cut by a solid under them */
    uint8_t *inside; /* cells inside solids: friction needs them */
    WadiFlipHeld held;
    int32_t *
        fluid_row; /* per row: its row in `expansion` and `pressure`, which have those with FLUID cells alone */
    int32_t fluid_rows; /* of these */
    float *theta[3];    /* per face; NULL where the distance from the surface tells it, or it is 1 */
    /* Both are gone when the forces inside the material are solved for, but for the scenes that need them there: the fill where
     * water runs through sand, the distance where it tells theta or there is viscosity. */
    float *fill;             /* per cell: volume of its particles / volume of a cell; 1 where held */
    float *surface_distance; /* per cell, m, negative in fluid; NULL: a surface of first order */
    float *surface_pressure; /* per cell: P of surface tension; NULL: none */
    float *expansion;        /* per cell: divergence wanted, 1/s */
    double *pressure;        /* P, m/s */
    uint8_t *is_shown;       /* per tile of the sort: attributes are wanted; NULL: nowhere */
    uint8_t *rigid; /* per row with particles that is shown: sand that does not yield; NULL without sand */
    uint8_t *known[3];
    uint8_t *loose; /* per row: cells with particles that are not FLUID */
    double max_divergence;
    int pressure_solves, pressure_iterations;
    int friction_solves, friction_iterations;
} WadiFlipStep;

/* The numbers of the scene's materials that do not change, and those of one step. */
void wadi_flip_materials_init(WadiFlipMaterials *materials, const WadiScene *scene);
void wadi_flip_materials_at(WadiFlip *flip, double time, double dt, double kick);
/* sqrt(dx / g), s: the time in which a grain falls half a cell, the unit of all times that are chosen for the scene, so that
 * scenes of any size give the same. g is the largest gravity of the scene, and Earth's where there is none. */
double wadi_flip_unit_time(const WadiScene *scene, double cell_size);
/* Part of a cell that is sand, 0 or 1 in a scene of one material. */
static inline float wadi_flip_sand(const WadiFlip *flip, const WadiFlipStep *step, size_t cell)
{
    return step->mix.sand != NULL ? step->mix.sand[cell] : (float)flip->materials.has_sand;
}
/* Needs the fill and the labels. */
WadiStatus wadi_flip_mix(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);

/* The pressure between grains: P less that of the water in the pores, not negative; 0 in water (flip_pore.c). */
WadiStatus wadi_flip_grain_pressure(const WadiFlip *flip, const WadiFlipStep *step, double *grain,
                                    WadiError *error);

/* Pressure and the state of yield into the particles' columns, for frames (flip_attributes.c). */
WadiStatus wadi_flip_attributes_add(WadiFlip *flip, WadiError *error);
/* Whether sorts may leave them where they are. */
void wadi_flip_attributes_leave(const WadiFlip *flip, bool are_left);
/* Who gets them in this step: step->is_shown. */
WadiStatus wadi_flip_attributes_begin(WadiFlip *flip, WadiFlipStep *step, WadiError *error);
void wadi_flip_attributes(const WadiFlip *flip, const WadiFlipStep *step);

/* Keep the velocities of the particles, and add gravity and forces: flip_forces.c. */
WadiStatus wadi_flip_forces(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);

/* Open fractions of faces and distances from solids: flip_solid_step.c. */
WadiStatus wadi_flip_find_solids(WadiFlip *flip, WadiFlipStep *step, WadiError *error);

/* Labels, fill and surface: flip_cells.c. */
WadiStatus wadi_flip_label(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* Sleeping cells in a step, flip_sleep_held.c. Before the labels: cells with particles, awake or asleep; after: held cells are
 * no longer FLUID; before the pressure and after the friction is set up: their faces are closed; at the end: their velocity is
 * 0; and whether they bear what they did, or their tiles are to wake. */
WadiStatus wadi_flip_held_find(const WadiFlip *flip, WadiFlipStep *step, const uint8_t **occupied,
                               WadiError *error);
WadiStatus wadi_flip_held_take(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
void wadi_flip_held_close(WadiFlipStep *step);
void wadi_flip_held_stop(WadiFlipStep *step);
void wadi_flip_held_check(WadiFlip *flip, const WadiFlipStep *step, const WadiFriction *friction);
/* flip_density.c */
WadiStatus wadi_flip_correct_density(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* The divergence that growing solids cause beyond what their velocities on faces do: flip_swell.c. */
void wadi_flip_swell(WadiFlipStep *step);
/* Mean of a number of the materials over the particles of each cell, or of the cells beside where there are none. *mean
 * lives in the step's arena (flip_material_mean.c). */
WadiStatus wadi_flip_material_mean(const WadiFlip *flip, const WadiFlipStep *step, const float *of_material,
                                   float **mean, WadiError *error);
/* Pressure at the free surface by surface tension, into step->surface_pressure, and the longest step that it allows:
 * flip_tension_step.c. */
WadiStatus wadi_flip_find_tension(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* That pressure's push on the faces at the surface, before the projection. */
void wadi_flip_push_surface(const WadiFlip *flip, WadiFlipStep *step);
double wadi_flip_tension_largest_dt(const WadiFlip *flip, double time);
/* Viscosity of the faces' velocities: flip_viscosity_step.c. */
bool wadi_flip_is_viscous(const WadiFlip *flip);
WadiStatus wadi_flip_apply_viscosity(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* Pressure, and for sand friction between two pressure solves: flip_solve.c, flip_solve_sand.c. */
WadiStatus wadi_flip_solve(WadiFlip *flip, WadiFlipStep *step, WadiError *error);
WadiStatus wadi_flip_solve_sand(WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* The same for sand with `friction: zb05` and `zb05_literal`: flip_solve_zb05.c. */
WadiStatus wadi_flip_solve_zb05(WadiFlip *flip, WadiFlipStep *step, WadiError *error);

/* Parts of both: the projection of a step, which may be changed before it is made, and what bounds friction. */
WadiFlipProjectIn wadi_flip_projection(const WadiFlip *flip, const WadiFlipStep *step);
WadiStatus wadi_flip_make_projection(const WadiFlip *flip, WadiFlipStep *step, const WadiFlipProjectIn *in,
                                     WadiFlipProjector **projector, WadiFlipProjectOut *out,
                                     WadiError *error);
/* Project the velocities of the step; is_last: for good. */
WadiStatus wadi_flip_project_step(const WadiFlip *flip, WadiFlipStep *step, bool is_last,
                                  WadiFlipProjector **projector, WadiError *error);
/* Gravity times the time that forces act, m/s. */
double wadi_flip_gravity_step(const WadiFlip *flip, const WadiFlipStep *step);
/* `grain` is for the pressure between grains, to be filled by wadi_flip_grain_pressure; NULL where there is no water. */
WadiStatus wadi_flip_friction_load(const WadiFlip *flip, const WadiFlipStep *step, WadiFrictionLoad *load,
                                   double **grain, WadiError *error);

#endif
