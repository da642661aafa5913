/* Stresses for a cold start, from a solve on a grid of half the resolution.
 * Source: [theory 6.7].
 * Differs: the pressure is restricted, not solved for again on each grid; solids are voxels on coarse grids.
 *
 * A coarse cell has the label of most of its eight cells. P and tau are scaled by dx: half on the coarse
 * grid, twice back on the fine one. Shear is interpolated between the coarse edges of a cell; edges on solids
 * get the mean of the others. */
#include <string.h>

#include "core/check.h"
#include "flip/friction/flip_friction_slots.h"
#include "flip/transfer/flip_row_table.h"

/* Coarse grids are made until columns are this deep. */
enum { SHALLOW = 32, ITERATIONS = 100 };

typedef struct Coarse {
    WadiTileMap map;
    WadiRows rows;
    uint64_t *mask;
    int32_t *row_of; /* per fine row: its coarse row */
    uint8_t *fluid, *solid;
    float *velocity[3], *k, *cohesion;
    double *pressure;
} Coarse;

static WadiRowCell coarse_cell(const Coarse *coarse, const WadiRows *fine, WadiRowCell cell)
{
    int half = fine->tiles->tiles[fine->tile[cell.row]].x & 1;
    return (WadiRowCell){ coarse->row_of[cell.row], 4 * half + (cell.lane >> 1) };
}

/* 0 or 1 along each axis: which child of its coarse cell a cell is. */
static void child_of(const WadiRows *fine, WadiRowCell cell, int child[3])
{
    child[0] = cell.lane & 1;
    child[1] = fine->index_in_tile[cell.row] & 1;
    child[2] = fine->index_in_tile[cell.row] >> 3 & 1;
}

static int coarse_row_index(const WadiRows *fine, int32_t row)
{
    WadiTile tile = fine->tiles->tiles[fine->tile[row]];
    int j = 8 * (tile.y & 1) + (fine->index_in_tile[row] & 7),
        k = 8 * (tile.z & 1) + (fine->index_in_tile[row] >> 3);
    return (j >> 1) + 8 * (k >> 1);
}

static WadiTile coarse_tile(WadiTile tile)
{
    return (WadiTile){ tile.x >> 1, tile.y >> 1, tile.z >> 1 };
}

static WadiStatus make_rows(Coarse *coarse, const WadiRows *fine, WadiArena *arena, WadiError *error)
{
    int32_t count = fine->tiles->count;
    WadiTile *tiles = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &tiles, (size_t)count, "friction", error));
    for (int32_t t = 0; t < count; ++t) {
        tiles[t] = coarse_tile(fine->tiles->tiles[t]);
    }
    WADI_TRY(wadi_tile_map_create(&coarse->map, tiles, (size_t)count, error));
    WADI_TRY(wadi_tile_map_link(&coarse->map, error));
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&coarse->mask, (size_t)coarse->map.count,
                                  sizeof *coarse->mask, error));
    for (int32_t r = 1; r < fine->count; ++r) {
        int32_t tile = wadi_tile_map_find(&coarse->map, tiles[fine->tile[r]]);
        coarse->mask[tile] |= UINT64_C(1) << coarse_row_index(fine, r);
    }
    WADI_TRY(wadi_rows_build(&coarse->rows, &coarse->map, coarse->mask, arena, error));
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&coarse->row_of, (size_t)fine->count,
                                  sizeof *coarse->row_of, error));
    for (int32_t r = 1; r < fine->count; ++r) {
        int32_t tile = wadi_tile_map_find(&coarse->map, tiles[fine->tile[r]]);
        coarse->row_of[r] = wadi_rows_at(&coarse->rows, tile, coarse_row_index(fine, r));
    }
    /* Neighbours follow those of the fine rows: on periodic grids they differ from those of the tiles. */
    for (int32_t r = 1; r < fine->count; ++r) {
        int32_t here = coarse->row_of[r];
        for (int side = 0; side < 6; ++side) {
            int32_t there = coarse->row_of[fine->neighbour[r][side]];
            if (there == 0) {
                continue;
            }
            const WadiTile beyond = coarse->map.tiles[coarse->rows.tile[there]];
            bool is_end =
                side > WADI_ROW_X_MAX ? there != here : !wadi_tile_is_same(tiles[fine->tile[r]], beyond);
            bool is_outer = side > WADI_ROW_X_MAX ||
                            (fine->tiles->tiles[fine->tile[r]].x & 1) == (side == WADI_ROW_X_MAX);
            if (is_outer && (is_end || side <= WADI_ROW_X_MAX)) {
                coarse->rows.neighbour[here][side] = there;
            }
        }
    }
    return WADI_OK;
}

