#include "secondary/flow.h"

#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "secondary/region.h"

enum { BLOCK = 4096 };

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

WadiStatus wadi_flow_places_find(WadiFlowPlaces *places, const WadiState *before, WadiArena *arena,
                                 WadiError *error)
{
    Arrays arrays;
    uint32_t largest = 0;
    *places = (WadiFlowPlaces){ 0 };
    WADI_TRY(find_arrays(&arrays, before, error));
    for (size_t i = 0; i < arrays.count; ++i) {
        largest = arrays.id[i] > largest ? arrays.id[i] : largest;
    }
    if (arrays.count == 0 || largest > 64 * arrays.count + 1000000) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &places->place, (size_t)largest + 1, "ids of a frame", error));
    places->size = (size_t)largest + 1;
    memset(places->place, 0xff, places->size * sizeof *places->place);
    for (size_t i = 0; i < arrays.count; ++i) {
        places->place[arrays.id[i]] = (int32_t)i;
    }
    return WADI_OK;
}

/* One component of the curve, at `s` of an interval in which particles would move v0t and v1t at their first
 * and last velocity; and its slope over the interval. [theory 14.2] */
static double curve_at(double x0, double v0t, double x1, double v1t, double s)
{
    const double step = x1 - x0, bend = (1.0 - s) * (v0t - step) + s * (step - v1t);
    return (1.0 - s) * x0 + s * x1 + s * (1.0 - s) * bend;
}

static double curve_slope(double x0, double v0t, double x1, double v1t, double s)
{
    const double step = x1 - x0, a = v0t - step, b = step - v1t;
    return step + (1.0 - 2.0 * s) * ((1.0 - s) * a + s * b) + s * (1.0 - s) * (b - a);
}

/* What a block of particles has: whether radii are proper, their range, and how many are kept. */
typedef struct Block {
    int64_t bad; /* first particle with a radius that is none, or -1 */
    float least, largest;
    int32_t kept;
} Block;

typedef struct Fill {
    const WadiFlowDef *def;
    Arrays before, after;
    const WadiRegion *region; /* NULL: everywhere */
    float speed;              /* m/s, squared: only what is faster is kept; negative: all */
    Block *block;
    uint8_t *is_kept;
    int32_t *pick; /* the kept particles */
    WadiFlow *flow;
} Fill;

/* Position and velocity of particle i of `after` at the moment of the flow; `v` may be NULL. */
static void find_motion(const Fill *fill, size_t i, double x[3], float v[3])
{
    const double t = fill->def->frame_time, s = fill->def->part;
    const double *x1 = fill->after.position + 3 * i;
    const float *v1 = fill->after.velocity + 3 * i;
    const WadiFlowPlaces *places = fill->def->places;
    const uint32_t id = fill->after.id[i];
    const int32_t old = s < 1.0 && places != NULL && id < places->size ? places->place[id] : -1;
    if (old < 0) {
        for (int a = 0; a < 3; ++a) {
            x[a] = s < 1.0 ? x1[a] - (1.0 - s) * t * (double)v1[a] : x1[a];
            if (v != NULL) {
                v[a] = v1[a];
            }
        }
        return;
    }
    const double *x0 = fill->before.position + 3 * (size_t)old;
    const float *v0 = fill->before.velocity + 3 * (size_t)old;
    for (int a = 0; a < 3; ++a) {
        const double v0t = (double)v0[a] * t, v1t = (double)v1[a] * t;
        x[a] = curve_at(x0[a], v0t, x1[a], v1t, s);
        if (v != NULL) {
            v[a] = (float)(curve_slope(x0[a], v0t, x1[a], v1t, s) / t);
        }
    }
}

static void measure_block(void *context, int64_t first, int64_t end)
{
    const Fill *fill = context;
    Block block = { .bad = -1, .least = INFINITY };
    for (int64_t i = first; i < end; ++i) {
        const float radius = fill->after.radius[i];
        if (fill->def->picks[fill->after.material[i]]) {
            if (block.bad < 0 && (!(radius > 0.0f) || !isfinite(radius))) {
                block.bad = i;
            }
            block.least = radius < block.least ? radius : block.least;
            block.largest = radius > block.largest ? radius : block.largest;
        }
    }
    fill->block[first / BLOCK] = block;
}

