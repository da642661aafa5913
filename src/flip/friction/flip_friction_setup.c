/* Unknowns of the friction solve from the cells' labels: slots, free faces, active edges, wall facets. */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"
#include "flip/transfer/flip_row_table.h"

enum { ROW_BLOCK = 1024 };

typedef struct Labels {
    const WadiFrictionGrid *grid;
    uint8_t (*free)[3]; /* per row */
    uint8_t *is_slot;
} Labels;

static uint8_t open_bits(const float *open, int64_t row)
{
    unsigned bits = 0;
    for (int lane = 0; lane < 8; ++lane) {
        bits |= (unsigned)(open[8 * row + lane] > 0.0f) << lane;
    }
    return (uint8_t)bits;
}

static void label_rows(void *context, int64_t first, int64_t end)
{
    const Labels *labels = context;
    const uint8_t *fluid = labels->grid->fluid, *solid = labels->grid->solid;
    for (int64_t r = first > 0 ? first : 1; r < end; ++r) {
        const int32_t *to = labels->grid->rows->neighbour[r];
        const int32_t solid_row = wadi_table_row(labels->grid->solid_row, (int32_t)r);
        uint8_t any = fluid[r];
        for (int axis = 0; axis < 3; ++axis) {
            int32_t low = to[2 * axis];
            uint8_t f = axis == 0 ? wadi_bits_from_left(fluid[low], fluid[r]) : fluid[low];
            uint8_t s = axis == 0 ? wadi_bits_from_left(solid[low], solid[r]) : solid[low];
            uint8_t touches = (uint8_t)(f | fluid[r]);
            labels->free[r][axis] = touches & (uint8_t)(~(s | solid[r]));
            if (labels->grid->open[axis] != NULL) {
                labels->free[r][axis] =
                    touches != 0 ? touches & open_bits(labels->grid->open[axis], solid_row) : 0;
            }
            any |= f;
        }
        labels->is_slot[r] = any != 0;
    }
}

/* The diagonal neighbour of a row; its path may lead over either axis first, because rows may be missing. */
static int32_t row_diagonal(const WadiRows *rows, int32_t row, int side_a, int side_b)
{
    int32_t found = rows->neighbour[rows->neighbour[row][side_a]][side_b];
    return found != 0 ? found : rows->neighbour[rows->neighbour[row][side_b]][side_a];
}

typedef struct Slots {
    WadiFriction *friction;
    const Labels *labels;
} Slots;

/* The slots of rows: labels and links. */
static void fill_slots(void *context, int64_t first, int64_t end)
{
    static const uint8_t pair[12][2] = {
        { WADI_ROW_X_MIN, WADI_ROW_Y_MIN }, { WADI_ROW_X_MIN, WADI_ROW_Y_MAX },
        { WADI_ROW_X_MAX, WADI_ROW_Y_MIN }, { WADI_ROW_X_MAX, WADI_ROW_Y_MAX },
        { WADI_ROW_X_MIN, WADI_ROW_Z_MIN }, { WADI_ROW_X_MIN, WADI_ROW_Z_MAX },
        { WADI_ROW_X_MAX, WADI_ROW_Z_MIN }, { WADI_ROW_X_MAX, WADI_ROW_Z_MAX },
        { WADI_ROW_Y_MIN, WADI_ROW_Z_MIN }, { WADI_ROW_Y_MIN, WADI_ROW_Z_MAX },
        { WADI_ROW_Y_MAX, WADI_ROW_Z_MIN }, { WADI_ROW_Y_MAX, WADI_ROW_Z_MAX },
    };
    const Slots *slots = context;
    const WadiFriction *friction = slots->friction;
    const WadiRows *rows = friction->grid.rows;
    for (int32_t r = (int32_t)first; r < end; ++r) {
        if (friction->slot_of[r] == 0) {
            continue;
        }
        WadiFrictionSlot *slot = &friction->slot[friction->slot_of[r]];
        *slot = (WadiFrictionSlot){ .row = r, .fluid = friction->grid.fluid[r] };
        memcpy(slot->free, slots->labels->free[r], sizeof slot->free);
        for (int n = 0; n < 6; ++n) {
            slot->near[n] = friction->slot_of[rows->neighbour[r][n]];
        }
        for (int n = 0; n < 12; ++n) {
            slot->near[6 + n] = friction->slot_of[row_diagonal(rows, r, pair[n][0], pair[n][1])];
        }
    }
}

