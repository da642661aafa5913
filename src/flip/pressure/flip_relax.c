/* Make the fluid cells free of divergence one after the other: the net outflow of a cell is removed at its
 * open faces in equal parts, repeatedly. [theory 5.5]
 *   d = o (sum_f +-[w_f u_f + (1 - w_f) u_solid] - h expansion) / sum_f w_f g_f,   u_f -= +-g_f d,   P -= d
 * with g_f = 1 in one fluid under a first-order surface; flip_project_faces.h has the general g_f.
 * Source: [A24 sec. I-B]. The sum of the changes is the pressure: this is successive over-relaxation of
 * the system of flip_project_assemble.c, written in velocities.
 * Differs: over-relaxation; cells of even i + j + k first, then the odd ones (a sweep in cell order
 * favours a direction and depends on the order); open fractions; and P >= 0 where sand may part. */
#include "flip/pressure/flip_relax.h"

#include <math.h>

#include "core/check.h"
#include "core/parallel.h"
#include "flip/pressure/flip_project_faces.h"

enum { LANES = WADI_ROW_CELLS };

typedef struct Relax {
    const WadiFlipProjectIn *in;
    WadiFlipProjectOut *out;
    uint8_t *active;    /* per row: fluid cells with an open face */
    float *gradient[3]; /* per face: g */
    float *gain;        /* per cell: over-relaxation / sum of w g */
    float *fixed; /* per cell: outflow through the solid parts of its faces, less the prescribed one, m/s */
    double over_relaxation;
    unsigned colour;
} Relax;

static void begin_faces(void *user, int64_t first, int64_t end)
{
    const Relax *relax = user;
    const WadiFlipProjectIn *in = relax->in;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const size_t at = (size_t)LANES * (size_t)row, solid_at = wadi_table_cell(in->solid_row, at);
        for (int axis = 0; axis < 3; ++axis) {
            WadiF8 gradient = { 0 };
            if (row > 0) {
                wadi_flip_face_gradient(in, row, axis, &gradient);
            }
            memcpy(relax->gradient[axis] + at, &gradient, sizeof gradient);
            float *velocity = relax->out->velocity[axis] + at;
            unsigned touches = in->fluid[row] | wadi_row_neighbour_bits(in->rows, in->fluid, row, 2 * axis);
            unsigned is_open = 0;
            for (size_t l = 0; l < LANES; ++l) {
                bool is_face_open = in->open[axis][solid_at + l] > 0.0f;
                float solid =
                    in->solid_velocity[axis] != NULL ? in->solid_velocity[axis][solid_at + l] : 0.0f;
                velocity[l] = is_face_open ? velocity[l] : solid;
                is_open |= (unsigned)is_face_open << l;
            }
            relax->out->known[axis][row] = row > 0 ? (uint8_t)(touches & is_open) : 0;
        }
    }
}

static void begin_cells(void *user, int64_t first, int64_t end)
{
    const Relax *relax = user;
    const WadiFlipProjectIn *in = relax->in;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const size_t at = (size_t)LANES * (size_t)row, solid_at = wadi_table_cell(in->solid_row, at);
        const size_t fluid_at = wadi_table_cell(in->fluid_row, at);
        float fixed[LANES] = { 0 }, diagonal[LANES] = { 0 };
        for (int axis = 0; axis < 3; ++axis) {
            float w1[LANES], s0[LANES] = { 0 }, s1[LANES] = { 0 }, g1[LANES];
            const float *w0 = in->open[axis] + solid_at, *g0 = relax->gradient[axis] + at;
            wadi_table_row_neighbours(in->rows, in->solid_row, in->open[axis], row, 2 * axis + 1, w1);
            if (in->solid_velocity[axis] != NULL) {
                memcpy(s0, in->solid_velocity[axis] + solid_at, sizeof s0);
                wadi_table_row_neighbours(in->rows, in->solid_row, in->solid_velocity[axis], row,
                                          2 * axis + 1, s1);
            }
            wadi_row_neighbours(in->rows, relax->gradient[axis], row, 2 * axis + 1, g1);
            for (int l = 0; l < LANES; ++l) {
                diagonal[l] += w0[l] * g0[l] + w1[l] * g1[l];
                fixed[l] += (1.0f - w1[l]) * s1[l] - (1.0f - w0[l]) * s0[l];
            }
        }
        unsigned active = 0;
        for (size_t l = 0; l < LANES; ++l) {
            bool is_active = row > 0 && (in->fluid[row] >> l & 1) != 0 && diagonal[l] > 0.0f;
            float prescribed =
                in->expansion != NULL ? (float)in->cell_size * in->expansion[fluid_at + l] : 0.0f;
            active |= (unsigned)is_active << l;
            relax->gain[at + l] = is_active ? (float)relax->over_relaxation / diagonal[l] : 0.0f;
            relax->fixed[at + l] = fixed[l] - prescribed;
            if (fluid_at >= LANES || row == 0) { /* not the null row of a smaller array */
                relax->out->pressure[fluid_at + l] = 0.0;
            }
        }
        relax->active[row] = (uint8_t)active;
    }
}

