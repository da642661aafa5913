/* Make the velocity of the fluid cells free of divergence: assemble, solve, subtract the pressure
 * gradient.
 * Source: [ZB05 sec. 4.2.3; theory 5.1].
 * Differs: see flip_project_assemble.c. The difference of two pressures is taken in double: float
 * pressures of a deep column differ by less than their rounding. */
#include "flip/pressure/flip_project.h"

#include "core/check.h"
#include "core/parallel.h"
#include "flip/pressure/flip_project_faces.h"

enum { LANES = WADI_ROW_CELLS };

struct WadiFlipProjector {
    WadiFlipProjectIn in;
    WadiFlipSystem system;
    /* Arrays on the rows of the system. */
    float *rhs;
    double *pressure; /* NULL: the caller's array has exactly these rows */
    uint8_t *solved;  /* unknowns that a unilateral solve did not drop */
    double *partials;
};

typedef struct RunContext {
    const WadiFlipProjector *projector;
    WadiFlipProjectOut *out;
    double *pressure; /* on the rows of the system */
} RunContext;

/* P of a row of the grid, or of the null row. */
static double *pressure_of(const RunContext *context, int32_t row)
{
    return context->out->pressure + LANES * (size_t)wadi_table_row(context->projector->in.fluid_row, row);
}

/* Initial guess of the unknowns; 0 in other cells. */
static void load_pressure(void *user, int64_t first, int64_t end)
{
    const RunContext *context = user;
    const WadiFlipProjector *projector = context->projector;
    for (int64_t row = first; row < end; ++row) {
        const double *from = pressure_of(context, projector->system.full[row]);
        double *to = context->pressure + LANES * row;
        const unsigned active = projector->system.active[row];
        for (int l = 0; l < LANES; ++l) {
            to[l] = (active >> l & 1) != 0 ? from[l] : 0.0;
        }
    }
}

static void clear_pressure(void *user, int64_t first, int64_t end)
{
    const RunContext *context = user;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        double *pressure = pressure_of(context, row);
        if (context->projector->in.fluid[row] == 0 && (pressure != context->out->pressure || row == 0)) {
            memset(pressure, 0, LANES * sizeof(double));
        }
    }
}

/* Returns the number of dropped unknowns. */
static double store_pressure(void *user, int64_t first, int64_t end)
{
    const RunContext *context = user;
    const WadiFlipProjector *projector = context->projector;
    const WadiFlipSystem *system = &projector->system;
    int dropped = 0;
    for (int64_t row = first + (first == 0); row < end; ++row) {
        const double *from = context->pressure + LANES * row;
        unsigned pushes = 0;
        for (int l = 0; l < LANES; ++l) {
            const double least = system->least != NULL ? (double)system->least[LANES * row + l] : 0.0;
            pushes |= (unsigned)(from[l] > least) << l;
        }
        const unsigned active = system->active[row];
        const unsigned solved = projector->in.is_unilateral ? active & pushes : active;
        projector->solved[row] = (uint8_t)solved;
        dropped += __builtin_popcount(active & ~solved);
        if (projector->pressure != NULL) {
            memcpy(pressure_of(context, system->full[row]), from, LANES * sizeof *from);
        }
    }
    return dropped;
}

static inline void subtract_row(const WadiFlipProjectIn *in, WadiFlipProjectOut *out, int32_t row, int axis)
{
    const int32_t before = wadi_table_row(in->fluid_row, in->rows->neighbour[row][2 * axis]);
    const unsigned touches = in->fluid[row] | wadi_row_neighbour_bits(in->rows, in->fluid, row, 2 * axis);
    const int32_t solid_row = wadi_table_row(in->solid_row, row);
    const WadiI8 is_open = WADI_ROW(in->open[axis], solid_row) > 0.0f;
    const unsigned open = wadi_row_bits(&is_open);
    out->known[axis][row] = (uint8_t)(touches & open);
    if (touches == 0 && open == 0xff) {
        return;
    }
    float *u = out->velocity[axis] + LANES * (size_t)row;
    if (touches != 0) {
        WadiF8 gradient;
        wadi_flip_face_gradient(in, row, axis, &gradient);
        const double *p = out->pressure;
        const int32_t own = wadi_table_row(in->fluid_row, row);
        WadiD4 low = WADI_HALF(p, own, 0), high = WADI_HALF(p, own, 4);
        WadiD4 low_neighbour = WADI_HALF(p, before, 0), high_neighbour = WADI_HALF(p, before, 4);
        if (axis == 0) {
            low_neighbour = __builtin_shufflevector(high_neighbour, low, 3, 4, 5, 6);
            high_neighbour = WADI_HALF(p, own, 3);
        }
        WadiF8 velocity = *(const WadiF8 *)u;
        low = WADI_ROW_LOW_DOUBLE(velocity) - WADI_ROW_LOW_DOUBLE(gradient) * (low - low_neighbour);
        high = WADI_ROW_HIGH_DOUBLE(velocity) - WADI_ROW_HIGH_DOUBLE(gradient) * (high - high_neighbour);
        *(WadiF4 *)u = __builtin_convertvector(low, WadiF4);
        *(WadiF4 *)(u + 4) = __builtin_convertvector(high, WadiF4);
    }
    if (open != 0xff) {
        const WadiF8 velocity = *(const WadiF8 *)u;
        WadiF8 solid = { 0 };
        if (in->solid_velocity[axis] != NULL) {
            solid = WADI_ROW(in->solid_velocity[axis], solid_row);
        }
        *(WadiF8 *)u = WADI_ROW_SELECT(is_open, velocity, solid);
    }
}

