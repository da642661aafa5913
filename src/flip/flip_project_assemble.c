/* The linear system of the pressure projection, and the divergence it removes.
 *   sum_f w_f (rho_ref / rho_f) / theta_f (P_c - P_nb) = -sum_f +-[w_f u_f + (1 - w_f) u_solid] + h expansion
 * Source: [ZB05 sec. 4.2.3] and models 1.4, with open fractions of faces [BBB07; NMG09] and the ghost fluid
 * at the free surface.
 * Differs: scaled unknowns, see flip_project.h; rho_f is the mean of the two cells, or that of the only fluid
 * cell. */
#include <math.h>

#include "core/parallel.h"
#include "flip/flip_project.h"
#include "grid/row_lanes.h"

enum { LANES = WADI_ROW_CELLS };

typedef struct AssembleContext {
    const WadiFlipProjectIn *in;
    const uint8_t *active;
    float *const *velocity;
    WadiFlipSystem *system;
} AssembleContext;

static inline float bit_as_float(unsigned bits, int lane)
{
    return (float)(bits >> lane & 1);
}

/* Faces on the low side of a row's cells: gradient and coupling of one axis. */
static void assemble_faces(const AssembleContext *context, int32_t row, int axis)
{
    const WadiFlipProjectIn *in = context->in;
    WadiFlipSystem *system = context->system;
    const size_t at = (size_t)LANES * (size_t)row;
    float *restrict gradient = system->gradient[axis] + at;
    float *restrict coupling = system->coupling[axis] + at;
    const float *restrict open = in->open[axis] + at;
    const unsigned here = context->active[row];
    const unsigned low = wadi_row_bits_beside(in->rows, context->active, row, 2 * axis);
    if ((here | low) == 0) {
        memset(gradient, 0, LANES * sizeof *gradient);
        memset(coupling, 0, LANES * sizeof *coupling);
        return;
    }
    float own[LANES], beside[LANES], theta[LANES];
    const float reference = (float)in->reference_density;
    for (int l = 0; l < LANES; ++l) {
        own[l] = beside[l] = reference;
        theta[l] = 1.0f;
    }
    if (in->theta[axis] != NULL) {
        memcpy(theta, in->theta[axis] + at, sizeof theta);
    }
    if (in->density != NULL) {
        memcpy(own, in->density + at, sizeof own);
        wadi_row_beside(in->rows, in->density, row, 2 * axis, beside);
    }
    for (int l = 0; l < LANES; ++l) {
        float a = bit_as_float(here, l), b = bit_as_float(low, l), sides = a + b;
        float mass = (a > 0 ? own[l] : 0.0f) + (b > 0 ? beside[l] : 0.0f);
        float reach = sides == 1.0f ? theta[l] : 1.0f;
        float has_mass = sides > 0 && open[l] > 0 ? 1.0f : 0.0f;
        float g = has_mass * reference * sides / ((mass > 0 ? mass : 1.0f) * reach);
        gradient[l] = g;
        coupling[l] = a * b * open[l] * g;
    }
}

/* P at the surface on the faces between an unknown and air. */
static void assemble_jumps(const AssembleContext *context, int32_t row, int axis)
{
    const WadiFlipProjectIn *in = context->in;
    const size_t at = (size_t)LANES * (size_t)row;
    float *restrict jump = context->system->jump[axis] + at;
    const unsigned here = context->active[row];
    const unsigned low = wadi_row_bits_beside(in->rows, context->active, row, 2 * axis);
    memset(jump, 0, LANES * sizeof *jump);
    if ((here ^ low) == 0) {
        return;
    }
    const float *restrict own = in->surface_pressure + at;
    float beside[LANES];
    wadi_row_beside(in->rows, in->surface_pressure, row, 2 * axis, beside);
    for (int l = 0; l < LANES; ++l) {
        float a = bit_as_float(here, l), b = bit_as_float(low, l);
        float reach = in->theta[axis] != NULL ? in->theta[axis][at + (size_t)l] : 1.0f;
        float inner = a > 0 ? own[l] : beside[l], outer = a > 0 ? beside[l] : own[l];
        jump[l] = (b - a) * (inner + reach * (outer - inner));
    }
}

