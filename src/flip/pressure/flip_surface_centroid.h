/* Centroids of the open parts of cells that walls cut. [theory 4.2] */
#ifndef WADI_FLIP_SURFACE_CENTROID_H
#define WADI_FLIP_SURFACE_CENTROID_H

#include <math.h>

#include "flip/pressure/flip_surface.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_lanes.h"

/* Open part of a cell; 0 where there is none. */
static inline float wadi_flip_open_of(const WadiFlipSurfaceIn *in, WadiRowCell cell)
{
    return cell.row != 0 ? 1.0f - in->fraction[wadi_table_cell(in->solid_row, wadi_row_cell_index(cell))]
                         : 0.0f;
}

/* Change of the open parts across a cell: the sum of its sizes along the axes, and what is along `up`. A cut
 * cell is taken as cut by a plane across this change. */
typedef struct WadiFlipOpening {
    float sum, along;
} WadiFlipOpening;

static inline WadiFlipOpening wadi_flip_opening(const WadiFlipSurfaceIn *in, WadiRowCell cell)
{
    WadiFlipOpening opening = { 1e-6f, 0.0f };
    for (int axis = 0; axis < 3; ++axis) {
        const float change = wadi_flip_open_of(in, wadi_row_cell_neighbour(in->rows, cell, 2 * axis + 1)) -
                             wadi_flip_open_of(in, wadi_row_cell_neighbour(in->rows, cell, 2 * axis));
        opening.sum += fabsf(change);
        opening.along += in->up[axis] * change;
    }
    return opening;
}

/* What is added to the depth that the smoothed fill of a cell gives, in cells: half the height over the
 * cell's centre of the centroid of the space that the fill refers to. 0 where no wall cuts this space and
 * in scenes with moving solids.
 * enough_open: smoothed open fraction up to which neighbours of the cell are part of this space; 0: none. */
float wadi_flip_centroid_height(const WadiFlipSurfaceIn *in, WadiRowCell cell, float enough_open);

#endif
