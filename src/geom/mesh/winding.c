/* Winding number by a tree of clusters, each expanded to second order about its area-weighted centre.
 * Source: G. Barill, N. Dickson, R. Schmidt, D. Levin, A. Jacobson, "Fast Winding Numbers for Soups and
 * Clouds" (2018); the solid angle of one triangle [OS83].
 * Differs: clusters are ranges of the triangles along a Morton curve; only the symmetric parts of the moments
 * are kept, since no other part survives the contraction with the derivatives of 1/r. */
#include "geom/mesh/winding.h"

#include <stdlib.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/parallel.h"

enum { LEAF_SIZE = 8, STACK_SIZE = 128 };
static const double four_pi = 12.566370614359172954;

typedef struct Cluster {
    WadiVec3 center;
    double squared_radius;
    WadiVec3 dipole;  /* sum of area * normal */
    double second[6]; /* symmetric part of sum of offset (x) area normal: xx yy zz xy xz yz */
    WadiVec3 trace;   /* traces of the third-order moment */
    double third[10]; /* its symmetric part: xxx yyy zzz xxy xxz yyx yyz zzx zzy xyz, multiplicity included */
    uint32_t first, count; /* triangles, in tree order */
    uint32_t right;        /* the left child follows; 0: a leaf */
} Cluster;

typedef struct Corners {
    WadiVec3 v[3];
} Corners;

struct WadiWinding {
    const WadiMesh *mesh;
    Corners *triangles; /* in tree order */
    Cluster *clusters;  /* depth first */
    size_t triangle_count, cluster_count, cluster_capacity;
};

typedef struct Key {
    uint64_t code;
    uint32_t triangle;
} Key;

static uint64_t spread(uint64_t v)
{
    v &= 0x1fffff;
    v = (v | v << 32) & UINT64_C(0x1f00000000ffff);
    v = (v | v << 16) & UINT64_C(0x1f0000ff0000ff);
    v = (v | v << 8) & UINT64_C(0x100f00f00f00f00f);
    v = (v | v << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (v | v << 2) & UINT64_C(0x1249249249249249);
}

static int compare_keys(const void *left, const void *right)
{
    const Key *a = left, *b = right;
    if (a->code != b->code) {
        return a->code < b->code ? -1 : 1;
    }
    return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

/* First key with the highest differing bit set; the middle when all codes are equal. */
static uint32_t find_split(const Key *keys, uint32_t first, uint32_t count)
{
    uint64_t low = keys[first].code, high = keys[first + count - 1].code;
    if (low == high) {
        return first + count / 2;
    }
    uint64_t bit = UINT64_C(1) << (63 - __builtin_clzll(low ^ high));
    uint32_t a = first, b = first + count - 1; /* bit clear at a, set at b */
    while (b - a > 1) {
        uint32_t middle = a + (b - a) / 2;
        if ((keys[middle].code & bit) != 0) {
            b = middle;
        } else {
            a = middle;
        }
    }
    return b;
}

static uint32_t add_cluster(WadiWinding *winding, const Key *keys, uint32_t first, uint32_t count)
{
    WADI_ASSERT_ELSE(winding->cluster_count < winding->cluster_capacity, return 0);
    uint32_t index = (uint32_t)winding->cluster_count++;
    Cluster *cluster = &winding->clusters[index];
    *cluster = (Cluster){ .first = first, .count = count };
    if (count > LEAF_SIZE) {
        uint32_t split = find_split(keys, first, count);
        add_cluster(winding, keys, first, split - first);
        winding->clusters[index].right = add_cluster(winding, keys, split, first + count - split);
    }
    return index;
}

static void add_moments(Cluster *cluster, const Corners *triangle)
{
    WadiVec3 a = wadi_sub(triangle->v[0], cluster->center), b = wadi_sub(triangle->v[1], cluster->center);
    WadiVec3 c = wadi_sub(triangle->v[2], cluster->center);
    WadiVec3 n = wadi_scale(wadi_cross(wadi_sub(b, a), wadi_sub(c, a)), 0.5); /* area * normal */
    WadiVec3 s = wadi_add(a, wadi_add(b, c));
    cluster->dipole = wadi_add(cluster->dipole, n);
    const double nn[3] = { n.x, n.y, n.z }, m[3] = { s.x / 3.0, s.y / 3.0, s.z / 3.0 };
    const double ss[3] = { s.x, s.y, s.z };
    const double v[3][3] = { { a.x, a.y, a.z }, { b.x, b.y, b.z }, { c.x, c.y, c.z } };
    static const int pair[6][2] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 0, 1 }, { 0, 2 }, { 1, 2 } };
    for (int k = 0; k < 6; ++k) {
        int i = pair[k][0], j = pair[k][1];
        cluster->second[k] += 0.5 * (m[i] * nn[j] + m[j] * nn[i]);
    }
    /* q = half the mean of offset (x) offset over the triangle. */
    double q[3][3];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            q[i][j] = (v[0][i] * v[0][j] + v[1][i] * v[1][j] + v[2][i] * v[2][j] + ss[i] * ss[j]) / 24.0;
        }
    }
    double trace = q[0][0] + q[1][1] + q[2][2];
    double *t[3] = { &cluster->trace.x, &cluster->trace.y, &cluster->trace.z };
    for (int k = 0; k < 3; ++k) {
        *t[k] += trace * nn[k] + 2.0 * (q[k][0] * nn[0] + q[k][1] * nn[1] + q[k][2] * nn[2]);
        cluster->third[k] += q[k][k] * nn[k];
    }
    static const int mixed[6][2] = { { 0, 1 }, { 0, 2 }, { 1, 0 }, { 1, 2 }, { 2, 0 }, { 2, 1 } };
    for (int k = 0; k < 6; ++k) {
        int i = mixed[k][0], j = mixed[k][1];
        cluster->third[3 + k] += q[i][i] * nn[j] + 2.0 * q[i][j] * nn[i];
    }
    cluster->third[9] += 2.0 * (q[0][1] * nn[2] + q[0][2] * nn[1] + q[1][2] * nn[0]);
}

