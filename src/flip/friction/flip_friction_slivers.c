/* Nearly closed faces. A force changes the velocity of a face of mass m by 1/m, so a small imbalance of the
 * last step's stresses would move a face that is 2 % open at metres per second [theory 6.9]. Light faces get
 * mass from their neighbours, with the sum unchanged, for pressure and friction alike; then the velocities of
 * the narrowest are clamped. */
#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_lanes.h"

/* Faces that are open less than this get mass from neighbours that are open more. */
#define LEAST_OPEN 0.5f
/* Velocities of faces that are open less than this are clamped to those of their neighbours. */
#define SLIVER 0.25f

typedef struct MassLoan {
    const WadiFriction *friction;
    WadiFrictionFaces *offer;    /* mass that a heavy face can lend to each light neighbour */
    WadiFrictionFaces *fraction; /* fraction of each offer that a light face borrows */
} MassLoan;

/* Values on the neighbouring faces of the same axis. */
static WadiF8 neighbour_faces(const MassLoan *loan, const WadiFrictionFaces *faces, int32_t s, int side,
                              int axis)
{
    WadiF8 there = faces[loan->friction->slot[s].near[side]].c[axis], here = faces[s].c[axis];
    if (side > NEAR_XP) {
        return there;
    }
    return side == NEAR_XM ? WADI_ROW_SHIFT_UP(there, here) : WADI_ROW_SHIFT_DOWN(here, there);
}

static WadiI8 is_light(WadiF8 open)
{
    return (open > wadi_splat(0.0f)) & (open < wadi_splat(LEAST_OPEN));
}

static void find_offers(void *context, int64_t first, int64_t end)
{
    const MassLoan *loan = context;
    const WadiFrictionFaces *open = loan->friction->open;
    const WadiF8 zero = wadi_splat(0.0f), one = wadi_splat(1.0f), least = wadi_splat(LEAST_OPEN);
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        for (int axis = 0; axis < 3; ++axis) {
            WadiF8 count = zero;
            for (int side = 0; side < 6; ++side) {
                count += wadi_masked(one, is_light(neighbour_faces(loan, open, s, side, axis)));
            }
            loan->offer[s].c[axis] = WADI_MAX8(open[s].c[axis] - least, zero) / WADI_MAX8(count, one);
        }
    }
}

static void find_fractions(void *context, int64_t first, int64_t end)
{
    const MassLoan *loan = context;
    const WadiF8 one = wadi_splat(1.0f), tiny = wadi_splat(1e-6f);
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        for (int axis = 0; axis < 3; ++axis) {
            WadiF8 sum = wadi_splat(0.0f), open = loan->friction->open[s].c[axis];
            for (int side = 0; side < 6; ++side) {
                sum += neighbour_faces(loan, loan->offer, s, side, axis);
            }
            WadiF8 need = wadi_masked(wadi_splat(LEAST_OPEN) - open, is_light(open));
            loan->fraction[s].c[axis] = WADI_MIN8(one, need / WADI_MAX8(sum, tiny));
        }
    }
}

static void move_mass(void *context, int64_t first, int64_t end)
{
    const MassLoan *loan = context;
    const WadiFriction *friction = loan->friction;
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        for (int axis = 0; axis < 3; ++axis) {
            WadiF8 offered = wadi_splat(0.0f), lent = wadi_splat(0.0f);
            for (int side = 0; side < 6; ++side) {
                offered += neighbour_faces(loan, loan->offer, s, side, axis);
                lent += neighbour_faces(loan, loan->fraction, s, side, axis);
            }
            WadiF8 open = friction->open[s].c[axis], zero = wadi_splat(0.0f);
            WadiF8 balanced = open + offered * loan->fraction[s].c[axis] - lent * loan->offer[s].c[axis];
            const WadiI8 is_open = open > zero;
            friction->mass[s].c[axis] *= balanced / WADI_ROW_SELECT(is_open, open, wadi_splat(1.0f));
            friction->response[s].c[axis] = WADI_ROW_SELECT(is_open, open / balanced, wadi_splat(1.0f));
        }
    }
}

