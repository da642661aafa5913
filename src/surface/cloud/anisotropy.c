/* Where each particle's kernel is centred and how it is stretched. [YT13 sections 4.1 to 4.3]
 *
 * Differs:
 * - Stretches are ratios to a full neighbourhood's covariance, 0.15 r^2 in each direction, where the paper has a constant k_s =
 *   1400 that holds for one unit of length; none exceeds 1. Neighbours weigh by their volume, so that sizes can mix.
 * - A particle at a surface moves to the mean of its neighbours, which lies deeper, and the paper's surface shrinks by 0.6 to 0.9
 *   of a spacing; thin sheets shrink more. What smoothing is to remove is only how a particle's way to that mean differs
 *   from the ways of others at the same side of the surface. So the mean of those is taken off again, each by how far it goes
 *   along: weight max(0, way_i . way_j). Sheets of two layers keep their volume within 2 %; they lose a third without.
 * - Particles of evenly filled bins (near_pairs.h) keep their place and a round kernel: they do not touch the surface. */
#include "surface/cloud/anisotropy.h"

#include <string.h>

#include "core/parallel.h"
#include "grid/row_vectors.h"
#include "surface/cloud/near_pairs.h"

static const double SMOOTHING = 0.9;        /* lambda */
static const double STRETCH_RATIO = 4.0;    /* k_r */
static const double FEW = 25.0 / 150.5;     /* N_eps of what a full neighbourhood of 3.3 spacings holds */
static const double LONE_REACH = 1.3;       /* spacings, k_n h: a lone particle's ball has its volume */
static const double FULL_COVARIANCE = 0.15; /* of r^2, for the weight 1 - s^3 in a ball */
static const double PI = 3.14159265358979324;

/* The integral of (1 - s^2)^3 over the unit ball. */
static const double KERNEL_INTEGRAL = 64.0 * 3.14159265358979324 / 315.0;

WadiEllipsoid wadi_ellipsoid(const WadiNearMoments *m, double spacing, double reach)
{
    double own = spacing * spacing * spacing, r = reach * spacing, least = fmin(LONE_REACH / reach, 1.0);
    double full = 4.0 / 3.0 * PI * r * r * r;
    double stretch[3] = { least, least, least }, value[3] = { 0.0 };
    WadiSym3 covariance = { .xx = 0.0 };
    if (m->volume > FEW * full) {
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
        /* All but in one place: as if alone. */
        for (int a = 0; a < 3 && longest > least; ++a) {
            stretch[a] = fmin(fmax(value[a] * unit, longest / STRETCH_RATIO), longest);
        }
    }
    double inverse[3];
    for (int a = 0; a < 3; ++a) {
        inverse[a] = 1.0 / (stretch[a] * r * stretch[a] * r);
    }
    WadiEllipsoid e = { .form = wadi_sym3_with_values(covariance, value, inverse),
                        .reach = fmax(stretch[0], stretch[2]) * r };
    e.amplitude = own / (KERNEL_INTEGRAL * r * r * r * stretch[0] * stretch[1] * stretch[2]);
    return e;
}

WadiVec3 wadi_anisotropy_shift(WadiVec3 own, WadiVec3 near)
{
    return wadi_scale(wadi_sub(own, near), SMOOTHING);
}

enum { WEIGHT, VOLUME, MX, MY, MZ, XX, YY, ZZ, XY, XZ, YZ, SUMS };

typedef struct Scratch {
    const WadiCloud *cloud;
    const WadiBins *bins; /* of the particles where they are */
    double reach, unit;
    float (*sum)[SUMS];   /* by slots */
    float (*way)[4];      /* to the mean of the neighbours, m; 0 in deep bins */
    float (*near_way)[4]; /* sum k V max(0, way_i . way_j) way_j, and without way_j */
    WadiVec3 *moved;      /* by particles, as the rest */
    float (*ellipsoid)[8];
    float *ellipsoid_reach;
    WadiAnisotropy *out;
} Scratch;

