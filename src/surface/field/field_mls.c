/* Moving least squares of planes: each particle estimates the plane of the surface beside it, and the value
 * is the weighted mean of the distances to these planes [SOS04 section 3; theory 10.4]. No pass over a grid
 * is needed, so that the value at a point is a sum over its particles.
 *
 * A particle's offset d to the mean of its neighbours points away from the surface, and in a half-space its
 * length is a known function of the depth. Differs: thin sheets and lone particles have no plane, so the
 * value is the larger of that mean and the function of Zhu and Bridson, whose radii go from those of balls of
 * the particles' volumes to `radius` where the neighbours are those of a half-space. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "surface/cloud/near_pairs.h"
#include "surface/field/field_method.h"

/* The plane that particle i sees: normal . (x - x_i) = depth. */
typedef struct Plane {
    float normal[3]; /* outwards; 0: none */
    float depth;     /* of the particle below it, cells */
    float radius;    /* of the particle in the function of Zhu and Bridson, cells */
} Plane;

/* In a half-space, for the kernel (1 - s^2)^3 and lengths over its radius, at the depth t: the weight of the
 * neighbours over that in full space, integral of (1 - u^2)^4 from -1 to t over that to 1. */
static double weight_at(double t)
{
    const double s = t * t;
    return 0.5 + 315.0 / 256.0 * t * (1.0 - s * (4.0 / 3.0 - s * (6.0 / 5.0 - s * (4.0 / 7.0 - s / 9.0))));
}

/* And the length of the offset, (1 - t^2)^5 / 10 over the first integral. */
static double offset_at(double t)
{
    const double weight = weight_at(t);
    return weight > 0.0 ? 315.0 / 2560.0 * pow(1.0 - t * t, 5.0) / weight : 1.0;
}

/* Its inverse: the offset falls with the depth. Bisection to the precision of a float. */
static double depth_of(double offset)
{
    double low = -1.0, high = 1.0;
    for (int n = 0; n < 26; ++n) {
        const double middle = 0.5 * (low + high);
        if (offset_at(middle) > offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}

/* Of a particle's neighbours within the support radius h, m: weight over that in full space, and the
 * offset to their mean, m. */
typedef struct Neighbours {
    double h, weight;
    WadiVec3 offset;
} Neighbours;

/* A flat surface is where the offset is at least that of the outermost particles below one, and the weight
 * that of the half-space with this offset. */
static Plane plane_of(const WadiFieldDef *def, double spacing, const Neighbours *near)
{
    const double length = wadi_norm(near->offset), depth = depth_of(length / near->h);
    const double is_beside_air = fmin(1.0, length / near->h / offset_at(0.5 * spacing / near->h));
    const double is_filled = fmin(1.0, near->weight / fmax(weight_at(depth), 1e-9));
    const double radius =
        WADI_FIELD_BALL + fmax(0.0, def->radius - WADI_FIELD_BALL) * is_beside_air * is_filled;
    Plane plane = { .depth = (float)(depth * near->h / def->cell),
                    .radius = (float)(radius * spacing / def->cell) };
    if (length > 0.0) {
        plane.normal[0] = (float)(-near->offset.x / length);
        plane.normal[1] = (float)(-near->offset.y / length);
        plane.normal[2] = (float)(-near->offset.z / length);
    }
    return plane;
}

typedef struct Planes {
    const WadiCloud *cloud;
    const WadiFieldDef *def;
    const WadiBins *wide;    /* with the support of the neighbourhoods */
    float (*sum)[4];         /* by the order of `wide`: k V and k V (x_j - x_i), m */
    Plane *of;               /* by particle */
    const WadiBins *sampled; /* those of the field */
    Plane *sorted;           /* by the order of `sampled` */
} Planes;

static void add_offsets(void *context, const WadiBins *bins, int32_t first, int32_t end,
                        const WadiPairChunk *chunk)
{
    const Planes *p = context;
    for (int32_t i = first; i < end; ++i) {
        const float *point = bins->point[i];
        const float inverse = 1.0f / (point[3] * point[3]);
        WadiF8 sum[4] = { 0 };
        for (int32_t c = 0; c < chunk->count; c += 8) {
            const WadiF8 x = *(const WadiF8 *)(chunk->x + c) - point[0];
            const WadiF8 y = *(const WadiF8 *)(chunk->y + c) - point[1];
            const WadiF8 z = *(const WadiF8 *)(chunk->z + c) - point[2];
            WadiF8 t = 1.0f - (x * x + y * y + z * z) * inverse;
            t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 });
            const WadiF8 k = t * t * t * *(const WadiF8 *)(chunk->cube + c);
            sum[0] += k;
            sum[1] += k * x;
            sum[2] += k * y;
            sum[3] += k * z;
        }
        for (int a = 0; a < 4; ++a) {
            p->sum[i][a] += wadi_pair_sum(&sum[a]);
        }
    }
}

