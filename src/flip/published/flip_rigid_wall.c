/* Friction along solids as a change of velocity [ZB05 eq. 4, after BFA02]: u_T <- max(0, 1 - mu I / |u_T|)
 * u_T.
 * Differs: the impulse I is the wall's pressure; the printed speed into the wall is that of one cell, so
 * that a slab of N cells gets 1/N of the friction (`wall_friction: zb05`). */
#include <math.h>

#include "flip/published/flip_rigid_cells.h"
#include "flip/transfer/flip_row_table.h"

/* Factor of the slip of a cell after friction at one facet. */
static float facet_factor(const WadiFrictionGrid *grid, const WadiRigidWalls *walls, float *const velocity[3],
                          int32_t c, int side)
{
    int normal = side >> 1;
    int32_t wall = wadi_cell_neighbour(grid->rows, c, side);
    double impulse = 0.0;
    if (walls->pressure != NULL) {
        impulse = fmax(walls->pressure[wadi_table_cell(grid->pressure_row, (size_t)c)], 0.0);
    } else {
        int32_t face = side & 1 ? wall : c;
        double into = (double)walls->before[normal][face] - (double)wadi_solid_speed(grid, normal, face);
        impulse = fmax(side & 1 ? into : -into, 0.0);
    }
    double square = 0.0;
    for (int b = 0; b < 3; ++b) {
        double sum = 0.0;
        int count = 0;
        for (int high = 0; high < 2 && b != normal; ++high) {
            int32_t at = high ? wadi_cell_neighbour(grid->rows, c, 2 * b + 1) : c;
            if (wadi_face_is_free(grid, at, b)) {
                int32_t solid = wadi_cell_neighbour(grid->rows, at, side);
                sum += (double)velocity[b][at] - (double)wadi_solid_speed(grid, b, solid);
                count += 1;
            }
        }
        square += count > 0 ? sum * sum / (count * count) : 0.0;
    }
    double slip = sqrt(square), bound = (double)walls->wall_friction[wall] * impulse;
    if (walls->held != NULL && bound > 0.0 && slip <= bound) {
        walls->held[c] |= (uint8_t)(1 << side);
    }
    return slip > bound ? (float)(1.0 - bound / slip) : 0.0f;
}

/* One side after the other: first the factors of all its facets, then the faces, with the mean over a
 * face's FLUID cells. */
WadiStatus wadi_rigid_wall_friction(const WadiFrictionGrid *grid, const WadiRigidWalls *walls,
                                    float *const velocity[3], WadiArena *arena, WadiError *error)
{
    int32_t cells = 8 * grid->rows->count;
    float *factor;
    WADI_TRY(WADI_ARENA_NEW(arena, &factor, (size_t)cells, "wall friction", error));
    for (int side = 0; side < 6; ++side) {
        int64_t facets = 0;
        for (int32_t c = 0; c < cells; ++c) {
            factor[c] = 1.0f;
            bool is_facet = wadi_cell_bit(grid->fluid, c) &&
                            wadi_cell_bit(grid->solid, wadi_cell_neighbour(grid->rows, c, side));
            if (is_facet) {
                factor[c] = facet_factor(grid, walls, velocity, c, side);
                facets += 1;
            }
        }
        for (int32_t c = wadi_cell_with_faces(grid, 8, cells); facets > 0 && c < cells;
             c = wadi_cell_with_faces(grid, c + 1, cells)) {
            for (int b = 0; b < 3; ++b) {
                if (b == side >> 1 || !wadi_face_is_free(grid, c, b)) {
                    continue;
                }
                int32_t low = wadi_cell_neighbour(grid->rows, c, 2 * b);
                int here_is_fluid = wadi_cell_bit(grid->fluid, c),
                    low_is_fluid = wadi_cell_bit(grid->fluid, low);
                float factor_mean =
                    ((here_is_fluid ? factor[c] : 0.0f) + (low_is_fluid ? factor[low] : 0.0f)) /
                    (float)(here_is_fluid + low_is_fluid);
                float solid = factor_mean < 1.0f
                                  ? wadi_solid_speed(grid, b, wadi_cell_neighbour(grid->rows, c, side))
                                  : 0.0f;
                velocity[b][c] =
                    factor_mean < 1.0f ? solid + factor_mean * (velocity[b][c] - solid) : velocity[b][c];
            }
        }
    }
    return WADI_OK;
}
