/* The sph solver: sand and water as smoothed particles [LD09]. */
#ifndef WADI_SPH_SPH_H
#define WADI_SPH_SPH_H

#include "matter/materials.h"
#include "matter/yield.h"
#include "sleep/sleep_loads.h"
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
    int shift_column; /* of the shift of over-dense water: its P dt / dx in the last step. With water only */
    /* Pa: the stress (xx, yy, xy, yz, zx), and the first of three columns of that of walls. */
    int stress_column[WADI_SPH_STRESSES], wall_column;
    int bonds_column; /* 1: the bonds of a particle are broken; -1: no sand has any */
    /* Eigenvalues of the operators of pressure and friction, measured every few steps; 0: not yet. */
    double largest, largest_friction;
    /* Water in sand: its mass; the saturation and the pressure in pores (Pa), which are shown. */
    bool has_pores;
    int water_column, wetness_column, pore_column, film_column;
    int spawned_material; /* that water becomes which leaves saturated sand; -1: none */
    WadiSphLattice lattice;
    /* Particles of different sizes: volume (double, over that of the finest particle, whole quanta; -1: all
     * are 1), radius (m, shown), and the passes in a row that requested an event. */
    int volume_column, radius_column, requests_column;
    WadiSphLedger ledger; /* of all splits and merges */
    int64_t steps;
    WadiSleep sleep;
    WadiSleepLoads sleep_loads; /* forces on solids, by tile */
    double sound_speed;         /* m/s, of `pressure: tait`; never falls */
    double stiffness; /* the largest 2 mu p / (rho g dx) of the last steps, sizes 1; sph_pressure_dt.c */
} WadiSph;

/* Lifetimes of scratch memory within a step; sph_step.c opens and closes them. */
typedef enum WadiSphScope {
    WADI_SPH_SCOPE_STEP,   /* all of it */
    WADI_SPH_SCOPE_FORCES, /* sums over pairs and images in walls, up to the end of the solves */
    WADI_SPH_SCOPE_SOLVE,  /* pressure and friction */
    WADI_SPH_SCOPES
} WadiSphScope;

/* Of the pressure solves; lifetime: WADI_SPH_SCOPE_SOLVE. */
typedef struct WadiSphSolve {
    WadiSphCoarse coarse;
    float *inverse;   /* 1 over the diagonal of the pressure's operator */
    uint8_t *is_idle; /* 1: has no pressure and no neighbour that may have one */
    WadiF4 *v_star;   /* velocity without pressure: forces, and friction in a scene with sand */
    float *source;    /* m/s: how fast particles may become denser */
    float *laplacian; /* of the pressure */
    float *carried;   /* the same of a pressure that only carries the weight */
    float *tension;   /* m/s: P is at least -tension; 0 but for bonded sand away from walls */
    uint8_t *is_bonded;
    float *chord; /* m/s: rate at which straight paths make rotating sand less dense */
} WadiSphSolve;

/* Of friction in a scene with sand; lifetime: WADI_SPH_SCOPE_SOLVE. */
typedef struct WadiSphSand {
    WadiSphFriction friction;  /* stresses and tractions, m/s */
    WadiSphMoment *moment;     /* of the neighbours */
    WadiSphStrain *chord;      /* what straight paths add to the strain rate of a rotation */
    float *slope;              /* k */
    float *cohesion, *tension; /* m/s, of the bonds */
    float *mean_pressure;      /* P that bounds the stress, m/s */
    float *bound;              /* of the stress, m/s */
    WadiF4 *v_forces;          /* velocity with forces only */
    WadiF4 *v_pressure;        /* velocity with forces and pressure, without friction */
    bool has_bonds;            /* of an active particle */
} WadiSphSand;

/* Part of the tolerance of the solves in a step with bonded sand: a residual of the strain rate adds up
 * there, while loose sand yields and water flows. */
#define WADI_SPH_BONDED_TOLERANCE 0.1

/* Where water is less dense than at rest by more than this, particles may approach. Less is noise: if it were
 * allowed, all of a tank at rest would sink a little in each step and be lifted again by the shift. */
#define WADI_SPH_UNDER_DENSE 0.03
/* Denser by more than this is no noise but material that was added: its velocities part as well. A shift
 * alone moves too little at once, and what an emitter pours under water would stay on one spot. Viscosity
 * damps the noise: thick liquids part at less. */
