/* Solid shapes as signed distances: primitives, meshes, height maps, transforms and boolean combinations,
 * each of whose numbers may be keyframed.
 *
 * A WadiShapeDef is plain data, filled by the scene parser. A WadiShape is what is built from it once (meshes
 * loaded, trees made); it is immutable, and every query takes the time, so queries may run in parallel.
 *
 * Distances are positive outside. |distance| never exceeds the true distance to the surface (so that a step
 * of that length is safe), and is the true distance for primitives under rigid motion and uniform scale, for
 * meshes, and for unions outside. Beside other combinations wadi_shape_sample_within has it. Sign is right
 * everywhere. */
#ifndef WADI_GEOM_SHAPE_H
#define WADI_GEOM_SHAPE_H

#include "core/log.h"
#include "geom/mesh/mesh_fit.h"
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
 *   cone          0 from*, 1 to*, 2 radius, 3 top_radius       (at `from`, and at `to`; flat ends)
 *   capsule       0 from*, 1 to*, 2 radius
 *   torus         0 center*, 1 axis*, 2 radius, 3 tube         (tube: radius of the tube)
 *   half_space    0 point*, 1 normal*                          (solid opposite to the normal)
 *   heightmap     0 min*, 1 max*                               (box of the picture: black at min.z, white at
 *                                                               max.z; solid below; first row at max.y)
 *   mesh          0 thickness                                  (0: a solid; > 0: a shell of that thickness)
 *   mesh_sequence 0 thickness, 1 first_time, 2 fps             (file: a pattern such as "a.%04d.obj")
 *   smooth_union  0 radius
 * (* three components, the others one.) */
enum { WADI_SHAPE_PARAMETER_MAX = 4 };

typedef struct WadiShapeDef WadiShapeDef;
struct WadiShapeDef {
    WadiShapeKind kind;
    WadiCurve parameter[WADI_SHAPE_PARAMETER_MAX];
    char *file;                    /* heightmap, mesh, mesh_sequence: path as opened; owned */
    int first_number, last_number; /* mesh_sequence: file numbers, inclusive */
    WadiMeshFit fit;               /* mesh */
    /* The collider, or "ground", that the shape rests on (world/rest_on.h); NULL: none. The same as a
     * parameter of a mesh. Owned. */
    char *on, *mesh_on;
    WadiShapeDef *children; /* boolean kinds; owned */
    int child_count;
    /* p -> translate + pivot + rotate * scale * (p - pivot), rotate in degrees as wadi_affine_compose. */
    WadiCurve translate, rotate, scale, pivot;
    char where[160]; /* "scene.yaml:12:5", for messages; may be empty */
    /* A shape of the same mesh: what was made of the file is shared. NULL: the file is read. */
    const struct WadiShape *like;
};

/* Kind with identity transform and the parameters' components set; other values zero. */
WadiShapeDef wadi_shape_def(WadiShapeKind kind);
void wadi_shape_def_free(WadiShapeDef *def);
const char *wadi_shape_kind_name(WadiShapeKind kind); /* "half_space" */

typedef struct WadiShape WadiShape;

/* Sets `like` of the definition and its children, where the mesh is that of `shape`, made of `from`. Valid
 * while the shape exists, in its thread. shape NULL: sets none. */
void wadi_shape_def_share(WadiShapeDef *def, const WadiShapeDef *from, const WadiShape *shape);

/* Load and build. Warnings (a mesh that is not closed: where and how wide) go to `log`.
 * Errors name def->where and the file. */
WadiStatus wadi_shape_create(WadiShape **shape, const WadiShapeDef *def, const WadiLog *log,
                             WadiError *error);
void wadi_shape_destroy(WadiShape *shape);
/* The warnings of wadi_shape_create again, for a shape that was created without `log` and then moved. */
void wadi_shape_warn_if_open(const WadiShape *shape, const WadiShapeDef *def, const WadiLog *log);

/* Result of a query at one point. */
typedef struct WadiSurfacePoint {
    double distance;   /* m, negative inside */
    WadiVec3 normal;   /* unit, outward: direction of growing distance; never zero or NaN */
    WadiVec3 velocity; /* m/s, of the solid's material at the nearest surface point */
} WadiSurfacePoint;

double wadi_shape_distance(const WadiShape *shape, WadiVec3 x, double time);
/* Lower bound with the right sign, |clearance| <= |distance|, cheaper than the distance far from a mesh
 * and equal to it within a 32nd of the mesh's size. For steps along a path. */
double wadi_shape_clearance(const WadiShape *shape, WadiVec3 x, double time);
WadiSurfacePoint wadi_shape_sample(const WadiShape *shape, WadiVec3 x, double time);
/* Both for a point known to be outside shortly before: near a mesh the side of the nearest triangle
 * decides where it can, instead of the winding number. For moving particles. */
