/* Centroids of the open parts of cells that walls cut. [theory 4.2]
 * The smoothed fill over the smoothed open fraction gives the depth of the centroid of the open space under
 * the hat. At a leaning wall that is up to 0.3 cells above or below the centre, and the cell may be air
 * beside fluid of the same height, which then flows for ever.
 * Not in scenes with solids that move: the fill varies around those, and the term makes pockets of air under
 * the fluid. A cylinder that grows in cells of 3 cm then loses 3.4 % of its volume, and 1.5 % without.
 * Source: none. */
#include "flip/pressure/flip_surface_centroid.h"

#include <math.h>

/* Of the height of the centroid. The whole of it is right for a surface in the middle of the space only;
 * where the space is almost full or empty it is too much. Mean speeds of 90 tanks after 12 s, in 1e-4 sqrt(g
 * H): 1.4 with 0, 0.70 with 0.5, 0.83 with 0.7, 1.3 with 1 (40 tanks). */
static const float used_part = 0.5f;

/* Space and its first moment along `up`, in cells. */
typedef struct Moment {
    float space, height;
} Moment;

/* Do walls cut the cell or one around it? */
static bool is_near_cut(const WadiFlipSurfaceIn *in, WadiRowCell cell)
{
    bool is_cut = false;
    for (int n = 0; n < 27 && !is_cut; ++n) {
        int step[3];
        const float open = wadi_flip_open_of(in, wadi_row_cell_around(in->rows, cell, n, step));
        is_cut = open > 0.0f && open < 1.0f;
    }
    return is_cut;
}

/* Of the open part of a cell, cut by a plane across the change of the open parts beside it. */
static Moment moment_of_cell(const WadiFlipSurfaceIn *in, WadiRowCell cell)
{
    const float open = wadi_flip_open_of(in, cell);
    if (open <= 0.0f || open >= 1.0f) {
        return (Moment){ open, 0.0f };
    }
    const WadiFlipOpening opening = wadi_flip_opening(in, cell);
    return (Moment){ open, open * 0.5f * (1.0f - open) * opening.along / opening.sum };
}

/* Of the space under the hat around a cell. */
static Moment moment_under_hat(const WadiFlipSurfaceIn *in, WadiRowCell cell)
{
    static const float hat[3] = { 0.125f, 0.75f, 0.125f };
    Moment sum = { 0.0f, 0.0f };
    for (int n = 0; n < 27; ++n) {
        int step[3];
        const Moment there = moment_of_cell(in, wadi_row_cell_around(in->rows, cell, n, step));
        const float weight = hat[step[0] + 1] * hat[step[1] + 1] * hat[step[2] + 1];
        float height = 0.0f;
        for (int axis = 0; axis < 3; ++axis) {
            height += in->up[axis] * (float)step[axis];
        }
        sum.space += weight * there.space;
        sum.height += weight * (there.height + height * there.space);
    }
    return sum;
}

float wadi_flip_centroid_height(const WadiFlipSurfaceIn *in, WadiRowCell cell, float enough_open)
{
    if (!in->is_at_rest || !is_near_cut(in, cell)) {
        return 0.0f;
    }
    const Moment own = moment_under_hat(in, cell);
    Moment others = { 0.0f, 0.0f };
    for (int side = 0; side < 6 && own.space < enough_open; ++side) {
        const WadiRowCell neighbour = wadi_row_cell_neighbour(in->rows, cell, side);
        if (neighbour.row != 0) {
            const Moment there = moment_under_hat(in, neighbour);
            others.space += there.space;
            others.height += there.height + (side % 2 == 1 ? 1.0f : -1.0f) * in->up[side / 2] * there.space;
        }
    }
    const float missing = wadi_maxf(enough_open - own.space, 0.0f) / wadi_maxf(others.space, 1e-3f);
    return used_part * (own.height + missing * others.height) / (own.space + missing * others.space + 1e-6f);
}