#define WADI_SPH_OVER_DENSE 0.1

/* The power method, which finds the largest eigenvalue of a solve from below: iterations, and steps until
 * the next measurement. */
enum { WADI_SPH_POWER = 30, WADI_SPH_POWER_STEPS = 200 };
#define WADI_SPH_POWER_MARGIN 1.1 /* for what the power method has not found yet */

/* What walls add to the momentum of the particles, but for the pressure: per contact, m/s times the mass over
 * that of a particle of the density of reference. */
typedef struct WadiSphLoads {
    WadiF4 *adhesion, *drag;
} WadiSphLoads;

/* What the stages of a step pass on; arrays have an item a particle of the sort. */
typedef struct WadiSphStep {
    double time, dt;
    WadiArenaMark scope[WADI_SPH_SCOPES];
    WadiTileSort sort;       /* with copies of sleeping particles */
    WadiTileSort awake_sort; /* without; its order is not that of the particles any more if there are some */
    int32_t copies;          /* of sleeping particles, from an id on: ghosts */
    uint32_t first_copy_id;
    int32_t count;
    uint8_t *role; /* WadiSphRole */
    uint8_t *is_sand;
    bool has_pores;         /* as that of the solver */
    bool has_sizes;         /* particles have different sizes; else all sizes and rest volumes are 1 */
    float *size;            /* spacings */
    double *rest_volume;    /* of a full particle of this size, over that of size 1 */
    float *volume;          /* the same of the particle as full as it is */
    float *inverse_density; /* volume over mass, over that of the first material */
    WadiSphWalls walls;
    WadiSphLoads loads;
    WadiSphPairs pairs;
    float *density; /* over that at rest */
    WadiF4 *velocity;
    float *pressure; /* P = p dt / (rho dx), m/s */
    WadiF4 *shift;   /* m/s: added to the velocity in the move alone */
    WadiSphSolve solve;
    WadiSphSand sand;
    /* 1/s: how fast the saturation of sand changes, or would with the ghosts beside it; INFINITY: it
     * dries. */
    float *seep;
    float *pore_pressure; /* Pa, at the start of the step. Friction counts the rest of the pressure */
    float *viscosity;     /* dt mu / (rho dx^2) */
    float thickest;       /* the largest of these */
    uint8_t *is_removed;  /* per particle of the store: vanished water */
    int32_t removed;
    struct WadiSphSpawn *spawns;
    int32_t spawn_count;
    int pressure_solves, pressure_iterations, shift_iterations;
    int friction_solves, friction_iterations;
} WadiSphStep;

static inline bool wadi_sph_is_published(const WadiSph *sph)
{
    return wadi_sph_def(sph->context.world->scene)->published != WADI_SPH_PUBLISHED_NONE;
}

static inline bool wadi_sph_knows_eigenvalue(const WadiSph *sph, double largest)
{
    return largest > 0.0 && sph->steps % WADI_SPH_POWER_STEPS != 0;
}

/* sph_solver.c: the longest step that settings allow, s, however slow the particles are. */
double wadi_sph_longest_step(const WadiSph *sph);
/* m/s: what a solve may leave, a part of what gravity adds in that step. */
double wadi_sph_tolerance(const WadiSph *sph);
/* sph_check.c: in the checking build, after the stage `stage`: fails with its name at the first value of the
 * step or of the particles that is not finite. */
WadiStatus wadi_sph_check_stage(const WadiSph *sph, const WadiSphStep *step, const char *stage,
                                WadiError *error);
/* sph_step.c */
WadiStatus wadi_sph_take_step(void *solver, const WadiSolverStep *now, WadiStepReport *report,
                              WadiError *error);
/* sph_sleep_step.c: the sort of the awake particles, with copies of the sleeping ones beside them; flags of
 * these; loads on sleeping tiles, once pressures are known; what moved, for sleep; the end of the copies. */