static void choose_block(void *context, int64_t first, int64_t end)
{
    const Fill *fill = context;
    int32_t kept = 0;
    for (int64_t i = first; i < end; ++i) {
        const float *v1 = fill->after.velocity + 3 * i;
        bool is_kept = fill->def->picks[fill->after.material[i]] &&
                       v1[0] * v1[0] + v1[1] * v1[1] + v1[2] * v1[2] > fill->speed;
        if (is_kept && fill->region != NULL) {
            double x[3];
            find_motion(fill, (size_t)i, x, NULL);
            is_kept = wadi_region_has(fill->region, x);
        }
        fill->is_kept[i] = is_kept;
        kept += is_kept;
    }
    fill->block[first / BLOCK].kept = kept;
}

static void list_block(void *context, int64_t first, int64_t end)
{
    const Fill *fill = context;
    int32_t next = fill->block[first / BLOCK].kept;
    for (int64_t i = first; i < end; ++i) {
        if (fill->is_kept[i]) {
            fill->pick[next++] = (int32_t)i;
        }
    }
}

/* Lists the particles to keep in fill->pick, in their order. */
static int32_t list_kept(Fill *fill)
{
    const int64_t count = (int64_t)fill->after.count;
    wadi_parallel_for(count, BLOCK, choose_block, fill);
    int32_t kept = 0;
    for (int64_t b = 0; b < wadi_parallel_block_count(count, BLOCK); ++b) {
        const int32_t more = fill->block[b].kept;
        fill->block[b].kept = kept;
        kept += more;
    }
    wadi_parallel_for(count, BLOCK, list_block, fill);
    return kept;
}

static void fill_particles(void *context, int64_t first, int64_t end)
{
    const Fill *fill = context;
    for (int64_t k = first; k < end; ++k) {
        const size_t i = (size_t)fill->pick[k];
        double x[3];
        find_motion(fill, i, x, fill->flow->velocity[k]);
        fill->flow->cloud.position[k] = wadi_vec3(x[0], x[1], x[2]);
        fill->flow->cloud.spacing[k] = 2.0f * fill->after.radius[i];
        fill->flow->cloud.id[k] = fill->after.id[i];
        fill->flow->material[k] = fill->after.material[i];
        fill->flow->wetness[k] = fill->after.wetness != NULL ? fill->after.wetness[i] : 0.0f;
    }
}

/* Radii of all particles of the picked materials, whether they are kept or not: so bins do not depend on what
 * is left out. */
static WadiStatus measure_spacings(Fill *fill, WadiError *error)
{
    const int64_t count = (int64_t)fill->after.count;
    float least = INFINITY, largest = 0.0f;
    wadi_parallel_for(count, BLOCK, measure_block, fill);
    for (int64_t b = 0; b < wadi_parallel_block_count(count, BLOCK); ++b) {
        const Block *block = &fill->block[b];
        if (block->bad >= 0) {
            return wadi_fail(error, WADI_ERR_NUMERIC, "particle %u: its radius is %g m",
                             fill->after.id[block->bad], (double)fill->after.radius[block->bad]);
        }
        least = block->least < least ? block->least : least;
        largest = block->largest > largest ? block->largest : largest;
    }
    fill->flow->cloud.spacing_max = (double)(2.0f * largest);
    fill->flow->cloud.spacing_min = largest > 0.0f ? (double)(2.0f * least) : 0.0;
    return WADI_OK;
}

