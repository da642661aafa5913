/* The flip solver: particles and a sparse staggered grid; water, and sand by frictional plasticity. [ZB05] */
#ifndef WADI_FLIP_FLIP_H
#define WADI_FLIP_FLIP_H

#include "flip/flip_settings.h"
#include "flip/friction/flip_friction.h"
#include "flip/pressure/flip_pressure_memory.h"
#include "flip/pressure/flip_project.h"
#include "flip/sleep/flip_sleep.h"
#include "flip/solids/flip_solid.h"
#include "flip/transfer/flip_grid.h"
#include "flip/transfer/flip_transfer.h"
#include "matter/materials.h"
#include "particles/collide.h"
#include "sleep/sleep_loads.h"
#include "world/solver.h"

extern const WadiSolverType wadi_flip_solver;

/* Pressures and stresses of the sleeping tiles and of their neighbours when they fell asleep. */
typedef struct WadiFlipSleepStresses {
    WadiTileMemory pressure;
    WadiFrictionMemory friction;
} WadiFlipSleepStresses;

/* State that persists between steps. */
typedef struct WadiFlip {
    WadiSolverContext context;
    double unit_time; /* s, wadi_scene_unit_time of a cell */
    double last_dt;   /* s, of the last step; 0: velocities and positions belong to the same time */
    /* Next id of the store at the last step: particles with later ids were emitted since; UINT32_MAX: no
     * step yet. */
    uint32_t next_id;
    WadiMaterials materials;
    /* Fraction of FLIP in the velocity update of this step, the rest is PIC. */
    float flip_fraction[WADI_MATERIALS_MAX];
    bool has_affine; /* a material uses APIC, with `affine` */
    WadiFlipAffine affine;
    int pressure_column, rigid_column; /* of the particle store; rigid -1 without sand */
    int bonds_column;        /* of the particle store, bits of flip_bonds.c; -1: no sand has bonds */
    int compressed_column;   /* of the particle store, marks of flip_compressed.c */
    bool are_attributes_old; /* no particle falls asleep in the next step, so awake ones need no attributes */
    WadiFlipSolidCache solid_cache;
    WadiFrictionMemory friction_memory;
    WadiFrictionReport friction_report; /* of the last friction solve; not part of the state */
    WadiTileMemory pressure_memory;
    WadiSleep sleep;
    WadiFlipSleepStresses sleep_stresses;
    WadiSleepLoads sleep_loads;
} WadiFlip;

/* Means of the materials over the particles of each cell, or over its neighbours where a cell has none. All
 * NULL in a scene of one material. */
typedef struct WadiFlipMix {
    float *density; /* kg/m^3 */
    float *face_density
        [3];     /* kg/m^3 at the faces, by the weights of the transfer (volume/flip_face_density.c) */
    float *sand; /* fraction of the particles that is sand */
    float *slope, *cohesion;
} WadiFlipMix;

/* Cohesive sand in the cells of a step [theory 6.13]. All NULL in a scene without (flip_bonds.c). */
typedef struct WadiFlipBonds {
    float *cohesion; /* per cell: c_k of its particles, without that of broken bonds */
    float *tension;  /* per cell: T */
    uint8_t *held;   /* per row: cells whose bonds hold and whose stress was below the yield law */
    /* Per face: mass of the particles at it over that of a full face, beside air and broken bonds. */
    float *fraction[3];
} WadiFlipBonds;

/* Sleeping sand among the cells of a step (flip_sleeping_cells.c). */
typedef struct WadiFlipSleepingCells {
    /* Per tile of the grid: its index among the sleeping tiles, -1: awake; NULL: all are awake. */
    int32_t *tile;
    uint8_t *cells; /* per row: sleeping cells; they are no pressure cells, and solid for other cells */
    uint8_t *sand;  /* per row: pressure cells and sleeping cells */
} WadiFlipSleepingCells;

/* Contents and pressure of the cells: memory of WADI_FLIP_SCOPE_CELLS. */
typedef struct WadiFlipCells {
    WadiFlipMix mix;
    /* Per row: cells whose pressure is unknown: occupied, or cut by a solid below fluid. */
    uint8_t *pressure_cells;
    uint8_t *inside; /* per row: cells inside solids */
    WadiFlipBonds bonds;
    WadiFlipSleepingCells sleeping;
    /* Per row: its row in `expansion` and `pressure`, which hold only rows with pressure cells. */
    int32_t *pressure_row;
    int32_t pressure_rows;   /* number of these */
    float *theta[3];         /* per face; NULL: computed from the surface distance, or 1 */
    float *surface_distance; /* per cell, m, negative in fluid; NULL: a surface of first order */
    /* Memory of WADI_FLIP_SCOPE_SURFACE, unless is_fill_used_in_solve. */
    float *fill; /* per cell: volume of its particles / volume of a cell; 1 where asleep */
    bool is_fill_used_in_solve;
    float *surface_pressure; /* per cell: P of surface tension; NULL: none */
    float *expansion;        /* per cell: prescribed divergence, 1/s */
    /* Per cell of the rows of `saved`: strain rate of chords beyond D(u), dt/2 G^T G, xx, yy, zz, xy, xz, yz,
     * times the cell size, m/s; NULL: not viscous. */
    float *turn_strain[6];
    double *pressure;  /* P, m/s */
    float *viscosity;  /* per cell: mu dt / (rho_ref h^2); NULL before the viscosity */
    uint8_t *is_shown; /* per tile of the sort: its particles' attributes are updated; NULL: none */
    uint8_t *rigid;    /* per row of a shown tile: sand that does not yield; NULL without sand */
} WadiFlipCells;

