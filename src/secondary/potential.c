/* Where water draws in air: where it collides with itself, at the crests of waves, and only where it is fast
 * enough. Source: [IAAT12 section 3].
 * Differs: thresholds are speeds of real water, or of a scene of this size where these are less; sums over neighbours
 * are means, so that they depend less on the spacing. [theory 14.1] */
#include "secondary/potential.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "grid/row_vectors.h"
#include "surface/cloud/near_pairs.h"

enum { BLOCK = 4096 };

/* Of a full neighbourhood: sum of the weights, particle itself included. */
#define FULL_WEIGHT(flow)                                                                                    \
    ((float)(64.0 * 3.14159265 / 315.0 * (flow)->support * (flow)->support * (flow)->support))
/* Collision speeds over `slow` and `fast`. */
static const float APPROACH_LOW = 0.15f, APPROACH_HIGH = 0.15f;
/* Mean of 1 - n_i . n_j over the neighbours: above that of the bumps of calm water, and of a sharp crest. */
static const float CREST_LOW = 0.15f, CREST_HIGH = 0.6f;
/* Cosine between normal and velocity: the side of a wave that moves into the air. */
static const float CREST_FORWARD = 0.6f;
/* A surface has a gradient of at least this, over 1/h; in a flat one it is 1.09. */
static const float SURFACE_GRADIENT = 0.7f;
static const float DRY = 0.1f;

typedef struct Sums {
    float weight;
    float normal[3]; /* of length 1; 0 inside */
    float approach, crest, crest_weight;
} Sums;

typedef struct Context {
    const WadiFlow *flow;
    const WadiPotentialDef *def;
    Sums *sums;         /* in the order of the bins, as the next */
    uint8_t *is_wanted; /* fast enough, dry if sand, at a free surface if water */
    float *potential;   /* per particle */
} Context;

static void add_normals(void *user, const WadiBins *bins, int32_t first, int32_t end,
                        const WadiPairChunk *chunk)
{
    const Context *c = user;
    for (int32_t i = first; i < end; ++i) {
        const float *at = bins->point[i];
        WadiF8 weight = { 0 }, normal[3] = { 0 };
        for (int32_t n = 0; n < chunk->count; n += 8) {
            const WadiF8 dx = at[0] - *(const WadiF8 *)(chunk->x + n),
                         dy = at[1] - *(const WadiF8 *)(chunk->y + n),
                         dz = at[2] - *(const WadiF8 *)(chunk->z + n);
            const WadiF8 inverse = *(const WadiF8 *)(chunk->inverse + n);
            const WadiF8 s = WADI_MAX8(1.0f - (dx * dx + dy * dy + dz * dz) * inverse, (WadiF8){ 0 });
            const WadiF8 slope = s * s * inverse;
            weight += s * s * s;
            normal[0] += slope * dx;
            normal[1] += slope * dy;
            normal[2] += slope * dz;
        }
        for (int l = 0; l < 8; ++l) {
            c->sums[i].weight += weight[l];
            for (int a = 0; a < 3; ++a) {
                c->sums[i].normal[a] += normal[a][l];
            }
        }
    }
}

/* Whether the particle is at a surface, and not one against a solid. */
static bool is_free(const Context *c, int64_t i)
{
    const float *n = c->sums[i].normal;
    const double h = (double)c->flow->bins.point[i][3];
    const WadiVec3 x = c->flow->cloud.position[c->flow->bins.order[i]];
    const WadiVec3 out = wadi_vec3((double)n[0], (double)n[1], (double)n[2]);
    return (n[0] != 0.0f || n[1] != 0.0f || n[2] != 0.0f) &&
           wadi_solids_distance(c->def->solids, wadi_add_scaled(x, out, h), c->def->time, h) > 0.5 * h;
}

/* Outward: away from the neighbours. Water without a free surface is not wanted. */
static void finish_normals(void *user, int64_t first, int64_t end)
{
    Context *c = user;
    for (int64_t i = first; i < end; ++i) {
        float *n = c->sums[i].normal;
        const float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        const float h = c->flow->bins.point[i][3];
        const float gradient = 6.0f * length * h / FULL_WEIGHT(c->flow);
        const float scale = gradient > SURFACE_GRADIENT ? 1.0f / length : 0.0f;
        n[0] *= scale;
        n[1] *= scale;
        n[2] *= scale;
        c->is_wanted[i] = c->is_wanted[i] && (c->def->is_sand || is_free(c, i));
    }
}

