/* Planes of wide parts of the surface, for bumps that are longer than the caps' averages but too low for a
 * wave that particles can represent [theory 10.5].
 *
 * Patches are grouped into nodes of 8^3 cubes, and positions are averaged over eight times the length of the
 * caps. The plane fitted by least squares replaces a cap to the extent that the caps lie close to it, by the
 * root mean square of their distances, locally and over the whole length. A wave of a spacing, a ball or the
 * foot of a splash is far from its plane and keeps its caps. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "math/sym3.h"
#include "surface/cloud/tile_set.h"
#include "surface/field/field_caps.h"

enum { WIDE_BITS = 3, NODE_BLOCK = 64, PATCH_BLOCK = 1024, PASSES_MAX = 100 };

static const double FACING = 0.5;              /* cosine: nodes that differ more belong to another side */
static const float HIGH[2] = { 0.12f, 0.30f }; /* spacings: from noise to wave, by the root mean square */

/* Means of the normal (0 .. 2), the position (3 .. 5) and the products of its coordinates, xx yy zz xy xz yz
 * (6 .. 11). In double, since heights are small differences of large products. */
enum { MEANS = 12 };
typedef double Means[MEANS];

static const int PAIR[6][2] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 0, 1 }, { 0, 2 }, { 1, 2 } };

/* Distance function x . normal - level, cells from the centre of a node. part: weight of the plane, 0 to
 * 1. */
typedef struct Plane {
    float normal[3], level, part;
} Plane;

typedef struct WideJob {
    const WadiPatches *patches;
    WadiCap *cap;
    float spacing;          /* cells */
    float cube, size;       /* sides of the patches' cubes and of the nodes, cells */
    WadiTileMap map;        /* "tiles" are the nodes */
    int32_t *node;          /* of each patch; -1: no cap */
    int32_t *first, *child; /* patches of each node */
    double *area;           /* cells^2 of each node; 0: its patches face different ways */
    Means *mean, *mean_scratch;
    Plane *plane;
    float *square, *square_scratch; /* mean squared distance of the caps from the planes */
} WideJob;

static inline WadiTile node_of(WadiTile cube)
{
    return (WadiTile){ cube.x >> WIDE_BITS, cube.y >> WIDE_BITS, cube.z >> WIDE_BITS };
}

/* Offset from the centre of a patch's node to the centre of its cube. */
static inline void offset_of(const WideJob *job, int32_t patch, float offset[3])
{
    WadiTile cube = job->patches->cube[patch];
    const int32_t at[3] = { cube.x, cube.y, cube.z };
    for (int a = 0; a < 3; ++a) {
        int low = (1 << WIDE_BITS) - 1;
        offset[a] = job->cube * ((float)(at[a] & low) - 0.5f * (float)low);
    }
}

static inline float area_of(const WideJob *job, int32_t patch)
{
    return job->patches->area[patch] * job->cap[patch].weight;
}

/* Collects the nodes of the patches that have a cap. */
static WadiStatus find_nodes(WideJob *job, WadiArena *arena, WadiError *error)
{
    WadiTileSet set = { 0 };
    WadiTile last = { 0 }, *sorted = NULL;
    WadiStatus status = WADI_OK;
    for (int32_t n = 0; n < job->patches->count && status == WADI_OK; ++n) {
        WadiTile node = node_of(job->patches->cube[n]);
        if (job->cap[n].weight > 0.0f && (set.count == 0 || !wadi_tile_is_same(node, last))) {
            status = wadi_tile_set_add(&set, node, error);
            last = node;
        }
    }
    size_t count = set.count;
    if (status == WADI_OK) {
        status = wadi_tile_set_sort(&set, &sorted, arena, error);
    }
    wadi_tile_set_free(&set);
    WADI_TRY(status);
    return wadi_tile_map_create_in_arena(&job->map, sorted, count, arena, error);
}