static void finish_clusters(void *context, int64_t begin, int64_t end)
{
    WadiWinding *winding = context;
    for (int64_t c = begin; c < end; ++c) {
        Cluster *cluster = &winding->clusters[c];
        const Corners *triangle = winding->triangles + cluster->first;
        WadiVec3 sum = { 0, 0, 0 }, plain = { 0, 0, 0 };
        double area = 0.0;
        for (uint32_t i = 0; i < cluster->count; ++i) {
            const WadiVec3 *v = triangle[i].v;
            WadiVec3 middle = wadi_scale(wadi_add(v[0], wadi_add(v[1], v[2])), 1.0 / 3.0);
            double a = wadi_norm(wadi_cross(wadi_sub(v[1], v[0]), wadi_sub(v[2], v[0])));
            sum = wadi_add_scaled(sum, middle, a);
            plain = wadi_add(plain, middle);
            area += a;
        }
        cluster->center = area > 0.0 ? wadi_scale(sum, 1.0 / area) : wadi_scale(plain, 1.0 / cluster->count);
        for (uint32_t i = 0; i < cluster->count; ++i) {
            for (int k = 0; k < 3; ++k) {
                WadiVec3 offset = wadi_sub(triangle[i].v[k], cluster->center);
                cluster->squared_radius = fmax(cluster->squared_radius, wadi_dot(offset, offset));
            }
            add_moments(cluster, &triangle[i]);
        }
    }
}

static void sort_triangles(WadiWinding *winding, Key *keys)
{
    const WadiMesh *mesh = winding->mesh;
    WadiBox box = wadi_mesh_bounds(mesh);
    WadiVec3 size = wadi_box_size(box);
    double longest = fmax(size.x, fmax(size.y, size.z));
    double scale = longest > 0.0 ? 2097151.0 / longest : 0.0;
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *v = mesh->triangles[t];
        WadiVec3 middle =
            wadi_add(mesh->vertices[v[0]], wadi_add(mesh->vertices[v[1]], mesh->vertices[v[2]]));
        middle = wadi_scale(wadi_sub(wadi_scale(middle, 1.0 / 3.0), box.min), scale);
        middle = wadi_max(middle, wadi_vec3(0, 0, 0));
        keys[t].code =
            spread((uint64_t)middle.x) | spread((uint64_t)middle.y) << 1 | spread((uint64_t)middle.z) << 2;
        keys[t].triangle = (uint32_t)t;
    }
    qsort(keys, mesh->triangle_count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            winding->triangles[i].v[k] = mesh->vertices[mesh->triangles[keys[i].triangle][k]];
        }
    }
}