/* Velocities and normals of a chunk. */
typedef struct Gathered {
    float velocity[3][WADI_PAIR_CHUNK], normal[3][WADI_PAIR_CHUNK];
} Gathered;

static void gather(const Context *c, const WadiPairChunk *chunk, Gathered *gathered)
{
    for (int32_t n = 0; n < chunk->count; ++n) {
        const float *v = c->flow->bin_velocity[chunk->slot[n]], *m = c->sums[chunk->slot[n]].normal;
        for (int a = 0; a < 3; ++a) {
            gathered->velocity[a][n] = v[a];
            gathered->normal[a][n] = m[a];
        }
    }
}

/* A neighbour at x_j = x_i - d adds w (|v| - v . d / |d|), v = v_i - v_j, to the speed of collisions, and
 * w (1 - n_i . n_j) to the crest if it is below its tangent plane: those of a trough are above. */
static void add_to(const Context *c, const WadiBins *bins, int32_t i, const WadiPairChunk *chunk,
                   const Gathered *gathered)
{
    const float *at = bins->point[i], *v = c->flow->bin_velocity[i];
    Sums *sums = &c->sums[i];
    const float *m = sums->normal;
    const bool is_surface = m[0] != 0.0f || m[1] != 0.0f || m[2] != 0.0f;
    WadiF8 approach = { 0 }, crest = { 0 }, crest_weight = { 0 };
    for (int32_t n = 0; n < chunk->count; n += 8) {
        const WadiF8 dx = at[0] - *(const WadiF8 *)(chunk->x + n),
                     dy = at[1] - *(const WadiF8 *)(chunk->y + n),
                     dz = at[2] - *(const WadiF8 *)(chunk->z + n);
        const WadiF8 square = dx * dx + dy * dy + dz * dz;
        const WadiF8 s = WADI_MAX8(1.0f - square * *(const WadiF8 *)(chunk->inverse + n), (WadiF8){ 0 });
        const WadiF8 w = s * s * s;
        const WadiF8 vx = v[0] - *(const WadiF8 *)(gathered->velocity[0] + n),
                     vy = v[1] - *(const WadiF8 *)(gathered->velocity[1] + n),
                     vz = v[2] - *(const WadiF8 *)(gathered->velocity[2] + n);
        const WadiF8 speed = vx * vx + vy * vy + vz * vz;
        WadiF8 distance, root;
        for (int l = 0; l < 8; ++l) {
            distance[l] = sqrtf(square[l] + 1e-30f);
            root[l] = sqrtf(speed[l]);
        }
        approach += w * (root - (vx * dx + vy * dy + vz * dz) / distance);
        if (is_surface) {
            const WadiF8 ox = *(const WadiF8 *)(gathered->normal[0] + n),
                         oy = *(const WadiF8 *)(gathered->normal[1] + n),
                         oz = *(const WadiF8 *)(gathered->normal[2] + n);
            const WadiI8 counts =
                (dx * m[0] + dy * m[1] + dz * m[2] > 0.0f) & (ox * ox + oy * oy + oz * oz > 0.5f);
            const WadiF8 weight = WADI_ROW_SELECT(counts, w, (WadiF8){ 0 });
            crest += weight * (1.0f - (m[0] * ox + m[1] * oy + m[2] * oz));
            crest_weight += weight;
        }
    }
    for (int l = 0; l < 8; ++l) {
        sums->approach += approach[l];
        sums->crest += crest[l];
        sums->crest_weight += crest_weight[l];
    }
}

static void add_collisions(void *user, const WadiBins *bins, int32_t first, int32_t end,
                           const WadiPairChunk *chunk)
{
    const Context *c = user;
    Gathered gathered;
    gather(c, chunk, &gathered);
    for (int32_t i = first; i < end; ++i) {
        if (c->is_wanted[i]) {
            add_to(c, bins, i, chunk, &gathered);
        }
    }
}

static float ramp(float x, float low, float high)
{
    const float t = (x - low) / (high - low);
    return t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
}

