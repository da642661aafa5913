/* Particles of mode `height_field` go with the sand: for each particle's volume that crossed a face, the
 * uppermost particle of the upper gap moves to the lower one. */
#include <math.h>

#include "core/parallel.h"
#include "dem/dem_field.h"

enum { GAP_BLOCK = 1024, BLOCK = 4096 };

typedef struct Transfer {
    int32_t particle, from, to, face;
    int side;
} Transfer;

typedef struct Transfers {
    WadiDemField *field;
    const WadiDemFieldStep *step;
    int32_t *first; /* number of transfers out of each gap, then the first of them */
    Transfer *list;
} Transfers;

/* Whole particles due over the n-th link of a side, outwards. */
static int32_t due(const WadiDemField *field, int32_t gap, int side, int n)
{
    const WadiDemColumns *c = field->columns;
    const bool is_owner = side == WADI_DEM_EAST || side == WADI_DEM_NORTH;
    const double crossed = c->crossed[wadi_dem_face(c, gap, side, n)];
    const double out = is_owner ? crossed : -crossed;
    return out > 0.0 ? (int32_t)floor(out / field->height + 0.5) : 0;
}

static double count_block(void *context, int64_t first, int64_t end)
{
    const Transfers *transfers = context;
    const WadiDemField *field = transfers->field;
    int64_t total = 0;
    for (int64_t k = first; k < end; ++k) {
        const int32_t gap = (int32_t)k;
        int32_t gaps[WADI_DEM_LINKS_MAX], count = 0;
        for (int s = 0; s < WADI_DEM_SIDES && field->frozen_count[gap] > 0; ++s) {
            const int links = wadi_dem_neighbours(field->columns, gap, s, gaps);
            for (int n = 0; n < links; ++n) {
                count += due(field, gap, s, n);
            }
        }
        transfers->first[gap] = count < field->frozen_count[gap] ? count : field->frozen_count[gap];
        total += transfers->first[gap];
    }
    return (double)total;
}

/* Brings the uppermost of items[from ..] to items[from]. */
static void raise_top(const WadiParticles *p, int32_t *items, int32_t from, int32_t count)
{
    int32_t best = from;
    for (int32_t k = from + 1; k < count; ++k) {
        const int32_t a = items[k], b = items[best];
        if (p->z[a] > p->z[b] || (p->z[a] == p->z[b] && p->id[a] > p->id[b])) {
            best = k;
        }
    }
    const int32_t top = items[best];
    items[best] = items[from];
    items[from] = top;
}

static void list_block(void *context, int64_t first, int64_t end)
{
    const Transfers *transfers = context;
    const WadiDemField *field = transfers->field;
    const WadiParticles *p = field->context->particles;
    for (int64_t k = first; k < end; ++k) {
        const int32_t gap = (int32_t)k;
        const int32_t most = transfers->first[gap + 1] - transfers->first[gap];
        int32_t *items = transfers->step->order + transfers->step->start[gap];
        const int32_t frozen = transfers->step->start[gap + 1] - transfers->step->start[gap];
        int32_t made = 0, gaps[WADI_DEM_LINKS_MAX];
        for (int s = 0; s < WADI_DEM_SIDES && made < most; ++s) {
            const int links = wadi_dem_neighbours(field->columns, gap, s, gaps);
            for (int n = 0; n < links; ++n) {
                for (int32_t d = due(field, gap, s, n); d > 0 && made < most; --d, ++made) {
                    raise_top(p, items, made, frozen);
                    transfers->list[transfers->first[gap] + made] =
                        (Transfer){ items[made], gap, gaps[n], wadi_dem_face(field->columns, gap, s, n), s };
                }
            }
        }
    }
}

/* Over an edge that is deeper than a few grains a particle falls, and its volume with it. */
static bool falls(const WadiDemField *field, const Transfer *transfer, double z)
{
    WadiDemColumns *c = field->columns;
    const double top = c->height[transfer->to] + c->rolling[transfer->to];
    if (z - top < 3.0 * field->diameter || c->rolling[transfer->to] < field->height) {
        return false;
    }
    c->rolling[transfer->to] -= field->height;
    return true;
}