/* Labels by majority, P the largest (that at the far end of the cell), k and cohesion the means. */
static void restrict_cells(const Coarse *coarse, const WadiFriction *friction, const WadiFrictionLoad *load,
                           uint8_t (*count)[16])
{
    const WadiRows *fine = friction->grid.rows;
    for (int32_t r = 1; r < fine->count; ++r) {
        for (int lane = 0; lane < 8; ++lane) {
            WadiRowCell to = coarse_cell(coarse, fine, (WadiRowCell){ r, lane });
            size_t at = wadi_row_cell_index(to), from = 8 * (size_t)r + (size_t)lane;
            count[to.row][8 + to.lane] += friction->grid.solid[r] >> lane & 1;
            if (friction->grid.fluid[r] >> lane & 1) {
                count[to.row][to.lane] += 1;
                coarse->k[at] += load->k[from];
                coarse->cohesion[at] += load->cohesion != NULL ? 0.5f * load->cohesion[from] : 0.0f;
                double p = load->pressure[wadi_table_cell(friction->grid.pressure_row, from)];
                coarse->pressure[at] = fmax(coarse->pressure[at], 0.5 * p);
            }
        }
    }
    for (int32_t r = 1; r < coarse->rows.count; ++r) {
        for (int lane = 0; lane < 8; ++lane) {
            bool is_fluid = count[r][lane] >= 4;
            coarse->fluid[r] |= (uint8_t)(is_fluid << lane);
            coarse->solid[r] |= (uint8_t)((!is_fluid && count[r][8 + lane] >= 4) << lane);
            float scale = 1.0f / (float)(count[r][lane] > 0 ? count[r][lane] : 1);
            coarse->k[8 * r + lane] *= scale;
            coarse->cohesion[8 * r + lane] *= scale;
        }
    }
}

/* Mean velocity of the free faces that lie on a coarse face. */
static void restrict_faces(const Coarse *coarse, const WadiFriction *friction, const float *const before[3],
                           uint8_t *count)
{
    const WadiRows *fine = friction->grid.rows;
    for (int axis = 0; axis < 3; ++axis) {
        memset(count, 0, wadi_rows_floats(&coarse->rows));
        for (int32_t s = 1; s < friction->slot_count; ++s) {
            const WadiFrictionSlot *slot = &friction->slot[s];
            for (int lane = 0; lane < 8; ++lane) {
                int child[3];
                child_of(fine, (WadiRowCell){ slot->row, lane }, child);
                if ((slot->free[axis] >> lane & 1) != 0 && child[axis] == 0) {
                    size_t at =
                        wadi_row_cell_index(coarse_cell(coarse, fine, (WadiRowCell){ slot->row, lane }));
                    coarse->velocity[axis][at] += before[axis][8 * slot->row + lane];
                    count[at] += 1;
                }
            }
        }
        for (size_t at = 8; at < wadi_rows_floats(&coarse->rows); ++at) {
            coarse->velocity[axis][at] /= (float)(count[at] > 0 ? count[at] : 1);
        }
    }
}

