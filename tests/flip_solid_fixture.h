/* Solids sampled on a box of rows, for the tests of flip_solid*.c. */
#ifndef WADI_TESTS_FLIP_SOLID_FIXTURE_H
#define WADI_TESTS_FLIP_SOLID_FIXTURE_H

#include "flip/solids/flip_solid.h"
#include "flip_box.h"
#include "physics/scene_shapes.h"

static inline WadiSolids solids_of(WadiSolid *solid, WadiShape *shape)
{
    *solid = (WadiSolid){ .shape = shape };
    return (WadiSolids){ .solids = solid, .count = shape != NULL, .domain = endless_box() };
}

static inline WadiFlipSolid sample(FlipBox *box, const WadiSolids *solids, double h,
                                   WadiFlipSolidCache *cache)
{
    WadiError error;
    WadiFlipSolid out;
    WadiFlipSolidIn in = { .rows = &box->rows, .solids = solids, .cell_size = h };
    CHECK_OK(wadi_flip_solid(&in, cache, &out, &box->arena, &error), error);
    return out;
}

/* Rows may share values or not: only the values are compared. */
static inline void assert_same_values(const WadiRows *rows, const WadiFlipSolid *a, const WadiFlipSolid *b)
{
    const float *of_a[] = { a->open[0], a->open[1], a->open[2], a->distance, a->fraction };
    const float *of_b[] = { b->open[0], b->open[1], b->open[2], b->distance, b->fraction };
    for (int32_t r = 0; r < rows->count; ++r) {
        for (int n = 0; n < 5; ++n) {
            assert_memory_equal(of_a[n] + 8 * a->row[r], of_b[n] + 8 * b->row[r], 8 * sizeof(float));
        }
    }
}

#endif
