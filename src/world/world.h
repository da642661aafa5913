/* The world of a running scene: shapes, solids, materials and emitters, built once. Shared by all solvers. */
#ifndef WADI_WORLD_WORLD_H
#define WADI_WORLD_WORLD_H

#include "geom/solids.h"
#include "particles/emit.h"
#include "particles/seed.h"
#include "world/scene.h"

typedef struct WadiForce {
    const WadiForceDef *def;
    WadiShape *region; /* NULL: everywhere */
} WadiForce;

typedef struct WadiWorld {
    const WadiScene *scene; /* borrowed */
    WadiSolids solids;
    WadiShape **body_shapes;
    WadiShape **collider_shapes;
    WadiShape **emitter_shapes;
    WadiShape **drain_shapes;
    WadiForce *forces;
    WadiEmitIn *emitters;
    WadiDrainIn *drains;
    double cell_size;       /* m */
    double spacing;         /* m: mean distance of neighbouring seeds = cell_size / particles_per_axis */
    int particles_each;     /* that each seed becomes: WadiSolverType.particles_each */
    double particle_volume; /* m^3 = spacing^3 / particles_each */
} WadiWorld;

WadiStatus wadi_world_create(WadiWorld **world, const WadiScene *scene, const WadiLog *log, WadiError *error);
void wadi_world_destroy(WadiWorld *world);
/* Lets the shapes of a world that is made of `scene` share the meshes of `world`, which must live until then.
 * world NULL: not any more. */
void wadi_world_share_meshes(const WadiWorld *world, WadiScene *scene);

/* Seeds all bodies in scene order. */
WadiStatus wadi_world_seed(const WadiWorld *world, WadiParticles *particles, const WadiLog *log,
                           WadiError *error);
/* How a body of the scene is seeded at time 0, without regard to other bodies. */
WadiSeedIn wadi_world_seed_in(const WadiWorld *world, const WadiBodyDef *body, const WadiShape *shape);
/* Gives the particles from `first` on their water, where the solver has a column for it. */
void wadi_world_set_water(const WadiWorld *world, WadiParticles *particles, int32_t first, double saturation);
/* Estimates the number of seeded particles without seeding: a lower bound and a likely value. */
WadiStatus wadi_world_expect(const WadiWorld *world, double *least, double *likely, WadiError *error);
/* Counts the particles of seeding and of the emitters without creating them. Both functions warn about bodies
 * without particles. */
WadiStatus wadi_world_count(const WadiWorld *world, double duration, int64_t *seeded, int64_t *emitted,
                            const WadiLog *log, WadiError *error);

/* Particles that an emitter adds from 0 to `duration` without obstruction. */
double wadi_world_emitted(const WadiWorld *world, int emitter, double duration);

/* world_forces.c: change of the velocity of a particle in a step of dt that gravity and the forces at x and
 * `time` cause, m/s, and its displacement beyond v dt, m. Drag relaxes velocities exponentially, so that no
 * step is too long for it. */
typedef struct WadiKick {
    WadiVec3 velocity, displacement;
} WadiKick;
WadiKick wadi_world_kick(const WadiWorld *world, WadiVec3 x, WadiVec3 v, double time, double dt);
/* The mean acceleration in that step, m/s^2. */
WadiVec3 wadi_world_acceleration(const WadiWorld *world, WadiVec3 x, WadiVec3 v, double time, double dt);

/* Gravity and the uniform forces that act everywhere at `time`, m/s^2. */
WadiVec3 wadi_world_gravity(const WadiWorld *world, double time);

typedef struct WadiForceStep {
    int32_t first;   /* particles before it sleep */
    double time;     /* s, begin of the step */
    double dt;       /* s: no longer step is asked for */
    double speed;    /* m/s: largest now */
    double distance; /* m: that no particle may exceed */
} WadiForceStep;
/* The longest step, up to `dt`, with (speed + |a| dt) dt <= distance, where a is the largest acceleration by
 * gravity and forces at the particles. Counts forces and keys that begin during the step. */
double wadi_world_force_step(const WadiWorld *world, const WadiParticles *particles, const WadiForceStep *in);

/* world_steady.c: gravity and forces are the same at all times of [t0, t1]. */
bool wadi_world_forces_are_steady(const WadiWorld *world, double t0, double t1);
/* Gravity, forces, frictions and what else the materials have as curves are the same at all
 * times of [t0, t1]. */
bool wadi_world_is_steady(const WadiWorld *world, double t0, double t1);
/* A solid that comes within `radius` of x during [t0, t1] moves. */
bool wadi_world_disturbs(const WadiWorld *world, WadiVec3 x, double radius, double t0, double t1);
/* A bound on the speed of the solids within a finite box during [t0, t1], m/s; jumps do not count. */
double wadi_world_solid_speed(const WadiWorld *world, WadiBox box, double t0, double t1);
/* No emitter or drain can act during [t0, t1]. */
bool wadi_world_is_closed(const WadiWorld *world, double t0, double t1);

#endif
