#include "secondary/flow.h"

#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "grid/row_vectors.h"
#include "surface/cloud/near_pairs.h"

enum { BLOCK = 4096 };

/* The integral of (1 - s^2)^3 over the unit ball. */
static const double KERNEL_INTEGRAL = 64.0 * 3.14159265358979324 / 315.0;

/* The arrays of a frame. */
typedef struct Arrays {
    size_t count;
    const double *position;
    const float *velocity, *radius, *wetness; /* wetness: NULL when the frame has none */
    const uint32_t *id;
    const uint8_t *material;
} Arrays;

static WadiStatus find_arrays(Arrays *arrays, const WadiState *frame, WadiError *error)
{
    const WadiStateArray *x, *v, *r, *id, *material;
    WADI_TRY(wadi_state_expect(frame, "position", WADI_TYPE_F64, 3, SIZE_MAX, &x, error));
    WADI_TRY(wadi_state_expect(frame, "velocity", WADI_TYPE_F32, 3, x->count, &v, error));
    WADI_TRY(wadi_state_expect(frame, "radius", WADI_TYPE_F32, 1, x->count, &r, error));
    WADI_TRY(wadi_state_expect(frame, "id", WADI_TYPE_U32, 1, x->count, &id, error));
    WADI_TRY(wadi_state_expect(frame, "material", WADI_TYPE_U8, 1, x->count, &material, error));
    const WadiStateArray *wet = wadi_state_find(frame, "wetness");
    bool is_wet = wet != NULL && wet->type == WADI_TYPE_F32 && wet->components == 1 && wet->count == x->count;
    *arrays = (Arrays){ .count = x->count,
                        .position = x->data,
                        .velocity = v->data,
                        .radius = r->data,
                        .wetness = is_wet ? wet->data : NULL,
                        .id = id->data,
                        .material = material->data };
    return WADI_OK;
}

/* Where each id is in `before`: place[id], or -1. Without a table when ids are so scattered that it would
 * not fit: then nothing is found, and particles move straight. */
typedef struct Places {
    int32_t *place;
    size_t size;
} Places;

static WadiStatus find_places(Places *places, const Arrays *before, WadiArena *arena, WadiError *error)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < before->count; ++i) {
        largest = before->id[i] > largest ? before->id[i] : largest;
    }
    *places = (Places){ 0 };
    if (before->count == 0 || largest > 64 * before->count + 1000000) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &places->place, (size_t)largest + 1, "ids of a frame", error));
    places->size = (size_t)largest + 1;
    memset(places->place, 0xff, places->size * sizeof *places->place);
    for (size_t i = 0; i < before->count; ++i) {
        places->place[before->id[i]] = (int32_t)i;
    }
    return WADI_OK;
}

/* One component of the curve and its slope, at `s` of an interval of t seconds. [theory 14.2] */
static void interpolate(double x0, double v0, double x1, double v1, double t, double s, double *x, float *v)
{
    double step = x1 - x0, a = v0 * t - step, b = step - v1 * t;
    double bend = (1.0 - s) * a + s * b;
    *x = (1.0 - s) * x0 + s * x1 + s * (1.0 - s) * bend;
    *v = (float)((step + (1.0 - 2.0 * s) * bend + s * (1.0 - s) * (b - a)) / t);
}

typedef struct Fill {
    const WadiFlowDef *def;
    Arrays before, after;
    Places places;
    const int32_t *pick;
    WadiFlow *flow;
} Fill;

static void fill_particles(void *context, int64_t first, int64_t end)
{
    const Fill *fill = context;
    const double t = fill->def->frame_time, s = fill->def->part;
    for (int64_t k = first; k < end; ++k) {
        const size_t i = (size_t)fill->pick[k];
        const double *x1 = fill->after.position + 3 * i;
        const float *v1 = fill->after.velocity + 3 * i;
        const uint32_t id = fill->after.id[i];
        const int32_t old = id < fill->places.size ? fill->places.place[id] : -1;
        double x[3];
        float *v = fill->flow->velocity[k];
        for (int a = 0; a < 3; ++a) {
            double speed = (double)v1[a];
            if (old >= 0 && s < 1.0) {
                interpolate(fill->before.position[3 * (size_t)old + (size_t)a],
                            (double)fill->before.velocity[3 * (size_t)old + (size_t)a], x1[a], speed, t, s,
                            &x[a], &v[a]);
            } else {
                x[a] = s < 1.0 ? x1[a] - (1.0 - s) * t * speed : x1[a];
                v[a] = v1[a];
            }
        }
        fill->flow->cloud.position[k] = wadi_vec3(x[0], x[1], x[2]);
        fill->flow->cloud.spacing[k] = 2.0f * fill->after.radius[i];
        fill->flow->cloud.id[k] = id;
        fill->flow->material[k] = fill->after.material[i];
        fill->flow->wetness[k] = fill->after.wetness != NULL ? fill->after.wetness[i] : 0.0f;
    }
}

