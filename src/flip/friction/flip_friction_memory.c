/* Stresses from step to step: without them a pile creeps and every step is a cold start.
 * They stay where they are on the grid (no advection): good enough even in a fast collapse, measured. */
#include <string.h>

#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "flip/friction/flip_friction_slots.h"

_Static_assert(sizeof(WadiFrictionStress) == sizeof(float[112]), "a row of stresses");
_Static_assert(sizeof(WadiFrictionWall) == sizeof(float[32]), "a row of tractions");

void wadi_friction_memory_free(WadiFrictionMemory *memory)
{
    WADI_DELETE(memory->tile, memory->tile_capacity);
    WADI_DELETE(memory->mask, memory->mask_capacity);
    WADI_DELETE(memory->first, memory->first_capacity);
    WADI_DELETE(memory->stress, memory->stress_capacity);
    WADI_DELETE(memory->wall, memory->wall_capacity);
    WADI_DELETE(memory->traction, memory->traction_capacity);
    *memory = (WadiFrictionMemory){ 0 };
}

static WadiStatus reserve(WadiFrictionMemory *memory, size_t tiles, size_t rows, size_t walls,
                          WadiError *error)
{
    memory->dt = 0.0;
    memory->tile_count = memory->row_count = memory->wall_count = 0;
    const char *what = "friction stresses";
    WADI_TRY(wadi_array_renew((void **)&memory->tile, &memory->tile_capacity, tiles, sizeof *memory->tile,
                              what, error));
    WADI_TRY(wadi_array_renew((void **)&memory->mask, &memory->mask_capacity, tiles, sizeof *memory->mask,
                              what, error));
    WADI_TRY(wadi_array_renew((void **)&memory->first, &memory->first_capacity, tiles, sizeof *memory->first,
                              what, error));
    WADI_TRY(wadi_array_renew((void **)&memory->stress, &memory->stress_capacity, rows,
                              sizeof *memory->stress, what, error));
    WADI_TRY(wadi_array_renew((void **)&memory->wall, &memory->wall_capacity, rows, sizeof *memory->wall,
                              what, error));
    return wadi_array_renew((void **)&memory->traction, &memory->traction_capacity, walls,
                            sizeof *memory->traction, what, error);
}

/* Where a memory has the rows of a grid; asked row by row, of which those of a tile follow each other. */
typedef struct Finder {
    const WadiFrictionMemory *memory;
    const WadiRows *rows;
    int32_t tile; /* of the row before; -1: none */
    size_t at;    /* of that tile */
} Finder;

/* Number of the kept row, or -1. */
static int32_t find_kept(Finder *finder, int32_t row)
{
    const WadiFrictionMemory *memory = finder->memory;
    if (finder->rows->tile[row] != finder->tile) {
        finder->tile = finder->rows->tile[row];
        finder->at =
            wadi_tile_find(memory->tile, memory->tile_count, finder->rows->tiles->tiles[finder->tile]);
    }
    uint64_t mask = finder->at < memory->tile_count ? memory->mask[finder->at] : 0;
    uint64_t bit = UINT64_C(1) << finder->rows->place[row];
    return (mask & bit) != 0 ? memory->first[finder->at] + __builtin_popcountll(mask & (bit - 1)) : -1;
}

/* Awake FLUID cells of a row. */
static uint8_t cells_to_keep(const WadiFrictionGrid *grid, int32_t row)
{
    return grid->held != NULL ? grid->fluid[row] & (uint8_t)~grid->held[row] : grid->fluid[row];
}

typedef struct Keep {
    const WadiFriction *friction;
    WadiFrictionMemory *memory;
} Keep;

static void keep_block(void *context, int64_t first, int64_t end)
{
    const Keep *keep = context;
    const WadiFriction *friction = keep->friction;
    Finder finder = { keep->memory, friction->grid.rows, -1, 0 };
    for (int64_t s = first > 0 ? first : 1; s < end; ++s) {
        const WadiFrictionSlot *slot = &friction->slot[s];
        if (slot->fluid == 0) {
            continue;
        }
        int32_t row = find_kept(&finder, slot->row);
        memcpy(keep->memory->stress[row], &friction->stress[s], sizeof *keep->memory->stress);
        for (int side = 0; side < WALL_KINDS; ++side) {
            keep->memory->wall[row][side] = friction->wall[s][side] - 1;
        }
    }
}

static void keep_walls(void *context, int64_t first, int64_t end)
{
    const Keep *keep = context;
    memcpy(keep->memory->traction + first, keep->friction->traction + 1 + first,
           (size_t)(end - first) * sizeof *keep->memory->traction);
}