WadiStatus wadi_winding_create(WadiWinding **winding, const WadiMesh *mesh, WadiError *error)
{
    *winding = NULL;
    WADI_ASSERT_TRY(mesh->triangle_count > 0, error);
    WadiWinding *made;
    Key *keys = NULL;
    WADI_TRY(WADI_NEW(&made, 1, "winding tree", error));
    made->mesh = mesh;
    made->triangle_count = mesh->triangle_count;
    made->cluster_capacity = 2 * mesh->triangle_count;
    WadiStatus status = WADI_NEW(&made->triangles, made->triangle_count, "winding tree", error);
    if (status == WADI_OK) {
        status = WADI_NEW(&made->clusters, made->cluster_capacity, "winding tree", error);
    }
    if (status == WADI_OK) {
        status = WADI_NEW(&keys, mesh->triangle_count, "winding tree", error);
    }
    if (status == WADI_OK) {
        sort_triangles(made, keys);
        add_cluster(made, keys, 0, (uint32_t)mesh->triangle_count);
        status =
            WADI_RESIZE(&made->clusters, made->cluster_capacity, made->cluster_count, "winding tree", error);
        made->cluster_capacity = status == WADI_OK ? made->cluster_count : made->cluster_capacity;
    }
    WADI_DELETE(keys, mesh->triangle_count);
    if (status != WADI_OK) {
        wadi_winding_destroy(made);
        return status;
    }
    wadi_parallel_for((int64_t)made->cluster_count, 64, finish_clusters, made);
    *winding = made;
    return WADI_OK;
}

void wadi_winding_destroy(WadiWinding *winding)
{
    if (winding != NULL) {
        WADI_DELETE(winding->triangles, winding->triangle_count);
        WADI_DELETE(winding->clusters, winding->cluster_capacity);
        WADI_DELETE(winding, 1);
    }
}

static double cluster_term(const Cluster *c, WadiVec3 r, double squared)
{
    double inverse2 = 1.0 / squared, inverse3 = inverse2 * sqrt(inverse2), inverse5 = inverse3 * inverse2;
    double x = r.x, y = r.y, z = r.z;
    const double *m = c->second, *t = c->third;
    double first = wadi_dot(c->dipole, r);
    double second =
        x * x * m[0] + y * y * m[1] + z * z * m[2] + 2.0 * (x * y * m[3] + x * z * m[4] + y * z * m[5]);
    double third = x * x * (x * t[0] + y * t[3] + z * t[4]) + y * y * (y * t[1] + x * t[5] + z * t[6]) +
                   z * z * (z * t[2] + x * t[7] + y * t[8]) + x * y * z * t[9];
    return ((first + m[0] + m[1] + m[2]) * inverse3 - 3.0 * (second + wadi_dot(c->trace, r)) * inverse5 +
            15.0 * third * inverse5 * inverse2) /
           four_pi;
}

double wadi_winding_number(const WadiWinding *winding, WadiVec3 x, double beta)
{
    uint32_t stack[STACK_SIZE];
    int depth = 0;
    stack[depth++] = 0;
    double sum = 0.0;
    WadiAngleSum angles = wadi_angle_sum();
    while (depth > 0) {
        uint32_t index = stack[--depth];
        const Cluster *cluster = &winding->clusters[index];
        WadiVec3 r = wadi_sub(cluster->center, x);
        double squared = wadi_dot(r, r);
        if (squared > beta * beta * cluster->squared_radius && squared > 0.0) {
            sum += cluster_term(cluster, r, squared);
        } else if (cluster->right != 0) {
            WADI_ASSERT_ELSE(depth + 2 <= STACK_SIZE, return 0.0);
            stack[depth++] = cluster->right;
            stack[depth++] = index + 1;
        } else {
            const Corners *triangle = winding->triangles + cluster->first;
            for (uint32_t i = 0; i < cluster->count; ++i) {
                wadi_angle_sum_add(&angles, triangle[i].v[0], triangle[i].v[1], triangle[i].v[2], x);
            }
        }
    }
    return sum + wadi_angle_sum_fraction(&angles);
}

double wadi_winding_number_exact(const WadiMesh *mesh, WadiVec3 x)
{
    WadiAngleSum angles = wadi_angle_sum();
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *v = mesh->triangles[t];
        wadi_angle_sum_add(&angles, mesh->vertices[v[0]], mesh->vertices[v[1]], mesh->vertices[v[2]], x);
    }
    return wadi_angle_sum_fraction(&angles);
}

bool wadi_winding_is_inside(const WadiWinding *winding, WadiVec3 x, double sign)
{
    double w = sign * wadi_winding_number(winding, x, 2.0);
    if (fabs(w - 0.5) < 0.1) {
        w = sign * wadi_winding_number(winding, x, 6.0);
        if (fabs(w - 0.5) < 0.01) {
            w = sign * wadi_winding_number_exact(winding->mesh, x);
        }
    }
    return w > 0.5;
}
