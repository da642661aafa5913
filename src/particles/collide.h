/* Continuous collision of particles with solids: nothing passes a wall of any thickness at any speed, and
 * particles at rest do not jitter. All solvers move their particles by it. */
#ifndef WADI_PARTICLES_COLLIDE_H
#define WADI_PARTICLES_COLLIDE_H

#include "geom/solids.h"
#include "particles/store.h"

typedef struct WadiCollideIn {
    const WadiSolids *solids;
    double t0, t1; /* s, t0 < t1 */
    double skin;   /* m: distance of particles at rest; small against a cell, e.g. 1e-3 of it */
} WadiCollideIn;

typedef struct WadiCollideOut {
    WadiVec3 x, v;
    int contacts; /* 0: the path was free */
    /* squeezed between solids: x is the best position found, outside of them if there is one */
    bool is_stuck;
} WadiCollideOut;

/* m/s^2. Gravity adds up to this times the step to the speed of an impact. An impact that would lose less
 * by bouncing does not bounce, or bouncing would never end. */
#define WADI_COLLIDE_REST_ACCELERATION 9.81

/* Move a particle with velocity v along the straight path from x0 to x1 during [t0, t1]. On contact the
 * normal part of the velocity relative to the solid is reversed times restitution, the tangential part
 * loses up to friction times that impulse (Coulomb, sticking included), and the remaining path follows the
 * new velocity. A particle inside a solid is pushed out first. Values that are not finite are returned
 * unchanged. */
WadiCollideOut wadi_collide_move(const WadiCollideIn *in, WadiVec3 x0, WadiVec3 x1, WadiVec3 v);

typedef struct WadiCollideReport {
    int64_t tested;  /* particles tested against the solids */
    int64_t touched; /* particles that had a contact */
    int64_t stuck;
} WadiCollideReport;

/* wadi_collide_move for particle i of a store; adds to the report. */
void wadi_collide_move_one(const WadiCollideIn *in, WadiParticles *particles, int32_t i, WadiVec3 x1,
                           WadiCollideReport *report);

/* The same for every particle, from its position to (x1, y1, z1)[i]; positions and
 * velocities are replaced. Particles away from solids cost one distance each. */
WadiCollideReport wadi_collide_move_all(const WadiCollideIn *in, WadiParticles *particles, const double *x1,
                                        const double *y1, const double *z1);

#endif
