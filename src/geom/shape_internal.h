/* What the files that implement shape.h share. */
#ifndef WADI_GEOM_SHAPE_INTERNAL_H
#define WADI_GEOM_SHAPE_INTERNAL_H

#include "geom/mesh/mesh_sequence.h"
#include "geom/mesh/mesh_solid.h"
#include "geom/primitives.h"

typedef struct WadiPlacement {
    WadiAffine map, inverse; /* own frame -> parent frame, and back */
    double stretch;          /* smallest factor of `map`: parent distance >= stretch * own distance */
} WadiPlacement;

typedef enum WadiPlacing {
    WADI_PLACING_IDENTITY,
    WADI_PLACING_FIXED,
    WADI_PLACING_MOVING,
} WadiPlacing;

enum { WADI_SHAPE_DEPTH_MAX = 64 };

/* Invariants: every distance is 1-Lipschitz in space (which is why |distance| never exceeds the true one), except
 * across the holes of a mesh that is not closed. `bounds` holds the solid in the parent frame while is_moving is
 * false. */
struct WadiShape {
    WadiShapeKind kind;
    WadiCurve parameter[WADI_SHAPE_PARAMETER_MAX];
    WadiCurve translate, rotate, scale, pivot;
    WadiPlacing placing;
    uint64_t serial;         /* of the shapes of this process, from 1; 0 while it is built */
    WadiPlacement fixed;     /* placing is FIXED */
    WadiPrimitive primitive; /* primitive kinds with constant parameters */
    bool has_moving_parameters;
    bool is_moving; /* this shape or any below it */
    bool is_exact;  /* at rest, and distances outside are the true ones */
    WadiBox bounds;
    WadiShape *children; /* owned array */
    int child_count;
    WadiMeshSolid *solid;       /* mesh, heightmap */
    WadiMeshSequence *sequence; /* mesh_sequence */
    struct WadiSdfBand *band;   /* mesh, heightmap: in the shape's own frame; NULL unless asked for */
};

/* How much a query may take for granted: nothing; that far from a mesh a bound will do; or also that the point was outside
 * before, so that the side of the nearest triangle may decide; or also that a narrow band is good enough where it is smooth. */
typedef enum WadiTrust {
    WADI_TRUST_NOTHING,
    WADI_TRUST_BOUND,
    WADI_TRUST_OUTSIDE,
    WADI_TRUST_BAND,
} WadiTrust;

int wadi_shape_parameter_count(WadiShapeKind kind);
void wadi_shape_parameters(const WadiShape *shape, double time, WadiVec3 out[WADI_SHAPE_PARAMETER_MAX]);
WadiVec3 wadi_shape_scale_at(const WadiShape *shape, double time);

uint64_t wadi_shape_new_serial(void);
/* The placement at `time`; `*scratch` is used when it moves. */
const WadiPlacement *wadi_shape_placement(const WadiShape *shape, double time, WadiPlacement *scratch);
/* d/dt of placement->map. */
WadiAffine wadi_shape_placement_rate(const WadiShape *shape, const WadiPlacement *placement, double time);

/* The primitive at `time`; `*scratch` is used when its parameters move. */
const WadiPrimitive *wadi_shape_primitive(const WadiShape *shape, double time, WadiPrimitive *scratch);
/* Velocity, in the shape's own frame, of the surface point `q` of a primitive with moving parameters. */
WadiVec3 wadi_shape_parameter_velocity(const WadiShape *shape, WadiVec3 q, WadiVec3 normal, double time);

/* Of a mesh or height map: how far a shell reaches to both sides of its triangles; 0: a solid. */
static inline double wadi_shape_half_thickness(const WadiShape *shape, double time)
{
    return shape->kind == WADI_SHAPE_HEIGHTMAP ? 0.0 : 0.5 * wadi_curve_value(&shape->parameter[0], time);
}

/* Bounds of the points whose distance is at most `level`. */
WadiBox wadi_shape_level_bounds(const WadiShape *shape, double time, double level);

/* Does the ball hold neither surface nor a change of inside through the hole of a mesh? */
bool wadi_shape_is_uniform(const WadiShape *shape, WadiVec3 center, double radius, double time);

/* Distances, clamped to +-limit, at the n^3 points origin + i step[0] + j step[1] + k step[2], i fastest, n at most
 * WADI_LATTICE_MAX: much cheaper than one by one for meshes. */
void wadi_shape_lattice(const WadiShape *shape, WadiVec3 origin, const WadiVec3 step[3], int n, double limit,
                        double time, double *distance);

struct WadiBandHint;
/* The band's answer where it shows one smooth sheet: an edge or a thin wall bends it or makes its gradient short. Where it is not
 * enough, *reach tells how far the triangles are at most. `hint` may be NULL. */
bool wadi_shape_band_samples(const WadiShape *shape, WadiVec3 p, double half, struct WadiBandHint *hint,
                             WadiSurfacePoint *out, double *reach);
/* Is a point outside of a mesh of which the nearest point is known? */
bool wadi_shape_is_outside_mesh(const WadiShape *shape, WadiVec3 p, const WadiMeshNearest *nearest,
                                struct WadiBandHint *hint, WadiTrust trust);

/* Smooth minimum of a and b over the width k; `*weight` is d/db. */
double wadi_smooth_min(double a, double b, double k, double *weight);

/* Can the shape's distance at x be `best` or less? It is no less than that of its bounds, on either side of them. */
static inline bool wadi_shape_may_be_nearer(const WadiShape *shape, WadiVec3 x, double best)
{
    if (!shape->is_exact || isnan(best)) {
        return true;
    }
    WadiVec3 beyond = wadi_max(wadi_sub(shape->bounds.min, x), wadi_sub(x, shape->bounds.max));
    if (best < 0.0) {
        return fmax(beyond.x, fmax(beyond.y, beyond.z)) <= best;
    }
    beyond = wadi_max(beyond, wadi_vec3(0, 0, 0));
    return wadi_dot(beyond, beyond) <= best * best;
}

#endif
