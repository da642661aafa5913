/* Friction that grows with the rate of shear: k = k_s (1 + (ratio - 1) I / (I_0 + I)), I = |shear rate| d /
 * sqrt(p / rho). */
#ifndef WADI_FLIP_FRICTION_RATE_H
#define WADI_FLIP_FRICTION_RATE_H

#include "grid/rows.h"

typedef struct WadiFrictionRateIn {
    const WadiRows *rows;
    const uint8_t *fluid;        /* per row: bit l set where lane l is FLUID */
    const float *velocity[3];    /* per face, m/s: the motion of the last step */
    const int32_t *velocity_row; /* per row: its row in `velocity` (flip_row_table.h); may be NULL */
    const double *pressure;      /* P of the last step, m/s, as in WadiFrictionLoad */
    const int32_t *pressure_row; /* per row: its row in `pressure` (flip_row_table.h); may be NULL */
    double cell_size, dt;        /* m, s */
    double gravity_dt;           /* m/s: pressures below a thousandth of a cell's weight count as that */
    const float *ratio;          /* per cell: slope of fast sand over that of slow sand, >= 1 */
    const float *grain_size;     /* per cell: d, m */
    double inertial_number;      /* I_0: where half of the difference is reached; 0.3 */
} WadiFrictionRateIn;

/* Multiplies k of the FLUID cells. */
void wadi_friction_rate(const WadiFrictionRateIn *in, float *k);

#endif