static void assemble_all_faces(void *user, int64_t first, int64_t end)
{
    const AssembleContext *context = user;
    for (int axis = 0; axis < 3; ++axis) {
        for (int32_t row = (int32_t)first; row < end; ++row) {
            assemble_faces(context, row, axis);
            if (context->system->jump[axis] != NULL) {
                assemble_jumps(context, row, axis);
            }
        }
    }
}

/* What leaves each cell of a row through its open and closed faces: h times the divergence. */
static void outflow(const WadiFlipProjectIn *in, float *const velocity[3], int32_t row,
                    double out[restrict LANES])
{
    const size_t at = (size_t)LANES * (size_t)row;
    for (int l = 0; l < LANES; ++l) {
        out[l] = 0.0;
    }
    for (int axis = 0; axis < 3; ++axis) {
        const float *restrict w0 = in->open[axis] + at;
        const float *restrict u0 = velocity[axis] + at;
        const float *restrict s0 = in->solid_velocity[axis] + at;
        float w1[LANES], u1[LANES], s1[LANES];
        wadi_row_beside(in->rows, in->open[axis], row, 2 * axis + 1, w1);
        wadi_row_beside(in->rows, velocity[axis], row, 2 * axis + 1, u1);
        wadi_row_beside(in->rows, in->solid_velocity[axis], row, 2 * axis + 1, s1);
        for (int l = 0; l < LANES; ++l) {
            out[l] += ((double)w1[l] * (double)u1[l] + (1.0 - (double)w1[l]) * (double)s1[l]) -
                      ((double)w0[l] * (double)u0[l] + (1.0 - (double)w0[l]) * (double)s0[l]);
        }
    }
}

/* Diagonal and right-hand side, from the faces. */
static void assemble_cells(void *user, int64_t first, int64_t end)
{
    const AssembleContext *context = user;
    const WadiFlipProjectIn *in = context->in;
    WadiFlipSystem *system = context->system;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const size_t at = (size_t)LANES * (size_t)row;
        float *diagonal = system->diagonal + at, *rhs = system->rhs + at;
        memset(diagonal, 0, LANES * sizeof *diagonal);
        memset(rhs, 0, LANES * sizeof *rhs);
        unsigned fluid = context->active[row], active = 0;
        system->active[row] = 0;
        if (fluid == 0) {
            continue;
        }
        for (int axis = 0; axis < 3; ++axis) {
            const float *restrict w0 = in->open[axis] + at;
            const float *restrict g0 = system->gradient[axis] + at;
            float w1[LANES], g1[LANES];
            wadi_row_beside(in->rows, in->open[axis], row, 2 * axis + 1, w1);
            wadi_row_beside(in->rows, system->gradient[axis], row, 2 * axis + 1, g1);
            for (int l = 0; l < LANES; ++l) {
                diagonal[l] += w0[l] * g0[l] + w1[l] * g1[l];
            }
        }
        double out[LANES];
        outflow(in, context->velocity, row, out);
        for (int axis = 0; axis < 3 && system->jump[0] != NULL; ++axis) {
            float w1[LANES], g1[LANES], j1[LANES];
            wadi_row_beside(in->rows, in->open[axis], row, 2 * axis + 1, w1);
            wadi_row_beside(in->rows, system->gradient[axis], row, 2 * axis + 1, g1);
            wadi_row_beside(in->rows, system->jump[axis], row, 2 * axis + 1, j1);
            for (int l = 0; l < LANES; ++l) {
                size_t face = at + (size_t)l;
                out[l] +=
                    (double)(in->open[axis][face] * system->gradient[axis][face] * system->jump[axis][face] -
                             w1[l] * g1[l] * j1[l]);
            }
        }
        for (int l = 0; l < LANES; ++l) {
            active |= (unsigned)(diagonal[l] > 0.0f) << l;
        }
        active &= fluid;
        system->active[row] = (uint8_t)active;
        for (int l = 0; l < LANES; ++l) {
            float is_active = bit_as_float(active, l);
            double wanted =
                in->expansion != NULL ? in->cell_size * (double)in->expansion[at + (size_t)l] : 0.0;
            diagonal[l] *= is_active;
            rhs[l] = is_active * (float)(wanted - out[l]);
        }
    }
}

