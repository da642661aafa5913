/* Stresses from step to step, without advection: the warm start [theory 6.6]. Memory holds the stress itself,
 * the solve that times the open part V of its cell or edge, which changes where walls move. */
#include <string.h>

#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"

_Static_assert(sizeof(WadiFrictionStress) == sizeof(float[112]), "a row of stresses");
_Static_assert(sizeof(WadiFrictionWall) == sizeof(float[32]), "a row of tractions");

static const WadiTileMemoryKind STRESS = {
    .what = "friction stresses", .name = "stress", .type = WADI_TYPE_F32, .row_values = 112, .components = 112
};

void wadi_friction_memory_free(WadiFrictionMemory *memory)
{
    wadi_tile_memory_free(&memory->stress);
    WADI_DELETE(memory->wall, memory->wall_capacity);
    WADI_DELETE(memory->traction, memory->traction_capacity);
    *memory = (WadiFrictionMemory){ 0 };
}

static WadiStatus reserve_walls(WadiFrictionMemory *memory, size_t rows, size_t walls, WadiError *error)
{
    memory->wall_count = 0;
    WADI_TRY(wadi_array_renew((void **)&memory->wall, &memory->wall_capacity, rows, sizeof *memory->wall,
                              STRESS.what, error));
    return wadi_array_renew((void **)&memory->traction, &memory->traction_capacity, walls,
                            sizeof *memory->traction, STRESS.what, error);
}

static float *stress_of(const WadiFrictionMemory *memory, size_t row)
{
    return (float *)memory->stress.value + 112 * row;
}

/* Awake FLUID cells of a row. */
static uint8_t cells_to_store(const WadiFrictionGrid *grid, int32_t row)
{
    return grid->sleeping != NULL ? grid->fluid[row] & (uint8_t)~grid->sleeping[row] : grid->fluid[row];
}

typedef struct Store {
    const WadiFriction *friction;
    WadiFrictionMemory *memory;
} Store;

static void store_block(void *context, int64_t first, int64_t end)
{
    const Store *store = context;
    const WadiFriction *friction = store->friction;
    WadiTileMemoryFinder finder = { &store->memory->stress, friction->grid.rows, -1, 0 };
    for (int64_t s = first > 0 ? first : 1; s < end; ++s) {
        const WadiFrictionSlot *slot = &friction->slot[s];
        if (slot->fluid == 0) {
            continue;
        }
        int32_t row = wadi_tile_memory_find(&finder, slot->row);
        float *stored = stress_of(store->memory, (size_t)row);
        memcpy(stored, &friction->stress[s], sizeof friction->stress[s]);
        for (int side = 0; side < WALL_KINDS; ++side) {
            store->memory->wall[row][side] = friction->wall[s][side] - 1;
        }
    }
}

static void store_walls(void *context, int64_t first, int64_t end)
{
    const Store *store = context;
    memcpy(store->memory->traction + first, store->friction->traction + 1 + first,
           (size_t)(end - first) * sizeof *store->memory->traction);
}

WadiStatus wadi_friction_store(const WadiFriction *friction, WadiFrictionMemory *memory, WadiError *error)
{
    const WadiRows *rows = friction->grid.rows;
    size_t row_count = 0, wall_count = (size_t)friction->wall_count - 1;
    for (int32_t r = 1; r < rows->count; ++r) {
        row_count += cells_to_store(&friction->grid, r) != 0;
    }
    WADI_TRY(
        wadi_tile_memory_reserve(&memory->stress, &STRESS, (size_t)rows->tiles->count, row_count, error));
    WADI_TRY(reserve_walls(memory, row_count, wall_count, error));
    for (int32_t t = 0; t < rows->tiles->count; ++t) {
        uint64_t mask = 0;
        for (int32_t r = rows->first[t]; r < rows->first[t + 1]; ++r) {
            mask |= (uint64_t)(cells_to_store(&friction->grid, r) != 0) << rows->index_in_tile[r];
        }
        wadi_tile_memory_add(&memory->stress, rows->tiles->tiles[t], mask);
    }
    Store store = { friction, memory };
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, store_block, &store);
    wadi_parallel_for((int64_t)wall_count, FRICTION_BLOCK, store_walls, &store);
    memory->wall_count = wall_count;
    memory->stress.dt = friction->dt;
    return WADI_OK;
}

typedef struct Recall {
    WadiFriction *friction;
    const WadiFrictionMemory *memory;
} Recall;