static void subtract_gradient(void *user, int64_t first, int64_t end)
{
    const RunContext *context = user;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        subtract_row(&context->projector->in, context->out, row, 0);
        subtract_row(&context->projector->in, context->out, row, 1);
        subtract_row(&context->projector->in, context->out, row, 2);
    }
}

static double block_divergence(void *user, int64_t first, int64_t end)
{
    const RunContext *context = user;
    const WadiFlipProjector *projector = context->projector;
    const WadiFlipProjectIn *in = &projector->in;
    const WadiL4 magnitude = { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX };
    const double per_metre = 1.0 / in->cell_size;
    WadiD4 largest = { 0 };
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        const int32_t full = projector->system.full[row];
        WadiD4 out[2];
        WadiI8 is_solved;
        WadiF8 expansion = { 0 };
        wadi_flip_outflow(in, context->out->velocity, full, out);
        wadi_row_mask(projector->solved[row], &is_solved);
        if (in->expansion != NULL) {
            expansion = WADI_ROW(in->expansion, wadi_table_row(in->fluid_row, full));
        }
        out[0] = out[0] * per_metre - WADI_ROW_LOW_DOUBLE(expansion);
        out[1] = out[1] * per_metre - WADI_ROW_HIGH_DOUBLE(expansion);
        const WadiL4 counts[2] = { __builtin_convertvector(WADI_ROW_LOW(is_solved), WadiL4),
                                   __builtin_convertvector(WADI_ROW_HIGH(is_solved), WadiL4) };
        for (int half = 0; half < 2; ++half) {
            WadiD4 size = (WadiD4)((WadiL4)out[half] & magnitude & counts[half]);
            WadiL4 is_larger = size > largest;
            largest = (WadiD4)(((WadiL4)size & is_larger) | ((WadiL4)largest & ~is_larger));
        }
    }
    double maximum = 0.0;
    for (int l = 0; l < 4; ++l) {
        maximum = largest[l] > maximum ? largest[l] : maximum;
    }
    return maximum;
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

WadiStatus wadi_flip_projector_begin(WadiFlipProjector **projector, const WadiFlipProjectIn *in,
                                     WadiArena *scratch, WadiError *error)
{
    WADI_ASSERT(in->solve != NULL && in->cell_size > 0.0 && in->reference_density > 0.0);
    WADI_ASSERT(in->fluid[0] == 0);
    *projector = NULL;
    WadiFlipProjector *result = NULL;
    WADI_TRY(WADI_ARENA_NEW(scratch, &result, 1, "pressure system", error));
    *result = (WadiFlipProjector){ .in = *in };
    WADI_TRY(wadi_flip_project_assemble(in, &result->system, scratch, error));
    WADI_TRY(wadi_poisson_hierarchy_begin(&result->system.poisson.hierarchy, scratch, error));
    const size_t rows = (size_t)result->system.rows.count;
    const int64_t blocks = wadi_parallel_block_count((int64_t)rows, WADI_ROW_BLOCK);
    WADI_TRY(WADI_ARENA_NEW(scratch, &result->rhs, LANES * rows, "pressure system", error));
    if (in->fluid_row == NULL || in->fluid_rows != result->system.rows.count) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &result->pressure, LANES * rows, "pressure system", error));
    }
    WADI_TRY(WADI_ARENA_NEW(scratch, &result->solved, rows, "pressure system", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &result->partials, (size_t)blocks, "pressure system", error));
    *projector = result;
    return WADI_OK;
}