double wadi_shape_clearance_from_outside(const WadiShape *shape, WadiVec3 x, double time);
WadiSurfacePoint wadi_shape_sample_from_outside(const WadiShape *shape, WadiVec3 x, double time);
/* The solid's nearest point if it is nearer than `within`, m, with its true distance also where parts are cut
 * from others or scaled unevenly; a distance of at least `within` if not. Inside, and of smooth unions that
 * are not cut: wadi_shape_sample. */
WadiSurfacePoint wadi_shape_sample_within(const WadiShape *shape, WadiVec3 x, double time, double within);
/* wadi_shape_sample_from_outside with errors up to a twentieth of a cell: from the narrow band of a mesh,
 * if it has one, where the band is smooth. For grids. */
WadiSurfacePoint wadi_shape_sample_for_grid(const WadiShape *shape, WadiVec3 x, double time);
/* Its distance alone. */
double wadi_shape_distance_for_grid(const WadiShape *shape, WadiVec3 x, double time);
/* Whether x is inside (distance < 0); at most as expensive as the distance. */
bool wadi_shape_contains(const WadiShape *shape, WadiVec3 x, double time);

/* Position at t1 of the material point that is at x at t0 (of the part nearest to x). */
WadiVec3 wadi_shape_carry(const WadiShape *shape, WadiVec3 x, double t0, double t1);

/* Velocity at x of the material of a shape that is at rest in its local frame. false: its parts or
 * parameters move there. */
bool wadi_shape_carry_velocity(const WadiShape *shape, WadiVec3 x, double time, WadiVec3 *velocity);

/* Bounds on the rigid motion of a shape during a step, x = Q(t) p + center(t). */
typedef struct WadiShapeMotion {
    WadiVec3 center;                           /* of the rotation, at the start of the step */
    double angular_speed, speed;               /* 1/s, and m/s of the center */
    double angular_acceleration, acceleration; /* 1/s^2, bound on |Q''|, and m/s^2 of the center */
    double duration;                           /* s, of the step */
} WadiShapeMotion;

/* false: the shape is at rest, its form or size changes, or its velocity jumps in [t0, t1]. */
bool wadi_shape_rigid_motion(const WadiShape *shape, double t0, double t1, WadiShapeMotion *motion);
/* In the frame of such a shape a straight path is curved. Bound on its distance from its chord, m, for a
 * path of `length` metres within `radius` of x that takes `seconds`. */
double wadi_shape_motion_sag(const WadiShapeMotion *motion, WadiVec3 x, double radius, double length,
                             double seconds);

/* A bound on |d distance / d time| at any point within `radius` of x during [t0, t1]; 0 for a shape at
 * rest. */
double wadi_shape_speed_bound(const WadiShape *shape, WadiVec3 x, double radius, double t0, double t1);
/* Jumps of its keyframes in (t0, t1], which have no speed; those of several curves are counted each. */
int wadi_shape_jump_count(const WadiShape *shape, double t0, double t1);
bool wadi_shape_is_moving(const WadiShape *shape);
bool wadi_shape_is_mesh(const WadiShape *shape); /* or a height map; not a sequence */
/* Convex, at rest, and with true distances outside: the solid lies behind the tangent plane at the nearest
 * point. */
bool wadi_shape_is_convex(const WadiShape *shape);
/* Whether it may have inner corners, or two walls with room between: it is neither a convex primitive nor a
 * torus. */
bool wadi_shape_may_have_corners(const WadiShape *shape);

/* The fraction (0..1) of a displacement from x, which is outside, that is free of a mesh as it is at
 * `time`. It ends a `skin` before the first surface, whose normal is returned; 1: no surface. Negative:
 * not available (no mesh, a shell, moving parameters, or a skin below the precision of the tree), use
 * distances instead. */
double wadi_shape_free_fraction(const WadiShape *shape, WadiVec3 x, WadiVec3 displacement, double time,
                                double skin, WadiVec3 *normal);

/* Add narrow bands for grids of `cell_size` metres to the moving meshes of the shape, which are sampled
 * anew every step. Meshes whose band would be very large get none. */
WadiStatus wadi_shape_add_bands(WadiShape *shape, double cell_size, WadiError *error);
/* Bound on the excess of a sample for a grid over the true distance at `time`, m; 0 without a band. */
double wadi_shape_band_error(const WadiShape *shape, double time);
/* Lower bound on the true distance where a sample for a grid is `distance` > 0 and has at most that error. */
double wadi_band_least(double distance, double error);

/* Encloses the solid at `time`; infinite in the open directions of half-spaces. */
WadiBox wadi_shape_bounds(const WadiShape *shape, double time);

/* The support function: the largest dot product of `direction` with a point of the solid at `time`; infinite
 * in the open directions of half-spaces. Exact, but for intersections, differences (that of the first part)
 * and rounded seams, where it is an upper bound. */
double wadi_shape_support(const WadiShape *shape, WadiVec3 direction, double time);
/* Adds `rise` metres to the z of its translation at all times. */
WadiStatus wadi_shape_raise(WadiShape *shape, double rise, WadiError *error);

#endif