/* Net outflow of a cell less the prescribed one, m/s, and the indices of its high faces. Each axis is one
 * difference, so that a mirrored flow gives the mirrored result to the bit. */
static float outflow_of(const Relax *relax, int32_t row, int lane, size_t high[3])
{
    const WadiRows *rows = relax->in->rows;
    const int32_t *table = relax->in->solid_row;
    const size_t here = (size_t)LANES * (size_t)row + (size_t)lane;
    float outflow = relax->fixed[here];
    for (int axis = 0; axis < 3; ++axis) {
        const float *open = relax->in->open[axis], *velocity = relax->out->velocity[axis];
        high[axis] =
            wadi_row_cell_index(wadi_row_cell_neighbour(rows, (WadiRowCell){ row, lane }, 2 * axis + 1));
        outflow += open[wadi_table_cell(table, high[axis])] * velocity[high[axis]] -
                   open[wadi_table_cell(table, here)] * velocity[here];
    }
    return outflow;
}

/* Remove the net outflow of a cell at its open faces; returns its magnitude before. */
static float relax_cell(const Relax *relax, int32_t row, int lane)
{
    const size_t here = (size_t)LANES * (size_t)row + (size_t)lane;
    size_t high[3];
    float outflow = outflow_of(relax, row, lane, high), change = relax->gain[here] * outflow;
    double *pressure = &relax->out->pressure[wadi_table_cell(relax->in->fluid_row, here)];
    if (relax->in->is_unilateral && (double)change >= *pressure) {
        if (*pressure == 0.0) {
            return 0.0f; /* parting is allowed: no residual */
        }
        change = (float)*pressure;
        *pressure = 0.0;
    } else {
        *pressure -= (double)change;
    }
    for (int axis = 0; axis < 3; ++axis) {
        float *velocity = relax->out->velocity[axis];
        const float *gradient = relax->gradient[axis];
        velocity[here] += gradient[here] * change;
        if (high[axis] >= LANES) { /* not the null row */
            velocity[high[axis]] -= gradient[high[axis]] * change;
        }
    }
    return fabsf(outflow);
}

/* Cells of one colour share no face: their order does not matter, and threads write disjoint data. */
static double relax_colour(void *user, int64_t first, int64_t end)
{
    const Relax *relax = user;
    const uint8_t *index = relax->in->rows->index_in_tile;
    float largest = 0.0f;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        unsigned parity = (index[row] ^ index[row] >> 3) & 1;
        unsigned left = relax->active[row] & (parity == relax->colour ? 0x55u : 0xaau);
        for (; left != 0; left &= left - 1) {
            float residual = relax_cell(relax, row, __builtin_ctz(left));
            largest = residual > largest ? residual : isnan(residual) ? INFINITY : largest;
        }
    }
    return (double)largest;
}

static bool is_dropped(const Relax *relax, size_t cell)
{
    return relax->in->is_unilateral &&
           !(relax->out->pressure[wadi_table_cell(relax->in->fluid_row, cell)] > 0.0);
}