static void make_planes(void *context, int64_t first, int64_t end)
{
    const Planes *p = context;
    const double support = WADI_MLS_SUPPORT * p->def->support;
    for (int64_t slot = first; slot < end; ++slot) {
        const float *sum = p->sum[slot];
        const int32_t i = p->wide->order[slot];
        const double spacing = (double)p->cloud->spacing[i], h = support * spacing;
        Neighbours near = { .h = h, .weight = 1.0 }; /* of particles of deep bins, whose sums are 0 */
        if (sum[0] > 0.0f) {
            const double k = (double)sum[0];
            near.weight = k / (WADI_KERNEL_INTEGRAL * h * h * h * support * support * support);
            near.offset = wadi_scale((WadiVec3){ (double)sum[1], (double)sum[2], (double)sum[3] }, 1.0 / k);
        }
        p->of[i] = plane_of(p->def, spacing, &near);
    }
}

static void sort_planes(void *context, int64_t first, int64_t end)
{
    const Planes *p = context;
    for (int64_t slot = first; slot < end; ++slot) {
        p->sorted[slot] = p->of[p->sampled->order[slot]];
    }
}

static WadiStatus prepare(WadiFieldSampler *sampler, WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)sampler->cloud->count;
    WadiBins wide;
    Planes p = { .cloud = sampler->cloud, .def = sampler->def, .wide = &wide, .sampled = sampler->bins };
    WADI_TRY(WADI_ARENA_NEW(arena, &p.sorted, count, "planes of particles", error));
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(wadi_bins_build(&wide, p.cloud, WADI_MLS_SUPPORT * p.def->support, arena, error));
    const size_t bin_count = (size_t)wadi_bins_bin_count(&wide);
    uint8_t *is_deep, *marks;
    WADI_TRY(WADI_ARENA_NEW(arena, &is_deep, bin_count, "deep bins", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &marks, bin_count, "deep bins", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &p.of, count, "planes of particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &p.sum, count, "planes of particles", error));
    memset(p.sum, 0, count * sizeof *p.sum);
    wadi_bins_mark_deep(&wide, p.cloud, is_deep, marks);
    wadi_near_pairs(&wide, is_deep, add_offsets, &p);
    wadi_parallel_for(p.cloud->count, 1024, make_planes, &p);
    wadi_parallel_for(p.cloud->count, 16384, sort_planes, &p);
    wadi_arena_release(arena, mark);
    sampler->data = p.sorted;
    return WADI_OK;
}

static const WadiF8 LANE = { 0, 1, 2, 3, 4, 5, 6, 7 };

static void sample_row(const WadiFieldSampler *sampler, const WadiFieldNear *near, const int32_t *index,
                       int32_t count, float y, float z, float value[WADI_ROW_CELLS])
{
    const Plane *planes = sampler->data;
    WadiF8 sum = { 0 }, sum_x = { 0 }, sum_y = { 0 }, sum_z = { 0 }, sum_radius = { 0 }, sum_plane = { 0 };
    for (int32_t n = 0; n < count; ++n) {
        const int32_t i = index[n];
        const Plane *plane = &planes[near->slot[i]];
        const float dy = y - near->y[i], dz = z - near->z[i], support = near->support[i];
        const float squared = 1.0f / (support * support), side = 1.0f - (dy * dy + dz * dz) * squared;
        const float beside = plane->normal[1] * dy + plane->normal[2] * dz - plane->depth;
        const WadiF8 dx = LANE - near->x[i];
        WadiF8 t = side - dx * dx * squared;
        t = WADI_ROW_SELECT(t > 0.0f, t, (WadiF8){ 0 });
        const WadiF8 k = t * t * t;
        sum += k;
        sum_x += k * dx;
        sum_y += k * dy;
        sum_z += k * dz;
        sum_radius += k * plane->radius;
        sum_plane += k * (plane->normal[0] * dx + beside);
    }
    const float outside = (float)((double)sampler->outside / sampler->def->cell);
    const WadiF8 length2 = sum_x * sum_x + sum_y * sum_y + sum_z * sum_z;
    for (int l = 0; l < WADI_ROW_CELLS; ++l) {
        const float ball = sqrtf(length2[l]) - sum_radius[l];
        value[l] = sum[l] > 0.0f ? fmaxf(ball, sum_plane[l]) / sum[l] : outside;
    }
}

static Plane reference_plane(const WadiCloud *cloud, const WadiFieldDef *def, int32_t i)
{
    const double spacing = (double)cloud->spacing[i], h = WADI_MLS_SUPPORT * def->support * spacing;
    double sum = 0.0;
    Neighbours near = { .h = h };
    for (int32_t j = 0; j < cloud->count; ++j) {
        const WadiVec3 d = wadi_sub(cloud->position[j], cloud->position[i]);
        const double t = 1.0 - wadi_dot(d, d) / (h * h);
        if (t > 0.0) {
            const double k = t * t * t * pow((double)cloud->spacing[j], 3.0);
            sum += k;
            near.offset = wadi_add_scaled(near.offset, d, k);
        }
    }
    near.offset = wadi_scale(near.offset, 1.0 / sum);
    near.weight = sum / (WADI_KERNEL_INTEGRAL * h * h * h);
    return plane_of(def, spacing, &near);
}

static double reference(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 x)
{
    double sum = 0.0, sum_radius = 0.0, sum_plane = 0.0;
    WadiVec3 sum_offset = { 0 };
    for (int32_t i = 0; i < cloud->count; ++i) {
        const double h = def->support * (double)cloud->spacing[i];
        const WadiVec3 u = wadi_sub(x, cloud->position[i]);
        const double t = 1.0 - wadi_dot(u, u) / (h * h), k = t * t * t;
        if (t > 0.0) {
            const Plane plane = reference_plane(cloud, def, i);
            const WadiVec3 normal = { (double)plane.normal[0], (double)plane.normal[1],
                                      (double)plane.normal[2] };
            sum += k;
            sum_offset = wadi_add_scaled(sum_offset, u, k);
            sum_radius += k * (double)plane.radius * def->cell;
            sum_plane += k * (wadi_dot(normal, u) - (double)plane.depth * def->cell);
        }
    }
    return sum > 0.0 ? fmax(wadi_norm(sum_offset) - sum_radius, sum_plane) / sum
                     : wadi_field_outside(cloud, def);
}

/* Radii are at least those of balls of the particles' volumes, and planes lie above the particles. */
static bool is_inside_where_filled(const WadiFieldDef *def)
{
    return WADI_FIELD_BALL >= 0.3 * def->support;
}

const WadiFieldMethod wadi_field_mls = { .neighbourhood = WADI_MLS_SUPPORT,
                                         .prepare = prepare,
                                         .sample_row = sample_row,
                                         .is_inside_where_filled = is_inside_where_filled,
                                         .reference = reference };
