/* Centre and shape of each particle's kernel. [YT13 sections 4.1 to 4.3]
 *
 * Differs [theory 10.4]:
 * - Stretches are relative to the covariance of a full neighbourhood, 0.15 r^2 in each direction, and at most
 *   1; the paper's constant k_s depends on the unit of length. Neighbours are weighted by volume.
 * - The mean offset of the neighbours on the same side, weighted by max(0, offset_i . offset_j), is
 *   subtracted from a particle's offset: the paper's surface shrinks by 0.6 to 0.9 spacings without it.
 * - Particles of evenly filled bins (near_pairs.h) do not move and have a round kernel: they do not affect
 *   the surface. */
#include "surface/cloud/anisotropy.h"

#include <string.h>

#include "core/parallel.h"
#include "grid/row_vectors.h"
#include "surface/cloud/near_pairs.h"

static const double SMOOTHING = 0.9;     /* lambda */
static const double STRETCH_RATIO = 4.0; /* k_r */
/* N_eps over the particles of a full neighbourhood of 3.3 spacings */
static const double VOLUME_FEW = 25.0 / 150.5;
static const double LONE_SUPPORT = 1.3;     /* spacings, k_n h: the ball of a lone particle has its volume */
static const double FULL_COVARIANCE = 0.15; /* over r^2, for the weight 1 - s^3 in a full ball */
static const double PI = 3.14159265358979324;

WadiEllipsoid wadi_ellipsoid(const WadiNearMoments *m, double spacing, double support)
{
    double volume = spacing * spacing * spacing, r = support * spacing,
           least = fmin(LONE_SUPPORT / support, 1.0);
    double full = 4.0 / 3.0 * PI * r * r * r;
    double stretch[3] = { least, least, least }, value[3] = { 0.0 };
    WadiSym3 covariance = { .xx = 0.0 };
    if (m->volume > VOLUME_FEW * full) {
        WadiVec3 c = wadi_scale(m->mean, 1.0 / m->weight);
        covariance = wadi_sym3_scale(m->second, 1.0 / m->weight);
        covariance.xx -= c.x * c.x;
        covariance.yy -= c.y * c.y;
        covariance.zz -= c.z * c.z;
        covariance.xy -= c.x * c.y;
        covariance.xz -= c.x * c.z;
        covariance.yz -= c.y * c.z;
        wadi_sym3_eigenvalues(covariance, value);
        double unit = 1.0 / (FULL_COVARIANCE * r * r);
        double longest = fmin(value[2] * unit, 1.0);
        /* Neighbours that nearly coincide are treated as a lone particle. */
        for (int a = 0; a < 3 && longest > least; ++a) {
            stretch[a] = fmin(fmax(value[a] * unit, longest / STRETCH_RATIO), longest);
        }
    }
    double inverse[3];
    for (int a = 0; a < 3; ++a) {
        inverse[a] = 1.0 / (stretch[a] * r * stretch[a] * r);
    }
    WadiEllipsoid e = { .form = wadi_sym3_with_values(covariance, value, inverse),
                        .support = fmax(stretch[0], stretch[2]) * r };
    e.amplitude = volume / (WADI_KERNEL_INTEGRAL * r * r * r * stretch[0] * stretch[1] * stretch[2]);
    return e;
}

WadiVec3 wadi_anisotropy_shift(WadiVec3 own, WadiVec3 neighbour)
{
    return wadi_scale(wadi_sub(own, neighbour), SMOOTHING);
}

enum { WEIGHT, VOLUME, MX, MY, MZ, XX, YY, ZZ, XY, XZ, YZ, SUMS };

typedef struct Scratch {
    const WadiCloud *cloud;
    const WadiBins *bins; /* of the particles before they are moved */
    double support, unit;
    float (*sum)[SUMS];           /* by bin order */
    float (*offset)[4];           /* to the mean of the neighbours, m; 0 in deep bins */
    float (*neighbour_offset)[4]; /* sums of w_j offset_j and of w_j = k V max(0, offset_i . offset_j) */
    WadiVec3 *moved;              /* by particle, as are the next two */
    float (*ellipsoid)[8];
    float *ellipsoid_support;
    WadiAnisotropy *out;
} Scratch;

/* k V of eight candidates: 0 outside the support. */
static inline __attribute__((always_inline)) void weigh(const WadiPairChunk *chunk, int32_t c,
                                                        const WadiF8 *squared, float inverse, WadiF8 *weight,
                                                        WadiI8 *is_near)
{
    WadiF8 other = *(const WadiF8 *)(chunk->inverse + c), own = (WadiF8){ 0 } + inverse;
    WadiF8 q = *squared * WADI_ROW_SELECT(other < own, other, own), root;
    for (int l = 0; l < 8; ++l) {
        root[l] = sqrtf(q[l]);
    }
    *is_near = q < 1.0f;
    WadiF8 k = (1.0f - q * root) * *(const WadiF8 *)(chunk->cube + c);
    *weight = WADI_ROW_SELECT(*is_near, k, (WadiF8){ 0 });
}

