/* Friction by a local stop rule and rigid groups (`friction: zb05`), for reproduction and comparison. The
 * rule compares a cell's inertia, not its load, so slopes never come to rest [theory 6.2, 6.12]: the
 * default is flip_friction.h, which also defines units, labels and free faces. Stages of a step after the
 * pressure projection:
 *   wadi_rigid_wall_friction   slip along solids
 *   wadi_rigid_classify        strain rates, and which FLUID cells are RIGID
 *   wadi_rigid_groups          face-connected RIGID cells
 *   wadi_rigid_project         each group moves as a rigid body, momenta conserved
 *   wadi_rigid_slide           frictional stress on all other faces */
#ifndef WADI_FLIP_RIGID_H
#define WADI_FLIP_RIGID_H

#include "flip/friction/flip_friction.h"
#include "math/vec3.h"

typedef struct WadiRigidLoad {
    const double *pressure; /* P per cell, velocity units; negative counts as 0 */
    const float *k;         /* yield slope, per cell */
    const float *cohesion;  /* NULL: none */
    /* Largest fraction of the stopping stress applied in one step: 1/(2d) is monotone, above 1/d the
     * shortest waves grow. */
    double sliding_fraction;
} WadiRigidLoad;

/* Strain rates times dx: deviatoric normal ones at the centres, shear on the low edges (0 on inactive
 * ones). */
typedef struct WadiRigidCells {
    float *rate[6];      /* xx, yy, zz, xy, xz, yz, per cell */
    float *stress_ratio; /* per cell: stress / strain rate, 0 outside FLUID */
    uint8_t *rigid;      /* per row: RIGID cells */
} WadiRigidCells;

typedef struct WadiRigidMotion {
    WadiVec3 centre, velocity, spin; /* cells, m/s, m/s per cell */
    double mass;                     /* cells */
} WadiRigidMotion;

typedef struct WadiRigidGroups {
    int32_t *group; /* per cell: its group, -1: none */
    int32_t count;
    int32_t *row; /* rows with a face of a group */
    int32_t row_count;
    /* Per cell: sides whose solid holds it by friction (WadiRigidWalls.held). A group with such a side moves
     * with the solid. NULL: groups are free. */
    const uint8_t *held;
} WadiRigidGroups;

/* The normal impulse at the wall that bounds friction: P+ of the FLUID cell, or the speed into the wall
 * before the projection [ZB05 eq. 4]. */
typedef struct WadiRigidWalls {
    const float *wall_friction; /* mu of solid cells */
    const double *pressure;     /* P per cell; NULL: use `before` */
    const float *const *before; /* u, v, w before the projection, without `pressure` */
    /* Out, per cell, zeroed by the caller: bit s set where friction at side s stopped all slip; NULL: not
     * wanted. */
    uint8_t *held;
} WadiRigidWalls;

WadiStatus wadi_rigid_wall_friction(const WadiFrictionGrid *grid, const WadiRigidWalls *walls,
                                    float *const velocity[3], WadiArena *arena, WadiError *error);

WadiStatus wadi_rigid_classify(const WadiFrictionGrid *grid, const float *const velocity[3],
                               const WadiRigidLoad *load, WadiRigidCells *cells, WadiArena *arena,
                               WadiError *error);

WadiStatus wadi_rigid_groups(const WadiRows *rows, const uint8_t *rigid, WadiRigidGroups *groups,
                             WadiArena *arena, WadiError *error);

/* Replace the velocities on the groups' free faces by the rigid motions nearest to them in the
 * mass-weighted norm; each FLUID cell adds half its mass to a face. *motion: one a group. */
WadiStatus wadi_rigid_project(const WadiFrictionGrid *grid, const WadiRigidGroups *groups,
                              float *const velocity[3], WadiRigidMotion **motion, WadiArena *arena,
                              WadiError *error);

/* Velocity that a rigid motion gives to the low face of a cell along an axis. */
double wadi_rigid_face_speed(const WadiRigidMotion *motion, const int32_t cell[3], int axis);

WadiStatus wadi_rigid_slide(const WadiFrictionGrid *grid, const WadiRigidCells *cells,
                            const WadiRigidGroups *groups, float *const velocity[3], WadiArena *arena,
                            WadiError *error);

#endif
