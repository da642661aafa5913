/* Poisson problems over rows from a rule that classifies each cell. Couplings are 1; a face to air adds 1 (or
 * `air`) to the diagonal, a face to a solid nothing. */
#ifndef WADI_TESTS_LINSYS_PROBLEM_H
#define WADI_TESTS_LINSYS_PROBLEM_H

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "expect.h"
#include "linsys/poisson.h"

enum { SOLID, AIR, FLUID };

typedef struct Problem Problem;
typedef int (*CellRule)(const Problem *problem, int i, int j, int k);

struct Problem {
    CellRule rule;
    int n;               /* of the rule */
    int option;          /* of the rule */
    float air;           /* what a face to air adds; 0 means 1 */
    int low[3], high[3]; /* range of cells for the rule */
    WadiTileMap tiles;
    WadiArena arena, scratch;
    WadiRows rows;
    WadiPoisson system;
    uint64_t *mask;
    uint8_t *active;
    float *diagonal, *c[3], *b;
    double *x;
    size_t cells, unknowns;
};

static inline double noise(uint64_t seed) /* in [-1, 1) */
{
    return (double)(wadi_hash_mix(seed) >> 11) * 0x1p-52 - 1.0;
}

static inline void problem_couple(Problem *p, int32_t row, int lane, const int cell[3])
{
    static const int step[6][3] = { { -1, 0, 0 }, { 1, 0, 0 },  { 0, -1, 0 },
                                    { 0, 1, 0 },  { 0, 0, -1 }, { 0, 0, 1 } };
    size_t at = 8 * (size_t)row + (size_t)lane;
    for (int n = 0; n < 6; ++n) {
        int what = p->rule(p, cell[0] + step[n][0], cell[1] + step[n][1], cell[2] + step[n][2]);
        float air = p->air > 0.0f ? p->air : 1.0f;
        p->diagonal[at] += what == FLUID ? 1.0f : what == AIR ? air : 0.0f;
        if (what == FLUID && n % 2 == 0) {
            p->c[n / 2][at] = 1.0f;
        }
    }
}

static inline void problem_free(Problem *p)
{
    wadi_arena_free(&p->arena);
    wadi_arena_free(&p->scratch);
    wadi_tile_map_free(&p->tiles);
}

static inline void problem_make(Problem *p)
{
    WadiError error;
    int t0[3], size[3];
    for (int a = 0; a < 3; ++a) {
        t0[a] = p->low[a] >> 3;
        size[a] = (p->high[a] >> 3) - t0[a] + 1;
    }
    size_t boxes = (size_t)size[0] * (size_t)size[1] * (size_t)size[2], count = 0;
    WadiTile *tiles = calloc(boxes, sizeof *tiles);
    uint64_t *masks = calloc(boxes, sizeof *masks);
    assert_non_null(tiles);
    assert_non_null(masks);
    for (size_t t = 0; t < boxes; ++t) {
        WadiTile tile = { t0[0] + (int)(t % (size_t)size[0]),
                          t0[1] + (int)(t / (size_t)size[0] % (size_t)size[1]),
                          t0[2] + (int)(t / (size_t)size[0] / (size_t)size[1]) };
        uint64_t mask = 0;
        for (int place = 0; place < 64; ++place) {
            for (int l = 0; l < 8 && (mask >> place & 1) == 0; ++l) {
                int what = p->rule(p, 8 * tile.x + l, 8 * tile.y + place % 8, 8 * tile.z + place / 8);
                mask |= (uint64_t)(what == FLUID) << place;
            }
        }
        if (mask != 0) {
            masks[count] = mask;
            tiles[count++] = tile;
        }
    }
    CHECK_OK(wadi_tile_map_create(&p->tiles, tiles, count, &error), error);
    CHECK_OK(wadi_tile_map_link(&p->tiles, &error), error);
    CHECK_OK(WADI_ARENA_NEW(&p->arena, &p->mask, count, "test", &error), error);
    memcpy(p->mask, masks, count * sizeof *masks); /* tiles are in the map's order */
    free(tiles);
    free(masks);
    CHECK_OK(wadi_rows_build(&p->rows, &p->tiles, p->mask, &p->arena, &error), error);
    p->cells = wadi_rows_floats(&p->rows);
    float **arrays[5] = { &p->diagonal, &p->c[0], &p->c[1], &p->c[2], &p->b };
    for (int a = 0; a < 5; ++a) {
        CHECK_OK(WADI_ARENA_NEW(&p->arena, arrays[a], p->cells, "test", &error), error);
        memset(*arrays[a], 0, p->cells * sizeof(float));
    }
    CHECK_OK(WADI_ARENA_NEW(&p->arena, &p->x, p->cells, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&p->arena, &p->active, (size_t)p->rows.count, "test", &error), error);
    memset(p->x, 0, p->cells * sizeof(double));
    memset(p->active, 0, (size_t)p->rows.count);
    for (int32_t row = 1; row < p->rows.count; ++row) {
        int32_t at[3];
        wadi_rows_cell(&p->rows, row, at);
        for (int l = 0; l < 8; ++l) {
            int cell[3] = { at[0] + l, at[1], at[2] };
            if (p->rule(p, cell[0], cell[1], cell[2]) == FLUID) {
                p->active[row] |= (uint8_t)(1u << l);
                problem_couple(p, row, l, cell);
                uint64_t id = (uint64_t)((cell[0] * 1000003 + cell[1]) * 1000003LL + cell[2]);
                p->b[8 * row + l] =
                    (float)(noise(id) + sin(0.1 * cell[0]) + cos(0.07 * cell[1] + 0.1 * cell[2]));
                ++p->unknowns;
            }
        }
    }
    p->system = (WadiPoisson){ &p->rows, p->active, p->diagonal, p->c[0], p->c[1], p->c[2], NULL, NULL };
}

