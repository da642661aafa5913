/* Surface tension: curvature kappa of the free surface, where the pressure jumps by sigma kappa
 * (flip_tension_push.h) [ghost fluid: KFL00; theory 4.4]. The surface meets walls at right angles. */
#ifndef WADI_FLIP_TENSION_H
#define WADI_FLIP_TENSION_H

#include "grid/rows.h"

typedef struct WadiFlipCurvatureIn {
    const WadiRows *rows;
    const uint8_t *fluid;     /* per row: bit l set where the cell of lane l is FLUID */
    const float *distance;    /* per cell: from the free surface, m, negative in fluid, cut off at one cell */
    const int32_t *solid_row; /* per row: its row in solid_fraction (flip_row_table.h); may be NULL */
    const float *solid_fraction; /* per cell; NULL: no solids */
    double cell_size;            /* m */
    int passes;                  /* of smoothing: WADI_FLIP_CURVATURE_PASSES */
} WadiFlipCurvatureIn;

enum { WADI_FLIP_CURVATURE_PASSES = 3 };

/* Sum of the principal curvatures, 1/m, positive for a drop, in FLUID cells next to air and air cells next
 * to FLUID; 0 elsewhere. At most 2 / cell_size, the limit of the grid. */
WadiStatus wadi_flip_curvature(const WadiFlipCurvatureIn *in, float *curvature, WadiArena *scratch,
                               WadiError *error);

/* The longest step for which capillary waves of two cells stay bounded, s [BKZ92, with air of no density]. */
double wadi_flip_tension_step(double surface_tension, double density, double cell_size);

#endif
