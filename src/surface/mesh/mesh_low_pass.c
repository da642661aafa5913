/* Removes bumps shorter than a length from a mesh, where the surface is not thin.
 *
 * Positions are filtered along the surface: with K x the offset of each vertex from the mean of its
 * neighbours, x becomes f(K) x, f(k) = (1 + s) exp(-s), s proportional to k. f is 1 and flat at 0, so that
 * long waves and gentle curvature stay [theory 10.3]. f(K) is a series of Chebyshev polynomials in 1 - K,
 * whose eigenvalues lie in [-1, 1]. A thread or sheet thinner than the length would collapse: displacements
 * are reduced by Tukey's biweight, and where the surface would shrink. */
#include <math.h>

#include "surface/mesh/mesh_smooth_internal.h"

enum { TERMS_MAX = 64, RESTORE_MAX = 12, NODES = 256, WEIGHT_PASSES = 2 };

/* s where f is 1/2. */
static const double HALF = 1.678346990;
/* A vertex that keeps less of the area around it is in a thin part, which would collapse; from AREA_FULL on
 * it is not. */
static const double AREA_LEAST = 0.3, AREA_FULL = 0.6;
static const double TAIL = 2e-3; /* terms that are left out sum up to less */

typedef struct LowPass {
    WadiMeshSmooth smooth;
    const WadiLowPassDef *def;
    double coefficient[TERMS_MAX];
    int terms, term;
    WadiVec3 *last, *now; /* the two last terms of the recurrence */
    WadiVec3 *sum;
    float *weight, *other; /* of the displacement */
} LowPass;

/* Coefficients of f by the cosine transform at Chebyshev's nodes, scaled so that they sum up to one: f(0) = 1
 * exactly, and a fixed vertex is fixed. */
static void find_coefficients(LowPass *filter, double per_eigenvalue)
{
    double sum = 0.0, all[TERMS_MAX], left = 0.0;
    for (int j = 0; j < TERMS_MAX; ++j) {
        all[j] = 0.0;
        for (int m = 0; m < NODES; ++m) {
            double angle = 3.14159265358979324 * (m + 0.5) / NODES, s = per_eigenvalue * (1.0 - cos(angle));
            all[j] += (j == 0 ? 1.0 : 2.0) / NODES * (1.0 + s) * exp(-s) * cos(j * angle);
        }
    }
    filter->terms = TERMS_MAX;
    while (filter->terms > 2 && left + fabs(all[filter->terms - 1]) < TAIL) {
        left += fabs(all[--filter->terms]);
    }
    for (int j = 0; j < filter->terms; ++j) {
        sum += all[j];
    }
    for (int j = 0; j < filter->terms; ++j) {
        filter->coefficient[j] = all[j] / sum;
    }
}

/* (1 - K) x of a vertex. */
static WadiVec3 averaged(const WadiMeshSmooth *smooth, const WadiVec3 *at, int64_t v)
{
    WadiVec3 x = at[v], sum = { 0 };
    uint32_t count = smooth->start[v + 1] - smooth->start[v];
    for (uint32_t n = smooth->start[v]; n < smooth->start[v + 1]; ++n) {
        sum = wadi_add(sum, wadi_sub(at[smooth->neighbour[n][0]], x));
    }
    return wadi_add_scaled(x, wadi_mesh_free_components(sum, smooth->fixed[v]),
                           count > 0 ? 1.0 / count : 0.0);
}

/* The next term of the recurrence, written over the last but one. */
static void term_block(void *context, int64_t first, int64_t end)
{
    const LowPass *filter = context;
    double factor = filter->coefficient[filter->term];
    for (int64_t v = first; v < end; ++v) {
        WadiVec3 next = averaged(&filter->smooth, filter->now, v);
        if (filter->term > 1) {
            next = wadi_sub(wadi_scale(next, 2.0), filter->last[v]);
        }
        filter->last[v] = next;
        filter->sum[v] = wadi_add_scaled(filter->sum[v], next, factor);
    }
}

/* Twice the area of the triangles about a vertex, as seen along a direction. */
static double area_along(const WadiMeshSmooth *smooth, const WadiVec3 *at, int64_t v, WadiVec3 direction)
{
    WadiVec3 sum = { 0 };
    for (uint32_t n = smooth->start[v]; n < smooth->start[v + 1]; ++n) {
        const uint32_t *other = smooth->neighbour[n];
        sum = wadi_add(sum, wadi_cross(wadi_sub(at[other[0]], at[v]), wadi_sub(at[other[1]], at[v])));
    }
    return wadi_dot(sum, direction);
}