static void finish_potentials(void *user, int64_t first, int64_t end)
{
    Context *c = user;
    const float slow = (float)c->def->slow, fast = (float)c->def->fast;
    for (int64_t i = first; i < end; ++i) {
        const int32_t particle = c->flow->bins.order[i];
        c->potential[particle] = 0.0f;
        if (!c->is_wanted[i]) {
            continue;
        }
        const Sums *sums = &c->sums[i];
        const float *v = c->flow->bin_velocity[i], *m = sums->normal;
        const float square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], speed = sqrtf(square);
        const float weight = fmaxf(sums->weight, 0.5f * FULL_WEIGHT(c->flow));
        const float trapped = ramp(sums->approach / weight, APPROACH_LOW * slow, APPROACH_HIGH * fast);
        const bool is_forward = v[0] * m[0] + v[1] * m[1] + v[2] * m[2] > CREST_FORWARD * speed;
        const float crest = !c->def->is_sand && is_forward && sums->crest_weight > 0.0f
                                ? ramp(sums->crest / sums->crest_weight, CREST_LOW, CREST_HIGH)
                                : 0.0f;
        const float energy = ramp(square, slow * slow, fast * fast);
        c->potential[particle] = energy * fminf(trapped + crest, 1.0f);
    }
}

static void find_wanted(void *user, int64_t first, int64_t end)
{
    Context *c = user;
    const WadiFlow *flow = c->flow;
    const float least = (float)(c->def->slow * c->def->slow);
    for (int64_t i = first; i < end; ++i) {
        const float *v = flow->bin_velocity[i];
        const bool is_fast = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] > least;
        const bool is_dry = !c->def->is_sand || flow->wetness[flow->bins.order[i]] < DRY;
        c->is_wanted[i] = is_fast && is_dry;
    }
}

/* Marks the bins without a wanted particle. False: there is no other. */
static bool skip_bins(const Context *c, uint8_t *is_skipped)
{
    const WadiBins *bins = &c->flow->bins;
    bool is_any = false;
    for (int l = 0; l < bins->level_count; ++l) {
        const WadiCells *cells = &bins->level[l];
        for (int32_t bin = 0; bin < cells->cell_count; ++bin, ++is_skipped) {
            *is_skipped = 1;
            for (int32_t k = cells->start[bin]; k < cells->start[bin + 1]; ++k) {
                *is_skipped &= !c->is_wanted[bins->first[l] + k];
            }
            is_any |= *is_skipped == 0;
        }
    }
    return is_any;
}

/* Marks the bins without a wanted particle in them or next to them: the normals there are not used. */
static void skip_far_bins(const WadiBins *bins, const uint8_t *is_skipped, uint8_t *is_far)
{
    const WadiCells *cells = &bins->level[0];
    memset(is_far, bins->level_count == 1, (size_t)wadi_bins_bin_count(bins));
    for (int32_t bin = 0; bin < cells->cell_count && bins->level_count == 1; ++bin) {
        const int32_t *at = cells->coordinate[bin];
        for (int n = 0; n < 27 && !is_skipped[bin]; ++n) {
            const int32_t other =
                wadi_cells_find(cells, at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1);
            if (other >= 0) {
                is_far[other] = 0;
            }
        }
    }
}

WadiStatus wadi_secondary_potential(float **potential, const WadiFlow *flow, const WadiPotentialDef *def,
                                    WadiArena *arena, WadiError *error)
{
    const size_t count = (size_t)flow->cloud.count;
    Context context = { .flow = flow, .def = def };
    WADI_TRY(WADI_ARENA_NEW(arena, potential, count, "foam of a frame", error));
    WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &context.sums, count, "sums over neighbours", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &context.is_wanted, count, "fast particles", error));
    uint8_t *is_skipped, *is_far;
    const size_t bin_count = (size_t)wadi_bins_bin_count(&flow->bins);
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &is_skipped, bin_count, "slow bins", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &is_far, bin_count, "slow bins", error));
    context.potential = *potential;
    wadi_parallel_for((int64_t)count, BLOCK, find_wanted, &context);
    if (skip_bins(&context, is_skipped)) {
        memset(context.sums, 0, count * sizeof *context.sums);
        skip_far_bins(&flow->bins, is_skipped, is_far);
        wadi_near_pairs(&flow->bins, is_far, add_normals, &context);
        wadi_parallel_for((int64_t)count, BLOCK, finish_normals, &context);
        (void)skip_bins(&context, is_skipped);
        wadi_near_pairs(&flow->bins, is_skipped, add_collisions, &context);
        wadi_parallel_for((int64_t)count, BLOCK, finish_potentials, &context);
    } else if (count > 0) {
        memset(*potential, 0, count * sizeof **potential);
    }
    wadi_arena_release_temporaries(arena, mark);
    return WADI_OK;
}
