#include <string.h>

#include "core/parallel.h"
#include "grid/row_vectors.h"
#include "secondary/flow.h"
#include "surface/cloud/near_pairs.h"

enum { BLOCK = 4096 };

/* The integral of (1 - s^2)^3 over the unit ball. */
static const double KERNEL_INTEGRAL = 64.0 * 3.14159265358979324 / 315.0;

typedef struct Sampling {
    const WadiFlow *flow;
    const int32_t *order;
    WadiFlowSample *samples;
} Sampling;

static float sum_of(const WadiF8 *v)
{
    const WadiF8 a = *v;
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

static void gather_velocities(const WadiFlow *flow, const WadiPairChunk *chunk, float v[3][WADI_PAIR_CHUNK])
{
    for (int32_t n = 0; n < chunk->count; ++n) {
        const float *from = flow->bin_velocity[chunk->slot[n]];
        v[0][n] = from[0];
        v[1][n] = from[1];
        v[2][n] = from[2];
    }
}

/* Sums of w, of w v, and of the kernel's slope times the distance. */
static void add_samples(void *context, const WadiBins *points, int32_t first, int32_t end,
                        const WadiPairChunk *chunk)
{
    const Sampling *sampling = context;
    float velocity[3][WADI_PAIR_CHUNK];
    gather_velocities(sampling->flow, chunk, velocity);
    for (int32_t i = first; i < end; ++i) {
        const float *at = points->point[i];
        WadiF8 fill = { 0 }, v[3] = { 0 }, gradient[3] = { 0 };
        for (int32_t c = 0; c < chunk->count; c += 8) {
            const WadiF8 d[3] = { at[0] - *(const WadiF8 *)(chunk->x + c),
                                  at[1] - *(const WadiF8 *)(chunk->y + c),
                                  at[2] - *(const WadiF8 *)(chunk->z + c) };
            const WadiF8 inverse = *(const WadiF8 *)(chunk->inverse + c);
            const WadiF8 s =
                WADI_MAX8(1.0f - (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) * inverse, (WadiF8){ 0 });
            const WadiF8 slope = -6.0f * s * s * inverse, w = s * s * s;
            fill += w;
            for (int a = 0; a < 3; ++a) {
                v[a] += w * *(const WadiF8 *)(velocity[a] + c);
                gradient[a] += slope * d[a];
            }
        }
        WadiFlowSample *sample = &sampling->samples[sampling->order[i]];
        sample->fill += sum_of(&fill);
        for (int a = 0; a < 3; ++a) {
            sample->velocity[a] += sum_of(&v[a]);
            sample->gradient[a] += sum_of(&gradient[a]);
        }
    }
}

static void finish_samples(void *context, int64_t first, int64_t end)
{
    const Sampling *sampling = context;
    /* Each particle fills the cube of its spacing. */
    const double spacings = sampling->flow->support;
    const float unit = (float)(1.0 / (KERNEL_INTEGRAL * spacings * spacings * spacings));
    for (int64_t i = first; i < end; ++i) {
        WadiFlowSample *sample = &sampling->samples[i];
        const float inverse = sample->fill > 0.0f ? 1.0f / sample->fill : 0.0f;
        for (int a = 0; a < 3; ++a) {
            sample->velocity[a] *= inverse;
            sample->gradient[a] *= unit;
        }
        sample->fill *= unit;
    }
}

typedef struct Points {
    const WadiVec3 *x;
    WadiCloud *cloud;
    float spacing;
} Points;

static void fill_points(void *context, int64_t first, int64_t end)
{
    const Points *points = context;
    for (int64_t i = first; i < end; ++i) {
        points->cloud->position[i] = points->x[i];
        points->cloud->spacing[i] = points->spacing;
        points->cloud->id[i] = (uint32_t)i;
    }
}

WadiStatus wadi_flow_sample(const WadiFlow *flow, const WadiVec3 *x, int32_t count, WadiFlowSample *samples,
                            WadiArena *arena, WadiError *error)
{
    if (count == 0) {
        return WADI_OK;
    }
    memset(samples, 0, (size_t)count * sizeof *samples);
    const float spacing = flow->cloud.count > 0 ? (float)flow->cloud.spacing_max : 1.0f;
    WadiArenaMark mark = wadi_arena_mark(arena);
    /* The points get the bins of the flow's largest particles. */
    WadiCloud points = { .count = count, .spacing_min = (double)spacing, .spacing_max = (double)spacing };
    WADI_TRY(WADI_ARENA_NEW(arena, &points.position, (size_t)count, "points of a flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &points.spacing, (size_t)count, "points of a flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &points.id, (size_t)count, "points of a flow", error));
    Points fill = { x, &points, spacing };
    wadi_parallel_for(count, BLOCK, fill_points, &fill);
    WadiBins bins;
    WADI_TRY(wadi_bins_build(&bins, &points, flow->support, arena, error));
    Sampling sampling = { .flow = flow, .order = bins.order, .samples = samples };
    wadi_pairs_between(&bins, &flow->bins, add_samples, &sampling);
    wadi_parallel_for(count, BLOCK, finish_samples, &sampling);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