static void weigh_block(void *context, int64_t first, int64_t end)
{
    const LowPass *filter = context;
    const WadiMeshSmooth *smooth = &filter->smooth;
    for (int64_t v = first; v < end; ++v) {
        const WadiVec3 *at = smooth->surface->mesh.vertices;
        WadiVec3 normal = smooth->normal[v];
        double along = wadi_dot(wadi_sub(filter->sum[v], at[v]), normal);
        double ratio = along / (along < 0.0 ? filter->def->inward : filter->def->outward);
        double t = fmax(1.0 - ratio * ratio, 0.0);
        double left =
            area_along(smooth, filter->sum, v, normal) / fmax(area_along(smooth, at, v, normal), 1e-300);
        double flat = fmin(fmax((left - AREA_LEAST) / (AREA_FULL - AREA_LEAST), 0.0), 1.0);
        filter->weight[v] = (float)(t * t * flat);
    }
}

static void blend_block(void *context, int64_t first, int64_t end)
{
    const LowPass *filter = context;
    const WadiMeshSmooth *smooth = &filter->smooth;
    for (int64_t v = first; v < end; ++v) {
        float sum = filter->weight[v];
        uint32_t count = smooth->start[v + 1] - smooth->start[v];
        for (uint32_t n = smooth->start[v]; n < smooth->start[v + 1]; ++n) {
            sum += filter->weight[smooth->neighbour[n][0]];
        }
        filter->other[v] = sum / (float)(count + 1);
    }
}

static void move_block(void *context, int64_t first, int64_t end)
{
    const LowPass *filter = context;
    for (int64_t v = first; v < end; ++v) {
        WadiVec3 *x = &filter->smooth.surface->mesh.vertices[v];
        *x = wadi_add_scaled(*x, wadi_sub(filter->sum[v], *x), (double)filter->weight[v]);
    }
}

static void over_vertices(LowPass *filter, WadiBlockFn body)
{
    wadi_parallel_for((int64_t)filter->smooth.surface->mesh.vertex_count, 2048, body, filter);
}

static WadiStatus reserve(LowPass *filter, WadiArena *arena, WadiError *error)
{
    size_t count = filter->smooth.surface->mesh.vertex_count;
    filter->last = filter->smooth.next;
    WADI_TRY(WADI_ARENA_NEW(arena, &filter->now, count, "surface smoothing", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &filter->sum, count, "surface smoothing", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &filter->weight, count, "surface smoothing", error));
    return WADI_ARENA_NEW(arena, &filter->other, count, "surface smoothing", error);
}

static void apply(LowPass *filter)
{
    const WadiMesh *mesh = &filter->smooth.surface->mesh;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        filter->now[v] = mesh->vertices[v];
        filter->sum[v] = wadi_scale(mesh->vertices[v], filter->coefficient[0]);
    }
    for (filter->term = 1; filter->term < filter->terms; ++filter->term) {
        over_vertices(filter, term_block);
        WadiVec3 *swapped = filter->last;
        filter->last = filter->now;
        filter->now = swapped;
    }
    over_vertices(filter, weigh_block);
    for (int n = 0; n < WEIGHT_PASSES; ++n) {
        over_vertices(filter, blend_block);
        float *swapped = filter->weight;
        filter->weight = filter->other;
        filter->other = swapped;
    }
    over_vertices(filter, move_block);
}

WadiStatus wadi_surface_low_pass(WadiSurfaceMesh *surface, const WadiLowPassDef *def, bool has_box,
                                 WadiBox box, WadiArena *arena, WadiError *error)
{
    if (!(def->length > 0.0) || surface->mesh.triangle_count == 0) {
        return WADI_OK;
    }
    WadiArenaMark mark = wadi_arena_mark(arena);
    LowPass filter = { .smooth.surface = surface, .def = def };
    /* A wave of n cells has the eigenvalue (pi / n)^2. */
    find_coefficients(&filter, HALF * pow(def->length / (3.14159265358979324 * surface->cell), 2.0));
    WadiStatus status = wadi_mesh_smooth_prepare(&filter.smooth, has_box, box, arena, error);
    status = status == WADI_OK ? reserve(&filter, arena, error) : status;
    if (status == WADI_OK) {
        apply(&filter);
        wadi_mesh_smooth_restore(&filter.smooth, RESTORE_MAX);
        wadi_mesh_smooth_finish(&filter.smooth);
    }
    wadi_arena_release(arena, mark);
    return status;
}