WadiStatus wadi_friction_store(const WadiFriction *friction, WadiFrictionMemory *memory, WadiError *error)
{
    const WadiRows *rows = friction->grid.rows;
    size_t row_count = 0, wall_count = (size_t)friction->wall_count - 1;
    for (int32_t r = 1; r < rows->count; ++r) {
        row_count += cells_to_keep(&friction->grid, r) != 0;
    }
    WADI_TRY(reserve(memory, (size_t)rows->tiles->count, row_count, wall_count, error));
    for (int32_t t = 0; t < rows->tiles->count; ++t) {
        uint64_t mask = 0;
        for (int32_t r = rows->first[t]; r < rows->first[t + 1]; ++r) {
            mask |= (uint64_t)(cells_to_keep(&friction->grid, r) != 0) << rows->place[r];
        }
        if (mask != 0) {
            memory->tile[memory->tile_count] = rows->tiles->tiles[t];
            memory->mask[memory->tile_count] = mask;
            memory->first[memory->tile_count++] = (int32_t)memory->row_count;
            memory->row_count += (size_t)__builtin_popcountll(mask);
        }
    }
    Keep keep = { friction, memory };
    wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, keep_block, &keep);
    wadi_parallel_for((int64_t)wall_count, FRICTION_BLOCK, keep_walls, &keep);
    memory->wall_count = wall_count;
    memory->dt = friction->dt;
    return WADI_OK;
}

typedef struct Recall {
    WadiFriction *friction;
    const WadiFrictionMemory *memory;
} Recall;

/* Of a memory that has nothing of a row: zeros. */
static void recall_block(void *context, int64_t first, int64_t end)
{
    const Recall *recall = context;
    WadiFriction *friction = recall->friction;
    const WadiFrictionMemory *memory = recall->memory;
    Finder finder = { memory, friction->grid.rows, -1, 0 };
    /* Impulses of a step grow with its length. */
    WadiVec8 scale = wadi_splat(memory->dt > 0.0 ? (float)(friction->dt / memory->dt) : 0.0f);
    for (int64_t s = first; s < end; ++s) {
        const WadiFrictionSlot *slot = &friction->slot[s];
        int32_t kept = slot->fluid == 0 ? -1 : find_kept(&finder, slot->row);
        for (int n = 0; n < STRESS_COUNT; ++n) {
            WadiVec8 value = { 0 };
            friction->previous[s].t[n] = value;
            if (kept >= 0) {
                memcpy(&value, &memory->stress[kept][8 * n], sizeof value);
                value = wadi_keep(scale * value, wadi_lanes(n < 2 ? slot->fluid : slot->edge[n - 2]));
            }
            friction->stress[s].t[n] = value;
        }
        for (int side = 0; side < WALL_KINDS; ++side) {
            int32_t w = friction->wall[s][side], from = kept < 0 ? -1 : memory->wall[kept][side];
            WadiFrictionWall *traction = &friction->traction[w];
            if (w == 0) {
                continue;
            }
            *traction = friction->traction_previous[w] = (WadiFrictionWall){ 0 };
            if (from < 0) {
                continue;
            }
            memcpy(traction, memory->traction[from], sizeof *traction);
            for (int n = 0; n < 4; ++n) {
                WadiVec8 weight = side == OBLIQUE ? friction->oblique[friction->facets[w].oblique].step
                                                  : friction->facets[w].weight.t[n];
                traction->t[n] = wadi_keep(scale * traction->t[n], weight > wadi_splat(0.0f));
            }
        }
    }
}

static void recall_held_block(void *context, int64_t first, int64_t end)
{
    WadiFriction *friction = context;
    const WadiFrictionMemory *rest = friction->grid.rest;
    Finder finder = { rest, friction->grid.rows, -1, 0 };
    WadiVec8 scale = wadi_splat((float)(friction->dt / rest->dt));
    for (int64_t s = first > 0 ? first : 1; s < end; ++s) {
        const WadiFrictionSlot *slot = &friction->slot[s];
        uint8_t held = friction->grid.held[slot->row];
        if (held == 0) {
            continue;
        }
        int32_t kept = find_kept(&finder, slot->row);
        WadiFrictionStress stress = { 0 };
        if (kept >= 0) {
            memcpy(&stress, rest->stress[kept], sizeof stress);
        }
        for (int n = 0; n < STRESS_COUNT; ++n) {
            stress.t[n] = wadi_keep(scale * stress.t[n], wadi_lanes(n < 2 ? held : slot->edge[n - 2]));
        }
        /* The iteration swaps the two and writes neither. */
        friction->stress[s] = friction->previous[s] = stress;
    }
}

