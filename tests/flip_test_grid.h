/* A labelled box of cells over sparse rows, for the tests of the flip stages: every row of every tile that
 * overlaps the box. */
#ifndef WADI_TESTS_FLIP_TEST_GRID_H
#define WADI_TESTS_FLIP_TEST_GRID_H

#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "expect.h"
#include "grid/rows.h"

typedef enum TestCell { CELL_AIR, CELL_FLUID, CELL_SOLID } TestCell;
typedef TestCell (*TestLabel)(const void *context, int i, int j, int k);

typedef struct TestGrid {
    WadiTileMap map;
    WadiArena arena;
    WadiRows rows;
    uint64_t *mask;
    uint8_t *fluid, *solid;
    int64_t fluid_cells;
} TestGrid;

static inline void *grid_alloc(TestGrid *grid, size_t count, size_t size)
{
    WadiError error;
    void *memory = NULL;
    CHECK_OK(wadi_arena_alloc(&grid->arena, &memory, count, size, "test", &error), error);
    memset(memory, 0, count * size);
    return memory;
}

static inline float *grid_floats(TestGrid *grid, float value)
{
    size_t count = wadi_rows_floats(&grid->rows);
    float *values = grid_alloc(grid, count, sizeof *values);
    for (size_t i = 8; i < count; ++i) {
        values[i] = value;
    }
    return values;
}

/* Index of a cell in arrays over rows; the cell must have a row. */
static inline size_t grid_at(const TestGrid *grid, int i, int j, int k)
{
    int32_t row = wadi_rows_find(&grid->rows, i, j, k);
    assert_true(row > 0);
    return 8 * (size_t)row + (size_t)(i & 7);
}

/* Cells of [low, high) in each axis are labelled; all others are air. */
static inline void grid_make(TestGrid *grid, const int low[3], const int high[3], TestLabel label,
                             const void *context)
{
    WadiError error;
    *grid = (TestGrid){ 0 };
    static WadiTile tiles[20000];
    size_t count = 0;
    for (int z = low[2] >> 3; z <= (high[2] - 1) >> 3; ++z) {
        for (int y = low[1] >> 3; y <= (high[1] - 1) >> 3; ++y) {
            for (int x = low[0] >> 3; x <= (high[0] - 1) >> 3; ++x) {
                assert_true(count < 20000);
                tiles[count++] = (WadiTile){ x, y, z };
            }
        }
    }
    CHECK_OK(wadi_tile_map_create(&grid->map, tiles, count, &error), error);
    CHECK_OK(wadi_tile_map_link(&grid->map, &error), error);
    grid->mask = grid_alloc(grid, count, sizeof *grid->mask);
    memset(grid->mask, 0xff, count * sizeof *grid->mask);
    CHECK_OK(wadi_rows_build(&grid->rows, &grid->map, grid->mask, &grid->arena, &error), error);
    grid->fluid = grid_alloc(grid, (size_t)grid->rows.count, 1);
    grid->solid = grid_alloc(grid, (size_t)grid->rows.count, 1);
    for (int32_t r = 1; r < grid->rows.count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(&grid->rows, r, cell);
        for (int lane = 0; lane < 8; ++lane) {
            int i = cell[0] + lane, j = cell[1], k = cell[2];
            bool is_inside =
                i >= low[0] && i < high[0] && j >= low[1] && j < high[1] && k >= low[2] && k < high[2];
            TestCell kind = is_inside ? label(context, i, j, k) : CELL_AIR;
            grid->fluid[r] |= (uint8_t)((kind == CELL_FLUID) << lane);
            grid->solid[r] |= (uint8_t)((kind == CELL_SOLID) << lane);
            grid->fluid_cells += kind == CELL_FLUID;
        }
    }
}

static inline TestCell grid_kind(const TestGrid *grid, int i, int j, int k)
{
    int32_t row = wadi_rows_find(&grid->rows, i, j, k);
    return grid->fluid[row] >> (i & 7) & 1   ? CELL_FLUID
           : grid->solid[row] >> (i & 7) & 1 ? CELL_SOLID
                                             : CELL_AIR;
}

/* The low face of a cell along an axis: neither of its cells solid, at least one FLUID. */
static inline bool grid_face_is_free(const TestGrid *grid, int axis, int i, int j, int k)
{
    TestCell here = grid_kind(grid, i, j, k);
    TestCell low = grid_kind(grid, i - (axis == 0), j - (axis == 1), k - (axis == 2));
    return here != CELL_SOLID && low != CELL_SOLID && (here == CELL_FLUID || low == CELL_FLUID);
}

static inline void grid_free(TestGrid *grid)
{
    wadi_arena_free(&grid->arena);
    wadi_tile_map_free(&grid->map);
}

#endif
