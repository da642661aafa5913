/* The dem solver: sand as grains in contact [ZY10; theory 13].
 *
 * Grains are in the order of the list, which is that of the store; a list serves many steps. Between two
 * lists the solver works on its own arrays and copies positions, velocities, angular velocities and radii to
 * the store after each step. A list is made anew when a grain has used up its skin, when grains were
 * removed, some steps after grains were born, and at the first step of every frame, so that the checkpoint of
 * a frame needs no list. One from inside a frame has it. */
#ifndef WADI_DEM_DEM_H
#define WADI_DEM_DEM_H

#include "dem/bodies/dem_bodies.h"
#include "dem/dem_field.h"
#include "dem/dem_settings.h"
#include "dem/dem_surface.h"
#include "dem/list/dem_list.h"
#include "dem/list/dem_search.h"
#include "dem/list/dem_skins.h"
#include "dem/rest/dem_sleeping_contacts.h"
#include "dem/walls/dem_walls.h"
#include "matter/materials.h"
#include "sleep/sleep.h"
#include "world/solver.h"

/* A random packing that repeats along all axes; an emitter's grains are born where those of a plug that moves
 * with its velocity are. Made by the first emission. */
typedef struct WadiDemPlug {
    int32_t count;
    double period; /* m */
    WadiVec3 *centre;
    double (*turn)[4];
    uint8_t *size; /* as the column of sizes */
    WadiArena memory;
} WadiDemPlug;

typedef struct WadiDem {
    WadiSolverContext context;
    WadiDemSurface *surface; /* of mode `surface_flow`; else NULL */
    WadiDemField *field;     /* of mode `height_field`, which has no contacts; else NULL */
    WadiMaterials materials;
    int spheres_each; /* of a grain: the particles are spheres */
    double diameter;  /* m, mean of the spheres */
    double spacing;   /* m, of spheres: the cubic root of the bulk volume of one */
    double unit_time; /* s: sqrt(diameter / g) */
    double depth;     /* m, of the deepest sand that is expected */
    /* Of the contact law. */
    double stiffness, damping;
    double rupture; /* m: of bridges between moist grains; 0: all are dry */
    float damping_of[WADI_DEM_DAMPINGS];
    WadiDemImpact slowest;   /* the collision of the smallest grains that bounds steps at rest */
    bool has_rough_surfaces; /* as WadiDemWallForces.has_rough_surfaces */
    float friction[WADI_MATERIALS_MAX], rolling_friction[WADI_MATERIALS_MAX];
    float density[WADI_MATERIALS_MAX]; /* kg/m^3, of a grain */
    /* Columns: radius (m, shown), angular velocity (1/s, the first of three), 1 + number in the list. */
    int radius_column, angular_velocity_column, list_index_column;
    int size_column;  /* radius of a grown sphere as a class from 1 to 255: wadi_dem_radius_of_class */
    int grain_column; /* where grains are bodies of several spheres; else -1 */

    /* The list and what belongs to it, per grain of the list. */
    WadiDemList list;
    WadiDemWalls walls;
    WadiDemCover cover;   /* spheres on the colliders; none where these are smooth */
    WadiDemBodies bodies; /* none where grains are single spheres */
    WadiDemGrains grains;
    size_t shift_capacity, mark_capacity, motion_capacity, bridge_capacity, grip_capacity, load_capacity;
    double (*base)[3]; /* m: position when the list was made; NULL where grains are single spheres */
    float *mass;       /* kg */
    size_t base_capacity, mass_capacity, grown_radius_capacity, skin_capacity;
    bool is_stale;      /* the list is made before the next step */
    bool is_near_stale; /* near pairs are chosen before the next step */
    int steps_since_list;
    int32_t known;       /* grains of the store at the end of the last step, and those born since */
    uint8_t *is_deep;    /* per grain, in the step's scratch: its centre is near the surface of a solid */
    bool has_growing;    /* grains that are smaller than they will be */
    double fastest;      /* m/s, largest speed in the last step */
    double fastest_born; /* m/s, of the grains born since the list was made */
    WadiDemPlug plug;
    WadiSleep sleep;
    WadiDemSleepingContacts sleeping;
    WadiArena asleep_memory;
    WadiDemAsleep asleep;
    bool is_set_changed; /* other grains sleep than in the list */
    double checked_at;   /* s: last decision on sleep */
    double listed_at;    /* s: when the list was made */
    double lifetime;     /* s: for which it has the solids that move */
    double now;          /* s: end of the last step */
    double last_dt;      /* s: of the last step in which grains moved by contacts; 0: none */
    /* After a load, until the next step: wadi_dem_tile_loads of the checkpoint. */
    bool has_saved_loads;
    double (*tile_load)[4];
    size_t tile_load_capacity;
    WadiSolidLoad *sleeping_load; /* forces of sleeping grains on solids, N */
    size_t sleeping_load_capacity;
    bool is_sleeping_load_known;
    bool is_world_new; /* a load is from another scene: its list is made anew */
} WadiDem;

typedef struct WadiDemStep {
    double time, dt;
    double last_dt; /* s: of the step before, to the middle of which velocities belong */
    double kick;    /* s: from the middle of that step to the middle of this one */
    bool ends_frame;
} WadiDemStep;

