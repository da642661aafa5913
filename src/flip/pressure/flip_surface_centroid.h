/* Centroids of the open parts of cells that walls cut. [theory 4.2] */
#ifndef WADI_FLIP_SURFACE_CENTROID_H
#define WADI_FLIP_SURFACE_CENTROID_H

#include "flip/pressure/flip_surface_space.h"
#include "grid/row_lanes.h"

/* What is added to the depth that the smoothed fill of a cell gives, in cells: half the height over the
 * cell's centre of the centroid of the space that the fill refers to. 0 where no wall cuts this space. The
 * cell lies in a tile near cut cells.
 * enough_open: smoothed open fraction up to which neighbours of the cell are part of this space; 0: none. */
float wadi_flip_centroid_height(const WadiFlipSurfaceIn *in, const WadiFlipSpace *space, WadiRowCell cell,
                                float enough_open);

#endif
