/* The Eikonal equation and extension along its characteristics.
 * Source: [Z05], Godunov update [theory 2.7].
 * Differs: all cells are updated at once from the previous round (Jacobi) instead of one after another in
 * eight orders. The fixed point is the same, a round gives the same bytes for any thread count, and narrow
 * bands need only a few rounds. */
#include "grid/sweep.h"

#include <math.h>

#include "core/parallel.h"
#include "grid/row_lanes.h"

enum { LANES = WADI_ROW_CELLS };

typedef struct SweepContext {
    const WadiRows *rows;
    const uint8_t *known;
    const float *from; /* values of the previous round */
    float *to;
    float spacing, distance_max;
    const float *distance; /* for an extension */
    uint8_t *done;         /* for an extension: cells with a value after the previous round */
    uint8_t *next_done;
    /* A byte per row: it changed in the previous round; in this one. NULL: the first round. */
    const uint8_t *was_changed;
    uint8_t *is_changed;
} SweepContext;

/* Values of a row stay where neither they nor those beside it changed: both buffers then have them. */
static inline bool stays(const SweepContext *context, int32_t row)
{
    const uint8_t *changed = context->was_changed;
    const int32_t *beside = context->rows->neighbour[row];
    return changed != NULL && (changed[row] | changed[beside[0]] | changed[beside[1]] | changed[beside[2]] |
                               changed[beside[3]] | changed[beside[4]] | changed[beside[5]]) == 0;
}

static inline float sorted_update(float a, float b, float c, float h)
{
    float least = wadi_minf(a, wadi_minf(b, c)), most = wadi_maxf(a, wadi_maxf(b, c));
    float middle = wadi_maxf(wadi_minf(a, b), wadi_minf(wadi_maxf(a, b), c));
    float one = least + h;
    float across = least - middle;
    float two = 0.5f * (least + middle + sqrtf(wadi_maxf(2.0f * h * h - across * across, 0.0f)));
    /* Relative to the smallest, so that nothing cancels far from the surface. */
    float p = middle - least, q = most - least, sum = p + q;
    float three = least + (sum + sqrtf(wadi_maxf(sum * sum - 3.0f * (p * p + q * q - h * h), 0.0f))) / 3.0f;
    float best = one > middle ? two : one;
    return one > middle && two > most ? three : best;
}

/* Missing neighbours have the largest distance. */
static void load_or_far(const SweepContext *context, int32_t row, int side, float neighbour[restrict LANES])
{
    wadi_row_neighbours(context->rows, context->from, row, side, neighbour);
    if (context->rows->neighbour[row][side] == 0) {
        if (side == WADI_ROW_X_MIN) {
            neighbour[0] = context->distance_max;
        } else if (side == WADI_ROW_X_MAX) {
            neighbour[7] = context->distance_max;
        } else {
            for (int l = 0; l < LANES; ++l) {
                neighbour[l] = context->distance_max;
            }
        }
    }
}

static double distance_round(void *user, int64_t first, int64_t end)
{
    const SweepContext *context = user;
    int changed = 0;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        if (stays(context, row)) {
            context->is_changed[row] = 0;
            continue;
        }
        const float *restrict centre = context->from + (size_t)LANES * (size_t)row;
        float *restrict to = context->to + (size_t)LANES * (size_t)row;
        float upwind[3][LANES];
        for (int axis = 0; axis < 3; ++axis) {
            float low[LANES], high[LANES];
            load_or_far(context, row, 2 * axis, low);
            load_or_far(context, row, 2 * axis + 1, high);
            for (int l = 0; l < LANES; ++l) {
                upwind[axis][l] = wadi_minf(low[l], high[l]);
            }
        }
        const unsigned known = context->known[row];
        int differs = 0;
        for (int l = 0; l < LANES; ++l) {
            float t = sorted_update(upwind[0][l], upwind[1][l], upwind[2][l], context->spacing);
            t = wadi_minf(t, centre[l]);
            t = known >> l & 1 ? centre[l] : t;
            differs |= t < centre[l];
            to[l] = t;
        }
        context->is_changed[row] = (uint8_t)differs;
        changed |= differs;
    }
    return changed;
}

typedef struct StartContext {
    const uint8_t *known;
    float *value;
    float other;
} StartContext;

static void start_rows(void *user, int64_t first, int64_t end)
{
    const StartContext *context = user;
    for (int64_t row = first + (first == 0); row < end; ++row) {
        for (int l = 0; l < LANES; ++l) {
            float *value = &context->value[LANES * row + l];
            *value = context->known[row] >> l & 1 ? *value : context->other;
        }
    }
}

/* Which rows changed, of two rounds. */
static WadiStatus begin_changed(uint8_t *changed[2], const WadiRows *rows, WadiArena *scratch,
                                WadiError *error)
{
    for (int n = 0; n < 2; ++n) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &changed[n], (size_t)rows->count, "sweep", error));
        changed[n][0] = 0; /* the null row */
    }
    return WADI_OK;
}

static int round_limit(const WadiRows *rows)
{
    /* A value travels at least one cell per round. */
    return rows->count < INT32_MAX / 16 ? LANES * rows->count + 8 : INT32_MAX;
}