/* Edges xy, xz, yz at the low corner of the cells of a slot: active where the four faces around them are
 * free. */
static uint8_t active_edges(const WadiFriction *friction, const WadiFrictionSlot *slot, int kind)
{
    const WadiFrictionSlot *all = friction->slot;
    if (kind < 2) {
        int b = kind + 1;
        const WadiFrictionSlot *low = &all[slot->near[2 * b]], *left = &all[slot->near[NEAR_XM]];
        return slot->free[0] & low->free[0] & slot->free[b] &
               wadi_bits_from_left(left->free[b], slot->free[b]);
    }
    return slot->free[1] & all[slot->near[NEAR_ZM]].free[1] & slot->free[2] &
           all[slot->near[NEAR_YM]].free[2];
}

static void mark_edges(void *context, int64_t first, int64_t end)
{
    WadiFriction *friction = context;
    for (int64_t s = first > 0 ? first : 1; s < end; ++s) {
        WadiFrictionSlot *slot = &friction->slot[s];
        if (slot->fluid == 0) {
            continue;
        }
        const WadiFrictionSlot *all = friction->slot;
        const int32_t *near = slot->near;
        for (int kind = 0; kind < 2; ++kind) {
            const WadiFrictionSlot *high = &all[near[kind == 0 ? NEAR_YP : NEAR_ZP]];
            const WadiFrictionSlot *high_right = &all[near[kind == 0 ? NEAR_XP_YP : NEAR_XP_ZP]];
            uint8_t here = active_edges(friction, slot, kind), above = active_edges(friction, high, kind);
            uint8_t right = active_edges(friction, &all[near[NEAR_XP]], kind);
            uint8_t *edge = &slot->edge[4 * kind];
            edge[0] = here;
            edge[1] = wadi_bits_from_right(here, right);
            edge[2] = above;
            edge[3] = wadi_bits_from_right(above, active_edges(friction, high_right, kind));
        }
        slot->edge[8] = active_edges(friction, slot, 2);
        slot->edge[9] = active_edges(friction, &all[near[NEAR_YP]], 2);
        slot->edge[10] = active_edges(friction, &all[near[NEAR_ZP]], 2);
        slot->edge[11] = active_edges(friction, &all[near[NEAR_YP_ZP]], 2);
        uint8_t every = 0xff;
        for (int e = 0; e < 12; ++e) {
            slot->edge[e] &= slot->fluid;
            every &= slot->edge[e];
        }
        slot->is_whole = every == 0xff;
    }
}

WadiStatus wadi_friction_zeroed(WadiArena *arena, void **memory, size_t count, size_t size, WadiError *error)
{
    WADI_TRY(wadi_arena_alloc(arena, memory, count, size, "friction", error));
    if (count > 0) {
        memset(*memory, 0, count * size);
    }
    return WADI_OK;
}

static WadiStatus make_slots(WadiFriction *friction, WadiArena *arena, WadiError *error)
{
    const WadiRows *rows = friction->grid.rows;
    size_t row_count = (size_t)rows->count;
    Labels labels = { .grid = &friction->grid };
    WADI_TRY(WADI_ARENA_NEW(arena, &labels.free, row_count, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &labels.is_slot, row_count, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &friction->slot_of, row_count, "friction", error));
    wadi_parallel_for(rows->count, ROW_BLOCK, label_rows, &labels);
    int32_t count = 1;
    friction->slot_of[0] = 0;
    for (int32_t r = 1; r < rows->count; ++r) {
        friction->slot_of[r] = labels.is_slot[r] ? count++ : 0;
    }
    friction->slot_count = count;
    WADI_TRY(WADI_ARENA_NEW(arena, &friction->slot, (size_t)count, "friction", error));
    friction->slot[0] = (WadiFrictionSlot){ 0 };
    wadi_parallel_for(rows->count, ROW_BLOCK, fill_slots, &(Slots){ friction, &labels });
    wadi_parallel_for(count, FRICTION_BLOCK, mark_edges, friction);
    return WADI_OK;
}