/* Lists the patches of each node, in their order. */
static void list_patches(WideJob *job)
{
    int32_t last = -1;
    memset(job->first, 0, ((size_t)job->map.count + 2) * sizeof *job->first);
    for (int32_t n = 0; n < job->patches->count; ++n) {
        job->node[n] = -1;
        if (job->cap[n].weight > 0.0f) {
            WadiTile node = node_of(job->patches->cube[n]);
            if (last < 0 || !wadi_tile_is_same(job->map.tiles[last], node)) {
                last = wadi_tile_map_find(&job->map, node);
            }
            job->node[n] = last;
            ++job->first[last + 2];
        }
    }
    for (int32_t n = 2; n < job->map.count + 2; ++n) {
        job->first[n] += job->first[n - 1];
    }
    for (int32_t n = 0; n < job->patches->count; ++n) {
        if (job->node[n] >= 0) {
            job->child[job->first[job->node[n] + 1]++] = n;
        }
    }
}

static inline double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline float dot_float(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void measure_nodes(void *context, int64_t first, int64_t end)
{
    WideJob *job = context;
    for (int64_t n = first; n < end; ++n) {
        double sum[MEANS] = { 0 }, total = 0.0;
        for (int32_t c = job->first[n]; c < job->first[n + 1]; ++c) {
            int32_t patch = job->child[c];
            float offset[3];
            double area = (double)area_of(job, patch), at[3];
            offset_of(job, patch, offset);
            for (int a = 0; a < 3; ++a) {
                at[a] = (double)(offset[a] + job->patches->position[patch][a]);
                sum[a] += area * (double)job->cap[patch].normal[a];
                sum[3 + a] += area * at[a];
            }
            for (int p = 0; p < 6; ++p) {
                sum[6 + p] += area * at[PAIR[p][0]] * at[PAIR[p][1]];
            }
            total += area;
        }
        for (int c = 0; c < MEANS; ++c) {
            job->mean[n][c] = total > 0.0 ? sum[c] / total : 0.0;
        }
        job->area[n] = dot(job->mean[n], job->mean[n]) > FACING * FACING ? total : 0.0;
    }
}

/* The nodes around and including one that face the same way; where[n] is the index in the 27 neighbours. */
static int find_around(const WideJob *job, int64_t node, int32_t around[27], int where[27])
{
    const double *own = job->mean[node];
    double least = FACING * FACING * dot(own, own);
    int count = 0;
    for (int s = 0; s < 27; ++s) {
        int32_t at = job->map.neighbours[node][s];
        if (at >= 0 && job->area[at] > 0.0) {
            double both = dot(own, job->mean[at]);
            if (both > 0.0 && both * both > least * dot(job->mean[at], job->mean[at])) {
                around[count] = at;
                where[count++] = s;
            }
        }
    }
    return count;
}

/* One pass: each node becomes the area-weighted mean of its neighbours, with positions relative to its own
 * centre. */
static void average_nodes(void *context, int64_t first, int64_t end)
{
    WideJob *job = context;
    double size = (double)job->size;
    for (int64_t n = first; n < end; ++n) {
        int32_t around[27];
        int where[27], count = find_around(job, n, around, where);
        double sum[MEANS] = { 0 }, total = 0.0;
        for (int k = 0; k < count; ++k) {
            const double *mean = job->mean[around[k]], *position = mean + 3;
            const int step[3] = { where[k] % 3 - 1, where[k] / 3 % 3 - 1, where[k] / 9 - 1 };
            double area = job->area[around[k]], move[3] = { size * step[0], size * step[1], size * step[2] };
            for (int c = 0; c < MEANS; ++c) {
                sum[c] += area * mean[c];
            }
            for (int a = 0; a < 3; ++a) {
                sum[3 + a] += area * move[a];
            }
            for (int p = 0; p < 6; ++p) {
                int i = PAIR[p][0], j = PAIR[p][1];
                sum[6 + p] += area * (move[i] * position[j] + move[j] * position[i] + move[i] * move[j]);
            }
            total += area;
        }
        for (int c = 0; c < MEANS; ++c) {
            job->mean_scratch[n][c] = total > 0.0 ? sum[c] / total : 0.0;
        }
    }
}

static inline WadiVec3 times(WadiSym3 a, WadiVec3 x)
{
    return wadi_vec3(a.xx * x.x + a.xy * x.y + a.xz * x.z, a.xy * x.x + a.yy * x.y + a.yz * x.z,
                     a.xz * x.x + a.yz * x.y + a.zz * x.z);
}

/* Least-squares plane of the heights along the mean normal. */
static Plane fit_plane(const Means mean, double size)
{
    const double *m = mean + 3, *mm = mean + 6;
    WadiVec3 normal = wadi_normalized_or(wadi_vec3(mean[0], mean[1], mean[2]), wadi_vec3(0, 0, 1));
    WadiSym3 spread = { mm[0] - m[0] * m[0], mm[1] - m[1] * m[1], mm[2] - m[2] * m[2],
                        mm[3] - m[0] * m[1], mm[4] - m[0] * m[2], mm[5] - m[1] * m[2] };
    WadiVec3 axis = fabs(normal.x) < 0.6 ? wadi_vec3(1, 0, 0) : wadi_vec3(0, 1, 0);
    WadiVec3 u = wadi_normalized_or(wadi_cross(normal, axis), axis), v = wadi_cross(normal, u);
    WadiVec3 heights = times(spread, normal);
    /* Regularization: a single patch, or a line of them, gets a slope too. */
    double more = 1e-3 * size * size, uu = wadi_dot(u, times(spread, u)) + more;
    double vv = wadi_dot(v, times(spread, v)) + more, uv = wadi_dot(u, times(spread, v));
    double un = wadi_dot(u, heights), vn = wadi_dot(v, heights), det = uu * vv - uv * uv;
    WadiVec3 slope =
        wadi_add(wadi_scale(u, (un * vv - vn * uv) / det), wadi_scale(v, (vn * uu - un * uv) / det));
    normal = wadi_normalized_or(wadi_sub(normal, slope), normal);
    return (Plane){ .normal = { (float)normal.x, (float)normal.y, (float)normal.z },
                    .level = (float)wadi_dot(normal, wadi_vec3(m[0], m[1], m[2])),
                    .part = 1.0f };
}

static void fit_planes(void *context, int64_t first, int64_t end)
{
    WideJob *job = context;
    for (int64_t n = first; n < end; ++n) {
        job->plane[n] = job->area[n] > 0.0 ? fit_plane(job->mean[n], (double)job->size) : (Plane){ 0 };
    }
}

/* Interpolates the planes around a patch that face the same way, relative to the centre of its cube. */
static Plane blend_planes(const WideJob *job, int32_t patch)
{
    float offset[3], total = 0.0f;
    Plane blend = { 0 };
    offset_of(job, patch, offset);
    for (int n = 0; n < 8; ++n) {
        float weight = 1.0f, from[3];
        int where = 0, stride = 1;
        for (int a = 0; a < 3; ++a, stride *= 3) {
            float part = fabsf(offset[a]) / job->size;
            int step = (n >> a & 1) == 0 ? 0 : offset[a] < 0.0f ? -1 : 1;
            weight *= step == 0 ? 1.0f - part : part;
            from[a] = offset[a] - job->size * (float)step;
            where += (step + 1) * stride;
        }
        int32_t at = job->map.neighbours[job->node[patch]][where];
        if (at >= 0 && dot_float(job->plane[at].normal, job->cap[patch].normal) > (float)FACING) {
            const Plane *plane = &job->plane[at];
            for (int a = 0; a < 3; ++a) {
                blend.normal[a] += weight * plane->normal[a];
            }
            blend.level += weight * (plane->level - dot_float(plane->normal, from));
            blend.part += weight * plane->part;
            total += weight;
        }
    }
    float scale = total > 0.0f ? 1.0f / total : 0.0f;
    for (int a = 0; a < 3; ++a) {
        blend.normal[a] *= scale;
    }
    blend.level *= scale;
    blend.part *= scale;
    return blend;
}

/* Distance of the cube's centre from the cap. */
static inline float height_of(const WadiCap *cap)
{
    float square = dot_float(cap->middle, cap->middle);
    return cap->bend * (square - cap->level * cap->level) - cap->level;
}

static void measure_squares(void *context, int64_t first, int64_t end)
{
    WideJob *job = context;
    for (int64_t n = first; n < end; ++n) {
        float sum = 0.0f, total = 0.0f;
        for (int32_t c = job->first[n]; c < job->first[n + 1]; ++c) {
            int32_t patch = job->child[c];
            float area = area_of(job, patch);
            float distance = height_of(&job->cap[patch]) + blend_planes(job, patch).level;
            sum += area * distance * distance;
            total += area;
        }
        job->square[n] = total > 0.0f ? sum / total : 0.0f;
    }
}

static void average_squares(void *context, int64_t first, int64_t end)
{
    WideJob *job = context;
    for (int64_t n = first; n < end; ++n) {
        int32_t around[27];
        int where[27], count = find_around(job, n, around, where);
        double sum = 0.0, total = 0.0;
        for (int k = 0; k < count; ++k) {
            sum += job->area[around[k]] * (double)job->square[around[k]];
            total += job->area[around[k]];
        }
        job->square_scratch[n] = total > 0.0 ? (float)(sum / total) : 0.0f;
    }
}

static void limit_planes(void *context, int64_t first, int64_t end)
{
    WideJob *job = context;
    for (int64_t n = first; n < end; ++n) {
        float part = 1.0f - wadi_cap_ramp(sqrtf(job->square[n]) / job->spacing, HIGH);
        job->plane[n].part = fminf(job->plane[n].part, part);
    }
}

static void move_caps(void *context, int64_t first, int64_t end)
{
    WideJob *job = context;
    for (int64_t n = first; n < end; ++n) {
        if (job->node[n] >= 0) {
            WadiCap *cap = &job->cap[n];
            Plane plane = blend_planes(job, (int32_t)n);
            for (int a = 0; a < 3; ++a) {
                cap->normal[a] += plane.part * (plane.normal[a] - cap->normal[a]);
            }
            cap->level += plane.part * (plane.level - cap->level);
            cap->bend -= plane.part * cap->bend;
        }
    }
}

static void average_planes(WideJob *job, int passes)
{
    for (int n = 0; n < passes; ++n) {
        wadi_parallel_for(job->map.count, NODE_BLOCK, average_nodes, job);
        Means *averaged = job->mean_scratch;
        job->mean_scratch = job->mean;
        job->mean = averaged;
    }
    wadi_parallel_for(job->map.count, NODE_BLOCK, fit_planes, job);
}

/* Weights of the planes: locally, after one pass, and over the whole length. */
static void weigh_planes(WideJob *job, int passes)
{
    wadi_parallel_for(job->map.count, NODE_BLOCK, measure_squares, job);
    for (int n = 1; n <= passes; ++n) {
        wadi_parallel_for(job->map.count, NODE_BLOCK, average_squares, job);
        float *averaged = job->square_scratch;
        job->square_scratch = job->square;
        job->square = averaged;
        if (n == 1 || n == passes) {
            wadi_parallel_for(job->map.count, NODE_BLOCK, limit_planes, job);
        }
    }
}

WadiStatus wadi_caps_widen(WadiCap *caps, const WadiPatches *patches, double deviation, double spacing,
                           WadiArena *arena, WadiError *error)
{
    WideJob job = { .patches = patches, .cap = caps, .spacing = (float)spacing };
    job.cube = (float)(1 << patches->shift);
    job.size = job.cube * (float)(1 << WIDE_BITS);
    WADI_TRY(find_nodes(&job, arena, error));
    size_t count = (size_t)patches->count, nodes = (size_t)job.map.count;
    if (nodes == 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &job.node, count, "planes of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.child, count, "planes of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.first, nodes + 2, "planes of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.area, nodes, "planes of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.mean, nodes, "planes of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.mean_scratch, nodes, "planes of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.plane, nodes, "planes of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.square, nodes, "planes of a surface", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &job.square_scratch, nodes, "planes of a surface", error));
    list_patches(&job);
    wadi_parallel_for(job.map.count, NODE_BLOCK, measure_nodes, &job);
    /* Nodes are eight times as wide as cubes, so that the caps' number of passes gives eight times their
     * length. */
    int passes = (int)fmax(1.0, fmin(1.5 * pow(deviation / (double)job.cube, 2.0) + 0.5, PASSES_MAX));
    average_planes(&job, passes);
    weigh_planes(&job, passes);
    wadi_parallel_for(patches->count, PATCH_BLOCK, move_caps, &job);
    return WADI_OK;
}
