/* Surface flow: measure H, evolve h, and choose the grains that freeze and wake. [ZY10 eq. 4] */
#include "dem/columns/dem_flow.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "dem/columns/dem_columns_flow.h"
#include "dem/columns/dem_gap_grains.h"

enum { BLOCK = 4096, GAP_BLOCK = 256 };

static const double WAKING = 4.0; /* freeze_speeds at which a grain carries nothing any more */
static const double SHALLOWER =
    1.0; /* diameters nearer to the surface than new ones that frozen grains stay */
/* Diameters that stay awake in addition below a jet and beside it, the height in which a jet is looked for,
 * and the part of dense sand that its grains are at least: a jet disturbs the sand that it hits to this
 * depth, a single grain that jumped does not. */
static const double STIRRED = 4.0, HIT_HEIGHT = 10.0, HIT_PART = 0.05;
enum { QUIESCENT = 20 }; /* evaluations without a moving grain after which the surface of a gap freezes */
static const double HYSTERESIS = 0.25; /* diameters below h at which grains freeze; they wake at h */

void wadi_dem_flow_init(WadiDemFlow *flow, WadiDemColumns *columns, double diameter, double repose, double g)
{
    *flow = (WadiDemFlow){ .columns = columns,
                           .diameter = diameter,
                           .least_depth = 3.0 * diameter,
                           .freeze_speed = 0.05 * sqrt(g * diameter),
                           .fall_speed = 1.5 * sqrt(g * diameter),
                           .interval = 0.16 * sqrt(diameter / g),
                           .law = wadi_dem_bcre_default(diameter, repose + WADI_DEM_FLOW_MARGIN, g) };
}

typedef struct Work {
    WadiDemFlow *flow;
    const WadiDemFlowIn *in;
    WadiDemFlowOut *out;
    WadiDemGapGrains grains; /* awake ones */
    double *surface;         /* H, m */
    double *top;             /* H before its mean with the neighbours, m */
    double *before;          /* h before the exchange, m */
    /* m: of the grains of a gap that do not rest, and of those that carry nothing; INFINITY: none */
    double *moving, *loose;
    uint8_t *is_hit; /* a jet falls onto it */
} Work;

static double mean_speed(const Work *w, int64_t i)
{
    const WadiParticles *p = w->in->particles;
    const WadiDemColumns *c = w->flow->columns;
    const double dx = p->x[i] - c->x0 - (double)w->in->mark[0][i];
    const double dy = p->y[i] - c->y0 - (double)w->in->mark[1][i];
    const double dz = p->z[i] - (double)w->in->mark[2][i];
    return sqrt(dx * dx + dy * dy + dz * dz) / w->in->elapsed;
}

static void measure_block(void *context, int64_t first, int64_t end)
{
    const Work *w = context;
    const WadiParticles *p = w->in->particles;
    for (int64_t gap = first; gap < end; ++gap) {
        w->surface[gap] = w->top[gap] =
            wadi_dem_gap_surface(&w->grains, (int32_t)gap, w->flow->columns->height[gap]);
        w->moving[gap] = w->loose[gap] = (double)INFINITY;
        int32_t falling = 0;
        const double hit_height = w->surface[gap] + HIT_HEIGHT * w->flow->diameter;
        for (int32_t k = w->grains.start[gap]; k < w->grains.start[gap + 1]; ++k) {
            const int32_t i = w->grains.order[k];
            const double speed = mean_speed(w, i);
            if (speed > w->flow->freeze_speed) {
                w->moving[gap] = fmin(w->moving[gap], p->z[i]);
            }
            if ((double)-p->vz[i] >= w->flow->fall_speed && p->z[i] < hit_height) {
                falling += 1;
            }
            if (speed > WAKING * w->flow->freeze_speed) {
                w->loose[gap] = fmin(w->loose[gap], p->z[i]);
            }
        }
        w->is_hit[gap] =
            falling > HIT_PART * HIT_HEIGHT * wadi_dem_dense_layer(w->flow->columns, w->flow->diameter);
    }
}

/* What moves below an opening carries nothing above it. */
static void join_open_gaps(const Work *w)
{
    for (int32_t i = 0; i + 1 < w->flow->columns->count; ++i) {
        if (w->in->opens[i] != 0) {
            w->moving[i + 1] = fmin(w->moving[i + 1], w->moving[i]);
            w->loose[i + 1] = fmin(w->loose[i + 1], w->loose[i]);
        }
    }
}

/* Binomial mean over the linked neighbours that have sand, along one axis: from -> to. */
typedef struct Smooth {
    const WadiDemColumns *columns;
    const double *from;
    double *to;
    int side; /* the first of the two sides of the axis */
} Smooth;

