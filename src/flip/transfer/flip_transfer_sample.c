/* Velocity of the grid at any position, in double, for paths that leave a tile's copy. One hash look-up
 * finds the tile; all faces it needs are in it or in its neighbours. */
#include <math.h>

#include "flip/transfer/flip_transfer.h"

static const double CELL_LIMIT = 2147483584.0; /* as in tile_sort.c */

/* Trilinear value of a component from nodes `low` and low + 1 (cells from the tile's corner, -1 .. 7).
 * false: a row is missing. */
static bool interpolate(const WadiFlipGrid *grid, const int32_t *neighbours, int c, const int low[3],
                        const double f[3], double *value)
{
    double sum = 0.0;
    for (int n = 0; n < 4; ++n) {
        int y = low[1] + (n & 1), z = low[2] + (n >> 1);
        double wyz = (n & 1 ? f[1] : 1.0 - f[1]) * (n >> 1 ? f[2] : 1.0 - f[2]);
        for (int dx = 0; dx < 2; ++dx) {
            int x = low[0] + dx;
            /* >> 3 gives -1, 0, 1: the tile below, this one, the one above. */
            int32_t tile = neighbours[13 + (x >> 3) + 3 * (y >> 3) + 9 * (z >> 3)];
            int32_t row = wadi_rows_at(&grid->rows, tile, (y & 7) + 8 * (z & 7));
            if (row == 0) {
                return false;
            }
            double w = (dx ? f[0] : 1.0 - f[0]) * wyz;
            sum += w * (double)grid->velocity[c][WADI_ROW_CELLS * (size_t)row + (size_t)(x & 7)];
        }
    }
    *value = sum;
    return true;
}

bool wadi_flip_grid_sample(const WadiFlipGrid *grid, const double position[3], double u[3])
{
    double cell[3];
    for (int a = 0; a < 3; ++a) {
        cell[a] = floor(position[a]);
        if (!(fabs(cell[a]) <= CELL_LIMIT)) {
            return false;
        }
    }
    WadiTile tile = { (int32_t)cell[0] >> 3, (int32_t)cell[1] >> 3, (int32_t)cell[2] >> 3 };
    int32_t at = wadi_tile_map_find(&grid->tiles, tile);
    if (at < 0) {
        return false;
    }
    int whole[3], half[3];
    double f_whole[3], f_half[3];
    for (int a = 0; a < 3; ++a) {
        whole[a] = (int32_t)cell[a] & 7;
        f_whole[a] = position[a] - cell[a];
        bool is_up = f_whole[a] >= 0.5;
        half[a] = whole[a] - !is_up;
        f_half[a] = f_whole[a] + (is_up ? -0.5 : 0.5);
    }
    double result[3];
    for (int c = 0; c < 3; ++c) {
        int low[3];
        double f[3];
        for (int a = 0; a < 3; ++a) {
            low[a] = a == c ? whole[a] : half[a];
            f[a] = a == c ? f_whole[a] : f_half[a];
        }
        if (!interpolate(grid, grid->tiles.neighbours[at], c, low, f, &result[c])) {
            return false;
        }
    }
    u[0] = result[0];
    u[1] = result[1];
    u[2] = result[2];
    return true;
}
