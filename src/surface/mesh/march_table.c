/* The triangles of a marching-cubes cell [LC87; theory 10.6], derived rather than listed.
 *
 * Loops. Traverse each face of the cell counterclockwise as seen from outside the cell. Where the traversal
 * enters the inside, a directed segment of the surface begins; where it next leaves, the segment ends. A
 * crossed edge lies on two faces that are traversed in opposite directions: it begins one segment and ends
 * one, and the segments close into loops without a common edge.
 *
 * Triangles. A loop is cut by diagonals that never join two edges of one face, so that neighbouring cells
 * never share a diagonal. Of the remaining cuts, the one with the shortest diagonals is used.
 *
 * Differs: no list of 15 cases and their rotations, and no test of the saddle inside a face (MC33): a thin
 * bridge across a face is always cut. */
#include "surface/mesh/march_table.h"

#include <math.h>
#include <pthread.h>

#include "core/check.h"

enum { EDGES = 12, FORBIDDEN = 1000 };

static WadiMarchCase table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

/* The edge between two neighbouring corners. */
static int edge_between(int a, int b)
{
    int axis = (a ^ b) == 1 ? 0 : (a ^ b) == 2 ? 1 : 2;
    return 4 * axis + (a >> (axis + 1) % 3 & 1) + 2 * (a >> (axis + 2) % 3 & 1);
}

/* The four corners of face (axis, side), counterclockwise seen from outside the cell. */
static void face_corners(int axis, int side, int corner[4])
{
    int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3;
    int round[4] = { 0, u, u | v, v };
    for (int n = 0; n < 4; ++n) {
        corner[n] = round[side == 1 ? n : 3 - n] | side << axis;
    }
}

/* next[e]: the edge at the other end of the segment from e across a face; -1: not crossed. */
static void link_edges(int inside, int next[EDGES])
{
    for (int e = 0; e < EDGES; ++e) {
        next[e] = -1;
    }
    for (int face = 0; face < 6; ++face) {
        int corner[4];
        face_corners(face >> 1, face & 1, corner);
        for (int n = 0; n < 4; ++n) {
            if ((inside >> corner[n] & 1) != 0 || (inside >> corner[(n + 1) & 3] & 1) == 0) {
                continue;
            }
            int leave = n + 1;
            while ((inside >> corner[(leave + 1) & 3] & 1) != 0) {
                ++leave;
            }
            next[edge_between(corner[n], corner[(n + 1) & 3])] =
                edge_between(corner[leave & 3], corner[(leave + 1) & 3]);
        }
    }
}

/* Twice the midpoint of an edge. */
static void edge_middle(int edge, int middle[3])
{
    int corner = wadi_march_edge_corner(edge);
    for (int axis = 0; axis < 3; ++axis) {
        middle[axis] = 2 * (corner >> axis & 1) + (axis == edge >> 2);
    }
}

static double diagonal_cost(int e, int f)
{
    int a[3], b[3], square = 0;
    edge_middle(e, a);
    edge_middle(f, b);
    for (int axis = 0; axis < 3; ++axis) {
        if (a[axis] == b[axis] && a[axis] != 1) {
            return FORBIDDEN;
        }
        square += (a[axis] - b[axis]) * (a[axis] - b[axis]);
    }
    return sqrt(square);
}

/* The cheapest cut of loop[first..last], over all triangles on the closing diagonal. */
static double cut_cost(const int *loop, int first, int last, double cost[EDGES][EDGES],
                       int apex[EDGES][EDGES])
{
    if (last - first < 2) {
        return 0.0;
    }
    if (apex[first][last] == 0) {
        cost[first][last] = INFINITY;
        for (int m = first + 1; m < last; ++m) {
            double sides = (m - first > 1 ? diagonal_cost(loop[first], loop[m]) : 0.0) +
                           (last - m > 1 ? diagonal_cost(loop[m], loop[last]) : 0.0);
            double all = sides + cut_cost(loop, first, m, cost, apex) + cut_cost(loop, m, last, cost, apex);
            if (all < cost[first][last]) {
                cost[first][last] = all;
                apex[first][last] = m;
            }
        }
    }
    return cost[first][last];
}

static void add_triangles(WadiMarchCase *to, const int *loop, int first, int last, int apex[EDGES][EDGES])
{
    if (last - first < 2) {
        return;
    }
    int m = apex[first][last];
    WADI_ASSERT_ELSE(to->count < WADI_MARCH_TRIANGLES, return;);
    uint8_t *edge = to->edge[to->count++];
    edge[0] = (uint8_t)loop[first];
    edge[1] = (uint8_t)loop[m];
    edge[2] = (uint8_t)loop[last];
    add_triangles(to, loop, first, m, apex);
    add_triangles(to, loop, m, last, apex);
}

static void make_table(void)
{
    for (int inside = 0; inside < 256; ++inside) {
        int next[EDGES];
        link_edges(inside, next);
        for (int start = 0; start < EDGES; ++start) {
            int loop[EDGES], length = 0;
            for (int e = start; next[e] >= 0;) {
                int after = next[e];
                loop[length++] = e;
                next[e] = -1;
                e = after;
            }
            double cost[EDGES][EDGES];
            int apex[EDGES][EDGES] = { 0 };
            WADI_ASSERT(cut_cost(loop, 0, length - 1, cost, apex) < FORBIDDEN);
            add_triangles(&table[inside], loop, 0, length - 1, apex);
        }
    }
}

const WadiMarchCase *wadi_march_table(void)
{
    pthread_once(&table_once, make_table);
    return table;
}