WadiStatus wadi_flip_project_assemble(const WadiFlipProjectIn *in, float *const velocity[3],
                                      WadiFlipSystem *system, WadiArena *arena, WadiError *error)
{
    *system = (WadiFlipSystem){ 0 };
    const size_t floats = wadi_rows_floats(in->rows);
    WADI_TRY(WADI_ARENA_NEW(arena, &system->diagonal, floats, "pressure system", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &system->rhs, floats, "pressure system", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &system->active, (size_t)in->rows->count, "pressure system", error));
    for (int axis = 0; axis < 3; ++axis) {
        WADI_TRY(WADI_ARENA_NEW(arena, &system->coupling[axis], floats, "pressure system", error));
        WADI_TRY(WADI_ARENA_NEW(arena, &system->gradient[axis], floats, "pressure system", error));
    }
    for (int axis = 0; axis < 3 && in->surface_pressure != NULL; ++axis) {
        WADI_TRY(WADI_ARENA_NEW(arena, &system->jump[axis], floats, "pressure system", error));
    }
    AssembleContext context = { in, in->fluid, velocity, system };
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, assemble_all_faces, &context);
    wadi_parallel_for(in->rows->count, WADI_ROW_BLOCK, assemble_cells, &context);
    /* The null row's neighbours are itself, which would make of it a row of one long cell. */
    memset(system->diagonal, 0, LANES * sizeof(float));
    memset(system->rhs, 0, LANES * sizeof(float));
    for (int axis = 0; axis < 3; ++axis) {
        memset(system->coupling[axis], 0, LANES * sizeof(float));
        memset(system->gradient[axis], 0, LANES * sizeof(float));
        if (system->jump[axis] != NULL) {
            memset(system->jump[axis], 0, LANES * sizeof(float));
        }
    }
    system->poisson = (WadiPoisson){ .rows = in->rows,
                                     .active = system->active,
                                     .diagonal = system->diagonal,
                                     .cx = system->coupling[0],
                                     .cy = system->coupling[1],
                                     .cz = system->coupling[2] };
    return WADI_OK;
}

static double block_divergence(void *user, int64_t first, int64_t end)
{
    const AssembleContext *context = user;
    const WadiFlipProjectIn *in = context->in;
    double largest = 0.0;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        if (context->active[row] == 0) {
            continue;
        }
        double out[LANES];
        outflow(in, context->velocity, row, out);
        for (int l = 0; l < LANES; ++l) {
            if (context->active[row] >> l & 1) {
                size_t cell = (size_t)LANES * (size_t)row + (size_t)l;
                double wanted = in->expansion != NULL ? (double)in->expansion[cell] : 0.0;
                largest = fmax(largest, fabs(out[l] / in->cell_size - wanted));
            }
        }
    }
    return largest;
}

double wadi_flip_max_divergence(const WadiFlipProjectIn *in, const uint8_t *active, float *const velocity[3],
                                double *partials)
{
    AssembleContext context = { in, active, velocity, NULL };
    return wadi_parallel_max(in->rows->count, WADI_ROW_BLOCK, block_divergence, &context, partials);
}

int64_t wadi_flip_max_divergence_partials(const WadiRows *rows)
{
    return wadi_parallel_block_count(rows->count, WADI_ROW_BLOCK);
}
