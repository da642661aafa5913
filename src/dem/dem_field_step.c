/* One step of mode `height_field`, stage by stage. */
#include <string.h>

#include "core/parallel.h"
#include "dem/dem_field.h"

enum { BLOCK = 4096 };

#define RUN(name, call) WADI_STAGE(field->context->times, (name), WADI_TRY(call))

typedef struct Locate {
    const WadiDemField *field;
    int32_t *gap;
} Locate;

static void locate_block(void *context, int64_t first, int64_t end)
{
    const Locate *locate = context;
    const WadiParticles *p = locate->field->context->particles;
    const WadiDemColumns *c = locate->field->columns;
    for (int64_t i = first; i < end; ++i) {
        const int32_t column = wadi_dem_columns_at(c, p->x[i], p->y[i]);
        locate->gap[i] = column >= 0 ? wadi_dem_columns_gap(c, column, p->z[i]) : -1;
    }
}

static WadiStatus locate(const WadiDemField *field, WadiDemFieldStep *step, WadiError *error)
{
    const int32_t count = field->context->particles->count;
    if (step->gap == NULL) {
        WADI_TRY(WADI_ARENA_NEW(field->context->scratch, &step->gap, (size_t)count, "columns of particles",
                                error));
    }
    Locate to = { field, step->gap };
    wadi_parallel_for(count, BLOCK, locate_block, &to);
    return WADI_OK;
}

WadiStatus wadi_dem_field_sort(const WadiDemField *field, WadiDemFieldStep *step, uint8_t frozen,
                               WadiError *error)
{
    const WadiParticles *p = field->context->particles;
    const uint8_t *is_frozen = wadi_particles_column(p, field->frozen_column);
    const int32_t gaps = field->columns->count;
    if (step->start == NULL) {
        WADI_TRY(WADI_ARENA_NEW(field->context->scratch, &step->start, (size_t)gaps + 2,
                                "particles of columns", error));
        WADI_TRY(WADI_ARENA_NEW(field->context->scratch, &step->order, (size_t)p->count,
                                "particles of columns", error));
    }
    /* Counts at start[g + 2] become starts at start[g + 1], and these ends at start[g + 1] when filled. */
    memset(step->start, 0, ((size_t)gaps + 2) * sizeof(*step->start));
    for (int32_t i = 0; i < p->count; ++i) {
        if (is_frozen[i] == frozen && step->gap[i] >= 0) {
            step->start[step->gap[i] + 2] += 1;
        }
    }
    for (int32_t g = 0; g < gaps; ++g) {
        step->start[g + 2] += step->start[g + 1];
    }
    for (int32_t i = 0; i < p->count; ++i) {
        if (is_frozen[i] == frozen && step->gap[i] >= 0) {
            step->order[step->start[step->gap[i] + 1]++] = i;
        }
    }
    return WADI_OK;
}

/* Bodies are seeded from below, so little is left to do. */
void wadi_dem_field_sort_by_height(const WadiParticles *p, int32_t *items, int32_t count)
{
    for (int32_t i = 1; i < count; ++i) {
        const int32_t item = items[i];
        int32_t at = i;
        while (at > 0 && (p->z[items[at - 1]] > p->z[item] ||
                          (p->z[items[at - 1]] == p->z[item] && p->id[items[at - 1]] > p->id[item]))) {
            items[at] = items[at - 1];
            at -= 1;
        }
        items[at] = item;
    }
}

static WadiStatus roll(WadiDemField *field, const WadiDemFieldStep *step, WadiError *error)
{
    const WadiDemBcre law = wadi_dem_field_law(field, step->time);
    return wadi_dem_bcre_step(field->columns, &law, step->dt, error);
}

WadiStatus wadi_dem_field_take_step(WadiDemField *field, const WadiSolverStep *now, WadiStepReport *report,
                                    WadiError *error)
{
    WadiDemFieldStep step = { .time = now->time, .dt = now->dt };
    const WadiParticles *p = field->context->particles;
    RUN("columns", locate(field, &step, error));
    RUN("columns", wadi_dem_field_remove(field, &step, error));
    RUN("flight", wadi_dem_field_fly(field, &step, report, error));
    RUN("columns", locate(field, &step, error));
    RUN("landing", wadi_dem_field_land(field, &step, error));
    wadi_dem_field_pay_debt(field);
    RUN("rolling", roll(field, &step, error));
    RUN("particles", wadi_dem_field_transfer(field, &step, error));
    WADI_STAGE(field->context->times, "particles", wadi_dem_field_lower(field, &step));
    field->known_count = p->count;
    field->known_next_id = p->next_id;
    return wadi_solver_check_stage(field->context, "particles", error);
}