static inline WadiPoissonReport problem_solve(Problem *p, double tolerance)
{
    WadiError error;
    WadiPoissonReport report;
    WadiPoissonSettings settings = { .tolerance = tolerance, .max_iterations = 200 };
    CHECK_OK(wadi_arena_reset(&p->scratch, &error), error);
    CHECK_OK(wadi_poisson_solve(&p->system, p->b, &settings, p->x, &p->scratch, &report, &error), error);
    return report;
}

/* A ball of radius n in air. */
static inline int ball_rule(const Problem *p, int i, int j, int k)
{
    return i * i + j * j + k * k < p->n * p->n ? FLUID : AIR;
}

/* A box of n, filled to half its height (z), four pillars, a sphere; `option` & 1: a one-cell wall across x
 * that leaves a gap at the side; & 2: the wall leaves a door of 3 cells at the floor instead; & 4: a second
 * wall across y; bits 8..: place of the first wall relative to the middle. */
static inline int box_rule(const Problem *p, int i, int j, int k)
{
    int n = p->n;
    if (i < 0 || j < 0 || k < 0 || i >= n || j >= n || k >= n) {
        return SOLID;
    }
    int a = i % (n / 2) - n / 4, b = j % (n / 2) - n / 4, r = n / 25;
    int x = i - n / 2, y = j - n / 2, z = k - n / 8, s = n / 8;
    int wall = n / 2 + (p->option >> 8);
    bool is_door = (p->option & 2) != 0 ? abs(y - n / 4) <= 1 && k < 3 : j < n / 5;
    if ((p->option & 3) != 0 && i == wall && !is_door) {
        return SOLID;
    }
    if ((p->option & 4) != 0 && j == n / 2 + 1 && i > n / 10) {
        return SOLID;
    }
    if (a * a + b * b <= r * r || x * x + y * y + z * z < s * s) {
        return SOLID;
    }
    return k < n / 2 ? FLUID : AIR;
}

/* The ball, and droplets of 1 to 8 cells around it, on a lattice of 10 cells. */
static inline int droplet_rule(const Problem *p, int i, int j, int k)
{
    int inside = ball_rule(p, i, j, k);
    if (inside == FLUID || i * i + j * j + k * k < (p->n + 3) * (p->n + 3)) {
        return inside;
    }
    if (i < p->low[0] || i > p->high[0] || j < p->low[1] || j > p->high[1] || k < p->low[2] ||
        k > p->high[2]) {
        return AIR;
    }
    int s[3] = { (i + 10000) / 10, (j + 10000) / 10, (k + 10000) / 10 };
    uint64_t id = wadi_hash_mix((uint64_t)((s[0] * 4096LL + s[1]) * 4096 + s[2]));
    int d[3] = { (i + 10000) % 10 - 2 - (int)(id & 3), (j + 10000) % 10 - 2 - (int)(id >> 2 & 3),
                 (k + 10000) % 10 - 2 - (int)(id >> 4 & 3) };
    bool is_in = true;
    for (int a = 0; a < 3; ++a) {
        is_in = is_in && d[a] >= 0 && d[a] <= (int)(id >> (6 + a) & 1);
    }
    return is_in && (int)(id >> 10 & 7) < p->option ? FLUID : AIR;
}

static inline void problem_ball(Problem *p, int radius)
{
    *p = (Problem){ .rule = ball_rule, .n = radius };
    for (int a = 0; a < 3; ++a) {
        p->low[a] = -radius;
        p->high[a] = radius;
    }
    problem_make(p);
}

static inline void problem_box(Problem *p, int n, int option)
{
    *p = (Problem){ .rule = box_rule, .n = n, .option = option, .high = { n - 1, n - 1, n - 1 } };
    problem_make(p);
}

static inline void problem_droplets(Problem *p)
{
    *p = (Problem){ .rule = droplet_rule, .n = 20, .option = 4 };
    for (int a = 0; a < 3; ++a) {
        p->low[a] = -100;
        p->high[a] = 99;
    }
    problem_make(p);
}

#endif
