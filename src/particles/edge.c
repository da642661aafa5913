/* A shape cut from others has the largest distance of its parts. Beside an outer edge that is too small, and
 * the foot of the perpendicular is outside the solid: on the plane of one part, not behind that of another.
 * The nearest point is the one on all planes that meet there. */
#include "particles/edge.h"

#include <math.h>

enum { PLANE_MAX = 3, ROUNDS = 4 };

static const double TOLERANCE = 0.01;  /* diameters: a foot farther from the solid is not on it */
static const double SAME_PLANE = 0.95; /* cosine between normals */

/* Planes at the distances `distance` from a point. */
typedef struct Planes {
    int count;
    WadiVec3 normal[PLANE_MAX];
    double distance[PLANE_MAX];
} Planes;

/* The shortest way from the common point of the planes to the point: sum of w_k n_k, where n_k . way = d_k.
 * false: it leads through a plane from behind, or the planes have no common point. */
static bool find_way(const Planes *p, WadiVec3 *way)
{
    double m[PLANE_MAX][PLANE_MAX + 1], weight[PLANE_MAX];
    const int n = p->count;
    for (int r = 0; r < n; ++r) {
        for (int c = 0; c < n; ++c) {
            m[r][c] = wadi_dot(p->normal[r], p->normal[c]);
        }
        m[r][n] = p->distance[r];
    }
    /* The matrix is symmetric and positive: no pivots are needed. */
    for (int r = 0; r < n; ++r) {
        if (!(m[r][r] > 1e-3)) {
            return false;
        }
        for (int below = r + 1; below < n; ++below) {
            const double factor = m[below][r] / m[r][r];
            for (int c = r; c <= n; ++c) {
                m[below][c] -= factor * m[r][c];
            }
        }
    }
    *way = (WadiVec3){ 0, 0, 0 };
    for (int r = n - 1; r >= 0; --r) {
        weight[r] = m[r][n];
        for (int c = r + 1; c < n; ++c) {
            weight[r] -= m[r][c] * weight[c];
        }
        weight[r] /= m[r][r];
        if (!(weight[r] >= 0.0)) {
            return false;
        }
        *way = wadi_add_scaled(*way, p->normal[r], weight[r]);
    }
    return true;
}

/* A plane of about the same normal is replaced: on curved parts the foot was outside its neighbourhood. */
static bool add_plane(Planes *p, WadiVec3 normal, double distance)
{
    int at = 0;
    while (at < p->count && !(wadi_dot(p->normal[at], normal) > SAME_PLANE)) {
        ++at;
    }
    if (at == PLANE_MAX) {
        return false;
    }
    p->count = at == p->count ? at + 1 : p->count;
    p->normal[at] = normal;
    p->distance[at] = distance;
    return true;
}

WadiSurfacePoint wadi_edge_sample(const WadiShape *shape, WadiVec3 x, double time, double diameter)
{
    const WadiSurfacePoint first = wadi_shape_sample_from_outside(shape, x, time);
    const double tolerance = TOLERANCE * diameter;
    if (!(first.distance > tolerance) || !wadi_shape_may_have_corners(shape) || wadi_shape_is_mesh(shape)) {
        return first;
    }
    Planes planes = { 1, { first.normal }, { first.distance } };
    WadiVec3 way = wadi_scale(first.normal, first.distance), velocity = first.velocity;
    for (int round = 0; round < ROUNDS; ++round) {
        const WadiVec3 foot = wadi_sub(x, way);
        if (fabs(wadi_shape_clearance(shape, foot, time)) <= tolerance) {
            const double length = wadi_norm(way);
            return planes.count == 1 ? first
                                     : (WadiSurfacePoint){ length, wadi_scale(way, 1.0 / length), velocity };
        }
        const WadiSurfacePoint next = wadi_shape_sample(shape, foot, time);
        const double distance = next.distance + wadi_dot(next.normal, way);
        /* Parts that are joined have the smallest distance: the plane of another one is farther from x. */
        if (!(distance <= first.distance + tolerance) || !add_plane(&planes, next.normal, distance) ||
            !find_way(&planes, &way)) {
            return first;
        }
        velocity = next.velocity;
    }
    return first;
}