static WadiStatus pick_particles(const Arrays *after, const bool *picks, int32_t **pick, int32_t *count,
                                 WadiArena *arena, WadiError *error)
{
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, pick, after->count, "particles of a flow", error));
    *count = 0;
    for (size_t i = 0; i < after->count; ++i) {
        float radius = after->radius[i];
        if (picks[after->material[i]]) {
            if (!(radius > 0.0f) || !isfinite(radius)) {
                return wadi_fail(error, WADI_ERR_NUMERIC, "particle %u: its radius is %g m", after->id[i],
                                 (double)radius);
            }
            (*pick)[(*count)++] = (int32_t)i;
        }
    }
    return WADI_OK;
}

static WadiStatus sort_velocities(WadiFlow *flow, WadiArena *arena, WadiError *error)
{
    WadiCloud *cloud = &flow->cloud;
    for (int32_t i = 0; i < cloud->count; ++i) {
        if (!wadi_is_finite(cloud->position[i])) {
            return wadi_fail(error, WADI_ERR_NUMERIC, "particle %u: its position or velocity is not finite",
                             cloud->id[i]);
        }
    }
    cloud->spacing_min = cloud->spacing_max = cloud->count > 0 ? (double)cloud->spacing[0] : 0.0;
    for (int32_t i = 1; i < cloud->count; ++i) {
        cloud->spacing_min = fmin(cloud->spacing_min, (double)cloud->spacing[i]);
        cloud->spacing_max = fmax(cloud->spacing_max, (double)cloud->spacing[i]);
    }
    WADI_TRY(wadi_bins_build(&flow->bins, cloud, flow->support, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->bin_velocity, (size_t)cloud->count, "velocities of a flow", error));
    for (int32_t n = 0; n < cloud->count; ++n) {
        memcpy(flow->bin_velocity[n], flow->velocity[flow->bins.order[n]], sizeof flow->bin_velocity[n]);
    }
    return WADI_OK;
}

WadiStatus wadi_flow_build(WadiFlow *flow, const WadiFlowDef *def, WadiArena *arena, WadiError *error)
{
    *flow = (WadiFlow){ .support = def->support };
    Fill fill = { .def = def, .flow = flow };
    WADI_TRY(find_arrays(&fill.after, def->after, error));
    WadiArenaMark mark = wadi_arena_mark(arena);
    int32_t *pick = NULL, count = 0;
    WADI_TRY(pick_particles(&fill.after, def->picks, &pick, &count, arena, error));
    if (def->before != NULL) {
        WADI_TRY(find_arrays(&fill.before, def->before, error));
        WADI_TRY(find_places(&fill.places, &fill.before, arena, error));
    }
    fill.pick = pick;
    flow->cloud.count = count;
    const size_t n = (size_t)count;
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->cloud.position, n, "positions of a flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->cloud.spacing, n, "sizes of a flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->cloud.id, n, "ids of a flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->velocity, n, "velocities of a flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->material, n, "materials of a flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->wetness, n, "wetness of a flow", error));
    wadi_parallel_for(count, BLOCK, fill_particles, &fill);
    wadi_arena_release_temporaries(arena, mark);
    return sort_velocities(flow, arena, error);
}

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
    memcpy(points.position, x, (size_t)count * sizeof *x);
    for (int32_t i = 0; i < count; ++i) {
        points.spacing[i] = spacing;
        points.id[i] = (uint32_t)i;
    }
    WadiBins bins;
    WADI_TRY(wadi_bins_build(&bins, &points, flow->support, arena, error));
    Sampling sampling = { .flow = flow, .order = bins.order, .samples = samples };
    wadi_pairs_between(&bins, &flow->bins, add_samples, &sampling);
    wadi_parallel_for(count, BLOCK, finish_samples, &sampling);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