void wadi_friction_recall_held(WadiFriction *friction)
{
    if (friction->grid.rest->dt > 0.0) {
        wadi_parallel_for(friction->slot_count, FRICTION_BLOCK, recall_held_block, friction);
    }
}

double wadi_friction_change(const WadiFriction *friction, const WadiFrictionMemory *rest, int32_t row,
                            int lane)
{
    const WadiFrictionStress *now = &friction->stress[friction->slot_of[row]];
    int32_t kept = find_kept(&(Finder){ rest, friction->grid.rows, -1, 0 }, row);
    double scale = rest->dt > 0.0 ? friction->dt / rest->dt : 0.0, change[STRESS_COUNT], square = 0.0;
    for (int n = 0; n < STRESS_COUNT; ++n) {
        double then = kept < 0 ? 0.0 : (double)rest->stress[kept][8 * n + lane];
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

/* Place of the next tile to be kept, from `at` on. */
static size_t next_kept(const WadiFrictionMemory *memory, const uint8_t *keeps, size_t at)
{
    while (at < memory->tile_count && keeps != NULL && keeps[at] == 0) {
        ++at;
    }
    return at;
}

/* One row, its tractions too, scaled to the dt of `out`. */
static void copy_kept(WadiFrictionMemory *out, const WadiFrictionMemory *from, size_t row)
{
    float scale = from->dt > 0.0 ? (float)(out->dt / from->dt) : 0.0f;
    for (int n = 0; n < 112; ++n) {
        out->stress[out->row_count][n] = scale * from->stress[row][n];
    }
    for (int side = 0; side < WALL_KINDS; ++side) {
        int32_t wall = from->wall[row][side];
        out->wall[out->row_count][side] = wall < 0 ? -1 : (int32_t)out->wall_count;
        for (int n = 0; n < 32 && wall >= 0; ++n) {
            out->traction[out->wall_count][n] = scale * from->traction[wall][n];
        }
        out->wall_count += wall >= 0;
    }
    out->row_count += 1;
}

/* Tiles, rows and walls that are kept. */
static void count_kept(const WadiFrictionMemory *memory, const uint8_t *keeps, size_t count[3])
{
    for (size_t t = next_kept(memory, keeps, 0); t < memory->tile_count;
         t = next_kept(memory, keeps, t + 1)) {
        const size_t rows = (size_t)__builtin_popcountll(memory->mask[t]), first = (size_t)memory->first[t];
        count[0] += 1;
        count[1] += rows;
        for (size_t row = first; row < first + rows; ++row) {
            for (int side = 0; side < WALL_KINDS; ++side) {
                count[2] += memory->wall[row][side] >= 0;
            }
        }
    }
}

WadiStatus wadi_friction_memory_join(WadiFrictionMemory *result, const WadiFrictionMemory *a,
                                     const uint8_t *keeps_a, const WadiFrictionMemory *b,
                                     const uint8_t *keeps_b, WadiError *error)
{
    WadiFrictionMemory joined = { 0 }, *out = &joined;
    size_t count[3] = { 0 };
    count_kept(a, keeps_a, count);
    count_kept(b, keeps_b, count);
    const WadiStatus status = reserve(out, count[0], count[1], count[2], error);
    if (status != WADI_OK) {
        wadi_friction_memory_free(out);
        return status;
    }
    out->dt = a->dt > 0.0 ? a->dt : b->dt;
    for (size_t s = 0, t = 0;;) {
        s = next_kept(a, keeps_a, s);
        t = next_kept(b, keeps_b, t);
        bool has_a = s < a->tile_count, has_b = t < b->tile_count;
        if (!has_a && !has_b) {
            break;
        }
        if (has_a && has_b) {
            has_b = !wadi_tile_is_before(a->tile[s], b->tile[t]);
            has_a = !wadi_tile_is_before(b->tile[t], a->tile[s]);
        }
        uint64_t of_a = has_a ? a->mask[s] : 0, of_b = has_b ? b->mask[t] : 0;
        size_t row_a = has_a ? (size_t)a->first[s] : 0, row_b = has_b ? (size_t)b->first[t] : 0;
        out->tile[out->tile_count] = has_a ? a->tile[s] : b->tile[t];
        out->mask[out->tile_count] = of_a | of_b;
        out->first[out->tile_count++] = (int32_t)out->row_count;
        for (uint64_t left = of_a | of_b; left != 0; left &= left - 1) {
            uint64_t bit = left & -left;
            bool is_of_a = (of_a & bit) != 0;
            copy_kept(out, is_of_a ? a : b, is_of_a ? row_a : row_b);
            row_a += is_of_a;
            row_b += (of_b & bit) != 0;
        }
        s += has_a;
        t += has_b;
    }
    wadi_friction_memory_free(result);
    *result = joined;
    return WADI_OK;
}

WadiStatus wadi_friction_memory_save(const WadiFrictionMemory *memory, WadiState *state, WadiError *error)
{
    return wadi_friction_memory_save_as(memory, "friction", state, error);
}

WadiStatus wadi_friction_memory_load(WadiFrictionMemory *memory, const WadiState *state, WadiError *error)
{
    return wadi_friction_memory_load_as(memory, "friction", state, error);
}

WadiStatus wadi_friction_memory_save_as(const WadiFrictionMemory *memory, const char *name, WadiState *state,
                                        WadiError *error)
{
    WadiStateName n;
    size_t tiles = memory->tile_count, rows = memory->row_count, walls = memory->wall_count;
    WADI_TRY(wadi_state_put(state, wadi_state_name(&n, name, "dt"), WADI_TYPE_F64, 1, 1, &memory->dt, error));
    WADI_TRY(wadi_state_put(state, wadi_state_name(&n, name, "tile"), WADI_TYPE_I32, 3, tiles, memory->tile,
                            error));
    WADI_TRY(wadi_state_put(state, wadi_state_name(&n, name, "mask"), WADI_TYPE_U64, 1, tiles, memory->mask,
                            error));
    WADI_TRY(wadi_state_put(state, wadi_state_name(&n, name, "stress"), WADI_TYPE_F32, 112, rows,
                            memory->stress, error));
    WADI_TRY(wadi_state_put(state, wadi_state_name(&n, name, "wall"), WADI_TYPE_I32, WALL_KINDS, rows,
                            memory->wall, error));
    return wadi_state_put(state, wadi_state_name(&n, name, "traction"), WADI_TYPE_F32, 32, walls,
                          memory->traction, error);
}

/* Whether a memory read from a file can be used without reading outside its arrays. */
static bool is_sound(const WadiFrictionMemory *memory, const WadiStateArray *wall, size_t kept_rows)
{
    for (size_t t = 1; t < memory->tile_count; ++t) {
        if (!wadi_tile_is_before(memory->tile[t - 1], memory->tile[t])) {
            return false;
        }
    }
    const int32_t *index = wall->data;
    size_t used = 0;
    for (size_t i = 0; i < WALL_KINDS * wall->count; ++i) {
        used += index[i] >= 0;
        if (index[i] < -1 || index[i] >= (int64_t)memory->wall_count) {
            return false;
        }
    }
    return memory->dt >= 0.0 && kept_rows == memory->row_count && used <= memory->wall_count &&
           wadi_tiles_are_in_range(memory->tile, memory->tile_count);
}

static void copy_values(void *to, const WadiStateArray *from)
{
    if (from->count > 0) {
        memcpy(to, from->data, wadi_state_array_bytes(from));
    }
}

WadiStatus wadi_friction_memory_load_as(WadiFrictionMemory *memory, const char *name, const WadiState *state,
                                        WadiError *error)
{
    WadiStateName n;
    const WadiStateArray *dt, *tile, *mask, *stress, *wall, *traction;
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "dt"), WADI_TYPE_F64, 1, 1, &dt, error));
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "tile"), WADI_TYPE_I32, 3, SIZE_MAX, &tile,
                               error));
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "mask"), WADI_TYPE_U64, 1, tile->count, &mask,
                               error));
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "stress"), WADI_TYPE_F32, 112, SIZE_MAX,
                               &stress, error));
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "wall"), WADI_TYPE_I32, WALL_KINDS,
                               stress->count, &wall, error));
    WADI_TRY(wadi_state_expect(state, wadi_state_name(&n, name, "traction"), WADI_TYPE_F32, 32, SIZE_MAX,
                               &traction, error));
    WADI_TRY(reserve(memory, tile->count, stress->count, traction->count, error));
    copy_values(memory->tile, tile);
    copy_values(memory->mask, mask);
    copy_values(memory->stress, stress);
    copy_values(memory->wall, wall);
    copy_values(memory->traction, traction);
    size_t rows = 0;
    for (size_t t = 0; t < tile->count; ++t) {
        memory->first[t] = (int32_t)rows;
        rows += (size_t)__builtin_popcountll(memory->mask[t]);
    }
    memory->tile_count = tile->count;
    memory->row_count = stress->count;
    memory->wall_count = traction->count;
    memcpy(&memory->dt, dt->data, sizeof memory->dt);
    if (!is_sound(memory, wall, rows)) {
        memory->dt = 0.0;
        memory->tile_count = memory->row_count = memory->wall_count = 0;
        return wadi_fail(
            error, WADI_ERR_FORMAT,
            "the friction stresses of the checkpoint contradict each other; resume from another one");
    }
    return WADI_OK;
}