static void make_transfer(const WadiDemField *field, const Transfer *transfer)
{
    static const int direction[WADI_DEM_SIDES][2] = { { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } };
    WadiDemColumns *c = field->columns;
    WadiParticles *p = field->context->particles;
    uint8_t *is_frozen = wadi_particles_column(p, field->frozen_column);
    const int32_t i = transfer->particle;
    const int dx = direction[transfer->side][0], dy = direction[transfer->side][1];
    const double speed = 2.0 * field->diameter / field->time_unit;
    c->crossed[transfer->face] -= (dx + dy) * field->height;
    field->frozen_count[transfer->from] -= 1;
    const int32_t from = wadi_dem_columns_of_gap(c, transfer->from),
                  to = wadi_dem_columns_of_gap(c, transfer->to);
    WadiVec3 x = { wadi_dem_field_shift(c, p->x[i], from, to, 0),
                   wadi_dem_field_shift(c, p->y[i], from, to, 1), p->z[i] };
    p->vx[i] = (float)(dx * speed);
    p->vy[i] = (float)(dy * speed);
    p->vz[i] = 0.0f;
    if (wadi_dem_columns_is_sink(c, transfer->to) || falls(field, transfer, x.z)) {
        is_frozen[i] = 0;
    } else {
        field->frozen_count[transfer->to] += 1;
        x.z = c->height[transfer->to] + c->rolling[transfer->to];
    }
    wadi_dem_field_place(field, i, transfer->to, x);
}

static void stop_block(void *context, int64_t first, int64_t end)
{
    const WadiDemField *field = context;
    WadiParticles *p = field->context->particles;
    const uint8_t *is_frozen = wadi_particles_column(p, field->frozen_column);
    for (int64_t i = first; i < end; ++i) {
        if (is_frozen[i]) {
            p->vx[i] = p->vy[i] = p->vz[i] = 0.0f;
        }
    }
}

WadiStatus wadi_dem_field_transfer(WadiDemField *field, WadiDemFieldStep *step, WadiError *error)
{
    const WadiSolverContext *context = field->context;
    const int32_t gaps = field->columns->count;
    Transfers transfers = { .field = field, .step = step };
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(context->scratch, &transfers.first, (size_t)gaps + 1, "moves of columns", error));
    WADI_TRY(WADI_ARENA_NEW(context->scratch, &partials, (size_t)wadi_parallel_block_count(gaps, GAP_BLOCK),
                            "moves of blocks", error));
    wadi_parallel_for(context->particles->count, BLOCK, stop_block, field);
    const double total = wadi_parallel_sum(gaps, GAP_BLOCK, count_block, &transfers, partials);
    if (total == 0.0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(context->scratch, &transfers.list, (size_t)total, "moves of particles", error));
    wadi_prefix_sum(transfers.first, gaps);
    WADI_TRY(wadi_dem_field_sort(field, step, 1, error));
    wadi_parallel_for(gaps, GAP_BLOCK, list_block, &transfers);
    for (int32_t k = 0; k < transfers.first[gaps]; ++k) {
        make_transfer(field, &transfers.list[k]);
        step->gap[transfers.list[k].particle] = transfers.list[k].to;
    }
    return WADI_OK;
}

/* Takes `amount` of height from a gap; returns what it does not have. */
static double take(WadiDemColumns *c, int32_t gap, double amount)
{
    const double rolling = fmin(amount, c->rolling[gap]);
    const double fixed = fmin(amount - rolling, fmax(0.0, c->height[gap] - c->floor[gap]));
    c->rolling[gap] -= rolling;
    c->height[gap] -= fixed;
    return amount - rolling - fixed;
}

