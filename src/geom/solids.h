/* All solids of a world, colliders and the walls of the domain, as one distance from outside. */
#ifndef WADI_GEOM_SOLIDS_H
#define WADI_GEOM_SOLIDS_H

#include "geom/shape.h"

/* Bits of WadiSolids.closed_sides. */
enum {
    WADI_SIDE_X_MIN = 1,
    WADI_SIDE_X_MAX = 2,
    WADI_SIDE_Y_MIN = 4,
    WADI_SIDE_Y_MAX = 8,
    WADI_SIDE_Z_MIN = 16,
    WADI_SIDE_Z_MAX = 32,
    WADI_SIDE_ALL = 63,
};

typedef struct WadiSolid {
    const WadiShape *shape;       /* borrowed: lives as long as the world */
    const WadiCurve *friction;    /* Coulomb coefficient; borrowed */
    const WadiCurve *restitution; /* 0..1; borrowed */
} WadiSolid;

typedef struct WadiSolids {
    WadiSolid *solids;
    int count;
    WadiBox domain;   /* infinite when the scene has no domain */
    int closed_sides; /* of the domain: walls; the others are open */
    const WadiCurve *wall_friction;
    const WadiCurve *wall_restitution;
} WadiSolids;

typedef struct WadiSolidPoint {
    WadiSurfacePoint surface;
    double friction, restitution;
    int index; /* of the solid; -1: a wall of the domain, -2: no solid at all (distance INFINITY) */
} WadiSolidPoint;

/* The nearest solid, for a point that was outside shortly before. The walls count as solid beyond the
 * domain: the distance is positive inside the domain. */
WadiSolidPoint wadi_solids_sample(const WadiSolids *solids, WadiVec3 x, double time);
/* As wadi_shape_sample_for_grid. */
WadiSolidPoint wadi_solids_sample_for_grid(const WadiSolids *solids, WadiVec3 x, double time);
/* Its distance alone. */
double wadi_solids_distance_for_grid(const WadiSolids *solids, WadiVec3 x, double time);
/* wadi_shape_carry_velocity of a sample's index; zero for walls. */
bool wadi_solids_carry_velocity(const WadiSolids *solids, int index, WadiVec3 x, double time,
                                WadiVec3 *velocity);
/* By how much that velocity changes over a displacement: 0 for a translation, for walls, and where no
 * velocity is carried. */
WadiVec3 wadi_solids_carry_change(const WadiSolids *solids, int index, WadiVec3 x, WadiVec3 displacement,
                                  double time);
/* The nearest solid, by true distances (wadi_shape_sample_within), if it is at most `band` away; false, and
 * the point not valid, if not. */
bool wadi_solids_sample_within(const WadiSolids *solids, WadiVec3 x, double time, double band,
                               WadiSolidPoint *point);
/* To the nearest closed side of the domain, and its normal; INFINITY without one, the normal not set. */
double wadi_solids_wall_distance(const WadiSolids *solids, WadiVec3 x, WadiVec3 *normal);
/* One wall of the domain, closed or not; `side`: bit number of WADI_SIDE_... */
WadiSurfacePoint wadi_solids_wall(const WadiSolids *solids, int side, WadiVec3 x);
/* Only the distance, cheaper: far from meshes a lower bound (wadi_shape_clearance), and the search ends
 * once the distance is known to be at least `enough`. */
double wadi_solids_distance(const WadiSolids *solids, WadiVec3 x, double time, double enough);
/* The true distance beside combinations too (wadi_shape_sample_within), up to `within`, m, finite. */
double wadi_solids_distance_within(const WadiSolids *solids, WadiVec3 x, double time, double within);
/* wadi_solids_distance for a point that was outside shortly before (wadi_shape_clearance_from_outside). */
double wadi_solids_clearance(const WadiSolids *solids, WadiVec3 x, double time, double enough);
/* As wadi_shape_speed_bound, over all solids. */
double wadi_solids_speed_bound(const WadiSolids *solids, WadiVec3 x, double radius, double t0, double t1);
/* As wadi_shape_jump_count, over all solids. */
int wadi_solids_jump_count(const WadiSolids *solids, double t0, double t1);
/* wadi_shape_carry for a sample's index; identity for walls. */
WadiVec3 wadi_solids_carry(const WadiSolids *solids, int index, WadiVec3 x, double t0, double t1);
bool wadi_solids_are_moving(const WadiSolids *solids);

/* Bits WADI_SIDE_… of the sides of `box` that x lies beyond; none for sides at infinity. */
int wadi_box_sides_beyond(WadiBox box, WadiVec3 x);
/* `box` with the sides that are not closed (bits WADI_SIDE_…) moved to infinity. */
WadiBox wadi_box_closed_sides(WadiBox box, int closed_sides);

#endif
