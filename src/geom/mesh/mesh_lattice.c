/* Signed distances to a mesh on a small lattice, for narrow bands.
 * A ball of radius |d| around a point contains no triangle, so neighbours inside it have the same winding
 * number, up to the effect of the rims of holes. Signs are flood-filled along such pairs; the winding
 * number is evaluated once for each region, and where its accumulated bound of change reaches one half. */
#include "core/check.h"
#include "geom/mesh/mesh_solid.h"

enum { POINTS_MAX = WADI_LATTICE_MAX * WADI_LATTICE_MAX * WADI_LATTICE_MAX };

typedef struct Flood {
    int n;
    double length[27]; /* m, of the step to each neighbour */
    double slope;      /* 1/m, bound on |grad w| over the lattice */
    bool is_settled[POINTS_MAX];
    bool is_inside[POINTS_MAX];
    float margin[POINTS_MAX]; /* lower bound on |w - 1/2| */
    int16_t queue[POINTS_MAX];
} Flood;

static void spread_sign(Flood *flood, const double *distance, int seed)
{
    int n = flood->n, head = 0, tail = 0;
    flood->queue[tail++] = (int16_t)seed;
    while (head < tail) {
        int at = flood->queue[head++];
        int i = at % n, j = at / n % n, k = at / (n * n);
        for (int c = 0; c < 27; ++c) {
            int ni = i + c % 3 - 1, nj = j + c / 3 % 3 - 1, nk = k + c / 9 - 1;
            if (ni < 0 || nj < 0 || nk < 0 || ni >= n || nj >= n || nk >= n) {
                continue;
            }
            int next = (nk * n + nj) * n + ni;
            double margin = (double)flood->margin[at] - flood->slope * flood->length[c];
            if (flood->is_settled[next] || !(flood->length[c] < fmax(distance[at], distance[next])) ||
                !(margin > 0.0)) {
                continue;
            }
            flood->is_settled[next] = true;
            flood->is_inside[next] = flood->is_inside[at];
            flood->margin[next] = (float)margin;
            flood->queue[tail++] = (int16_t)next;
        }
    }
}

void wadi_mesh_solid_lattice(const WadiMeshSolid *solid, WadiVec3 origin, const WadiVec3 step[3], int n,
                             double half, double limit, double *distance)
{
    WADI_ASSERT_ELSE(n >= 1 && n <= WADI_LATTICE_MAX, return;);
    Flood flood = { .n = n };
    int count = n * n * n;
    WadiVec3 x[POINTS_MAX];
    const double search = limit + half;
    double guess = search;
    for (int p = 0; p < count; ++p) {
        int i = p % n, j = p / n % n, k = p / (n * n);
        x[p] = wadi_add_scaled(origin, step[0], i);
        x[p] = wadi_add_scaled(x[p], step[1], j);
        x[p] = wadi_add_scaled(x[p], step[2], k);
        /* The last distance plus the step bounds this one, which shortens the search. */
        if (p % n == 0) {
            guess = search;
        }
        WadiMeshNearest nearest;
        distance[p] = wadi_mesh_tree_nearest(solid->tree, x[p], fmin(guess, search), &nearest)
                          ? nearest.distance
                          : search;
        guess = distance[p] + 1.0001 * wadi_norm(step[0]);
    }
    if (half > 0.0) {
        for (int p = 0; p < count; ++p) {
            distance[p] -= half;
        }
        return;
    }
    for (int c = 0; c < 27; ++c) {
        int i = c % 3 - 1, j = c / 3 % 3 - 1, k = c / 9 - 1;
        WadiVec3 s = wadi_add_scaled(wadi_scale(step[0], i), step[1], j);
        flood.length[c] = wadi_norm(wadi_add_scaled(s, step[2], k));
    }
    WadiVec3 middle = wadi_scale(wadi_add(step[0], wadi_add(step[1], step[2])), 0.5 * (n - 1));
    double radius = 0.5 * (n - 1) * (wadi_norm(step[0]) + wadi_norm(step[1]) + wadi_norm(step[2]));
    flood.slope = wadi_mesh_solid_winding_slope(solid, wadi_add(origin, middle), radius);
    for (int p = 0; p < count; ++p) {
        if (flood.is_settled[p]) {
            continue;
        }
        double w = solid->facing * wadi_winding_number(solid->winding, x[p], 2.0);
        flood.is_settled[p] = true;
        flood.margin[p] = (float)fmax(fabs(w - 0.5) - 0.05, 0.0);
        flood.is_inside[p] =
            flood.margin[p] > 0.0f ? w > 0.5 : wadi_winding_is_inside(solid->winding, x[p], solid->facing);
        if (flood.slope == 0.0) {
            flood.margin[p] = 1.0f;
        }
        spread_sign(&flood, distance, p);
    }
    for (int p = 0; p < count; ++p) {
        distance[p] = flood.is_inside[p] ? -distance[p] : distance[p];
    }
}