static void smooth_block(void *context, int64_t first, int64_t end)
{
    const Smooth *s = context;
    const WadiDemColumns *c = s->columns;
    for (int64_t k = first; k < end; ++k) {
        const int32_t i = (int32_t)k;
        double sum = 2.0 * s->from[i], weight = 2.0;
        for (int side = s->side; side < s->side + 2; ++side) {
            int32_t gaps[WADI_DEM_LINKS_MAX];
            const int links = wadi_dem_neighbours(c, i, side, gaps);
            for (int n = 0; n < links; ++n) {
                const bool has_sand = s->from[gaps[n]] > c->floor[gaps[n]];
                sum += has_sand ? s->from[gaps[n]] / links : 0.0;
                weight += has_sand ? 1.0 / links : 0.0;
            }
        }
        s->to[i] = s->from[i] > c->floor[i] ? sum / weight : s->from[i];
    }
}

/* Height below which the sand of a gap may rest: R_min below its surface, and below what the surfaces around
 * it support at the angle of repose. */
static double resting_height(const Work *w, int32_t i)
{
    const WadiDemColumns *c = w->flow->columns;
    double surface = w->surface[i];
    bool is_stirred = w->is_hit[i] != 0;
    for (int side = 0; side < WADI_DEM_SIDES; ++side) {
        const double rise = tan(w->flow->law.repose) * (side < WADI_DEM_SOUTH ? c->wx : c->wy);
        int32_t gaps[WADI_DEM_LINKS_MAX];
        const int links = wadi_dem_neighbours(c, i, side, gaps);
        for (int n = 0; n < links; ++n) {
            surface = fmin(surface, w->surface[gaps[n]] + rise);
            is_stirred = is_stirred || w->is_hit[gaps[n]] != 0;
        }
    }
    return surface - w->flow->least_depth - (is_stirred ? STIRRED * w->flow->diameter : 0.0);
}

static void count_quiescent(void *context, int64_t first, int64_t end)
{
    const Work *w = context;
    const WadiDemColumns *c = w->flow->columns;
    for (int64_t i = first; i < end; ++i) {
        bool moves =
            w->moving[i] < (double)INFINITY || (w->in->disturbed != NULL && w->in->disturbed[i] != 0);
        for (int side = 0; side < WADI_DEM_SIDES; ++side) {
            int32_t gaps[WADI_DEM_LINKS_MAX];
            const int links = wadi_dem_neighbours(c, (int32_t)i, side, gaps);
            for (int n = 0; n < links; ++n) {
                moves = moves || w->moving[gaps[n]] < (double)INFINITY;
            }
        }
        w->in->quiescent[i] =
            moves ? 0 : (uint8_t)(w->in->quiescent[i] < QUIESCENT ? w->in->quiescent[i] + 1 : QUIESCENT);
    }
}

/* h rises by the exchange alone, up to where sand may rest and below all that does not. It falls, and grains
 * wake, where they are too near the surface or have lost what carries them. A quiescent gap rests as a
 * whole. */
static void limit_block(void *context, int64_t first, int64_t end)
{
    const Work *w = context;
    WadiDemColumns *c = w->flow->columns;
    const double d = w->flow->diameter;
    for (int64_t i = first; i < end; ++i) {
        const bool is_quiescent = w->in->quiescent != NULL && w->in->quiescent[i] == QUIESCENT;
        const double resting = resting_height(w, (int32_t)i);
        const double risen = fmin(c->height[i], fmin(resting, w->moving[i] - 0.5 * d));
        const double kept = fmin(w->before[i], fmin(resting + SHALLOWER * d, w->loose[i] - 0.5 * d));
        const bool disturbed = w->in->disturbed != NULL && w->in->disturbed[i] != 0;
        const double height = is_quiescent ? fmax(w->top[i], w->before[i]) : fmax(risen, kept);
        c->height[i] = disturbed ? c->floor[i] : fmax(height, c->floor[i]);
        c->rolling[i] = fmax(0.0, w->surface[i] - c->height[i]);
    }
}

static void split_block(void *context, int64_t first, int64_t end)
{
    const Work *w = context;
    WadiDemColumns *c = w->flow->columns;
    for (int64_t i = first; i < end; ++i) {
        w->before[i] = c->height[i];
        c->height[i] = fmin(c->height[i], w->surface[i]);
        c->rolling[i] = w->surface[i] - c->height[i];
    }
}

typedef struct Choice {
    const Work *work;
    int64_t *frozen, *woken; /* per block */
} Choice;