static inline __attribute__((always_inline)) float sum_of(const WadiF8 *v)
{
    WadiF8 a = *v;
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

/* k V of eight candidates: 0 beyond the reach. */
static inline __attribute__((always_inline)) void weigh(const WadiPairChunk *chunk, int32_t c,
                                                        const WadiF8 *squared, float inverse, WadiF8 *weight,
                                                        WadiI8 *is_near)
{
    WadiF8 theirs = *(const WadiF8 *)(chunk->inverse + c), ours = (WadiF8){ 0 } + inverse;
    WadiF8 q = *squared * WADI_ROW_SELECT(theirs < ours, theirs, ours), root;
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
        const float *place = bins->place[i];
        float inverse = 1.0f / (place[3] * place[3]);
        WadiF8 sum[SUMS] = { 0 };
        for (int32_t c = 0; c < chunk->count; c += 8) {
            WadiF8 x = *(const WadiF8 *)(chunk->x + c) - place[0];
            WadiF8 y = *(const WadiF8 *)(chunk->y + c) - place[1];
            WadiF8 z = *(const WadiF8 *)(chunk->z + c) - place[2];
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
            s->sum[i][n] += sum_of(&sum[n]);
        }
    }
}

static void find_ways(void *context, int64_t first, int64_t end)
{
    Scratch *s = context;
    for (int64_t i = first; i < end; ++i) {
        const float *sum = s->sum[i];
        float scale = sum[WEIGHT] > 0.0f ? 1.0f / sum[WEIGHT] : 0.0f;
        s->way[i][0] = sum[MX] * scale;
        s->way[i][1] = sum[MY] * scale;
        s->way[i][2] = sum[MZ] * scale;
    }
}

static void add_ways(void *context, const WadiBins *bins, int32_t first, int32_t end,
                     const WadiPairChunk *chunk)
{
    Scratch *s = context;
    float way[3][WADI_PAIR_CHUNK];
    for (int32_t c = 0; c < chunk->count; ++c) {
        for (int a = 0; a < 3; ++a) {
            way[a][c] = s->way[chunk->slot[c]][a];
        }
    }
    for (int32_t i = first; i < end; ++i) {
        const float *place = bins->place[i];
        float inverse = 1.0f / (place[3] * place[3]);
        const float *own = s->way[i];
        WadiF8 sum[4] = { 0 };
        for (int32_t c = 0; c < chunk->count; c += 8) {
            WadiF8 x = *(const WadiF8 *)(chunk->x + c) - place[0];
            WadiF8 y = *(const WadiF8 *)(chunk->y + c) - place[1];
            WadiF8 z = *(const WadiF8 *)(chunk->z + c) - place[2];
            WadiF8 squared = x * x + y * y + z * z, k;
            WadiI8 is_near;
            weigh(chunk, c, &squared, inverse, &k, &is_near);
            WadiF8 wx = *(const WadiF8 *)(way[0] + c), wy = *(const WadiF8 *)(way[1] + c);
            WadiF8 wz = *(const WadiF8 *)(way[2] + c), along = own[0] * wx + own[1] * wy + own[2] * wz;
            k *= WADI_ROW_SELECT(along > 0.0f, along, (WadiF8){ 0 });
            sum[0] += k * wx;
            sum[1] += k * wy;
            sum[2] += k * wz;
            sum[3] += k;
        }
        for (int a = 0; a < 4; ++a) {
            s->near_way[i][a] += sum_of(&sum[a]);
        }
    }
}