WadiStatus wadi_sph_sort_awake(WadiSph *sph, WadiSphStep *step, WadiError *error);
void wadi_sph_find_ghosts(const WadiSph *sph, const WadiSphStep *step);
WadiStatus wadi_sph_check_loads(WadiSph *sph, const WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_watch(WadiSph *sph, const WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_remove_copies(const WadiSph *sph, const WadiSphStep *step, WadiError *error);
/* sph_overfull.c: a list with room for all tiles; bodies without a surface that are denser than at rest. */
WadiStatus wadi_sph_begin_overfull(const WadiSph *sph, const WadiSphStep *step, WadiOverfullList *overfull,
                                   WadiError *error);
WadiStatus wadi_sph_find_overfull(const WadiSph *sph, const WadiSphStep *step, WadiOverfullList *overfull,
                                  WadiError *error);
/* sph_forces.c: particles' velocities with the forces of the step, v*. */
WadiStatus wadi_sph_add_forces(const WadiSph *sph, WadiSphStep *step);
/* sph_tension_step.c: the longest step, the speed of ripples as long as a spacing, and the stage. */
double wadi_sph_tension_largest_dt(const WadiSph *sph, double time);
double wadi_sph_tension_speed(const WadiSph *sph, double time);
WadiStatus wadi_sph_apply_tension(const WadiSph *sph, WadiSphStep *step, WadiError *error);
/* sph_viscosity_step.c: step->viscosity; the velocities after it; the same from a guess and into it. */
WadiStatus wadi_sph_find_viscosity(const WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_apply_viscosity(const WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_solve_viscosity(const WadiSph *sph, WadiSphStep *step, WadiF4 *velocity,
                                    WadiError *error);
/* Viscosity over c dx that damps sound: alpha h / 10 with alpha = 0.1, h = 2 dx [BT07]. */
#define WADI_SPH_SOUND_VISCOSITY 0.02
/* sph_solve_tait.c: the speed of sound, m/s, the longest step with it, and the stage instead of the pressure
 * solve. */
double wadi_sph_sound_speed(const WadiSph *sph, double time);
double wadi_sph_sound_step(const WadiSph *sph, double time);
WadiStatus wadi_sph_solve_tait(WadiSph *sph, WadiSphStep *step, WadiError *error);
/* papers/sph_step_published.c: the same for the published methods, whose forces and porous flow it has,
 * too; the longest step that these allow, s. */
WadiStatus wadi_sph_solve_published(WadiSph *sph, WadiSphStep *step, WadiError *error);
double wadi_sph_published_largest_dt(const WadiSph *sph, double time);
/* sph_solve_water.c, viscous/sph_solve_viscous.c, sph_solve_sand.c: the solves of pressure
 * and friction, from velocities with the forces of the step to those of its end. */
WadiStatus wadi_sph_solve_water(WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_solve_viscous(WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_solve_sand(WadiSph *sph, WadiSphStep *step, WadiError *error);
/* sph_pressure_step.c: the arrays of the solves; v* from the velocities; these with the forces of a guess;
 * those without compression, and the pressure that they need. */
WadiStatus wadi_sph_begin_pressure(WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_save_v_star(WadiSphStep *step);
WadiStatus wadi_sph_add_pressure(const WadiSph *sph, WadiSphStep *step, const float *pressure);
WadiStatus wadi_sph_solve_pressure(WadiSph *sph, WadiSphStep *step, float *pressure, WadiError *error);
/* What the solves of pressure and shift have in common. */
WadiSphPressureIn wadi_sph_pressure_in(const WadiSph *sph, const WadiSphStep *step);
/* sph_shift_step.c: the shift that parts over-dense water and lets water of different sizes lie evenly. */
WadiStatus wadi_sph_solve_shift(const WadiSph *sph, WadiSphStep *step, WadiError *error);
/* bonds/sph_bonds.c: the column of bonds; the yield law of each particle, with the tension that its bonds
 * bear; where bonds break and heal, after the solves. */
WadiStatus wadi_sph_add_bonds_column(WadiSph *sph, WadiError *error);
void wadi_sph_find_strength(WadiSph *sph, WadiSphStep *step);
void wadi_sph_update_bonds(const WadiSph *sph, const WadiSphStep *step);
/* sph_friction_step.c: the columns of stress; the arrays of friction, with the moments of the neighbours; the
 * stages of sph_solve_sand.c. */
WadiStatus wadi_sph_add_friction_columns(WadiSph *sph, WadiError *error);
WadiStatus wadi_sph_make_sand(WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiSphFrictionIn wadi_sph_friction_in(const WadiSph *sph, const WadiSphStep *step);
WadiStatus wadi_sph_measure_friction(WadiSph *sph, const WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_begin_friction(WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_add_last_friction(const WadiSph *sph, WadiSphStep *step);
WadiStatus wadi_sph_solve_friction(WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_store_stresses(const WadiSph *sph, const WadiSphStep *step);
/* sand.bound, k P + c in m/s, of sand.mean_pressure. */
void wadi_sph_find_bounds(const WadiSph *sph, const WadiSphStep *step);
/* loads/sph_loads.c: the forces on solids. Their arrays, once contacts are known; those of the solves; those
 * that the move adds, and the sums over the step. */
WadiStatus wadi_sph_begin_loads(const WadiSph *sph, WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_add_loads(WadiSph *sph, const WadiSphStep *step, WadiError *error);
WadiStatus wadi_sph_end_loads(WadiSph *sph, const WadiSphStep *step, WadiError *error);
/* sph_move.c: velocities and pressures to the particles, and the particles to their next positions. */
WadiStatus wadi_sph_move(WadiSph *sph, const WadiSphStep *step, WadiStepReport *report, WadiError *error);
/* sph_pressure_dt.c: the longest step in which particles under pressure are stable, s, and what it is made
 * of. */
double wadi_sph_pressure_limited_dt(const WadiSph *sph, double time);
/* By material, in units of the time sqrt(dx / g). */
typedef struct WadiSphStiffness {
    float per_pascal[WADI_MATERIALS_MAX]; /* w^2 of size 1 over the pressure */
    float viscous[WADI_MATERIALS_MAX];    /* lambda over the step, of size 1; 0: not thick */
    float most[WADI_MATERIALS_MAX];       /* Pa: a higher pressure counts as this */
} WadiSphStiffness;
WadiStatus wadi_sph_find_stiffness(const WadiSph *sph, double time, WadiSphStiffness *out, WadiError *error);
/* 1 / dt^2, dt the longest step of a particle. */
float wadi_sph_stiffness_of(const WadiSphStiffness *of, int material, float pressure, float size);
WadiStatus wadi_sph_watch_pressure(WadiSph *sph, double time, double stiffness, WadiError *error);
/* sph_porous_step.c: whether water can enter sand in a scene; the columns for it. */
bool wadi_sph_has_pores(const WadiScene *scene);
WadiStatus wadi_sph_porous_create(WadiSph *sph, WadiError *error);
/* Pa s: of the water in pores, at least that of water. */
double wadi_sph_water_viscosity(const WadiSph *sph, double time);
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
WadiStatus wadi_sph_add_wall_adhesion(const WadiSph *sph, WadiSphStep *step);
/* Water flows between particles; those of water that vanish are marked and, after the move, removed. */
WadiStatus wadi_sph_flow_in_pores(const WadiSph *sph, WadiSphStep *step, WadiStepReport *report,
                                  WadiError *error);
/* sph_adapt_step.c: particles of different sizes. Their columns; those of new particles; the smallest size
 * of a run, spacings; splits and merges after a step. */
WadiStatus wadi_sph_adapt_create(WadiSph *sph, WadiError *error);
void wadi_sph_adapt_born(void *solver, int32_t first);
double wadi_sph_smallest_size(const WadiSph *sph);
/* Before the first step: bodies are resampled to their target sizes. */
WadiStatus wadi_sph_adapt_bodies(WadiSph *sph, double time, WadiError *error);
WadiStatus wadi_sph_adapt(WadiSph *sph, double time, WadiError *error);
void wadi_sph_report_resampling(const void *solver, WadiResampling *out);
WadiStatus wadi_sph_adapt_save(const WadiSph *sph, WadiState *state, WadiError *error);
WadiStatus wadi_sph_adapt_load(WadiSph *sph, const WadiState *state, WadiError *error);
/* sph_porous_spawn.c: water on saturated sand that is enough for a particle; where it appears. */
WadiStatus wadi_sph_find_spawns(const WadiSph *sph, WadiSphStep *step, WadiError *error);
/* After the move: adds the particles of water that leave sand, removes those that vanished. */
WadiStatus wadi_sph_spawn_and_remove(const WadiSph *sph, WadiSphStep *step, WadiError *error);

#endif