static void add_moments(void *context, const WadiBins *bins, int32_t first, int32_t end,
                        const WadiPairChunk *chunk)
{
    Scratch *s = context;
    for (int32_t i = first; i < end; ++i) {
        const float *point = bins->point[i];
        float inverse = 1.0f / (point[3] * point[3]);
        WadiF8 sum[SUMS] = { 0 };
        for (int32_t c = 0; c < chunk->count; c += 8) {
            WadiF8 x = *(const WadiF8 *)(chunk->x + c) - point[0];
            WadiF8 y = *(const WadiF8 *)(chunk->y + c) - point[1];
            WadiF8 z = *(const WadiF8 *)(chunk->z + c) - point[2];
            WadiF8 squared = x * x + y * y + z * z, k;
            WadiI8 is_near;
            weigh(chunk, c, &squared, inverse, &k, &is_near);
            WadiF8 kx = k * x, ky = k * y, kz = k * z;
            sum[WEIGHT] += k;
            sum[VOLUME] += WADI_ROW_SELECT(is_near, *(const WadiF8 *)(chunk->cube + c), (WadiF8){ 0 });
            sum[MX] += kx;
            sum[MY] += ky;
            sum[MZ] += kz;
            sum[XX] += kx * x;
            sum[YY] += ky * y;
            sum[ZZ] += kz * z;
            sum[XY] += kx * y;
            sum[XZ] += kx * z;
            sum[YZ] += ky * z;
        }
        for (int n = 0; n < SUMS; ++n) {
            s->sum[i][n] += wadi_pair_sum(&sum[n]);
        }
    }
}

static void find_offsets(void *context, int64_t first, int64_t end)
{
    Scratch *s = context;
    for (int64_t i = first; i < end; ++i) {
        const float *sum = s->sum[i];
        float scale = sum[WEIGHT] > 0.0f ? 1.0f / sum[WEIGHT] : 0.0f;
        s->offset[i][0] = sum[MX] * scale;
        s->offset[i][1] = sum[MY] * scale;
        s->offset[i][2] = sum[MZ] * scale;
    }
}

static void add_offsets(void *context, const WadiBins *bins, int32_t first, int32_t end,
                        const WadiPairChunk *chunk)
{
    Scratch *s = context;
    float offset[3][WADI_PAIR_CHUNK];
    for (int32_t c = 0; c < chunk->count; ++c) {
        for (int a = 0; a < 3; ++a) {
            offset[a][c] = s->offset[chunk->slot[c]][a];
        }
    }
    for (int32_t i = first; i < end; ++i) {
        const float *point = bins->point[i];
        float inverse = 1.0f / (point[3] * point[3]);
        const float *own = s->offset[i];
        WadiF8 sum[4] = { 0 };
        for (int32_t c = 0; c < chunk->count; c += 8) {
            WadiF8 x = *(const WadiF8 *)(chunk->x + c) - point[0];
            WadiF8 y = *(const WadiF8 *)(chunk->y + c) - point[1];
            WadiF8 z = *(const WadiF8 *)(chunk->z + c) - point[2];
            WadiF8 squared = x * x + y * y + z * z, k;
            WadiI8 is_near;
            weigh(chunk, c, &squared, inverse, &k, &is_near);
            WadiF8 wx = *(const WadiF8 *)(offset[0] + c), wy = *(const WadiF8 *)(offset[1] + c);
            WadiF8 wz = *(const WadiF8 *)(offset[2] + c), along = own[0] * wx + own[1] * wy + own[2] * wz;
            k *= WADI_ROW_SELECT(along > 0.0f, along, (WadiF8){ 0 });
            sum[0] += k * wx;
            sum[1] += k * wy;
            sum[2] += k * wz;
            sum[3] += k;
        }
        for (int a = 0; a < 4; ++a) {
            s->neighbour_offset[i][a] += wadi_pair_sum(&sum[a]);
        }
    }
}

