/* Shared by the files that implement shape.h. */
#ifndef WADI_GEOM_SHAPE_INTERNAL_H
#define WADI_GEOM_SHAPE_INTERNAL_H

#include "geom/mesh/mesh_sequence.h"
#include "geom/mesh/mesh_solid.h"
#include "geom/primitives.h"

typedef struct WadiPlacement {
    WadiAffine map, inverse; /* local frame -> parent frame, and back */
    double stretch;          /* smallest factor of `map`: parent distance >= stretch * local distance */
} WadiPlacement;

typedef enum WadiPlacing {
    WADI_PLACING_IDENTITY,
    WADI_PLACING_FIXED,
    WADI_PLACING_MOVING,
} WadiPlacing;

enum { WADI_SHAPE_DEPTH_MAX = 64 };

/* Invariants: every distance is 1-Lipschitz in space (which is why |distance| never exceeds the true one),
 * except across the holes of a mesh that is not closed. `bounds` holds the solid in the parent frame while
 * is_moving is false. */
struct WadiShape {
    WadiShapeKind kind;
    WadiCurve parameter[WADI_SHAPE_PARAMETER_MAX];
    WadiCurve translate, rotate, scale, pivot;
    WadiPlacing placing;
    uint64_t serial;         /* unique in this process, from 1; 0 while the shape is being built */
    WadiPlacement fixed;     /* placing is FIXED */
    WadiPrimitive primitive; /* primitive kinds with constant parameters */
    bool has_moving_parameters;
    bool is_moving;         /* this shape or any of its descendants */
    bool has_true_distance; /* distances outside are the true ones */
    bool is_exact;          /* the same, and at rest */
    bool is_cut;            /* parts are cut or scaled unevenly: the foot of a distance may be in the open */
    WadiBox bounds;
    WadiShape *children; /* owned array */
    int child_count;
    WadiMeshSolid *solid;       /* mesh, heightmap */
    WadiMeshSequence *sequence; /* mesh_sequence */
    struct WadiSdfBand *band;   /* mesh, heightmap: in the local frame; NULL: none */
};

/* What a query may assume; each mode includes those before it. */
typedef enum WadiQueryMode {
    WADI_QUERY_EXACT,
    WADI_QUERY_BOUND,       /* far from a mesh a lower bound is enough */
    WADI_QUERY_WAS_OUTSIDE, /* shortly before: the side of the nearest triangle may decide */
    WADI_QUERY_BAND,        /* a narrow band is accurate enough where it is smooth */
} WadiQueryMode;

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
/* Velocity, in the local frame, of the surface point `q` of a primitive with moving parameters. */
WadiVec3 wadi_shape_parameter_velocity(const WadiShape *shape, WadiVec3 q, WadiVec3 normal, double time);

/* Half the thickness of the shell around the triangles of a mesh, m; 0: a solid. */
static inline double wadi_shape_half_thickness(const WadiShape *shape, double time)
{
    return shape->kind == WADI_SHAPE_HEIGHTMAP ? 0.0 : 0.5 * wadi_curve_value(&shape->parameter[0], time);
}

/* Bounds of the points whose distance is at most `level`. */
WadiBox wadi_shape_level_bounds(const WadiShape *shape, double time, double level);

/* Whether the ball contains neither surface nor a change of sign through a hole of a mesh. */
bool wadi_shape_is_uniform(const WadiShape *shape, WadiVec3 center, double radius, double time);

/* Distances, clamped to +-limit, at the n^3 points origin + i step[0] + j step[1] + k step[2], i fastest,
 * n at most WADI_LATTICE_MAX. For meshes much cheaper than single queries. */
void wadi_shape_lattice(const WadiShape *shape, WadiVec3 origin, const WadiVec3 step[3], int n, double limit,
                        double time, double *distance);

struct WadiBandHint;
/* Distance and normal, in the local frame, of a mesh with a band: interpolated where the band is smooth,
 * else exact. `hint` may be NULL. */
double wadi_shape_band_distance(const WadiShape *shape, WadiVec3 p, double half, struct WadiBandHint *hint);
WadiSurfacePoint wadi_shape_band_sample(const WadiShape *shape, WadiVec3 p, double half,
                                        struct WadiBandHint *hint);
/* The nearest point of the mesh by the lists of the band; false: the cell of p has none. */
bool wadi_shape_band_nearest(const WadiShape *shape, WadiVec3 p, WadiMeshNearest *nearest);

/* Smooth minimum of a and b over the width k; `*weight` is d/db. */
double wadi_smooth_min(double a, double b, double k, double *weight);

/* Whether the distance at x can be `best` or less: it is never below that to the bounds, inside or outside
 * of them. */
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