/* Lifetimes of scratch memory inside a step, opened and closed by the step; pointers of a closed scope are
 * NULL. */
typedef enum WadiFlipScope {
    WADI_FLIP_SCOPE_TRANSFER, /* face masses: until the faces with a velocity from particles are found */
    WADI_FLIP_SCOPE_SURFACE,  /* solid fractions, fill, surface distance: until the solves begin */
    WADI_FLIP_SCOPE_CELLS,    /* WadiFlipCells */
    WADI_FLIP_SCOPES
} WadiFlipScope;

/* The grid of one step and the results of its stages, all in the step's arena. */
typedef struct WadiFlipStep {
    double time, dt;
    bool ends_frame;
    double force_dt;       /* s, half of the last step and half of this one (leapfrog [theory 1.5]) */
    uint32_t first_new_id; /* particles from this id on were emitted since the last step */
    WadiArenaMark scope[WADI_FLIP_SCOPES];
    WadiTileSort sort;
    WadiFlipGrid grid;
    bool has_velocity; /* of the grid: particles were transferred to it */
    /* Per face: mass of the particles at it over that of a full face; NULL: no sand has bonds. */
    float *face_fraction[3];
    uint8_t *reached[3]; /* per row: faces that received a velocity from particles */
    float *saved[3];     /* velocities before forces, of the rows with such faces */
    int32_t *saved_row;  /* per row: its row in `saved` (flip_row_table.h) */
    int32_t saved_rows;  /* of `saved` */
    WadiFlipSolid solid;
    /* Per cell of the rows of `saved`: divergence with which the displacement keeps volume, 1/s; NULL: 0. */
    float *divergence;
    uint8_t *known[3];     /* per row: faces whose velocity the solve determined */
    uint8_t *occupied_air; /* per row: occupied cells that are no pressure cells */
    /* Per row: occupied cells and pressure cells; NULL: momentum of small bodies is left as it is. */
    uint8_t *filled;
    uint8_t *bonded;  /* per row: pressure cells of bonded sand; NULL: none */
    uint8_t *lifted;  /* per cell, bits: sides on walls that bonded sand has lifted off; NULL: none */
    uint8_t *gripped; /* per row: pressure cells on a wall that holds them by friction; NULL: none */
    WadiFlipCells cells;
    double max_divergence;
    int pressure_solves, pressure_iterations;
    int friction_solves, friction_iterations;
} WadiFlipStep;

