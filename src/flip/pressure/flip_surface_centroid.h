/* Centroids of the open parts of cells that walls cut. [theory 4.2] */
#ifndef WADI_FLIP_SURFACE_CENTROID_H
#define WADI_FLIP_SURFACE_CENTROID_H

#include "flip/pressure/flip_surface.h"
#include "flip/transfer/flip_row_table.h"
#include "grid/row_lanes.h"

/* Open part of a cell; 0 where there is none. */
static inline float wadi_flip_open_of(const WadiFlipSurfaceIn *in, WadiRowCell cell)
{
    return cell.row != 0 ? 1.0f - in->fraction[wadi_table_cell(in->solid_row, wadi_row_cell_index(cell))]
                         : 0.0f;
}

/* What is added to the depth that the smoothed fill of a cell gives, in cells: half the height over the
 * cell's centre of the centroid of the space that the fill refers to. 0 where no wall cuts this space and
 * in scenes with moving solids.
 * enough_open: smoothed open fraction up to which neighbours of the cell are part of this space; 0: none. */
float wadi_flip_centroid_height(const WadiFlipSurfaceIn *in, WadiRowCell cell, float enough_open);

#endif
