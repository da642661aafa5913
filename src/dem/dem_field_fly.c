/* Flight and landing of the particles of mode `height_field`. */
#include <math.h>

#include "core/parallel.h"
#include "dem/dem_field.h"
#include "particles/collide.h"

enum { BLOCK = 1024, GAP_BLOCK = 1024 };
static const double SLOW = 0.3;       /* of sqrt(g d): slower particles join the static sand */
static const double ON_A_SLOPE = 0.2; /* vertical part of a solid's normal on which particles come to rest */

typedef struct Flight {
    const WadiDemField *field;
    WadiCollideIn collide;
    double time, dt;
} Flight;

static double fly_block(void *context, int64_t first, int64_t end)
{
    const Flight *flight = context;
    WadiParticles *p = flight->field->context->particles;
    const uint8_t *is_frozen = wadi_particles_column(p, flight->field->frozen_column);
    const WadiWorld *world = flight->field->context->world;
    const double dt = flight->dt;
    WadiCollideReport report = { 0 };
    for (int64_t i = first; i < end; ++i) {
        if (is_frozen[i]) {
            continue;
        }
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        const WadiKick kick = wadi_world_kick(world, x, v, flight->time + 0.5 * dt, dt);
        const WadiVec3 u = wadi_add(v, kick.velocity);
        p->vx[i] = (float)u.x;
        p->vy[i] = (float)u.y;
        p->vz[i] = (float)u.z;
        wadi_collide_move_one(&flight->collide, p, (int32_t)i,
                              wadi_add(wadi_add_scaled(x, v, dt), kick.displacement), &report);
    }
    return (double)report.stuck;
}

/* In the first step bodies are still where they were put: they land before they fall. */
WadiStatus wadi_dem_field_fly(WadiDemField *field, WadiDemFieldStep *step, WadiStepReport *report,
                              WadiError *error)
{
    const WadiSolverContext *context = field->context;
    const int32_t count = context->particles->count;
    if (field->known_next_id == 0) {
        return WADI_OK;
    }
    Flight flight = { .field = field,
                      .collide = { .solids = &context->world->solids,
                                   .t0 = step->time,
                                   .t1 = step->time + step->dt,
                                   .skin = 0.1 * field->radius },
                      .time = step->time,
                      .dt = step->dt };
    double *partials = NULL;
    WADI_TRY(WADI_ARENA_NEW(context->scratch, &partials, (size_t)wadi_parallel_block_count(count, BLOCK),
                            "block counts", error));
    report->stuck_particles = (int64_t)wadi_parallel_sum(count, BLOCK, fly_block, &flight, partials);
    return WADI_OK;
}

typedef struct Landing {
    WadiDemField *field;
    const WadiDemFieldStep *step;
} Landing;

static bool is_on_solid(const WadiDemField *field, WadiVec3 x, double time)
{
    WadiSolidPoint point;
    return wadi_solids_sample_within(&field->context->world->solids, x, time, 1.1 * field->radius, &point) &&
           point.surface.normal.z > ON_A_SLOPE;
}

/* The particles of a gap, from below: each that lies on the sand below it joins it, and the next may lie on
 * it. */
static void land_in_gap(const Landing *landing, int32_t gap)
{
    WadiDemField *field = landing->field;
    WadiDemColumns *c = field->columns;
    WadiParticles *p = field->context->particles;
    uint8_t *is_frozen = wadi_particles_column(p, field->frozen_column);
    int32_t *items = landing->step->order + landing->step->start[gap];
    const int32_t count = landing->step->start[gap + 1] - landing->step->start[gap];
    const double reach = field->radius + 0.5 * field->diameter;
    const double slow = SLOW * field->diameter / field->time_unit;
    wadi_dem_field_sort_by_height(p, items, count);
    for (int32_t k = 0; k < count; ++k) {
        const int32_t i = items[k];
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        const double top = c->height[gap] + c->rolling[gap];
        if (x.z > top + reach && !is_on_solid(field, x, landing->step->time)) {
            continue;
        }
        const double speed = sqrt((double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]));
        *(speed < slow && c->rolling[gap] == 0.0 ? &c->height[gap] : &c->rolling[gap]) += field->height;
        field->frozen_count[gap] += 1;
        is_frozen[i] = 1;
        p->vx[i] = p->vy[i] = p->vz[i] = 0.0f;
    }
}

static void land_block(void *context, int64_t first, int64_t end)
{
    const Landing *landing = context;
    for (int64_t gap = first; gap < end; ++gap) {
        if (landing->step->start[gap + 1] > landing->step->start[gap]) {
            land_in_gap(landing, (int32_t)gap);
        }
    }
}

/* Nothing lands in a sink: it falls through. */
static void clear_sinks(const WadiDemColumns *c, WadiDemFieldStep *step, int32_t count)
{
    if (c->sink_count == 0) {
        return;
    }
    for (int32_t i = 0; i < count; ++i) {
        if (step->gap[i] >= 0 && wadi_dem_columns_is_sink(c, step->gap[i])) {
            step->gap[i] = -1;
        }
    }
}

WadiStatus wadi_dem_field_land(WadiDemField *field, WadiDemFieldStep *step, WadiError *error)
{
    clear_sinks(field->columns, step, field->context->particles->count);
    WADI_TRY(wadi_dem_field_sort(field, step, 0, error));
    Landing landing = { field, step };
    wadi_parallel_for(field->columns->count, GAP_BLOCK, land_block, &landing);
    return WADI_OK;
}