static void make_ellipsoids(void *context, int64_t first, int64_t end)
{
    Scratch *s = context;
    double cube = s->support * s->support * s->support, unit2 = s->unit * s->unit;
    for (int64_t slot = first; slot < end; ++slot) {
        const float *sum = s->sum[slot];
        int32_t i = s->bins->order[slot];
        double spacing = (double)s->cloud->spacing[i];
        WadiNearMoments moments = {
            .weight = (double)sum[WEIGHT],
            .volume = (double)sum[VOLUME] / cube,
            .mean = { (double)sum[MX], (double)sum[MY], (double)sum[MZ] },
            .second = { (double)sum[XX], (double)sum[YY], (double)sum[ZZ], (double)sum[XY], (double)sum[XZ],
                        (double)sum[YZ] },
        };
        s->moved[i] = s->cloud->position[i];
        if (moments.weight > 0.0) {
            const float *own = s->offset[slot], *neighbour = s->neighbour_offset[slot];
            WadiVec3 neighbour_offset = { (double)neighbour[0], (double)neighbour[1], (double)neighbour[2] };
            WadiVec3 own_offset = { (double)own[0], (double)own[1], (double)own[2] };
            neighbour_offset =
                neighbour[3] > 0.0f ? wadi_scale(neighbour_offset, 1.0 / (double)neighbour[3]) : own_offset;
            s->moved[i] = wadi_add(s->moved[i], wadi_anisotropy_shift(own_offset, neighbour_offset));
        } else {
            double r = s->support * spacing, second = FULL_COVARIANCE * r * r;
            moments =
                (WadiNearMoments){ 1.0, 8.0 * r * r * r, { 0, 0, 0 }, { second, second, second, 0, 0, 0 } };
        }
        WadiEllipsoid e = wadi_ellipsoid(&moments, spacing, s->support);
        float *form = s->ellipsoid[i];
        form[0] = (float)(e.form.xx * unit2);
        form[1] = (float)(e.form.yy * unit2);
        form[2] = (float)(e.form.zz * unit2);
        form[3] = (float)(2.0 * e.form.xy * unit2);
        form[4] = (float)(2.0 * e.form.xz * unit2);
        form[5] = (float)(2.0 * e.form.yz * unit2);
        form[6] = (float)e.amplitude;
        form[7] = (float)(spacing / s->unit);
        s->ellipsoid_support[i] = (float)e.support;
    }
}

static void sort_ellipsoids(void *context, int64_t first, int64_t end)
{
    Scratch *s = context;
    for (int64_t slot = first; slot < end; ++slot) {
        int32_t i = s->out->bins.order[slot];
        memcpy(s->out->ellipsoid[slot], s->ellipsoid[i], sizeof *s->ellipsoid);
        float *support = &s->out->bins.point[slot][3];
        *support = s->ellipsoid_support[i] < *support ? s->ellipsoid_support[i] : *support;
    }
}

/* Moments and offsets of all particles except those of deep bins, whose sums stay 0. */
static WadiStatus sum_neighbourhoods(Scratch *s, WadiBins *bins, WadiArena *arena, WadiError *error)
{
    size_t count = (size_t)s->cloud->count;
    WADI_TRY(wadi_bins_build(bins, s->cloud, s->support, arena, error));
    uint8_t *is_deep, *marks;
    size_t bin_count = (size_t)wadi_bins_bin_count(bins);
    WADI_TRY(WADI_ARENA_NEW(arena, &is_deep, bin_count, "deep bins", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &marks, bin_count, "deep bins", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->sum, count, "neighbourhoods", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->offset, count, "neighbourhoods", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->neighbour_offset, count, "neighbourhoods", error));
    memset(s->sum, 0, count * sizeof *s->sum);
    memset(s->neighbour_offset, 0, count * sizeof *s->neighbour_offset);
    wadi_bins_mark_deep(bins, s->cloud, is_deep, marks);
    wadi_near_pairs(bins, is_deep, add_moments, s);
    wadi_parallel_for(s->cloud->count, 16384, find_offsets, s);
    wadi_near_pairs(bins, is_deep, add_offsets, s);
    return WADI_OK;
}

WadiStatus wadi_anisotropy_build(WadiAnisotropy *anisotropy, const WadiCloud *cloud, double support,
                                 double unit, WadiArena *arena, WadiError *error)
{
    *anisotropy = (WadiAnisotropy){ 0 };
    size_t count = (size_t)cloud->count;
    if (count == 0) {
        return WADI_OK;
    }
    Scratch s = { .cloud = cloud, .support = support, .unit = unit, .out = anisotropy };
    WADI_TRY(WADI_ARENA_NEW(arena, &anisotropy->ellipsoid, count, "ellipsoids", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s.moved, count, "moved particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s.ellipsoid, count, "ellipsoids", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s.ellipsoid_support, count, "ellipsoids", error));
    WadiArenaMark mark = wadi_arena_mark(arena);
    WadiBins bins;
    s.bins = &bins;
    WADI_TRY(sum_neighbourhoods(&s, &bins, arena, error));
    wadi_parallel_for(cloud->count, 1024, make_ellipsoids, &s);
    wadi_arena_release(arena, mark);

    anisotropy->moved = *cloud;
    anisotropy->moved.position = s.moved;
    anisotropy->moved.attribute_count = 0;
    WADI_TRY(wadi_bins_build(&anisotropy->bins, &anisotropy->moved, support, arena, error));
    wadi_parallel_for(cloud->count, 16384, sort_ellipsoids, &s);
    return WADI_OK;
}
