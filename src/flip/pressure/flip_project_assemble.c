/* The linear system of the pressure projection.
 *   sum_f w_f (rho_ref / rho_f) / theta_f (P_c - P_nb) = -sum_f +-[w_f u_f + (1 - w_f) u_solid] + h expansion
 * Source: [ZB05 sec. 4.2.3; theory 5.1], with open fractions of faces [BBB07; NMG09] and the ghost fluid
 * at the free surface.
 * Differs: scaled unknowns, see flip_project.h. */
#include "core/parallel.h"
#include "flip/pressure/flip_project_faces.h"

enum { LANES = WADI_ROW_CELLS, TILE_BLOCK = 64 };

typedef struct AssembleContext {
    const WadiFlipProjectIn *in;
    WadiFlipSystem *system;
    const WadiFlipSystem *assembled;
    float *const *velocity;
    float *rhs;
} AssembleContext;

static void find_rows(void *user, int64_t first, int64_t end)
{
    const AssembleContext *context = user;
    const WadiRows *rows = context->in->rows;
    for (int64_t tile = first; tile < end; ++tile) {
        uint64_t mask = 0;
        for (int32_t row = rows->first[tile]; row < rows->first[tile + 1]; ++row) {
            mask |= (uint64_t)(context->in->fluid[row] != 0) << rows->index_in_tile[row];
        }
        context->system->mask[tile] = mask;
    }
}

static void match_rows(void *user, int64_t first, int64_t end)
{
    const AssembleContext *context = user;
    const WadiRows *rows = context->in->rows;
    WadiFlipSystem *system = context->system;
    for (int64_t tile = first; tile < end; ++tile) {
        int32_t to = system->rows.first[tile];
        for (int32_t row = rows->first[tile]; row < rows->first[tile + 1]; ++row) {
            if (context->in->fluid[row] != 0) {
                system->full[to++] = row;
            }
        }
    }
}

/* One row: couplings on the low side of its cells, and their diagonal. */
static void assemble_row(const WadiFlipProjectIn *in, WadiFlipSystem *system, int32_t to)
{
    const int32_t row = system->full[to];
    WadiF8 diagonal = { 0 };
    for (int axis = 0; axis < 3; ++axis) {
        const int32_t next = in->rows->neighbour[row][2 * axis + 1];
        WadiF8 g0, g1;
        WadiI8 has_both;
        wadi_flip_face_gradient(in, row, axis, &g0);
        wadi_flip_face_gradient(in, next, axis, &g1);
        g0 *= WADI_ROW(in->open[axis], wadi_table_row(in->solid_row, row));
        g1 *= WADI_ROW(in->open[axis], wadi_table_row(in->solid_row, next));
        diagonal += axis == 0 ? g0 + WADI_ROW_SHIFT_DOWN(g0, g1) : g0 + g1;
        wadi_row_mask(in->fluid[row] & wadi_row_neighbour_bits(in->rows, in->fluid, row, 2 * axis),
                      &has_both);
        WADI_ROW_OUT(system->coupling[axis], to) = (WadiF8)((WadiI8)g0 & has_both);
    }
    WadiI8 is_fluid;
    wadi_row_mask(in->fluid[row], &is_fluid);
    is_fluid &= diagonal > 0.0f;
    WADI_ROW_OUT(system->diagonal, to) = (WadiF8)((WadiI8)diagonal & is_fluid);
    system->active[to] = (uint8_t)wadi_row_bits(&is_fluid);
    if (system->least != NULL) {
        WADI_ROW_OUT(system->least, to) = -WADI_ROW(in->tension, row);
    }
}

static void assemble_rows(void *user, int64_t first, int64_t end)
{
    const AssembleContext *context = user;
    for (int32_t row = (int32_t)first + (first == 0); row < end; ++row) {
        assemble_row(context->in, context->system, row);
    }
}

WadiStatus wadi_flip_project_assemble(const WadiFlipProjectIn *in, WadiFlipSystem *system, WadiArena *arena,
                                      WadiError *error)
{
    *system = (WadiFlipSystem){ 0 };
    const WadiTileMap *tiles = in->rows->tiles;
    AssembleContext context = { .in = in, .system = system };
    WADI_TRY(WADI_ARENA_NEW(arena, &system->mask, (size_t)tiles->count, "pressure system", error));
    wadi_parallel_for(tiles->count, TILE_BLOCK, find_rows, &context);
    WADI_TRY(wadi_rows_build(&system->rows, tiles, system->mask, arena, error));
    const size_t rows = (size_t)system->rows.count;
    WADI_TRY(WADI_ARENA_NEW(arena, &system->full, rows, "pressure system", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &system->active, rows, "pressure system", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &system->diagonal, LANES * rows, "pressure system", error));
    for (int axis = 0; axis < 3; ++axis) {
        WADI_TRY(WADI_ARENA_NEW(arena, &system->coupling[axis], LANES * rows, "pressure system", error));
        memset(system->coupling[axis], 0, LANES * sizeof(float));
    }
    memset(system->diagonal, 0, LANES * sizeof(float));
    if (in->tension != NULL) {
        WADI_TRY(WADI_ARENA_NEW(arena, &system->least, LANES * rows, "pressure system", error));
        memset(system->least, 0, LANES * sizeof(float));
    }
    system->active[0] = 0;
    system->full[0] = 0;
    wadi_parallel_for(tiles->count, TILE_BLOCK, match_rows, &context);
    wadi_parallel_for(system->rows.count, WADI_ROW_BLOCK, assemble_rows, &context);
    system->poisson = (WadiPoisson){ .rows = &system->rows,
                                     .active = system->active,
                                     .diagonal = system->diagonal,
                                     .cx = system->coupling[0],
                                     .cy = system->coupling[1],
                                     .cz = system->coupling[2],
                                     .least = system->least };
    return WADI_OK;
}

static void rhs_rows(void *user, int64_t first, int64_t end)
{
    const AssembleContext *context = user;
    const WadiFlipProjectIn *in = context->in;
    for (int32_t row = (int32_t)first; row < end; ++row) {
        const int32_t full = context->assembled->full[row];
        WadiD4 out[2];
        WadiF8 expansion = { 0 };
        WadiI8 is_active;
        wadi_row_mask(context->assembled->active[row], &is_active);
        wadi_flip_outflow(in, context->velocity, full, out);
        if (in->expansion != NULL) {
            expansion = WADI_ROW(in->expansion, wadi_table_row(in->fluid_row, full));
        }
        float *to = context->rhs + LANES * (size_t)row;
        *(WadiF4 *)to =
            __builtin_convertvector(in->cell_size * WADI_ROW_LOW_DOUBLE(expansion) - out[0], WadiF4);
        *(WadiF4 *)(to + 4) =
            __builtin_convertvector(in->cell_size * WADI_ROW_HIGH_DOUBLE(expansion) - out[1], WadiF4);
        WADI_ROW_OUT(context->rhs, row) = (WadiF8)((WadiI8)WADI_ROW(context->rhs, row) & is_active);
    }
}

void wadi_flip_project_rhs(const WadiFlipProjectIn *in, const WadiFlipSystem *system,
                           float *const velocity[3], float *rhs)
{
    AssembleContext context = { .in = in, .assembled = system, .velocity = velocity, .rhs = rhs };
    wadi_parallel_for(system->rows.count, WADI_ROW_BLOCK, rhs_rows, &context);
}
