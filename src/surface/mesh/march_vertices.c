/* Positions and normals of the vertices on lattice edges.
 *
 * The field is linear along an edge. The normal is the field's gradient: central differences at both nodes,
 * one-sided at the border of the band, interpolated between the nodes. Along the edge the surface faces the
 * outer node; where the gradient has the other sign (a sheet of one node) the difference along the edge
 * replaces its component, so that no normal is zero. */
#include <math.h>

#include "grid/row_vectors.h"
#include "surface/mesh/march.h"

/* Values and slopes at the far ends of a row's edges, by axis of the edge. */
typedef struct FarEnds {
    float value[3][8];
    float slope[3][3][8];
} FarEnds;

/* Slopes along x, y and z at the nodes of a row, differences per cell. */
static void row_slopes(const WadiField *field, int32_t row, float slope[3][8])
{
    const int32_t *neighbour = field->rows.neighbour[row];
    WadiF8 own = WADI_ROW(field->value, row);
    for (int axis = 1; axis < 3; ++axis) {
        int32_t low = neighbour[2 * axis], high = neighbour[2 * axis + 1];
        WadiF8 down = low > 0 ? WADI_ROW(field->value, low) : own;
        WadiF8 up = high > 0 ? WADI_ROW(field->value, high) : own;
        *(WadiF8 *)slope[axis] = (up - down) * (low > 0 && high > 0 ? 0.5f : 1.0f);
    }
    int32_t low = neighbour[WADI_ROW_X_MIN], high = neighbour[WADI_ROW_X_MAX];
    WadiF8 before = low > 0 ? WADI_ROW(field->value, low) : own;
    WadiF8 after = high > 0 ? WADI_ROW(field->value, high) : own;
    /* Without a neighbouring row the node replaces the missing one. */
    before[7] = low > 0 ? before[7] : own[0];
    after[0] = high > 0 ? after[0] : own[7];
    WadiF8 scale = { low > 0 ? 0.5f : 1.0f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, high > 0 ? 0.5f : 1.0f };
    *(WadiF8 *)slope[0] = (WADI_ROW_SHIFT_DOWN(own, after) - WADI_ROW_SHIFT_UP(before, own)) * scale;
}

/* The nodes one step up along `axis`: from the neighbouring row, or shifted. */
static void far_ends(const WadiMarch *march, int32_t row, float slope[3][8], FarEnds *far)
{
    static const unsigned axis_bits[3] = { 0x249249, 0x492492, 0x924924 };
    const WadiField *field = march->field;
    for (int axis = 1; axis < 3; ++axis) {
        if ((march->crossed[row] & axis_bits[axis]) != 0) {
            int32_t other = field->rows.neighbour[row][2 * axis + 1];
            *(WadiF8 *)far->value[axis] = WADI_ROW(field->value, other);
            row_slopes(field, other, far->slope[axis]);
        }
    }
    if ((march->crossed[row] & axis_bits[0]) != 0) {
        float after[3][8] = { { 0 } };
        int32_t other = field->rows.neighbour[row][WADI_ROW_X_MAX];
        if ((march->crossed[row] >> 21 & 1) != 0) {
            row_slopes(field, other, after);
        }
        *(WadiF8 *)far->value[0] =
            WADI_ROW_SHIFT_DOWN(WADI_ROW(field->value, row), WADI_ROW(field->value, other));
        for (int c = 0; c < 3; ++c) {
            *(WadiF8 *)far->slope[0][c] =
                WADI_ROW_SHIFT_DOWN(*(const WadiF8 *)slope[c], *(const WadiF8 *)after[c]);
        }
    }
}

static void set_normal(float normal[3], float n[3], int axis, float rise)
{
    if (!(n[axis] * rise > 0.0f)) {
        n[axis] = rise;
    }
    double length =
        sqrt((double)n[0] * (double)n[0] + (double)n[1] * (double)n[1] + (double)n[2] * (double)n[2]);
    for (int c = 0; c < 3; ++c) {
        normal[c] = isfinite(length) ? (float)((double)n[c] / length)
                    : c == axis      ? copysignf(1.0f, rise)
                                     : 0.0f;
    }
}

void wadi_march_place_vertices(const WadiMarch *march, int32_t first, int32_t end)
{
    const WadiField *field = march->field;
    for (int32_t row = first; row < end; ++row) {
        if (march->crossed[row] == 0) {
            continue;
        }
        int32_t node[3];
        wadi_rows_cell(&field->rows, row, node);
        const float *value = field->value + (size_t)WADI_ROW_CELLS * (size_t)row;
        float slope[3][8];
        FarEnds far;
        row_slopes(field, row, slope);
        far_ends(march, row, slope, &far);
        size_t vertex = march->start[row];
        for (uint32_t left = march->crossed[row]; left != 0; left &= left - 1, ++vertex) {
            int bit = __builtin_ctz(left), lane = bit / 3, axis = bit % 3;
            double a = (double)value[lane], b = (double)far.value[axis][lane];
            double t = a / (a - b);
            t = t > WADI_MARCH_CLEARANCE ? t : WADI_MARCH_CLEARANCE;
            t = t < 1.0 - WADI_MARCH_CLEARANCE ? t : 1.0 - WADI_MARCH_CLEARANCE;
            double position[3] = { node[0] + lane, node[1], node[2] };
            position[axis] += t;
            march->surface->mesh.vertices[vertex] =
                wadi_vec3(position[0] * field->cell, position[1] * field->cell, position[2] * field->cell);
            float n[3];
            for (int c = 0; c < 3; ++c) {
                float near = slope[c][lane];
                n[c] = near + (float)t * (far.slope[axis][c][lane] - near);
            }
            set_normal(march->surface->normal[vertex], n, axis, (float)(b - a));
        }
    }
}