/* What a gap lacks lies beyond its faces, as volume that crossed without a particle: takes it back. */
static double take_back(WadiDemField *field, int32_t gap, double amount)
{
    WadiDemColumns *c = field->columns;
    int32_t gaps[WADI_DEM_LINKS_MAX];
    for (int s = 0; s < WADI_DEM_SIDES; ++s) {
        const double sign = s == WADI_DEM_EAST || s == WADI_DEM_NORTH ? 1.0 : -1.0;
        const int links = wadi_dem_neighbours(c, gap, s, gaps);
        for (int n = 0; n < links; ++n) {
            double *crossed = &c->crossed[wadi_dem_face(c, gap, s, n)];
            const double request = fmin(amount, fmax(0.0, sign * *crossed));
            const double taken = request - take(c, gaps[n], request);
            *crossed -= sign * taken;
            amount -= taken;
        }
    }
    return amount;
}

/* The particles of a gap from below: none lies more than a diameter above the volume of those below it. */
static void compact_gap(const WadiDemField *field, const WadiDemFieldStep *step, int32_t gap)
{
    WadiParticles *p = field->context->particles;
    int32_t *items = step->order + step->start[gap];
    const int32_t count = step->start[gap + 1] - step->start[gap];
    wadi_dem_field_sort_by_height(p, items, count);
    for (int32_t k = 0; k < count; ++k) {
        const double most = field->columns->floor[gap] + k * field->height + field->diameter;
        wadi_dem_field_lower_to(field, items[k], gap, most);
    }
}

WadiStatus wadi_dem_field_remove(WadiDemField *field, WadiDemFieldStep *step, WadiError *error)
{
    const WadiParticles *p = field->context->particles;
    const int64_t born = (int64_t)p->next_id - (int64_t)field->known_next_id;
    if (field->known_count + born == p->count) {
        return WADI_OK;
    }
    const uint8_t *is_frozen = wadi_particles_column(p, field->frozen_column);
    /* Removed particles: frozen ones minus those that are still there. */
    for (int32_t i = 0; i < p->count; ++i) {
        if (is_frozen[i] && step->gap[i] >= 0) {
            field->frozen_count[step->gap[i]] -= 1;
        }
    }
    WADI_TRY(wadi_dem_field_sort(field, step, 1, error));
    for (int32_t gap = 0; gap < field->columns->count; ++gap) {
        if (field->frozen_count[gap] > 0) {
            compact_gap(field, step, gap);
            const double lack = take(field->columns, gap, field->frozen_count[gap] * field->height);
            field->volume_debt += lack > 0.0 ? take_back(field, gap, lack) : 0.0;
        }
        field->frozen_count[gap] = 0;
    }
    for (int32_t i = 0; i < p->count; ++i) {
        if (is_frozen[i] && step->gap[i] >= 0) {
            field->frozen_count[step->gap[i]] += 1;
        }
    }
    return WADI_OK;
}

/* Takes what is owed from the gap with most sand. */
void wadi_dem_field_pay_debt(WadiDemField *field)
{
    const WadiDemColumns *c = field->columns;
    int32_t most = 0;
    for (int32_t i = 1; i < c->count && field->volume_debt > 0.0; ++i) {
        most = c->height[i] - c->floor[i] > c->height[most] - c->floor[most] ? i : most;
    }
    field->volume_debt = field->volume_debt > 0.0 ? take(field->columns, most, field->volume_debt) : 0.0;
}

typedef struct Lowering {
    const WadiDemField *field;
    const int32_t *gap;
} Lowering;

static void lower_block(void *context, int64_t first, int64_t end)
{
    const Lowering *lowering = context;
    const WadiDemField *field = lowering->field;
    const WadiDemColumns *c = field->columns;
    const uint8_t *is_frozen = wadi_particles_column(field->context->particles, field->frozen_column);
    for (int64_t i = first; i < end; ++i) {
        const int32_t gap = lowering->gap[i];
        if (is_frozen[i] && gap >= 0) {
            const double top = c->height[gap] + c->rolling[gap] - 0.5 * field->radius;
            const double most = fmax(top, c->floor[gap] + field->radius);
            wadi_dem_field_lower_to(field, (int32_t)i, gap, most);
        }
    }
}

void wadi_dem_field_lower(const WadiDemField *field, const WadiDemFieldStep *step)
{
    Lowering lowering = { field, step->gap };
    wadi_parallel_for(field->context->particles->count, BLOCK, lower_block, &lowering);
}