/* Zeros where nothing is stored. */
static void recall_block(void *context, int64_t first, int64_t end)
{
    const Recall *recall = context;
    WadiFriction *friction = recall->friction;
    const WadiFrictionMemory *memory = recall->memory;
    WadiTileMemoryFinder finder = { &memory->stress, friction->grid.rows, -1, 0 };
    /* Stresses are impulses of a step: they scale with dt. */
    WadiF8 scale = wadi_splat((float)wadi_tile_memory_scale(&memory->stress, friction->dt));
    for (int64_t s = first; s < end; ++s) {
        const WadiFrictionSlot *slot = &friction->slot[s];
        int32_t stored = slot->fluid == 0 ? -1 : wadi_tile_memory_find(&finder, slot->row);
        WadiFrictionStress stress = { 0 };
        friction->previous[s] = stress;
        for (int n = 0; stored >= 0 && n < STRESS_COUNT; ++n) {
            const WadiF8 value = scale * WADI_ROW(stress_of(memory, (size_t)stored), n);
            stress.t[n] = wadi_masked(value, wadi_lanes(n < 2 ? slot->fluid : slot->edge[n - 2]));
        }
        friction->stress[s] = stress;
        for (int side = 0; side < WALL_KINDS; ++side) {
            int32_t w = friction->wall[s][side], from = stored < 0 ? -1 : memory->wall[stored][side];
            WadiFrictionWall *traction = &friction->traction[w];
            if (w == 0) {
                continue;
            }
            *traction = friction->traction_previous[w] = (WadiFrictionWall){ 0 };
            if (from < 0) {
                continue;
            }
            for (int n = 0; n < 4; ++n) {
                WadiF8 weight = side == OBLIQUE ? friction->oblique[friction->facets[w].oblique].step
                                                : friction->facets[w].weight.t[n];
                traction->t[n] =
                    wadi_masked(scale * WADI_ROW(memory->traction[from], n), weight > wadi_splat(0.0f));
            }
        }
    }
}

static void recall_sleeping_block(void *context, int64_t first, int64_t end)
{
    WadiFriction *friction = context;
    const WadiFrictionMemory *sleeping_memory = friction->grid.sleeping_memory;
    WadiTileMemoryFinder finder = { &sleeping_memory->stress, friction->grid.rows, -1, 0 };
    WadiF8 scale = wadi_splat((float)wadi_tile_memory_scale(&sleeping_memory->stress, friction->dt));
    for (int64_t s = first > 0 ? first : 1; s < end; ++s) {
        const WadiFrictionSlot *slot = &friction->slot[s];
        uint8_t sleeping = friction->grid.sleeping[slot->row];
        if (sleeping == 0) {
            continue;
        }
        int32_t stored = wadi_tile_memory_find(&finder, slot->row);
        WadiFrictionStress stress = { 0 };
        for (int n = 0; stored >= 0 && n < STRESS_COUNT; ++n) {
            const WadiF8 value = scale * WADI_ROW(stress_of(sleeping_memory, (size_t)stored), n);
            stress.t[n] = wadi_masked(value, wadi_lanes(n < 2 ? sleeping : slot->edge[n - 2]));
        }
        /* The iteration swaps the two and writes neither. */
        friction->stress[s] = friction->previous[s] = stress;
    }
}

void wadi_friction_recall_sleeping(WadiFriction *friction)
{
    if (friction->grid.sleeping_memory->stress.dt > 0.0) {
        wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, recall_sleeping_block, friction);
    }
}

double wadi_friction_change(const WadiFriction *friction, const WadiFrictionMemory *sleeping_memory,
                            int32_t row, int lane)
{
    const WadiFrictionStress *now = &friction->stress[friction->slot_of[row]];
    WadiTileMemoryFinder finder = { &sleeping_memory->stress, friction->grid.rows, -1, 0 };
    const int32_t stored = wadi_tile_memory_find(&finder, row);
    const double scale = wadi_tile_memory_scale(&sleeping_memory->stress, friction->dt);
    double change[STRESS_COUNT], square = 0.0;
    for (int n = 0; n < STRESS_COUNT; ++n) {
        double then = stored < 0 ? 0.0 : (double)stress_of(sleeping_memory, (size_t)stored)[8 * n + lane];
        change[n] = (double)now->t[n][lane] - scale * then;
        square += (n < 2 ? 0.5 : 0.25) * change[n] * change[n];
    }
    return sqrt(square + 0.5 * (change[0] + change[1]) * (change[0] + change[1]));
}

void wadi_friction_recall(WadiFriction *friction, const WadiFrictionMemory *memory)
{
    friction->traction[0] = friction->traction_previous[0] = (WadiFrictionWall){ 0 };
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, recall_block,
                      &(Recall){ .friction = friction, .memory = memory });
}

typedef struct Join {
    WadiFrictionMemory *out;
    const WadiFrictionMemory *a, *b;
} Join;