/* Sleeping cells take part in edges, masses and walls, but their faces and stresses are fixed: called after
 * those are made. */
static void fix_sleeping_slots(void *context, int64_t first, int64_t end)
{
    WadiFriction *friction = context;
    const uint8_t *sleeping = friction->grid.sleeping;
    for (int64_t s = first > 0 ? first : 1; s < end; ++s) {
        WadiFrictionSlot *slot = &friction->slot[s];
        for (int axis = 0; axis < 3; ++axis) {
            uint8_t low = sleeping[friction->grid.rows->neighbour[slot->row][2 * axis]];
            low = axis == 0 ? wadi_bits_from_left(low, sleeping[slot->row]) : low;
            slot->free[axis] &= (uint8_t)(~(low | sleeping[slot->row]));
        }
        slot->fluid &= (uint8_t)~sleeping[slot->row];
    }
}

WadiStatus wadi_friction_begin(WadiFriction **friction, const WadiFrictionGrid *grid,
                               const WadiFrictionMemory *memory, double dt, WadiArena *arena,
                               WadiError *error)
{
    *friction = NULL;
    WADI_ASSERT(dt > 0.0);
    WadiFriction *made;
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&made, 1, sizeof *made, error));
    made->grid = *grid;
    made->dt = dt;
    WADI_TRY(make_slots(made, arena, error));
    size_t slots = (size_t)made->slot_count;
    WADI_TRY(wadi_friction_make_turns(made, arena, error));
    WADI_TRY(wadi_friction_make_cuts(made, arena, error));
    WADI_TRY(wadi_friction_make_walls(made, arena, error));
    size_t walls = (size_t)made->wall_count;
    WADI_TRY(WADI_ARENA_NEW(arena, &made->stress, slots, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &made->previous, slots, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &made->force, slots, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &made->traction, walls, "friction", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &made->traction_previous, walls, "friction", error));
    const WadiFrictionMemory nothing = { 0 };
    wadi_friction_recall(made, memory != NULL && memory->stress.dt > 0.0 ? memory : &nothing);
    if (grid->sleeping != NULL) {
        wadi_parallel_for(made->slot_count, FRICTION_BLOCK, fix_sleeping_slots, made);
        wadi_friction_recall_sleeping(made);
    }
    *friction = made;
    return WADI_OK;
}

/* A row's -x, -y and -z neighbours precede it, so one pass over the rows finds all runs. */
WadiStatus wadi_friction_depth(const WadiFriction *friction, int axis, int *depth, WadiArena *arena,
                               WadiError *error)
{
    *depth = 0;
    WadiI8 *run, longest = { 0 };
    WADI_TRY(WADI_ARENA_NEW(arena, &run, (size_t)friction->slot_count, "friction", error));
    run[0] = (WadiI8){ 0 };
    for (int32_t s = 1; s < friction->slot_count; ++s) {
        const WadiFrictionSlot *slot = &friction->slot[s];
        WadiI8 here = run[slot->near[2 * axis]];
        for (int lane = 0; lane < 8 && axis == 0; ++lane) {
            int32_t before = lane > 0 ? here[lane - 1] + 1 : here[7];
            here[lane] = slot->fluid >> lane & 1 ? before : -1;
        }
        here = (here + 1) & wadi_lanes(slot->fluid);
        run[s] = here;
        WadiI8 is_longer = here > longest;
        longest = (here & is_longer) | (longest & ~is_longer);
    }
    for (int lane = 0; lane < 8; ++lane) {
        *depth = longest[lane] > *depth ? longest[lane] : *depth;
    }
    return WADI_OK;
}