static WadiStatus make_fields(Coarse *coarse, const WadiFriction *friction, const float *const before[3],
                              const WadiFrictionLoad *load, WadiArena *arena, WadiError *error)
{
    size_t rows = (size_t)coarse->rows.count, floats = wadi_rows_floats(&coarse->rows);
    uint8_t(*count)[16];
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&count, rows, sizeof *count, error));
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&coarse->fluid, rows, 1, error));
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&coarse->solid, rows, 1, error));
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&coarse->k, floats, sizeof(float), error));
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&coarse->cohesion, floats, sizeof(float), error));
    WADI_TRY(wadi_friction_zeroed(arena, (void **)&coarse->pressure, floats, sizeof(double), error));
    for (int axis = 0; axis < 3; ++axis) {
        WADI_TRY(wadi_friction_zeroed(arena, (void **)&coarse->velocity[axis], floats, sizeof(float), error));
    }
    restrict_cells(coarse, friction, load, count);
    restrict_faces(coarse, friction, before, (uint8_t *)count);
    return WADI_OK;
}

static WadiFrictionWallPoint sample_fine_wall(const void *context, const double at[3])
{
    const WadiFrictionGrid *fine = context;
    return fine->sample_wall(fine->wall_context, (double[3]){ 2.0 * at[0], 2.0 * at[1], 2.0 * at[2] });
}

/* Shear on the edge of a cell, from the copies of the cells around it; `is_wall` where one of them is
 * solid. */
static float edge_shear(const WadiFriction *friction, WadiRowCell cell, int kind, int e, bool *is_wall)
{
    static const int axis[3][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };
    const WadiRows *rows = friction->grid.rows;
    float sum = 0.0f;
    *is_wall = false;
    for (int n = 0; n < 4; ++n) {
        /* The cell a step across the edge where bit 0 (1) of n differs from that of e. */
        WadiRowCell at = cell;
        for (int b = 0; b < 2; ++b) {
            if ((n >> b & 1) != (e >> b & 1)) {
                at = wadi_row_cell_neighbour(rows, at, 2 * axis[kind][b] + (e >> b & 1));
            }
        }
        sum += 0.25f * friction->stress[friction->slot_of[at.row]].t[2 + 4 * kind + n][at.lane];
        *is_wall = *is_wall || (friction->grid.solid[at.row] >> at.lane & 1) != 0;
    }
    return sum;
}

/* The twelve shears of a coarse cell, with the mean of the others on solids. */
static void cell_shears(const WadiFriction *friction, WadiRowCell cell, float shear[12])
{
    for (int kind = 0; kind < 3; ++kind) {
        float mean = 0.0f;
        bool is_wall[4];
        int count = 0;
        for (int e = 0; e < 4; ++e) {
            shear[4 * kind + e] = edge_shear(friction, cell, kind, e, &is_wall[e]);
            mean += is_wall[e] ? 0.0f : shear[4 * kind + e];
            count += !is_wall[e];
        }
        for (int e = 0; e < 4; ++e) {
            shear[4 * kind + e] = is_wall[e] ? mean / (float)(count > 0 ? count : 1) : shear[4 * kind + e];
        }
    }
}