WadiStatus wadi_friction_balance_masses(WadiFriction *friction, WadiArena *arena, WadiError *error)
{
    size_t slots = (size_t)friction->slot_count;
    MassLoan loan = { .friction = friction };
    WADI_TRY(WADI_ARENA_NEW(arena, &friction->response, slots, "friction", error));
    for (int axis = 0; axis < 3; ++axis) {
        friction->response[0].c[axis] = wadi_splat(1.0f);
    }
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&loan.offer, slots, sizeof *loan.offer, error));
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&loan.fraction, slots, sizeof *loan.fraction, error));
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, find_offers, &loan);
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, find_fractions, &loan);
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, move_mass, &loan);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

typedef struct Response {
    const WadiFriction *friction;
    float *const *response;
} Response;

static void write_response(void *context, int64_t first, int64_t end)
{
    const Response *to = context;
    const WadiFriction *friction = to->friction;
    for (int64_t row = first; row < end; ++row) {
        for (int axis = 0; axis < 3; ++axis) {
            WADI_ROW_OUT(to->response[axis], row) = friction->response[friction->slot_of[row]].c[axis];
        }
    }
}

WadiStatus wadi_friction_face_response(const WadiFriction *friction, float *response[3], WadiArena *arena,
                                       WadiError *error)
{
    if (friction->response == NULL || !wadi_friction_has_moving_cut_walls(friction)) {
        return WADI_OK;
    }
    const WadiRows *rows = friction->grid.rows;
    for (int axis = 0; axis < 3; ++axis) {
        WADI_TRY(WADI_ARENA_NEW(arena, &response[axis], wadi_rows_floats(rows), "friction", error));
    }
    wadi_parallel_for(rows->count, FRICTION_BLOCK, write_response, &(Response){ friction, response });
    return WADI_OK;
}

typedef struct Clamp {
    const WadiFriction *friction;
    float *const *velocity;
    const float *const *solid; /* per face; those of a solid at rest may be NULL */
} Clamp;

/* Clamp to the range of the solid's velocity and those of wider neighbours. Slivers are written while others
 * are read, so only faces that are no slivers are read. */
static void clamp_face(const Clamp *clamp, WadiRowCell here, int axis)
{
    const WadiFriction *friction = clamp->friction;
    const float *solid = clamp->solid[axis];
    size_t at = wadi_row_cell_index(here);
    float low = solid != NULL ? solid[wadi_table_cell(friction->grid.solid_row, at)] : 0.0f, high = low;
    bool has_wider = false;
    for (int side = 0; side < 6; ++side) {
        WadiRowCell there = wadi_row_cell_neighbour(friction->grid.rows, here, side);
        if (friction->open[friction->slot_of[there.row]].c[axis][there.lane] >= SLIVER) {
            float u = clamp->velocity[axis][wadi_row_cell_index(there)];
            low = fminf(low, u);
            high = fmaxf(high, u);
            has_wider = true;
        }
    }
    if (has_wider) {
        clamp->velocity[axis][at] = fminf(fmaxf(clamp->velocity[axis][at], low), high);
    }
}

static void clamp_slots(void *context, int64_t first, int64_t end)
{
    const Clamp *clamp = context;
    const WadiFriction *friction = clamp->friction;
    for (int32_t s = first > 0 ? (int32_t)first : 1; s < end; ++s) {
        for (int n = 0; n < 24 && friction->slot[s].cut != 0; ++n) {
            float open = friction->open[s].c[n >> 3][n & 7];
            if (open > 0.0f && open < SLIVER) {
                clamp_face(clamp, (WadiRowCell){ friction->slot[s].row, n & 7 }, n >> 3);
            }
        }
    }
}

void wadi_friction_clamp_slivers(const WadiFriction *friction, float *const velocity[3],
                                 float *const solid_velocity[3])
{
    if (friction->grid.open[0] != NULL) {
        const float *const solid[3] = { solid_velocity[0], solid_velocity[1], solid_velocity[2] };
        wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, clamp_slots,
                          &(Clamp){ friction, velocity, solid });
    }
}