/* FLIP fractions and yield laws of the materials in a step (flip_mix.c). */
void wadi_flip_materials_at(WadiFlip *flip, double time, double dt, double force_dt);
/* Fraction of FLIP that sand or water keeps in a step by default [theory 2.2]. */
double wadi_flip_kept_fraction(const WadiFlip *flip, bool is_sand, double dt);
/* Fraction of a cell that is sand, 0 or 1 in a scene of one material. */
static inline float wadi_flip_sand(const WadiFlip *flip, const WadiFlipStep *step, size_t cell)
{
    return step->cells.mix.sand != NULL ? step->cells.mix.sand[cell] : (float)flip->materials.has_sand;
}
/* After the fill and the labels. */
WadiStatus wadi_flip_mix(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* mix.face_density, after the pressure cells. */
WadiStatus wadi_flip_face_density(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);

/* Pressure between grains: P less the pore pressure, not negative; 0 in water (flip_pore.c). */
WadiStatus wadi_flip_grain_pressure(const WadiFlip *flip, const WadiFlipStep *step, double *grain,
                                    WadiError *error);

/* In the checking build: fails if `stage` made a value that is not finite (flip_check.c). Otherwise does
 * nothing. */
WadiStatus wadi_flip_check_stage(const WadiFlip *flip, const WadiFlipStep *step, const char *stage,
                                 WadiError *error);

/* Stages, each in the file of its name. */
WadiStatus wadi_flip_take_step(void *solver, const WadiSolverStep *now, WadiStepReport *report,
                               WadiError *error);
/* Wakes tiles, sorts the awake particles, lets tiles fall asleep: flip_sleep_step.c. */
WadiStatus wadi_flip_sort_awake(WadiFlip *flip, WadiFlipStep *step, WadiError *error);
WadiSleepStep wadi_flip_sleep_now(const WadiFlip *flip, const WadiFlipStep *step);
/* Faces with a velocity from particles, and these velocities before forces; gravity and other forces:
 * flip_forces.c. */
WadiStatus wadi_flip_save_velocity(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
void wadi_flip_add_forces(const WadiFlip *flip, WadiFlipStep *step);
/* Whether faces that are little open count in the pressure: not in sand and not beside moving solids [theory
 * 3.1]. */
bool wadi_flip_has_small_faces(const WadiFlip *flip);
/* Open fractions of faces and distances from solids: flip_solid_step.c. */
WadiStatus wadi_flip_find_solids(WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* Labels, fill and surface: flip_cells.c. */
WadiStatus wadi_flip_label(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* Overfull tiles, flip_overfull.c: first the memory, before the cells are labelled; then the search, which
 * needs the fill and the labels. */
WadiStatus wadi_flip_overfull_begin(const WadiFlip *flip, const WadiFlipStep *step,
                                    WadiOverfullList *overfull, WadiError *error);
WadiStatus wadi_flip_find_overfull(const WadiFlip *flip, const WadiFlipStep *step, WadiOverfullList *overfull,
                                   WadiError *error);
/* Particles whose path ended in a solid are marked until their cell has room (flip_compressed.c). _marks is
 * NULL where no solid moves. Sorts may skip the column while it has no mark. */
WadiStatus wadi_flip_compressed_add(WadiFlip *flip, WadiError *error);
uint8_t *wadi_flip_compressed_marks(const WadiFlip *flip);
void wadi_flip_compressed_skip_in_sort(const WadiFlip *flip, bool may_skip);
/* Per row, temporary in the arena: cells with marked particles; NULL if there are none. */
WadiStatus wadi_flip_compressed_cells(const WadiFlip *flip, const WadiFlipStep *step, uint8_t **cells,
                                      WadiError *error);
/* Removes the marks in cells that have room, a bit each per row. */
void wadi_flip_compressed_clear(const WadiFlip *flip, const WadiFlipStep *step, const uint8_t *has_room);
/* Per cell, temporary in the arena: volume of the particles emitted since the last step / volume of a
 * cell; *fill is NULL if there are none (flip_emitted.c). */
WadiStatus wadi_flip_emitted_fill(const WadiFlip *flip, const WadiFlipStep *step, float **fill,
                                  WadiError *error);
/* flip_density.c */
WadiStatus wadi_flip_correct_density(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* Divergence caused by growing solids beyond their velocities on faces: flip_swell.c. */
void wadi_flip_swell(WadiFlipStep *step);
/* Divergence with which displacements along chords keep volume: flip_displacement.c. */
WadiStatus wadi_flip_displace(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* Surface tension, flip_tension_step.c: its pressure into cells.surface_pressure; its force on the faces
 * at the surface, before the projection; the longest step that it allows. */
WadiStatus wadi_flip_find_tension(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
void wadi_flip_push_surface(const WadiFlip *flip, WadiFlipStep *step);
double wadi_flip_tension_largest_dt(const WadiFlip *flip, double time);
/* Viscosity of the face velocities: flip_viscosity_step.c. */
bool wadi_flip_is_viscous(const WadiFlip *flip);
WadiStatus wadi_flip_apply_viscosity(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* After it: what impulses on the faces change in the velocity against inertia and viscosity. */
WadiStatus wadi_flip_smooth_change(const WadiFlip *flip, const WadiFlipStep *step, float *const impulse[3],
                                   float *const change[3], WadiError *error);
/* Pressure and viscosity of liquids without sand: flip_solve_viscous.c. */
WadiStatus wadi_flip_solve_viscous(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* Pressure, and for sand friction between two pressure solves: flip_solve.c, flip_solve_sand.c. */
WadiStatus wadi_flip_solve(WadiFlip *flip, WadiFlipStep *step, WadiError *error);
WadiStatus wadi_flip_solve_sand(WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* The same for sand with `friction: zb05`: flip_solve_zb05.c. */
WadiStatus wadi_flip_solve_zb05(WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* A step with `published`, room papers: the cells with particles whose centre is not inside a solid; the
 * prescribed divergence; pressure, friction and the velocities outside the material; the paths. */
static inline WadiFlipPublished wadi_flip_published(const WadiFlip *flip)
{
    return wadi_flip_def(flip->context.world->scene)->published;
}
void wadi_flip_label_published(const WadiFlipStep *step, const uint8_t *occupied, uint8_t *filled);
WadiStatus wadi_flip_density_published(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
WadiStatus wadi_flip_solve_published(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
WadiStatus wadi_flip_move_published(const WadiFlip *flip, const WadiFlipStep *step, WadiCollideReport *moved,
                                    WadiError *error);
/* Forces on solids, after the solves: loads/flip_loads.c. friction NULL: of the pressure alone. */
WadiStatus wadi_flip_add_loads(WadiFlip *flip, const WadiFlipStep *step, const WadiFriction *friction,
                               WadiError *error);
/* Velocities of the faces that the solve did not determine: flip_extend_step.c. */
WadiStatus wadi_flip_extend_velocity(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* Take off what changes the momentum of small bodies along walls: flip_small_bodies.c. */
WadiStatus wadi_flip_balance_small_bodies(const WadiFlip *flip, const WadiFlipStep *step, WadiError *error);
/* New velocities and positions of the particles: flip_move_step.c. */
WadiStatus wadi_flip_move_particles(WadiFlip *flip, WadiFlipStep *step, WadiCollideReport *moved,
                                    WadiError *error);

/* Pressure and yield state as columns of the particles, for frames (flip_attributes.c). Sorting may skip
 * the columns where it does not mix sleeping and awake particles. */
WadiStatus wadi_flip_attributes_add(WadiFlip *flip, WadiError *error);
void wadi_flip_attributes_skip_in_sort(const WadiFlip *flip, bool are_skipped);
/* Choose the tiles whose attributes are updated in this step, cells.is_shown; then write the values. */
WadiStatus wadi_flip_attributes_begin(WadiFlip *flip, WadiFlipStep *step, WadiError *error);
void wadi_flip_write_attributes(const WadiFlip *flip, const WadiFlipStep *step);

/* Bonds of cohesive sand, bonds/flip_bonds.c. The column of the particles, if the scene has such sand; the
 * masses of faces, before their scope is closed; after the labels the means of cells; after the solve bonds
 * break and heal. */
bool wadi_flip_is_cohesive(const WadiMaterial *material);
WadiStatus wadi_flip_bonds_add(WadiFlip *flip, WadiError *error);
WadiStatus wadi_flip_save_face_fraction(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
WadiStatus wadi_flip_find_bonds(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* After the first projection: open the sides at which a wall pulls by more than the weight of a cell. */
bool wadi_flip_lift_pulled(const WadiFlip *flip, WadiFlipStep *step, const WadiFriction *friction);
void wadi_flip_update_bonds(const WadiFlip *flip, WadiFlipStep *step, const WadiFriction *friction,
                            const WadiFrictionLoad *load);

/* Sleeping cells in a step, flip_sleeping_cells.c. Before the labels: the occupied cells, awake or asleep. */
WadiStatus wadi_flip_find_sleeping(const WadiFlip *flip, WadiFlipStep *step, const uint8_t **occupied,
                                   WadiError *error);
/* After the labels: sleeping cells are no pressure cells. */
WadiStatus wadi_flip_exclude_sleeping(const WadiFlip *flip, WadiFlipStep *step, WadiError *error);
/* After the friction set-up and before the pressure: their faces are closed. */
void wadi_flip_close_sleeping(WadiFlipStep *step);
/* After the solves: their faces have velocity 0. */
void wadi_flip_stop_sleeping(WadiFlipStep *step);
/* Mark tiles to be woken because their load changed too much. */
void wadi_flip_check_sleeping(WadiFlip *flip, const WadiFlipStep *step, const WadiFriction *friction);

/* Mean of a property of the materials over the particles of each cell, or over its neighbours if it has
 * none. *mean is in the step's arena (flip_material_mean.c). */
WadiStatus wadi_flip_material_mean(const WadiFlip *flip, const WadiFlipStep *step, const float *of_material,
                                   float **mean, WadiError *error);

/* Common to all solves: the projection of a step, whose input may be changed before it is made, and the
 * bounds of friction. */
WadiFlipProjectIn wadi_flip_projection(const WadiFlip *flip, const WadiFlipStep *step);
WadiStatus wadi_flip_make_projection(const WadiFlip *flip, WadiFlipStep *step, const WadiFlipProjectIn *in,
                                     WadiFlipProjector **projector, WadiFlipProjectOut *out,
                                     WadiError *error);
/* Project the velocities of the step; is_last: no other projection follows. */
WadiStatus wadi_flip_project_step(const WadiFlip *flip, WadiFlipStep *step, bool is_last,
                                  WadiFlipProjector **projector, WadiError *error);
/* Gravity times force_dt, m/s. */
double wadi_flip_gravity_step(const WadiFlip *flip, const WadiFlipStep *step);
/* `grain`: array for wadi_flip_grain_pressure; NULL without water. */
WadiStatus wadi_flip_friction_load(const WadiFlip *flip, const WadiFlipStep *step, WadiFrictionLoad *load,
                                   double **grain, WadiError *error);

#endif
