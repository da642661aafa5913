/* Solid shapes as signed distances: primitives, meshes, height maps, transforms and boolean combinations, each of
 * whose numbers may be keyframed.
 *
 * A WadiShapeDef is plain data, filled by the scene parser. A WadiShape is what is built from it once (meshes loaded,
 * trees made); it is immutable, and every query takes the time, so queries may run in parallel.
 *
 * Distances are positive outside. |distance| never exceeds the true distance to the surface (so that a step of that
 * length is safe), and is the true distance for primitives under rigid motion and uniform scale, for meshes, and for
 * unions outside. Sign is right everywhere. */
#ifndef WADI_GEOM_SHAPE_H
#define WADI_GEOM_SHAPE_H

#include "core/log.h"
#include "math/affine.h"
#include "math/curve.h"

typedef enum WadiShapeKind {
    WADI_SHAPE_BOX,
    WADI_SHAPE_SPHERE,
    WADI_SHAPE_ELLIPSOID,
    WADI_SHAPE_CYLINDER,
    WADI_SHAPE_CONE,
    WADI_SHAPE_CAPSULE,
    WADI_SHAPE_TORUS,
    WADI_SHAPE_HALF_SPACE,
    WADI_SHAPE_HEIGHTMAP,
    WADI_SHAPE_MESH,
    WADI_SHAPE_MESH_SEQUENCE,
    WADI_SHAPE_UNION,
    WADI_SHAPE_INTERSECTION,
    WADI_SHAPE_DIFFERENCE, /* the first child minus all others */
    WADI_SHAPE_SMOOTH_UNION,
    WADI_SHAPE_KIND_COUNT,
} WadiShapeKind;

/* Parameters by kind, in the order of WadiShapeDef.parameter:
 *   box           0 min*, 1 max*
 *   sphere        0 center*, 1 radius
 *   ellipsoid     0 center*, 1 radii*
 *   cylinder      0 from*, 1 to*, 2 radius                     (flat ends)
 *   cone          0 from*, 1 to*, 2 radius, 3 top_radius       (radius at `from`, top_radius at `to`, flat ends)
 *   capsule       0 from*, 1 to*, 2 radius
 *   torus         0 center*, 1 axis*, 2 radius, 3 tube         (tube: radius of the tube)
 *   half_space    0 point*, 1 normal*                          (solid on the side the normal points away from)
 *   heightmap     0 min*, 1 max*                               (the box that the picture fills: black at min.z, white
 *                                                               at max.z; solid below; first image row at max.y)
 *   mesh          0 thickness                                  (0: a solid; > 0: a shell of that thickness)
 *   mesh_sequence 0 thickness, 1 first_time, 2 fps             (file: a pattern with one %d-style field, "a.%04d.obj")
 *   smooth_union  0 radius
 * (* three components, the others one.) */
enum { WADI_SHAPE_PARAMETER_MAX = 4 };

typedef struct WadiShapeDef WadiShapeDef;
struct WadiShapeDef {
    WadiShapeKind kind;
    WadiCurve parameter[WADI_SHAPE_PARAMETER_MAX];
    char *file;                    /* heightmap, mesh, mesh_sequence: path as opened; owned */
    int first_number, last_number; /* mesh_sequence: file numbers, inclusive */
    WadiShapeDef *children;        /* boolean kinds; owned */
    int child_count;
    /* p -> translate + pivot + rotate * scale * (p - pivot), rotate in degrees as wadi_affine_compose. */
    WadiCurve translate, rotate, scale, pivot;
    char where[160]; /* "scene.yaml:12:5", for messages; may be empty */
};

/* Kind with identity transform and the parameters' components set; other values zero. */
WadiShapeDef wadi_shape_def(WadiShapeKind kind);
void wadi_shape_def_free(WadiShapeDef *def);
const char *wadi_shape_kind_name(WadiShapeKind kind); /* "half_space" */

typedef struct WadiShape WadiShape;

/* Load and build. Warnings (a mesh that is not closed: where and how wide) go to `log`.
 * Errors name def->where and the file. */
WadiStatus wadi_shape_create(WadiShape **shape, const WadiShapeDef *def, const WadiLog *log,
                             WadiError *error);
void wadi_shape_destroy(WadiShape *shape);

/* What a query at one point tells. */
typedef struct WadiSurfacePoint {
    double distance;   /* m, negative inside */
    WadiVec3 normal;   /* unit, outward: direction of growing distance; never zero or NaN */
    WadiVec3 velocity; /* m/s, of the solid's material at the nearest surface point */
} WadiSurfacePoint;