/* dem_grains.c: radius of a sphere of the store when it is as large as it will be, m, and its mass, kg. */
double wadi_dem_radius_of(const WadiDem *dem, int64_t i);
double wadi_dem_mass_of(const WadiDem *dem, int64_t i);
double wadi_dem_radius_of_class(const WadiDem *dem, int size);
int wadi_dem_random_class(const WadiDem *dem, uint32_t grain);
/* Per particle of the store: spheres with the same number are of one grain. */
static inline const uint32_t *wadi_dem_grain_ids(const WadiDem *dem)
{
    const WadiParticles *p = dem->context.particles;
    return dem->grain_column >= 0 ? wadi_particles_column(p, dem->grain_column) : p->id;
}
/* dem_birth.c: WadiSolverType.born. */
void wadi_dem_born(void *solver, int32_t first);
/* dem_birth.c: WadiSolverType.pack. */
WadiStatus wadi_dem_pack_bodies(void *solver, int32_t first, WadiError *error);
/* Places the spheres of a grain, the first of which is particle i and the others each `stride` farther. */
void wadi_dem_place_spheres(const WadiDem *dem, int32_t i, int32_t stride, WadiVec3 centre,
                            const double turn[4]);
/* Radii and speeds of the particles from `first` on, which were just born with their sizes. */
void wadi_dem_count_born(WadiDem *dem, int32_t first);
/* dem_emit.c: WadiSolverType.emit. */
WadiStatus wadi_dem_emit(void *solver, const WadiEmitIn *in, const WadiSolverStep *now, WadiEmitState *state,
                         double *refused, WadiError *error);
/* Constants of the contact law from the scene. */
void wadi_dem_set_law(WadiDem *dem);
/* friction and rolling_friction at a time. */
void wadi_dem_set_friction(WadiDem *dem, double time);
/* Bridges of water between two grains of a material, N: their largest pull, and what friction counts besides
 * the normal force. */
typedef struct WadiDemBridge {
    double pull, grip;
} WadiDemBridge;
WadiDemBridge wadi_dem_bridge_of(const WadiDem *dem, int material, double saturation, double time);
/* Largest stable step, s. */
double wadi_dem_contact_step(const WadiDem *dem, double speed);
/* dem_step_full.c, dem_step_surface.c: a step of the mode; that of `height_field` is in dem_field_step.c. */
WadiStatus wadi_dem_step_full(WadiDem *dem, const WadiSolverStep *now, WadiStepReport *report,
                              WadiError *error);
WadiStatus wadi_dem_step_surface(WadiDem *dem, const WadiSolverStep *now, WadiStepReport *report,
                                 WadiError *error);
/* published/dem_step_zy10.c */
WadiStatus wadi_dem_step_zy10(WadiDem *dem, const WadiSolverStep *now, WadiStepReport *report,
                              WadiError *error);
/* dem_contact_stages.c. false: there are no grains, and the step is done. */
bool wadi_dem_begin_step(WadiDem *dem, const WadiSolverStep *now, WadiDemStep *step);
/* Reports the sleeping grains. true: all sleep, and the step is done. */
bool wadi_dem_is_all_asleep(WadiDem *dem, WadiStepReport *report);
/* Forces of contacts and walls, then motion. */
WadiStatus wadi_dem_move_by_contacts(WadiDem *dem, const WadiDemStep *step, WadiError *error);
/* dem_rest.c: which grains sleep. */
WadiStatus wadi_dem_rest(WadiDem *dem, const WadiDemStep *step, WadiError *error);
/* Forces of the last step on the grains of each sleeping tile, N, and numbers of contacts; whether there are
 * any. */
bool wadi_dem_has_tile_loads(const WadiDem *dem);
void wadi_dem_tile_loads(const WadiDem *dem, double (*sum)[4]);
/* dem_rebuild_list.c: sorts the grains and makes the list, if it is needed. */
WadiStatus wadi_dem_rebuild_list(WadiDem *dem, const WadiDemStep *step, WadiError *error);
/* m: of a grain of this scene. */
double wadi_dem_largest_radius(const WadiDem *dem);
/* Memory for the grains of the list, `count` in all; that of loads has room for `slots` of the halo. */
WadiStatus wadi_dem_renew_grains(WadiDem *dem, int32_t count, int32_t slots, WadiError *error);
/* Bodies of the grains of the list, the first `count` of the store. */
WadiStatus wadi_dem_make_bodies(WadiDem *dem, int32_t count, WadiError *error);
/* dem_move.c: velocities and positions from the loads; to the store. */
WadiStatus wadi_dem_move(WadiDem *dem, const WadiDemStep *step, WadiError *error);
/* dem_guard.c: solids stop the centres of grains, should the contacts fail to. Whether that may be needed for
 * grain i, which moved by `way` in the step and has used `used` of its skin since the list; grain i, which
 * was at x0; a body, which was `before`. */
bool wadi_dem_guard_is_needed(const WadiDem *dem, int64_t i, double way, double used);
void wadi_dem_guard_sphere(const WadiDem *dem, const WadiDemStep *step, int64_t i, WadiVec3 x0);
void wadi_dem_guard_body(const WadiDem *dem, const WadiDemStep *step, WadiDemBody *body,
                         const WadiDemBody *before);
/* Moves the grains that are not in the list yet. true: solids stop some that are bodies, so that all these
 * grains stay until they are in a list. */
bool wadi_dem_guard_flight(const WadiDem *dem, const WadiDemStep *step);
/* dem_state.c */
WadiStatus wadi_dem_save(const void *solver, WadiState *state, WadiError *error);
WadiStatus wadi_dem_load(void *solver, const WadiState *state, WadiError *error);

#endif
