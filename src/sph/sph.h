/* The sph solver: sand and water as smoothed particles [LD09]. */
#ifndef WADI_SPH_SPH_H
#define WADI_SPH_SPH_H

#include "matter/materials.h"
#include "matter/yield.h"
#include "sleep/sleep_pools.h"
#include "sph/adapt/sph_resample.h"
#include "sph/friction/sph_friction.h"
#include "sph/porous/sph_porous.h"
#include "sph/pressure/sph_pressure.h"
#include "sph/sph_settings.h"
#include "world/solver.h"

typedef struct WadiSph {
    WadiSolverContext context;
    WadiMaterials materials;
    WadiSphKernel kernel;
    double spacing;      /* m: dx */
    double unit_time;    /* s: sqrt(dx / g) */
    int pressure_column; /* Pa; shown */
    int shift_column;    /* of the shift of crowded water: its P dt / dx in the last step. With water only */
    /* Pa: the stress (xx, yy, xy, yz, zx), and the first of three columns of that of walls. */
    int stress_column[WADI_SPH_STRESSES], wall_column;
    /* Eigenvalues of the operators of pressure and friction, measured every few steps; 0: not yet. */
    double largest, largest_friction;
    /* Water in sand: its mass; the saturation and the pressure in pores (Pa), which are shown. */
    bool has_pores;
    int water_column, wetness_column, pore_column, film_column;
    int spawned_material; /* that water becomes which leaves saturated sand; -1: none */
    WadiSphLattice lattice;
    /* Particles of different sizes: volume (double, over that of the finest particle, whole quanta; -1: all
     * are 1), radius (m, shown), and how often in a row surveys asked for an event. */
    int volume_column, radius_column, asked_column;
    WadiSphLedger ledger; /* of all splits and merges */
    int64_t steps;
    int64_t measured, measured_friction; /* steps in which the eigenvalues were measured last */
    WadiSleep sleep;
    double sound_speed; /* m/s, of `pressure: tait`; never falls */
    double head;        /* spacings: of the pressure in the last steps */
} WadiSph;

/* What the stages of a step pass on; arrays have an item a particle of the sort. */
typedef struct WadiSphStep {
    double time, dt;
    bool ends_frame;
    WadiTileSort sort;       /* with copies of sleeping particles */
    WadiTileSort awake_sort; /* without; its order is not that of the particles any more if there are some */
    int32_t copies;          /* of sleeping particles, from an id on */
    uint32_t first_copy_id;
    const uint8_t *fixed; /* 1: such a copy, which has no neighbours and does not move; NULL: none */
    const uint8_t *waits; /* 1: calm sand that takes no part in this step and stays; NULL: none */
    const uint8_t *alone; /* 1: has no list of neighbours: copies, and what waits and is dry; NULL: none */
    int32_t count;
    uint8_t *is_sand;
    bool has_sizes;      /* particles have different sizes; else all sizes and rest volumes are 1 */
    float *size;         /* spacings */
    double *rest_volume; /* of a full particle of this size, over that of size 1 */
    float *volume;       /* the same of the particle as full as it is */
    float *lightness;    /* volume over mass, over that of the first material */
    WadiSphWalls walls;
    WadiSphPairs pairs;
    WadiSphCoarse coarse; /* of the pressure; sort NULL: not made yet */
    const float *inverse; /* 1 over the diagonal of the pressure's operator; NULL: not made yet */
    float *source;        /* m/s: how fast particles may become denser; NULL: not made yet */
    bool has_source;      /* else it has WadiSphPressureIn's `carried`, from which it is made */
    float *density;       /* over that at rest */
    WadiF4 *velocity;
    float *pressure; /* P = p dt / (rho dx), m/s */
    /* Of the pressure solve, in a scene with sand, else (x) NULL: v* where the velocities have the forces of
     * `pressure` already, and the numbers of WadiSphPressureIn that belong to these. */
    WadiSphColumns wanted;
    float *rough;
    /* 1/s: how fast the saturation of sand changes, or would with the fixed particles beside it; INFINITY: it
     * dries. NULL: no sand has pores. */
    float *seep;
    const float *pore;   /* Pa: pressure in the pores; NULL: none. Friction counts the rest */
    uint8_t *is_removed; /* per particle of the store: vanished water */
    int32_t removed;
    struct WadiSphSpawn *spawns;
    int32_t spawn_count;
    /* m/s: added to the velocity in the move alone. While it is solved in the memory of `velocity`, which is
     * in its columns then; after that it is there, until the move sets them. */
    WadiF4 *shift;
    bool has_shift;
    int pressure_solves, pressure_iterations, shift_iterations;
    int friction_solves, friction_iterations;
} WadiSphStep;