double wadi_shape_distance(const WadiShape *shape, WadiVec3 x, double time);
/* Like the distance, but far from a mesh only a bound, for a fraction of the cost: right sign, |clearance| <= |distance|, and
 * equal to it within a 32nd of the mesh's size. What a step needs. */
double wadi_shape_clearance(const WadiShape *shape, WadiVec3 x, double time);
WadiSurfacePoint wadi_shape_sample(const WadiShape *shape, WadiVec3 x, double time);
/* Both for a point that was outside a moment ago and cannot have crossed the surface unseen: near a mesh the side of the
 * nearest triangle decides where it can, instead of the winding number. What moving particles ask. */
double wadi_shape_clearance_from_outside(const WadiShape *shape, WadiVec3 x, double time);
WadiSurfacePoint wadi_shape_sample_from_outside(const WadiShape *shape, WadiVec3 x, double time);
/* wadi_shape_sample_from_outside where a twentieth of a cell does not matter: from the narrow band of a mesh that has one, where
 * the band shows one smooth sheet. What grids ask. */
WadiSurfacePoint wadi_shape_sample_for_grid(const WadiShape *shape, WadiVec3 x, double time);
/* Its distance alone. */
double wadi_shape_distance_for_grid(const WadiShape *shape, WadiVec3 x, double time);
/* At least as cheap as distance: is x inside (distance < 0)? */
bool wadi_shape_contains(const WadiShape *shape, WadiVec3 x, double time);

/* Where the solid's material point that is at x at time t0 is at time t1 (of the part nearest to x). */
WadiVec3 wadi_shape_carry(const WadiShape *shape, WadiVec3 x, double t0, double t1);

/* The velocity at x of a shape that moves as one piece: x is a point of it. false: its parts or its size move by themselves. */
bool wadi_shape_carry_velocity(const WadiShape *shape, WadiVec3 x, double time, WadiVec3 *velocity);

/* How a shape moves as one rigid piece during a step. */
typedef struct WadiShapeMotion {
    WadiVec3 center;      /* of the rotation at the start of the step */
    double turn, drift;   /* bounds on the angular velocity, 1/s, and on the velocity of the center, m/s */
    double spin_up, push; /* bounds on |Q''|, 1/s^2, and on the acceleration of the center, m/s^2 */
    double duration;      /* of the step, s */
} WadiShapeMotion;

/* false: the shape rests, its form or size changes, or its motion has a kink in [t0, t1]. */
bool wadi_shape_rigid_motion(const WadiShape *shape, double t0, double t1, WadiShapeMotion *motion);
/* Seen from such a shape, a straight path of `length` metres within `radius` of x is curved. How far it is at most from the chord,
 * m, when it takes `seconds` of the step. */
double wadi_shape_motion_sag(const WadiShapeMotion *motion, WadiVec3 x, double radius, double length,
                             double seconds);

/* A bound on |d distance / d time| at any point within `radius` of x during [t0, t1]; 0 for a shape at rest. */
double wadi_shape_speed_bound(const WadiShape *shape, WadiVec3 x, double radius, double t0, double t1);
bool wadi_shape_is_moving(const WadiShape *shape);
bool wadi_shape_is_mesh(const WadiShape *shape); /* or a height map; not a sequence */
/* Convex, at rest, and with true distances outside: the plane through the nearest point keeps the solid behind it. */
bool wadi_shape_is_convex(const WadiShape *shape);

/* The straight way from x (outside) to x + way against a mesh as it stands at `time`: the part of it (0..1) after which the
 * particle is still a `skin` off the surface it would meet, and that surface's normal; 1 when it meets none. Negative: this shape
 * cannot tell (it is no mesh, it changes its form, it is a shell, or the skin is below the precision of its tree), march by
 * distances instead. */
double wadi_shape_free_way(const WadiShape *shape, WadiVec3 x, WadiVec3 way, double time, double skin,
                           WadiVec3 *normal);

/* Give the moving meshes in the shape narrow bands for grids of `cell_size` metres: they are asked again every step. Meshes whose
 * band would be very large go without. */
WadiStatus wadi_shape_add_bands(WadiShape *shape, double cell_size, WadiError *error);
/* By how much a sample for a grid may exceed the true distance at `time`, m; 0 without a band. */
double wadi_shape_band_error(const WadiShape *shape, double time);
/* With that error: a lower bound on the distance of a point that a sample for a grid puts outside, at `distance`. */
double wadi_band_least(double distance, double error);

/* Encloses the solid at `time`; infinite in the open directions of half-spaces. */
WadiBox wadi_shape_bounds(const WadiShape *shape, double time);

#endif