void wadi_flip_projector_rhs(const WadiFlipProjector *projector, const WadiFlipProjectIn *in,
                             float *const velocity[3], float *rhs)
{
    const WadiFlipSystem *system = &projector->system;
    const int32_t rows = in->fluid_row != NULL ? in->fluid_rows : in->rows->count;
    memset(rhs, 0, LANES * (size_t)rows * sizeof *rhs);
    wadi_flip_project_rhs(in, system, velocity, projector->rhs);
    for (int32_t row = 1; row < system->rows.count; ++row) {
        memcpy(rhs + LANES * (size_t)wadi_table_row(in->fluid_row, system->full[row]),
               projector->rhs + LANES * (size_t)row, LANES * sizeof *rhs);
    }
}

typedef struct ImpulseContext {
    const WadiFlipProjectIn *in;
    const double *pressure;
    float *const *impulse;
} ImpulseContext;

static void impulse_rows(void *user, int64_t first, int64_t end)
{
    const ImpulseContext *context = user;
    const WadiFlipProjectIn *in = context->in;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const double *own = context->pressure + LANES * (size_t)wadi_table_row(in->fluid_row, row);
        for (int axis = 0; axis < 3; ++axis) {
            const int32_t low = wadi_table_row(in->fluid_row, in->rows->neighbour[row][2 * axis]);
            const double *before = context->pressure + LANES * (size_t)low;
            const float *open = in->open[axis] + LANES * (size_t)wadi_table_row(in->solid_row, row);
            float *to = context->impulse[axis] + LANES * (size_t)row;
            for (int l = 0; l < LANES; ++l) {
                const double behind = axis > 0 ? before[l] : l > 0 ? own[l - 1] : before[LANES - 1];
                to[l] = open[l] * (float)(behind - own[l]);
            }
        }
    }
}

void wadi_flip_pressure_impulse(const WadiFlipProjectIn *in, const double *pressure, float *const impulse[3])
{
    ImpulseContext context = { in, pressure, impulse };
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, impulse_rows, &context);
}

WadiStatus wadi_flip_projector_run(WadiFlipProjector *projector, WadiFlipProjectOut *out, WadiArena *scratch,
                                   WadiFlipProjectReport *report, WadiError *error)
{
    *report = (WadiFlipProjectReport){ 0 };
    const WadiFlipProjectIn *in = &projector->in;
    const WadiFlipSystem *system = &projector->system;
    const int64_t rows = system->rows.count, all = in->rows->count;
    RunContext context = { projector, out,
                           projector->pressure != NULL ? projector->pressure : out->pressure };
    wadi_flip_project_rhs(in, system, out->velocity, projector->rhs);
    wadi_parallel_for(rows, WADI_ROW_BLOCK, load_pressure, &context);
    WADI_TRY(in->solve(&system->poisson, projector->rhs, &in->solver, context.pressure, scratch,
                       &report->solve, error));
    if (projector->pressure != NULL) {
        wadi_parallel_for(all, WADI_ROW_BLOCK, clear_pressure, &context);
    }
    report->dropped =
        (int64_t)wadi_parallel_sum(rows, WADI_ROW_BLOCK, store_pressure, &context, projector->partials);
    for (int axis = 0; axis < 3; ++axis) {
        out->known[axis][0] = 0;
    }
    wadi_parallel_for(all, WADI_ROW_BLOCK, subtract_gradient, &context);
    report->unknowns =
        (int64_t)wadi_parallel_sum(rows, WADI_ROW_BLOCK, count_cells, system->active, projector->partials);
    if (!out->is_interim) {
        report->max_divergence =
            wadi_parallel_max(rows, WADI_ROW_BLOCK, block_divergence, &context, projector->partials);
    }
    return WADI_OK;
}

WadiStatus wadi_flip_project(const WadiFlipProjectIn *in, WadiFlipProjectOut *out, WadiArena *scratch,
                             WadiFlipProjectReport *report, WadiError *error)
{
    *report = (WadiFlipProjectReport){ 0 };
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    WadiFlipProjector *projector = NULL;
    WADI_TRY(wadi_flip_projector_begin(&projector, in, scratch, error));
    WADI_TRY(wadi_flip_projector_run(projector, out, scratch, report, error));
    wadi_arena_release(scratch, mark);
    return WADI_OK;
}