/* The space that matters: cubes as the flow's bins are, so that a bin is left out whole or not at all. */
static WadiStatus build_region(Fill *fill, WadiRegion *region, WadiArena *arena, WadiError *error)
{
    const WadiFlowDef *def = fill->def;
    const double widest = def->support * fill->flow->cloud.spacing_max;
    const double size = def->near_size > 0.0 ? def->near_size : wadi_bins_size(widest);
    if (def->near != NULL) {
        return wadi_region_build(region, def->near, def->near_count, size, 1, arena, error);
    }
    fill->speed = (float)(def->near_speed * def->near_speed);
    const int32_t count = list_kept(fill);
    fill->speed = -1.0f;
    WadiVec3 *fast;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &fast, (size_t)count, "fast particles", error));
    for (int32_t k = 0; k < count; ++k) {
        const double *x = fill->after.position + 3 * (size_t)fill->pick[k];
        fast[k] = wadi_vec3(x[0], x[1], x[2]);
    }
    return wadi_region_build(region, fast, count, size, 2, arena, error);
}

static WadiStatus allocate(WadiFlow *flow, WadiArena *arena, WadiError *error)
{
    const size_t n = (size_t)flow->cloud.count;
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->cloud.position, n, "positions of a flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->cloud.spacing, n, "sizes of a flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->cloud.id, n, "ids of a flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->velocity, n, "velocities of a flow", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->material, n, "materials of a flow", error));
    return WADI_ARENA_NEW(arena, &flow->wetness, n, "wetness of a flow", error);
}

static WadiStatus collect(Fill *fill, WadiArena *arena, WadiError *error)
{
    const size_t count = fill->after.count;
    const size_t blocks = (size_t)wadi_parallel_block_count((int64_t)count, BLOCK);
    WadiRegion region;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &fill->block, blocks, "particles of a flow", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &fill->is_kept, count, "particles of a flow", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &fill->pick, count, "particles of a flow", error));
    WADI_TRY(measure_spacings(fill, error));
    const bool is_part = fill->def->near != NULL || fill->def->near_speed > 0.0;
    if (is_part && fill->flow->cloud.spacing_max > 0.0) {
        WADI_TRY(build_region(fill, &region, arena, error));
        fill->region = &region;
    }
    fill->flow->cloud.count = list_kept(fill);
    WADI_TRY(allocate(fill->flow, arena, error));
    wadi_parallel_for(fill->flow->cloud.count, BLOCK, fill_particles, fill);
    fill->region = NULL;
    return WADI_OK;
}

WadiStatus wadi_flow_collect(WadiFlow *flow, const WadiFlowDef *def, WadiArena *arena, WadiError *error)
{
    *flow = (WadiFlow){ .support = def->support };
    WadiFlowDef with = *def;
    WadiFlowPlaces places;
    Fill fill = { .def = &with, .flow = flow, .speed = -1.0f };
    WADI_TRY(find_arrays(&fill.after, def->after, error));
    if (def->before != NULL) {
        WADI_TRY(find_arrays(&fill.before, def->before, error));
        if (def->places == NULL) {
            WADI_TRY(wadi_flow_places_find(&places, def->before, arena, error));
            with.places = &places;
        }
    }
    WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(collect(&fill, arena, error));
    wadi_arena_release_temporaries(arena, mark);
    const WadiCloud *cloud = &flow->cloud;
    for (int32_t i = 0; i < cloud->count; ++i) {
        if (!wadi_is_finite(cloud->position[i])) {
            return wadi_fail(error, WADI_ERR_NUMERIC, "particle %u: its position or velocity is not finite",
                             cloud->id[i]);
        }
    }
    return WADI_OK;
}

static void sort_velocities(void *context, int64_t first, int64_t end)
{
    WadiFlow *flow = context;
    for (int64_t n = first; n < end; ++n) {
        memcpy(flow->bin_velocity[n], flow->velocity[flow->bins.order[n]], sizeof flow->bin_velocity[n]);
    }
}

WadiStatus wadi_flow_build(WadiFlow *flow, const WadiFlowDef *def, WadiArena *arena, WadiError *error)
{
    WADI_TRY(wadi_flow_collect(flow, def, arena, error));
    const int32_t count = flow->cloud.count;
    WADI_TRY(wadi_bins_build(&flow->bins, &flow->cloud, flow->support, arena, error));
    WADI_TRY(WADI_ARENA_NEW(arena, &flow->bin_velocity, (size_t)count, "velocities of a flow", error));
    wadi_parallel_for(count, BLOCK, sort_velocities, flow);
    return WADI_OK;
}