static double largest_residual(void *user, int64_t first, int64_t end)
{
    const Relax *relax = user;
    float largest = 0.0f;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        for (unsigned left = relax->active[row]; left != 0; left &= left - 1) {
            int l = __builtin_ctz(left);
            size_t high[3];
            if (!is_dropped(relax, (size_t)LANES * (size_t)row + (size_t)l)) {
                largest = wadi_maxf(largest, fabsf(outflow_of(relax, row, l, high)));
            }
        }
    }
    return (double)largest;
}

static double count_dropped(void *user, int64_t first, int64_t end)
{
    const Relax *relax = user;
    int64_t count = 0;
    for (int64_t row = first; row < end; ++row) {
        for (unsigned left = relax->active[row]; left != 0; left &= left - 1) {
            count += is_dropped(relax, (size_t)(LANES * row + __builtin_ctz(left)));
        }
    }
    return (double)count;
}

static double count_active(void *user, int64_t first, int64_t end)
{
    const Relax *relax = user;
    int64_t count = 0;
    for (int64_t row = first; row < end; ++row) {
        count += __builtin_popcount(relax->active[row]);
    }
    return (double)count;
}

static WadiStatus sweep(Relax *relax, double *partials, WadiPoissonReport *report, WadiError *error)
{
    const WadiPoissonSettings *settings = &relax->in->solver;
    const int64_t rows = relax->in->rows->count;
    double target = 0.0;
    while (!report->has_converged && report->iterations < settings->max_iterations) {
        double largest = 0.0;
        for (relax->colour = 0; relax->colour < 2; ++relax->colour) {
            largest = fmax(largest, wadi_parallel_max(rows, WADI_ROW_BLOCK, relax_colour, relax, partials));
        }
        if (!isfinite(largest)) {
            return wadi_fail(error, WADI_ERR_NUMERIC, "pressure sweeps: a velocity is not finite");
        }
        if (++report->iterations == 1) {
            report->first_residual = largest;
            target = fmax(settings->tolerance * largest, settings->absolute);
        }
        report->residual = largest;
        report->has_converged = largest <= target;
    }
    return WADI_OK;
}

WadiStatus wadi_flip_relax(const WadiFlipProjectIn *in, double over_relaxation, WadiFlipProjectOut *out,
                           WadiArena *scratch, WadiFlipProjectReport *report, WadiError *error)
{
    WADI_ASSERT(over_relaxation > 0.0 && over_relaxation < 2.0 && in->cell_size > 0.0 && in->fluid[0] == 0);
    *report = (WadiFlipProjectReport){ 0 };
    const int64_t rows = in->rows->count;
    const size_t floats = wadi_rows_floats(in->rows);
    double *partials = NULL;
    Relax relax = { .in = in, .out = out, .over_relaxation = over_relaxation };
    WADI_TRY(WADI_ARENA_NEW(scratch, &relax.active, (size_t)rows, "pressure sweeps", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &relax.gain, floats, "pressure sweeps", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &relax.fixed, floats, "pressure sweeps", error));
    for (int axis = 0; axis < 3; ++axis) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &relax.gradient[axis], floats, "pressure sweeps", error));
    }
    WADI_TRY(WADI_ARENA_NEW(scratch, &partials, (size_t)wadi_parallel_block_count(rows, WADI_ROW_BLOCK),
                            "pressure sweeps", error));
    wadi_parallel_for(rows, WADI_ROW_BLOCK, begin_faces, &relax);
    wadi_parallel_for(rows, WADI_ROW_BLOCK, begin_cells, &relax);
    WADI_TRY(sweep(&relax, partials, &report->solve, error));
    report->unknowns = (int64_t)wadi_parallel_sum(rows, WADI_ROW_BLOCK, count_active, &relax, partials);
    report->dropped = (int64_t)wadi_parallel_sum(rows, WADI_ROW_BLOCK, count_dropped, &relax, partials);
    report->max_divergence =
        wadi_parallel_max(rows, WADI_ROW_BLOCK, largest_residual, &relax, partials) / in->cell_size;
    return WADI_OK;
}
