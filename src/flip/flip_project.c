/* Make the velocity of the fluid cells free of divergence: assemble, solve, subtract the gradient of the
 * pressure.
 * Source: [ZB05 sec. 4.2.3]; models 1.4.
 * Differs: see flip_project_assemble.c. The difference of pressures is taken in double: float pressures of a
 * deep column differ by less than their rounding. */
#include "flip/flip_project.h"

#include "core/check.h"
#include "core/parallel.h"
#include "grid/row_lanes.h"

enum { LANES = WADI_ROW_CELLS };

typedef struct GradientContext {
    const WadiFlipProjectIn *in;
    const WadiFlipSystem *system;
    WadiFlipProjectOut *out;
} GradientContext;

static void subtract_gradient(void *user, int64_t first, int64_t end)
{
    const GradientContext *context = user;
    const WadiFlipProjectIn *in = context->in;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        const size_t at = (size_t)LANES * (size_t)row;
        const double *restrict pressure = context->out->pressure + at;
        for (int axis = 0; axis < 3; ++axis) {
            const float *restrict gradient = context->system->gradient[axis] + at;
            const float *restrict open = in->open[axis] + at;
            const float *restrict solid = in->solid_velocity[axis] + at;
            float *restrict velocity = context->out->velocity[axis] + at;
            double low[LANES];
            wadi_row_beside_double(in->rows, context->out->pressure, row, 2 * axis, low);
            unsigned touches = in->fluid[row] | wadi_row_bits_beside(in->rows, in->fluid, row, 2 * axis);
            unsigned is_open = 0;
            if (context->system->jump[axis] != NULL) {
                const float *restrict jump = context->system->jump[axis] + at;
                for (int l = 0; l < LANES; ++l) {
                    low[l] -= (double)jump[l];
                }
            }
            for (int l = 0; l < LANES; ++l) {
                double change = (double)gradient[l] * (pressure[l] - low[l]);
                velocity[l] = open[l] > 0 ? (float)((double)velocity[l] - change) : solid[l];
                is_open |= (unsigned)(open[l] > 0) << l;
            }
            context->out->known[axis][row] = (uint8_t)(touches & is_open);
        }
    }
}

static void clear_other_pressure(void *user, int64_t first, int64_t end)
{
    const GradientContext *context = user;
    for (int64_t row = first; row < end; ++row) {
        for (int l = 0; l < LANES; ++l) {
            if ((context->system->active[row] >> l & 1) == 0) {
                context->out->pressure[LANES * row + l] = 0.0;
            }
        }
    }
}

typedef struct KeptContext {
    const double *pressure;
    const uint8_t *active;
    uint8_t *kept; /* unknowns that a unilateral solve did not give up */
} KeptContext;

static double find_kept(void *user, int64_t first, int64_t end)
{
    const KeptContext *context = user;
    int dropped = 0;
    for (int64_t row = first; row < end; ++row) {
        unsigned pushes = 0;
        for (int l = 0; l < LANES; ++l) {
            pushes |= (unsigned)(context->pressure[LANES * row + l] > 0.0) << l;
        }
        context->kept[row] = (uint8_t)(context->active[row] & pushes);
        dropped += __builtin_popcount(context->active[row] & ~pushes);
    }
    return dropped;
}

static double count_cells(void *user, int64_t first, int64_t end)
{
    const uint8_t *bits = user;
    int count = 0;
    for (int64_t row = first; row < end; ++row) {
        count += __builtin_popcount(bits[row]);
    }
    return count;
}

WadiStatus wadi_flip_project(const WadiFlipProjectIn *in, WadiFlipProjectOut *out, WadiArena *scratch,
                             WadiFlipProjectReport *report, WadiError *error)
{
    WADI_ASSERT(in->solve != NULL && in->cell_size > 0.0 && in->reference_density > 0.0);
    WADI_ASSERT(in->fluid[0] == 0);
    *report = (WadiFlipProjectReport){ 0 };
    const int64_t rows = in->rows->count;
    uint8_t *kept = NULL;
    double *partials = NULL;
    WadiFlipSystem system;
    WADI_TRY(WADI_ARENA_NEW(scratch, &kept, (size_t)rows, "pressure system", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &partials, (size_t)wadi_flip_max_divergence_partials(in->rows),
                            "pressure system", error));
    WADI_TRY(wadi_flip_project_assemble(in, out->velocity, &system, scratch, error));

    GradientContext context = { in, &system, out };
    wadi_parallel_for(rows, WADI_ROW_BLOCK, clear_other_pressure, &context);
    WADI_TRY(
        in->solve(&system.poisson, system.rhs, &in->solver, out->pressure, scratch, &report->solve, error));
    for (int axis = 0; axis < 3; ++axis) {
        out->known[axis][0] = 0;
    }
    wadi_parallel_for(rows, WADI_ROW_BLOCK, subtract_gradient, &context);

    memcpy(kept, system.active, (size_t)rows);
    if (in->is_unilateral) {
        KeptContext find = { out->pressure, system.active, kept };
        report->dropped = (int64_t)wadi_parallel_sum(rows, WADI_ROW_BLOCK, find_kept, &find, partials);
    }
    report->unknowns = (int64_t)wadi_parallel_sum(rows, WADI_ROW_BLOCK, count_cells, system.active, partials);
    report->max_divergence = wadi_flip_max_divergence(in, kept, out->velocity, partials);
    return WADI_OK;
}
