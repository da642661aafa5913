/* Position of the free surface between fluid and air cells. [theory 4.1, 4.2] */
#ifndef WADI_FLIP_SURFACE_H
#define WADI_FLIP_SURFACE_H

#include "grid/row_vectors.h"
#include "grid/rows.h"

typedef struct WadiFlipSurfaceIn {
    const WadiRows *rows;
    const uint8_t *fluid;    /* per row: bit l set where the cell of lane l is FLUID */
    const uint8_t *occupied; /* the same of FLUID cells with particles; NULL: all */
    /* Per cell: volume of its particles / volume of a cell; 1 in the interior of the fluid. */
    const float *fill;
    const int32_t *solid_row; /* per row: its row in `fraction` (flip_row_table.h); may be NULL */
    const float *fraction;    /* per cell: fraction of its volume inside solids; NULL: none */
    bool is_at_rest;          /* no solid ever moves */
    float up[3];              /* against gravity, unit; 0 without gravity */
    double cell_size;         /* m */
} WadiFlipSurfaceIn;

/* Distance of the cell centres from the surface, m, negative in fluid, cut off at one cell. Exact for a
 * flat surface on faces of the grid.
 *
 * A cell with one particle is FLUID, but its centre may be above the surface, which the ghost fluid cannot
 * represent. `liquid`, a byte a row, gets labels that agree with the distance: FLUID cells with their
 * centre under the surface, and of those without such a neighbour (drops) the ones with particles and empty
 * ones beside them. If `liquid` is NULL, the sign of the distance follows the given labels. */
WadiStatus wadi_flip_surface_distance(const WadiFlipSurfaceIn *in, float *distance, uint8_t *liquid,
                                      WadiArena *scratch, WadiError *error);

typedef enum WadiFlipTheta {
    WADI_FLIP_THETA_ONE,   /* at the centre of the air cell: first order, for sand [theory 4.1] */
    WADI_FLIP_THETA_HALF,  /* on the face */
    WADI_FLIP_THETA_GHOST, /* by the distance: second order */
} WadiFlipTheta;

#define WADI_FLIP_THETA_MIN 0.01f

/* theta of the low faces of a row's cells from the distances on both sides; `here` has the bits of the
 * row's fluid cells. Valid only where exactly one of the two cells is fluid. */
static inline __attribute__((always_inline)) void wadi_flip_row_theta(const WadiF8 *own,
                                                                      const WadiF8 *neighbour, unsigned here,
                                                                      WadiF8 *theta)
{
    const WadiF8 one = (WadiF8){ 0 } + 1.0f, smallest = (WadiF8){ 0 } + WADI_FLIP_THETA_MIN;
    WadiI8 is_here;
    wadi_row_mask(here, &is_here);
    const WadiF8 inner = WADI_ROW_SELECT(is_here, *own, *neighbour);
    const WadiF8 outer = WADI_ROW_SELECT(is_here, *neighbour, *own), span = inner - outer;
    const WadiI8 is_between = span < 0.0f;
    const WadiF8 ratio = WADI_ROW_SELECT(is_between, inner / span, one);
    const WadiI8 is_above_smallest = ratio > smallest, is_less = ratio < one;
    *theta = WADI_ROW_SELECT(is_less, WADI_ROW_SELECT(is_above_smallest, ratio, smallest), one);
}

/* theta of every face, for WadiFlipProjectIn: phi_fluid / (phi_fluid - phi_air) in [WADI_FLIP_THETA_MIN, 1]
 * between fluid and air, 1 elsewhere. `distance` may be NULL except for WADI_FLIP_THETA_GHOST. */
void wadi_flip_surface_theta(const WadiRows *rows, const uint8_t *fluid, const float *distance,
                             WadiFlipTheta kind, float *const theta[3]);

#endif