static void make_ellipsoids(void *context, int64_t first, int64_t end)
{
    Scratch *s = context;
    double cube = s->reach * s->reach * s->reach, unit2 = s->unit * s->unit;
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
            const float *own = s->way[slot], *near = s->near_way[slot];
            WadiVec3 near_way = { (double)near[0], (double)near[1], (double)near[2] };
            WadiVec3 own_way = { (double)own[0], (double)own[1], (double)own[2] };
            near_way = near[3] > 0.0f ? wadi_scale(near_way, 1.0 / (double)near[3]) : own_way;
            s->moved[i] = wadi_add(s->moved[i], wadi_anisotropy_shift(own_way, near_way));
        } else {
            double r = s->reach * spacing, second = FULL_COVARIANCE * r * r;
            moments =
                (WadiNearMoments){ 1.0, 8.0 * r * r * r, { 0, 0, 0 }, { second, second, second, 0, 0, 0 } };
        }
        WadiEllipsoid e = wadi_ellipsoid(&moments, spacing, s->reach);
        float *form = s->ellipsoid[i];
        form[0] = (float)(e.form.xx * unit2);
        form[1] = (float)(e.form.yy * unit2);
        form[2] = (float)(e.form.zz * unit2);
        form[3] = (float)(2.0 * e.form.xy * unit2);
        form[4] = (float)(2.0 * e.form.xz * unit2);
        form[5] = (float)(2.0 * e.form.yz * unit2);
        form[6] = (float)e.amplitude;
        form[7] = (float)(spacing / s->unit);
        s->ellipsoid_reach[i] = (float)e.reach;
    }
}

static void sort_ellipsoids(void *context, int64_t first, int64_t end)
{
    Scratch *s = context;
    for (int64_t slot = first; slot < end; ++slot) {
        int32_t i = s->out->bins.order[slot];
        memcpy(s->out->ellipsoid[slot], s->ellipsoid[i], sizeof *s->ellipsoid);
        float *reach = &s->out->bins.place[slot][3];
        *reach = s->ellipsoid_reach[i] < *reach ? s->ellipsoid_reach[i] : *reach;
    }
}

/* Moments and ways of all particles but those of deep bins, whose sums stay 0. */
static WadiStatus look_around(Scratch *s, WadiBins *bins, WadiArena *arena, WadiError *error)
{
    size_t count = (size_t)s->cloud->count;
    WADI_TRY(wadi_bins_build(bins, s->cloud, s->reach, arena, error));
    uint8_t *is_deep, *marks;
    size_t bin_count = (size_t)wadi_bins_bin_count(bins);
    WADI_TRY(WADI_ARENA_NEW(arena, &is_deep, bin_count, "deep bins", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &marks, bin_count, "deep bins", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->sum, count, "neighbourhoods", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->way, count, "neighbourhoods", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s->near_way, count, "neighbourhoods", error));
    memset(s->sum, 0, count * sizeof *s->sum);
    memset(s->near_way, 0, count * sizeof *s->near_way);
    wadi_bins_mark_deep(bins, s->cloud, is_deep, marks);
    wadi_near_pairs(bins, is_deep, add_moments, s);
    wadi_parallel_for(s->cloud->count, 16384, find_ways, s);
    wadi_near_pairs(bins, is_deep, add_ways, s);
    return WADI_OK;
}

WadiStatus wadi_anisotropy_build(WadiAnisotropy *anisotropy, const WadiCloud *cloud, double reach,
                                 double unit, WadiArena *arena, WadiError *error)
{
    *anisotropy = (WadiAnisotropy){ 0 };
    size_t count = (size_t)cloud->count;
    if (count == 0) {
        return WADI_OK;
    }
    Scratch s = { .cloud = cloud, .reach = reach, .unit = unit, .out = anisotropy };
    WADI_TRY(WADI_ARENA_NEW(arena, &anisotropy->ellipsoid, count, "ellipsoids", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s.moved, count, "moved particles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s.ellipsoid, count, "ellipsoids", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &s.ellipsoid_reach, count, "ellipsoids", error));
    WadiArenaMark mark = wadi_arena_mark(arena);
    WadiBins bins;
    s.bins = &bins;
    WADI_TRY(look_around(&s, &bins, arena, error));
    wadi_parallel_for(cloud->count, 1024, make_ellipsoids, &s);
    wadi_arena_release(arena, mark);

    anisotropy->moved = *cloud;
    anisotropy->moved.position = s.moved;
    anisotropy->moved.attribute_count = 0;
    WADI_TRY(wadi_bins_build(&anisotropy->bins, &anisotropy->moved, reach, arena, error));
    wadi_parallel_for(cloud->count, 16384, sort_ellipsoids, &s);
    return WADI_OK;
}
