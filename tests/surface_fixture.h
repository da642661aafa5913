/* Fields from functions instead of particles, with the band that field.h promises, for the tests of
 * meshes. */
#ifndef WADI_TESTS_SURFACE_FIXTURE_H
#define WADI_TESTS_SURFACE_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "expect.h"
#include "surface/mesh/surface_mesh.h"

typedef double (*FieldFunction)(const void *context, WadiVec3 x);

typedef struct FieldFixture {
    WadiArena arena;
    WadiField field;
    uint64_t *mask;
} FieldFixture;

/* A node of a box of nodes, x fastest. */
static inline size_t box_index(const int size[3], int i, int j, int k)
{
    return (size_t)i + (size_t)size[0] * ((size_t)j + (size_t)size[1] * (size_t)k);
}

/* Nodes of the four cells around every edge that is crossed, or whose end is 0. */
static inline void mark_band(const int size[3], const float *value, uint8_t *is_wanted)
{
    for (int k = 1; k < size[2] - 2; ++k) {
        for (int j = 1; j < size[1] - 2; ++j) {
            for (int i = 1; i < size[0] - 2; ++i) {
                float here = value[box_index(size, i, j, k)];
                for (int axis = 0; axis < 3; ++axis) {
                    int end[3] = { i + (axis == 0), j + (axis == 1), k + (axis == 2) };
                    float there = value[box_index(size, end[0], end[1], end[2])];
                    if ((here < 0.0f) == (there < 0.0f) && here != 0.0f && there != 0.0f) {
                        continue;
                    }
                    int low[3] = { i - (axis != 0), j - (axis != 1), k - (axis != 2) };
                    for (int n = 0; n < 18; ++n) {
                        int at[3] = { low[0], low[1], low[2] };
                        at[axis] += n % 2;
                        at[(axis + 1) % 3] += n / 2 % 3;
                        at[(axis + 2) % 3] += n / 6;
                        is_wanted[box_index(size, at[0], at[1], at[2])] = 1;
                    }
                }
            }
        }
    }
}

/* Nodes of tiles [low, high) in each axis; the surface must stay two nodes inside the box. With `is_sparse`
 * only the rows that the band needs. `value` in the order of box_index. */
static inline void field_from_values(FieldFixture *fixture, const int low[3], const int high[3], double cell,
                                     const float *value, bool is_sparse)
{
    WadiError error;
    *fixture = (FieldFixture){ 0 };
    int size[3], count = 1;
    for (int axis = 0; axis < 3; ++axis) {
        size[axis] = 8 * (high[axis] - low[axis]);
        count *= high[axis] - low[axis];
    }
    size_t nodes = (size_t)size[0] * (size_t)size[1] * (size_t)size[2];
    uint8_t *is_wanted = calloc(nodes, 1);
    WadiTile *tiles = calloc((size_t)count, sizeof *tiles);
    uint64_t *mask = calloc((size_t)count, sizeof *mask);
    assert_true(is_wanted != NULL && tiles != NULL && mask != NULL);
    mark_band(size, value, is_wanted);
    int used = 0;
    for (int n = 0; n < count; ++n) {
        int at[3] = { n % (size[0] / 8), n / (size[0] / 8) % (size[1] / 8),
                      n / (size[0] / 8) / (size[1] / 8) };
        uint64_t bits = 0;
        for (int place = 0; place < 64; ++place) {
            const uint8_t *row =
                &is_wanted[box_index(size, 8 * at[0], 8 * at[1] + (place & 7), 8 * at[2] + (place >> 3))];
            bits |= (uint64_t)(!is_sparse || memchr(row, 1, 8) != NULL) << place;
        }
        if (bits != 0) {
            tiles[used] = (WadiTile){ low[0] + at[0], low[1] + at[1], low[2] + at[2] };
            mask[used++] = bits;
        }
    }
    WadiField *field = &fixture->field;
    field->cell = cell;
    CHECK_OK(wadi_tile_map_create(&field->tiles, tiles, (size_t)used, &error), error);
    CHECK_OK(wadi_tile_map_link(&field->tiles, &error), error);
    CHECK_OK(WADI_ARENA_NEW(&fixture->arena, &fixture->mask, (size_t)used, "test", &error), error);
    for (int n = 0; n < used; ++n) {
        fixture->mask[n] = mask[n];
    }
    CHECK_OK(wadi_rows_build(&field->rows, &field->tiles, fixture->mask, &fixture->arena, &error), error);
    CHECK_OK(WADI_ARENA_NEW(&fixture->arena, &field->value, wadi_rows_floats(&field->rows), "test", &error),
             error);
    memset(field->value, 0, 8 * sizeof(float));
    for (int32_t r = 1; r < field->rows.count; ++r) {
        int32_t node[3];
        wadi_rows_cell(&field->rows, r, node);
        memcpy(field->value + 8 * (size_t)r,
               &value[box_index(size, node[0] - 8 * low[0], node[1] - 8 * low[1], node[2] - 8 * low[2])],
               8 * sizeof(float));
    }
    free(is_wanted);
    free(tiles);
    free(mask);
}

static inline void field_from_function(FieldFixture *fixture, const int low[3], const int high[3],
                                       double cell, FieldFunction function, const void *context)
{
    int size[3] = { 8 * (high[0] - low[0]), 8 * (high[1] - low[1]), 8 * (high[2] - low[2]) };
    float *value = malloc((size_t)size[0] * (size_t)size[1] * (size_t)size[2] * sizeof *value);
    assert_true(value != NULL);
    for (int k = 0; k < size[2]; ++k) {
        for (int j = 0; j < size[1]; ++j) {
            for (int i = 0; i < size[0]; ++i) {
                WadiVec3 x = { cell * (8 * low[0] + i), cell * (8 * low[1] + j), cell * (8 * low[2] + k) };
                value[box_index(size, i, j, k)] = (float)function(context, x);
            }
        }
    }
    field_from_values(fixture, low, high, cell, value, true);
    free(value);
}

static inline void field_free(FieldFixture *fixture)
{
    wadi_arena_free(&fixture->arena);
    wadi_tile_map_free(&fixture->field.tiles);
}

static inline WadiSurfaceMesh march_fixture(FieldFixture *fixture)
{
    WadiError error;
    WadiSurfaceMesh surface;
    CHECK_OK(wadi_surface_march(&surface, &fixture->field, &fixture->arena, &error), error);
    return surface;
}

static inline WadiSurfaceFacts surface_facts(const WadiSurfaceMesh *surface)
{
    WadiError error;
    WadiSurfaceFacts facts;
    CHECK_OK(wadi_surface_facts(&facts, &surface->mesh, &error), error);
    return facts;
}

/* A ball, a ring around z, two balls: signed distances. */
typedef struct TestBall {
    WadiVec3 center;
    double radius, tube; /* tube > 0: a ring */
} TestBall;

static inline double ball_distance(const void *context, WadiVec3 x)
{
    const TestBall *ball = context;
    WadiVec3 d = wadi_sub(x, ball->center);
    if (ball->tube > 0.0) {
        return hypot(hypot(d.x, d.y) - ball->radius, d.z) - ball->tube;
    }
    return wadi_norm(d) - ball->radius;
}

static inline double two_balls_distance(const void *context, WadiVec3 x)
{
    const TestBall *ball = context;
    return fmin(ball_distance(&ball[0], x), ball_distance(&ball[1], x));
}

#endif