/* Whether particle i takes no part in the step and stays. */
static inline bool wadi_sph_does_wait(const WadiSphStep *step, int64_t i)
{
    return step->waits != NULL && step->waits[i] != 0;
}

/* The velocities of the particles of the step in the store: from the forces to the move they lie idle, and
 * hold what the stages put there. What waits has its velocity in `velocity` as well. */
static inline WadiSphColumns wadi_sph_velocity_columns(const WadiSph *sph, const WadiSphStep *step)
{
    const WadiParticles *p = sph->context.particles;
    const int32_t first = step->sort.first;
    return (WadiSphColumns){ p->vx + first, p->vy + first, p->vz + first };
}

/* sph_solver.c: the longest step that settings allow, s, however slow the particles are. */
double wadi_sph_longest_step(const WadiSph *sph);
/* sph_step.c */
WadiStatus wadi_sph_take_step(void *solver, const WadiSolverStep *now, WadiStepReport *report,
                              WadiError *error);
/* sph_sleep_step.c: the sort of the awake particles, with copies of the sleeping ones beside them; flags of
 * these; loads on sleeping tiles, once pressures are known; what moved, for sleep; the end of the copies. */
WadiStatus wadi_sph_sort_awake(WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_flag_fixed(const WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_check_loads(WadiSph *sph, const WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_watch(WadiSph *sph, const WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_remove_copies(const WadiSph *sph, const WadiSphStep *step, WadiError *error);
/* sph_calm.c: calm sand that waits in this step. After the walls are known. */
WadiStatus wadi_sph_find_calm(const WadiSph *sph, WadiSphStep *step, WadiError *error);
/* sph_pools.c: which tiles of water are at rest; the pools of the solver. */
WadiStatus wadi_sph_watch_pools(const WadiSph *sph, const WadiSphStep *step, uint8_t *is_slow, double *push,
                                WadiError *error);
WadiPools wadi_sph_pools(const WadiSph *sph);
/* sph_overfull.c: bodies without a surface that are denser than at rest; the list has room for all tiles. */
WadiStatus wadi_sph_find_overfull(const WadiSph *sph, const WadiSphStep *step, WadiOverfullList *overfull,
                                  WadiError *error);
/* sph_forces.c: particles' velocities with the forces of the step, v*. */
WadiStatus wadi_sph_add_forces(const WadiSph *sph, WadiSphStep *step, WadiError *error);
/* sph_tension_step.c: the longest step, the speed of ripples as long as a spacing, and the stage. */
double wadi_sph_tension_largest_dt(const WadiSph *sph, double time);
double wadi_sph_tension_speed(const WadiSph *sph, double time);
WadiStatus wadi_sph_apply_tension(const WadiSph *sph, WadiSphStep *step, WadiError *error);
/* sph_viscosity_step.c */
WadiStatus wadi_sph_apply_viscosity(const WadiSph *sph, WadiSphStep *step, WadiError *error);
/* sph_tait_step.c: the speed of sound, m/s, the longest step with it, and the stage instead of the pressure
 * solve. */
double wadi_sph_sound_speed(const WadiSph *sph, double time);
double wadi_sph_sound_step(const WadiSph *sph, double time);
WadiStatus wadi_sph_tait_pressure(WadiSph *sph, WadiSphStep *step);
/* sph_pressure_step.c: velocities with the pressure of the last step; those without compression; the shift
 * that parts crowded water. */
WadiStatus wadi_sph_apply_pressure(const WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_solve_pressure(WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_solve_shift(WadiSph *sph, WadiSphStep *step, WadiError *error);
/* sph_even_step.c: adds to the shift of water of different sizes what makes it lie evenly. */
void wadi_sph_even_out(const WadiSph *sph, const WadiSphStep *step, const WadiSphPressureIn *in);
/* sph_friction_step.c: the columns of stress; pressure and friction of a scene with sand. */
WadiStatus wadi_sph_add_friction_columns(WadiSph *sph, WadiError *error);
WadiStatus wadi_sph_solve_sand(WadiSph *sph, WadiSphStep *step, WadiError *error);
/* Per particle, k P + c in m/s: what bounds the stress. */
void wadi_sph_find_bounds(WadiSph *sph, WadiSphStep *step, float *bound);
/* sph_zb05_step.c: the same stages by LD09's rule. */
WadiStatus wadi_sph_solve_zb05(WadiSph *sph, WadiSphStep *step, WadiError *error);
/* sph_move.c: velocities and pressures to the particles, and the particles to their next positions. */
WadiStatus wadi_sph_move(const WadiSph *sph, const WadiSphStep *step, WadiStepReport *report,
                         WadiError *error);
/* sph_pressed.c: the longest step in which pressed particles are stable, s; their pressures after a step. */
double wadi_sph_pressed_dt(const WadiSph *sph, double time);
WadiStatus wadi_sph_watch_pressure(WadiSph *sph, double time, WadiError *error);
/* sph_porous_step.c: whether water can enter sand in a scene; the columns for it. */
bool wadi_sph_has_pores(const WadiScene *scene);
WadiStatus wadi_sph_porous_create(WadiSph *sph, WadiError *error);
/* Volumes of water, masses of wet sand. */
WadiStatus wadi_sph_wet(const WadiSph *sph, WadiSphStep *step);
/* The strength of sand as wet as it is, in a scene with pores. */
typedef struct WadiSphWetting {
    const WadiSph *sph;
    const WadiSphStep *step;
    const double *water;                 /* per particle of the sort */
    WadiYield yield[WADI_MATERIALS_MAX]; /* of dry sand */
    double cosine[WADI_MATERIALS_MAX];   /* of the friction angle */
    double per_pascal;                   /* unit of P a pascal */
} WadiSphWetting;

void wadi_sph_wetting_begin(WadiSphWetting *wetting, const WadiSph *sph, const WadiSphStep *step);
/* Slope k and cohesion c_k dt / (rho dx) of the yield law; 0 for water. */
void wadi_sph_wetting_strength(const WadiSphWetting *wetting, int64_t i, float *slope, float *cohesion);
/* Pa s, that of mud; 0 for water. */
float wadi_sph_wetting_viscosity(const WadiSphWetting *wetting, int64_t i);
/* The pull of walls on moist sand. */
WadiStatus wadi_sph_stick(const WadiSph *sph, WadiSphStep *step);
/* Water flows between particles; those of water that vanish are marked and, after the move, removed. */
WadiStatus wadi_sph_flow_in_pores(const WadiSph *sph, WadiSphStep *step, WadiStepReport *report,
                                  WadiError *error);
/* sph_adapt_step.c: particles of different sizes. Their columns; those of new particles; the smallest size
 * of a run, spacings; splits and merges after a step; the radii of the particles of a step. */
WadiStatus wadi_sph_adapt_create(WadiSph *sph, WadiError *error);
void wadi_sph_adapt_born(void *solver, int32_t first);
double wadi_sph_smallest_size(const WadiSph *sph);
/* Before the first step: bodies get the sizes that they ask for, at once. */
WadiStatus wadi_sph_adapt_bodies(WadiSph *sph, double time, WadiError *error);
WadiStatus wadi_sph_adapt(WadiSph *sph, const WadiSphStep *step, WadiError *error);
void wadi_sph_set_radii(const WadiSph *sph, int32_t first);
void wadi_sph_report_resampling(const void *solver, WadiResampling *out);
WadiStatus wadi_sph_adapt_save(const WadiSph *sph, WadiState *state, WadiError *error);
WadiStatus wadi_sph_adapt_load(WadiSph *sph, const WadiState *state, WadiError *error);
/* sph_porous_spawn.c: water on saturated sand that is enough for a particle; where it appears. */
WadiStatus wadi_sph_find_spawns(const WadiSph *sph, WadiSphStep *step, WadiError *error);
/* After the move: adds the particles of water that leave sand, removes those that vanished. */
WadiStatus wadi_sph_spawn_and_remove(const WadiSph *sph, WadiSphStep *step, WadiError *error);

#endif
