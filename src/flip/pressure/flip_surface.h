/* Where the free surface lies between fluid and air cells. */
#ifndef WADI_FLIP_SURFACE_H
#define WADI_FLIP_SURFACE_H

#include "grid/row_vectors.h"
#include "grid/rows.h"

typedef struct WadiFlipSurfaceIn {
    const WadiRows *rows;
    const uint8_t *fluid; /* per row: bit l set where the cell of lane l is FLUID */
    const float
        *fill; /* per cell: volume of its particles / volume of a cell; 1 in the interior of the fluid */
    const int32_t *solid_row; /* per row: where `fraction` has it (flip_row_table.h); may be NULL */
    const float *fraction;    /* per cell: part of its volume inside solids; NULL: none */
    double cell_size;         /* m */
} WadiFlipSurfaceIn;

/* Distance of the cells' centres from the surface, m, negative in fluid; cut off at one cell. Exact for a
 * flat surface along the grid that lies on faces.
 *
 * A cell with one particle is FLUID, but its centre may be above the surface, which the ghost fluid cannot
 * express: the surface would be lifted by a quarter of a cell on average. `liquid`, a byte a row, gets the
 * labels that go with the distance: FLUID cells whose centre is under the surface, and those that have no
 * such cell beside them (drops). The sign agrees with these, or, when `liquid` is NULL, with the labels
 * given. */
WadiStatus wadi_flip_surface_distance(const WadiFlipSurfaceIn *in, float *distance, uint8_t *liquid,
                                      WadiArena *scratch, WadiError *error);

typedef enum WadiFlipTheta {
    WADI_FLIP_THETA_ONE,   /* the surface is thought at the air cell's centre: first order, cleanest rest for
                              sand */
    WADI_FLIP_THETA_HALF,  /* on the face */
    WADI_FLIP_THETA_GHOST, /* where the distance says */
} WadiFlipTheta;

/* theta of the faces on the low side of a row's cells, by the distances of its cells and of those beside them, where `here`,
 * the bits of the fluid cells of the row, tells that one of the two is fluid; of no meaning elsewhere. */
static inline __attribute__((always_inline)) void wadi_flip_row_theta(const WadiF8 *own, const WadiF8 *beside,
                                                                      unsigned here, WadiF8 *theta)
{
    const WadiF8 one = (WadiF8){ 0 } + 1.0f, least = (WadiF8){ 0 } + 0.01f;
    WadiI8 is_here;
    wadi_row_mask(here, &is_here);
    const WadiF8 inner = WADI_ROW_SELECT(is_here, *own, *beside);
    const WadiF8 outer = WADI_ROW_SELECT(is_here, *beside, *own), span = inner - outer;
    const WadiI8 is_between = span < 0.0f;
    const WadiF8 part = WADI_ROW_SELECT(is_between, inner / span, one);
    const WadiI8 is_enough = part > least, is_less = part < one;
    *theta = WADI_ROW_SELECT(is_less, WADI_ROW_SELECT(is_enough, part, least), one);
}

/* theta of every face, for WadiFlipProjectIn: phi_fluid / (phi_fluid - phi_air) in [0.01, 1] between fluid
 * and air, 1 elsewhere. `distance` may be NULL unless the ghost fluid is asked for. */
void wadi_flip_surface_theta(const WadiRows *rows, const uint8_t *fluid, const float *distance,
                             WadiFlipTheta kind, float *const theta[3]);

#endif