/* The tractions of a row that was joined. */
static void copy_walls(void *user, size_t row, const WadiTileMemory *rows, size_t from_row, double scale)
{
    const Join *join = user;
    WadiFrictionMemory *out = join->out;
    const WadiFrictionMemory *from = rows == &join->a->stress ? join->a : join->b;
    for (int side = 0; side < WALL_KINDS; ++side) {
        const int32_t wall = from->wall[from_row][side];
        out->wall[row][side] = wall < 0 ? -1 : (int32_t)out->wall_count;
        for (int n = 0; n < 32 && wall >= 0; ++n) {
            out->traction[out->wall_count][n] = (float)scale * from->traction[wall][n];
        }
        out->wall_count += wall >= 0;
    }
}

/* Rows of flagged tiles, and their walls. */
static void count_walls(const WadiFrictionMemory *memory, const uint8_t *flags, size_t *rows, size_t *walls)
{
    const WadiTileMemory *stress = &memory->stress;
    for (size_t t = 0; t < stress->tile_count; ++t) {
        const int count = flags == NULL || flags[t] != 0 ? __builtin_popcountll(stress->mask[t]) : 0;
        *rows += (size_t)count;
        for (int n = 0; n < WALL_KINDS * count; ++n) {
            *walls += memory->wall[stress->first[t] + n / WALL_KINDS][n % WALL_KINDS] >= 0;
        }
    }
}

WadiStatus wadi_friction_memory_join(WadiFrictionMemory *result, const WadiFrictionMemory *a,
                                     const uint8_t *flags_a, const WadiFrictionMemory *b,
                                     const uint8_t *flags_b, WadiError *error)
{
    WadiFrictionMemory joined = { 0 };
    size_t rows = 0, walls = 0;
    count_walls(a, flags_a, &rows, &walls);
    count_walls(b, flags_b, &rows, &walls);
    WadiStatus status = reserve_walls(&joined, rows, walls, error);
    if (status == WADI_OK) {
        status = wadi_tile_memory_join(&joined.stress, &STRESS, &a->stress, flags_a, &b->stress, flags_b,
                                       copy_walls, &(Join){ &joined, a, b }, error);
    }
    wadi_friction_memory_free(status == WADI_OK ? result : &joined);
    if (status == WADI_OK) {
        *result = joined;
    }
    return status;
}

WadiStatus wadi_friction_memory_save(const WadiFrictionMemory *memory, const char *name, WadiState *state,
                                     WadiError *error)
{
    WadiStateName n;
    WADI_TRY(wadi_tile_memory_save(&memory->stress, &STRESS, name, state, error));
    WADI_TRY(wadi_state_put(state, wadi_state_name(&n, name, "wall"), WADI_TYPE_I32, WALL_KINDS,
                            memory->stress.row_count, memory->wall, error));
    return wadi_state_put(state, wadi_state_name(&n, name, "traction"), WADI_TYPE_F32, 32, memory->wall_count,
                          memory->traction, error);
}

/* Whether the indices of walls in a checkpoint lie within its tractions. */
static bool are_walls_sound(const WadiStateArray *wall, size_t wall_count)
{
    const int32_t *index = wall->data;
    size_t used = 0;
    for (size_t i = 0; i < WALL_KINDS * wall->count; ++i) {
        used += index[i] >= 0;
        if (index[i] < -1 || index[i] >= (int64_t)wall_count) {
            return false;
        }
    }
    return used <= wall_count;
}

static WadiStatus load_walls(WadiFrictionMemory *memory, const char *name, const WadiState *state,
                             WadiError *error)
{
    WadiStateName n;
    const WadiStateArray *wall, *traction;
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "wall"), WADI_TYPE_I32, WALL_KINDS,
                               memory->stress.row_count, &wall, error));
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "traction"), WADI_TYPE_F32, 32, SIZE_MAX,
                               &traction, error));
    WADI_TRY(wadi_state_check_reals(traction, -1e30, 1e30, error));
    if (!are_walls_sound(wall, traction->count)) {
        return wadi_fail(
            error, WADI_ERR_FORMAT,
            "the wall tractions of the checkpoint contradict each other; resume from another one");
    }
    WADI_TRY(reserve_walls(memory, wall->count, traction->count, error));
    if (traction->count > 0) {
        memcpy(memory->traction, traction->data, wadi_state_array_bytes(traction));
    }
    if (wall->count > 0) {
        memcpy(memory->wall, wall->data, wadi_state_array_bytes(wall));
    }
    memory->wall_count = traction->count;
    return WADI_OK;
}

WadiStatus wadi_friction_memory_load(WadiFrictionMemory *memory, const char *name, const WadiState *state,
                                     WadiError *error)
{
    WadiStatus status = wadi_tile_memory_load(&memory->stress, &STRESS, name, state, error);
    if (status == WADI_OK) {
        status = load_walls(memory, name, state, error);
    }
    if (status != WADI_OK) {
        wadi_friction_memory_free(memory);
    }
    return status;
}
