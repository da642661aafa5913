#include "sph/adapt/sph_feature.h"

#include <string.h>

#include "core/parallel.h"
#include "grid/row_lanes.h"
#include "grid/sweep.h"

enum { LANES = WADI_ROW_CELLS };

/* Of the depth's gradient: 2^(-3/4), the geometric mean of 2^(-1/2), where surfaces at a right angle are
 * equally near, and of 1/2 in the middle of a slab. */
static const float SHORT_GRADIENT = 0.595f;

typedef struct Feature {
    const WadiSphFeatureIn *in;
    float *depth, *feature;
    uint8_t *known, *outermost, *axis;
} Feature;

/* Neighbours of a row's cells that are neither solid nor of the body. */
static unsigned open_bits(const WadiSphFeatureIn *in, int32_t row, int side)
{
    const unsigned body = wadi_row_neighbour_bits(in->rows, in->inside, row, side);
    const unsigned solid = wadi_row_neighbour_bits(in->rows, in->solid, row, side);
    return ~(body | solid) & 0xffu;
}

static void start_rows(void *context, int64_t first, int64_t end)
{
    const Feature *f = context;
    for (int32_t row = (int32_t)first + 1; row < end + 1; ++row) {
        const unsigned inside = f->in->inside[row];
        unsigned open = 0;
        for (int side = 0; side < 6; ++side) {
            open |= open_bits(f->in, row, side);
        }
        f->outermost[row] = (uint8_t)(inside & open);
        f->known[row] = (uint8_t)(f->outermost[row] | (~inside & 0xffu));
        for (int l = 0; l < LANES; ++l) {
            float *depth = &f->depth[(size_t)LANES * (size_t)row + (size_t)l];
            if ((inside >> l & 1) == 0) {
                *depth = (float)f->in->largest; /* never the source of a distance */
            }
        }
    }
}

/* Squared length of the depth's gradient. Behind a wall lies the image of the cell itself, and air is as far
 * outside as the cell is inside. */
static void gradient_of_row(const Feature *f, int32_t row, float square[LANES])
{
    const float *centre = f->depth + (size_t)LANES * (size_t)row;
    const float scale = (float)(0.5 / f->in->cell_size);
    for (int l = 0; l < LANES; ++l) {
        square[l] = 0.0f;
    }
    for (int axis = 0; axis < 3; ++axis) {
        float side[2][LANES];
        for (int n = 0; n < 2; ++n) {
            wadi_row_neighbours(f->in->rows, f->depth, row, 2 * axis + n, side[n]);
            const unsigned body = wadi_row_neighbour_bits(f->in->rows, f->in->inside, row, 2 * axis + n);
            const unsigned open = open_bits(f->in, row, 2 * axis + n);
            for (int l = 0; l < LANES; ++l) {
                const float other = (open >> l & 1) != 0 ? centre[l] - (float)f->in->cell_size : centre[l];
                side[n][l] = (body >> l & 1) != 0 ? side[n][l] : other;
            }
        }
        for (int l = 0; l < LANES; ++l) {
            const float d = (side[1][l] - side[0][l]) * scale;
            square[l] += d * d;
        }
    }
}

static void axis_rows(void *context, int64_t first, int64_t end)
{
    const Feature *f = context;
    for (int32_t row = (int32_t)first + 1; row < end + 1; ++row) {
        float square[LANES];
        unsigned bits = 0;
        gradient_of_row(f, row, square);
        for (int l = 0; l < LANES; ++l) {
            const size_t at = (size_t)LANES * (size_t)row + (size_t)l;
            const bool is_axis =
                square[l] < SHORT_GRADIENT * SHORT_GRADIENT && f->depth[at] > (float)f->in->cell_size;
            bits |= (unsigned)is_axis << l;
        }
        f->axis[row] = (uint8_t)(bits & f->in->inside[row]);
        f->known[row] = (uint8_t)(f->axis[row] | (~(unsigned)f->in->inside[row] & 0xffu));
        for (int l = 0; l < LANES; ++l) {
            f->feature[(size_t)LANES * (size_t)row + (size_t)l] =
                (f->axis[row] >> l & 1) != 0 ? 0.0f : (float)f->in->largest;
        }
    }
}

/* From the distance to the axis to lfs of the surface, at the outermost cells. */
static void surface_rows(void *context, int64_t first, int64_t end)
{
    const Feature *f = context;
    for (int32_t row = (int32_t)first + 1; row < end + 1; ++row) {
        for (int l = 0; l < LANES; ++l) {
            const size_t at = (size_t)LANES * (size_t)row + (size_t)l;
            f->feature[at] += (f->outermost[row] >> l & 1) != 0 ? f->depth[at] : 0.0f;
        }
    }
}

static void finish_rows(void *context, int64_t first, int64_t end)
{
    const Feature *f = context;
    const float largest = (float)f->in->largest;
    for (int32_t row = (int32_t)first + 1; row < end + 1; ++row) {
        for (int l = 0; l < LANES; ++l) {
            const size_t at = (size_t)LANES * (size_t)row + (size_t)l;
            const bool is_inside = (f->in->inside[row] >> l & 1) != 0;
            f->feature[at] = is_inside ? wadi_minf(f->feature[at] + f->depth[at], largest) : 0.0f;
            f->depth[at] = is_inside ? f->depth[at] : 0.0f;
        }
    }
}

static WadiStatus begin(Feature *f, WadiArena *arena, WadiError *error)
{
    const size_t rows = (size_t)f->in->rows->count;
    WADI_TRY(WADI_ARENA_NEW(arena, &f->known, rows, "feature size", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &f->outermost, rows, "feature size", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &f->axis, rows, "feature size", error));
    f->known[0] = f->outermost[0] = f->axis[0] = 0;
    memset(f->depth, 0, LANES * sizeof(float));
    memset(f->feature, 0, LANES * sizeof(float));
    return WADI_OK;
}

WadiStatus wadi_sph_feature_size(float *depth, float *feature, const WadiSphFeatureIn *in, WadiArena *arena,
                                 WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const int64_t rows = in->rows->count - 1;
    Feature f = { .in = in, .depth = depth, .feature = feature };
    WadiSweepReport report;
    WADI_TRY(begin(&f, arena, error));
    wadi_parallel_for(rows, WADI_ROW_BLOCK, start_rows, &f);
    WADI_TRY(
        wadi_sweep_distance(in->rows, f.known, in->cell_size, in->largest, depth, arena, &report, error));
    wadi_parallel_for(rows, WADI_ROW_BLOCK, axis_rows, &f);
    WADI_TRY(
        wadi_sweep_distance(in->rows, f.known, in->cell_size, in->largest, feature, arena, &report, error));
    wadi_parallel_for(rows, WADI_ROW_BLOCK, surface_rows, &f);
    WADI_TRY(wadi_sweep_extend(in->rows, f.outermost, depth, feature, arena, &report, error));
    wadi_parallel_for(rows, WADI_ROW_BLOCK, finish_rows, &f);
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
