/* Surface tension: the curvature of the free surface, for the jump of pressure sigma kappa (flip_tension_push.h) that is the
 * value at the surface [ghost fluid: KFL00]. Walls are met at right angles. */
#ifndef WADI_FLIP_TENSION_H
#define WADI_FLIP_TENSION_H

#include "grid/rows.h"

typedef struct WadiFlipCurvatureIn {
    const WadiRows *rows;
    const uint8_t *fluid;     /* per row: bit l set where the cell of lane l is FLUID */
    const float *distance;    /* per cell: from the free surface, m, negative in fluid, cut off at one cell */
    const int32_t *solid_row; /* per row: where solid_fraction has it (flip_row_table.h); may be NULL */
    const float *solid_fraction; /* per cell; NULL: no solids */
    double cell_size;            /* m */
    int passes;                  /* of smoothing: WADI_FLIP_CURVATURE_PASSES */
} WadiFlipCurvatureIn;

enum { WADI_FLIP_CURVATURE_PASSES = 3 };

/* Sum of the principal curvatures, 1/m, positive for a drop, in FLUID cells beside air and air cells beside FLUID; 0
 * elsewhere. At most two a cell in size: finer the grid cannot show. */
WadiStatus wadi_flip_curvature(const WadiFlipCurvatureIn *in, float *curvature, WadiArena *scratch,
                               WadiError *error);

/* The longest step for which capillary waves of two cells stay bounded, s [BKZ92, with air of no density]. */
double wadi_flip_tension_step(double surface_tension, double density, double cell_size);

#endif