static void prolong_cell(WadiFriction *friction, const WadiFriction *from, WadiRowCell here,
                         WadiRowCell parent)
{
    static const int axis[3][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };
    int32_t s = friction->slot_of[here.row], p = from->slot_of[parent.row];
    const WadiFrictionSlot *slot = &friction->slot[s];
    float shear[12];
    int child[3];
    cell_shears(from, parent, shear);
    child_of(friction->grid.rows, here, child);
    friction->stress[s].t[STRESS_XX][here.lane] = 2.0f * from->stress[p].t[STRESS_XX][parent.lane];
    friction->stress[s].t[STRESS_YY][here.lane] = 2.0f * from->stress[p].t[STRESS_YY][parent.lane];
    for (int n = 0; n < 12; ++n) {
        int kind = n >> 2;
        float x = 0.5f * (float)(child[axis[kind][0]] + (n & 1));
        float y = 0.5f * (float)(child[axis[kind][1]] + (n >> 1 & 1));
        const float *t = &shear[4 * kind];
        float value = (1.0f - y) * ((1.0f - x) * t[0] + x * t[1]) + y * ((1.0f - x) * t[2] + x * t[3]);
        friction->stress[s].t[2 + n][here.lane] = slot->edge[n] >> here.lane & 1 ? 2.0f * value : 0.0f;
    }
    for (int side = 0; side < 6; ++side) {
        int32_t w = friction->wall[s][side], v = from->wall[p][side];
        for (int copy = 0; copy < 4 && w != 0 && v != 0; ++copy) {
            bool acts = friction->facets[w].weight.t[copy][here.lane] > 0.0f;
            friction->traction[w].t[copy][here.lane] =
                acts ? 2.0f * from->traction[v].t[copy][parent.lane] : 0.0f;
        }
    }
}

static void prolong(WadiFriction *friction, const WadiFriction *from, const Coarse *coarse)
{
    friction->has_force = false;
    for (int32_t s = 1; s < friction->slot_count; ++s) {
        const WadiFrictionSlot *slot = &friction->slot[s];
        for (int lane = 0; lane < 8; ++lane) {
            WadiRowCell here = { slot->row, lane };
            WadiRowCell parent = coarse_cell(coarse, friction->grid.rows, here);
            if ((slot->fluid >> lane & 1) != 0 && (coarse->fluid[parent.row] >> parent.lane & 1) != 0) {
                prolong_cell(friction, from, here, parent);
            }
        }
    }
}

static WadiStatus solve_coarse(WadiFriction *friction, Coarse *coarse, const float *const before[3],
                               const WadiFrictionLoad *load, int depth, double gravity_dt, WadiArena *arena,
                               WadiError *error)
{
    WADI_TRY(make_rows(coarse, friction->grid.rows, arena, error));
    WADI_TRY(make_fields(coarse, friction, before, load, arena, error));
    WadiFrictionGrid grid = { .rows = &coarse->rows,
                              .fluid = coarse->fluid,
                              .solid = coarse->solid,
                              .sample_wall = sample_fine_wall,
                              .wall_context = &friction->grid };
    WadiFriction *half = NULL;
    WADI_TRY(wadi_friction_begin(&half, &grid, NULL, friction->dt, arena, error));
    WadiFrictionLoad half_load = { .pressure = coarse->pressure,
                                   .k = coarse->k,
                                   .cohesion = coarse->cohesion };
    const float *velocity[3] = { coarse->velocity[0], coarse->velocity[1], coarse->velocity[2] };
    int half_depth = (depth + 1) / 2;
    WADI_TRY(wadi_friction_coarse_guess(half, velocity, &half_load, half_depth, gravity_dt, arena, error));
    WadiFrictionSettings settings = wadi_friction_settings(half_depth, gravity_dt);
    settings.max_iterations = half_depth > SHALLOW ? ITERATIONS : 8 * half_depth + ITERATIONS;
    WadiFrictionReport report;
    WADI_TRY(wadi_friction_solve(half, velocity, &half_load, &settings, arena, &report, error));
    prolong(friction, half, coarse);
    return WADI_OK;
}

WadiStatus wadi_friction_coarse_guess(WadiFriction *friction, const float *const before[3],
                                      const WadiFrictionLoad *load, int depth, double gravity_dt,
                                      WadiArena *arena, WadiError *error)
{
    if (depth <= SHALLOW) {
        return WADI_OK;
    }
    Coarse coarse = { 0 };
    WadiStatus status = solve_coarse(friction, &coarse, before, load, depth, gravity_dt, arena, error);
    wadi_tile_map_free(&coarse.map);
    return status;
}