static void choose_block(void *context, int64_t first, int64_t end)
{
    const Choice *choice = context;
    const Work *w = choice->work;
    const WadiParticles *p = w->in->particles;
    const WadiDemColumns *c = w->flow->columns;
    int64_t frozen = 0, woken = 0;
    for (int64_t i = first; i < end; ++i) {
        const uint8_t old = w->in->state[i];
        uint8_t now = old;
        if (old == WADI_DEM_FROZEN) {
            const int32_t column = wadi_dem_columns_at(c, p->x[i], p->y[i]);
            const int32_t gap = column >= 0 ? wadi_dem_columns_gap(c, column, p->z[i]) : -1;
            now = gap < 0 || p->z[i] >= c->height[gap] ? WADI_DEM_WOKEN : old;
            woken += now != old;
        } else {
            const int32_t gap = w->grains.gap[i - w->in->first];
            now = old > 0 ? (uint8_t)(old - 1) : 0;
            const bool is_balanced = w->in->is_unbalanced == NULL || w->in->is_unbalanced[i] == 0;
            if (now == 0 && gap >= 0 && is_balanced &&
                p->z[i] < c->height[gap] - HYSTERESIS * w->flow->diameter &&
                mean_speed(w, i) <= w->flow->freeze_speed) {
                now = WADI_DEM_FROZEN;
                frozen += 1;
            }
        }
        w->out->state[i] = now;
    }
    choice->frozen[first / BLOCK] = frozen;
    choice->woken[first / BLOCK] = woken;
}

static WadiStatus choose(const Work *w, WadiArena *scratch, WadiError *error)
{
    const int64_t count = w->in->particles->count;
    const size_t blocks = (size_t)wadi_parallel_block_count(count, BLOCK);
    Choice choice = { .work = w };
    WADI_TRY(WADI_ARENA_NEW(scratch, &choice.frozen, blocks, "frozen grains", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &choice.woken, blocks, "woken grains", error));
    wadi_parallel_for(count, BLOCK, choose_block, &choice);
    w->out->frozen = w->out->woken = 0;
    for (size_t b = 0; b < blocks; ++b) {
        w->out->frozen += (int32_t)choice.frozen[b];
        w->out->woken += (int32_t)choice.woken[b];
    }
    return WADI_OK;
}

static WadiStatus evaluate(Work *w, WadiArena *scratch, WadiError *error)
{
    WadiDemColumns *c = w->flow->columns;
    const size_t gaps = (size_t)c->count;
    double *smooth = NULL;
    WADI_TRY(WADI_ARENA_NEW(scratch, &w->surface, gaps, "surface", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &w->top, gaps, "surface", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &w->before, gaps, "surface", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &w->moving, gaps, "moving grains", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &w->loose, gaps, "moving grains", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &w->is_hit, gaps, "falling grains", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &smooth, gaps, "surface", error));
    w->grains = (WadiDemGapGrains){ .columns = c,
                                    .particles = w->in->particles,
                                    .first = w->in->first,
                                    .diameter = w->flow->diameter,
                                    .fall_speed = w->flow->fall_speed };
    WADI_TRY(wadi_dem_gap_grains_sort(&w->grains, scratch, error));
    wadi_parallel_for(c->count, GAP_BLOCK, measure_block, w);
    if (w->in->opens != NULL) {
        join_open_gaps(w);
    }
    Smooth along_x = { c, w->surface, smooth, WADI_DEM_WEST };
    Smooth along_y = { c, smooth, w->surface, WADI_DEM_SOUTH };
    wadi_parallel_for(c->count, GAP_BLOCK, smooth_block, &along_x);
    wadi_parallel_for(c->count, GAP_BLOCK, smooth_block, &along_y);
    wadi_parallel_for(c->count, GAP_BLOCK, split_block, w);
    wadi_dem_bcre_exchange(c, &w->flow->law, w->in->elapsed);
    if (w->in->quiescent != NULL) {
        wadi_parallel_for(c->count, GAP_BLOCK, count_quiescent, w);
    }
    wadi_parallel_for(c->count, GAP_BLOCK, limit_block, w);
    return choose(w, scratch, error);
}

WadiStatus wadi_dem_flow_evaluate(WadiDemFlow *flow, const WadiDemFlowIn *in, WadiDemFlowOut *out,
                                  WadiArena *scratch, WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    Work work = { .flow = flow, .in = in, .out = out };
    const WadiStatus status = evaluate(&work, scratch, error);
    wadi_arena_release(scratch, mark);
    return status;
}