WadiStatus wadi_sweep_distance(const WadiRows *rows, const uint8_t *known, double cell_size,
                               double distance_max, float *distance, WadiArena *scratch,
                               WadiSweepReport *report, WadiError *error)
{
    *report = (WadiSweepReport){ 0 };
    const size_t floats = wadi_rows_floats(rows);
    float *spare = NULL;
    double *partials = NULL;
    uint8_t *changed[2] = { NULL, NULL };
    WADI_TRY(begin_changed(changed, rows, scratch, error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &spare, floats, "distance sweep", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &partials,
                            (size_t)wadi_parallel_block_count(rows->count, WADI_ROW_BLOCK), "distance sweep",
                            error));
    memset(spare, 0, LANES * sizeof(float));
    StartContext start = { known, distance, (float)distance_max };
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, start_rows, &start);
    float *from = distance, *to = spare;
    while (!report->has_converged && report->rounds < round_limit(rows)) {
        const int now = report->rounds % 2;
        SweepContext context = { .rows = rows,
                                 .known = known,
                                 .from = from,
                                 .to = to,
                                 .spacing = (float)cell_size,
                                 .distance_max = (float)distance_max,
                                 .was_changed = report->rounds > 0 ? changed[!now] : NULL,
                                 .is_changed = changed[now] };
        report->has_converged =
            wadi_parallel_max(rows->count, WADI_ROW_BLOCK, distance_round, &context, partials) <= 0.0;
        ++report->rounds;
        float *swap = from;
        from = to;
        to = swap;
    }
    if (from != distance) {
        memcpy(distance, from, floats * sizeof(float));
    }
    return WADI_OK;
}

/* A cell has its final value one round after its last upwind neighbour; before that the mean of the upwind
 * neighbours that have a value. Rounds continue until no value changes. */
static double extend_round(void *user, int64_t first, int64_t end)
{
    const SweepContext *context = user;
    int changed = 0;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        if (stays(context, row)) {
            context->is_changed[row] = 0;
            continue;
        }
        const size_t at = (size_t)LANES * (size_t)row;
        const float *restrict centre = context->from + at;
        const float *restrict distance = context->distance + at;
        float *restrict to = context->to + at;
        double sum[LANES] = { 0 }, weights[LANES] = { 0 };
        for (int axis = 0; axis < 3; ++axis) {
            float value[2][LANES], depth[2][LANES];
            unsigned done[2];
            for (int n = 0; n < 2; ++n) {
                wadi_row_neighbours(context->rows, context->from, row, 2 * axis + n, value[n]);
                wadi_row_neighbours(context->rows, context->distance, row, 2 * axis + n, depth[n]);
                done[n] = wadi_row_neighbour_bits(context->rows, context->done, row, 2 * axis + n);
            }
            for (int l = 0; l < LANES; ++l) {
                bool has_low = (done[0] >> l & 1) != 0, has_high = (done[1] >> l & 1) != 0;
                bool is_low_upwind = has_low && (!has_high || depth[0][l] <= depth[1][l]);
                float upwind_distance = is_low_upwind ? depth[0][l] : depth[1][l];
                float upwind_value = is_low_upwind ? value[0][l] : value[1][l];
                double weight =
                    has_low || has_high ? fmax((double)distance[l] - (double)upwind_distance, 0.0) : 0.0;
                sum[l] += weight > 0.0 ? weight * (double)upwind_value : 0.0;
                weights[l] += weight;
            }
        }
        unsigned known = context->known[row], done = known;
        int differs = 0;
        for (int l = 0; l < LANES; ++l) {
            bool has_value = weights[l] > 0.0 && (known >> l & 1) == 0;
            to[l] = has_value ? (float)(sum[l] / weights[l]) : centre[l];
            done |= (unsigned)has_value << l;
            differs |= to[l] != centre[l];
        }
        differs |= done != context->done[row];
        context->next_done[row] = (uint8_t)done;
        context->is_changed[row] = (uint8_t)differs;
        changed |= differs;
    }
    return changed;
}

WadiStatus wadi_sweep_extend(const WadiRows *rows, const uint8_t *known, const float *distance, float *value,
                             WadiArena *scratch, WadiSweepReport *report, WadiError *error)
{
    *report = (WadiSweepReport){ 0 };
    const size_t floats = wadi_rows_floats(rows);
    float *spare = NULL;
    double *partials = NULL;
    uint8_t *done[2] = { NULL, NULL }, *changed[2] = { NULL, NULL };
    WADI_TRY(begin_changed(changed, rows, scratch, error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &spare, floats, "extension sweep", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &partials,
                            (size_t)wadi_parallel_block_count(rows->count, WADI_ROW_BLOCK), "extension sweep",
                            error));
    for (int n = 0; n < 2; ++n) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &done[n], (size_t)rows->count, "extension sweep", error));
        done[n][0] = 0;
    }
    memset(spare, 0, LANES * sizeof(float));
    memcpy(done[0], known, (size_t)rows->count);
    StartContext start = { known, value, 0.0f };
    wadi_parallel_for(rows->count, WADI_ROW_BLOCK, start_rows, &start);
    float *from = value, *to = spare;
    while (!report->has_converged && report->rounds < round_limit(rows)) {
        const int now = report->rounds % 2;
        SweepContext context = { .rows = rows,
                                 .known = known,
                                 .from = from,
                                 .to = to,
                                 .distance = distance,
                                 .done = done[0],
                                 .next_done = done[1],
                                 .was_changed = report->rounds > 0 ? changed[!now] : NULL,
                                 .is_changed = changed[now] };
        report->has_converged =
            wadi_parallel_max(rows->count, WADI_ROW_BLOCK, extend_round, &context, partials) <= 0.0;
        ++report->rounds;
        float *swap = from;
        from = to;
        to = swap;
        uint8_t *swap_done = done[0];
        done[0] = done[1];
        done[1] = swap_done;
    }
    if (from != value) {
        memcpy(value, from, floats * sizeof(float));
    }
    return WADI_OK;
}
