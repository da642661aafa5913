/* Density correction: the divergence that brings the particles of a cell back to their number. */
#ifndef WADI_FLIP_DENSITY_H
#define WADI_FLIP_DENSITY_H

#include "grid/rows.h"

typedef struct WadiFlipDensityIn {
    const WadiRows *rows;
    const uint8_t *fluid;     /* per row: bit l set where the cell of lane l is FLUID */
    const uint8_t *solid;     /* per row: cells inside solids */
    const float *fill;        /* per cell: volume of its particles / volume of a cell */
    const int32_t *solid_row; /* per row: where `fraction` has it (flip_row_table.h); may be NULL */
    const float *fraction;    /* per cell: part of its volume inside solids */
    const float *sand;        /* per cell: part of the particles that is sand; NULL: band[0] everywhere */
    const int32_t *fluid_row; /* per row with a FLUID cell: its row in the result; NULL: that has all rows */
    float band[2];            /* deviation of the fill that is let be, in water and in sand */
    float rate;               /* 1/s */
    bool is_one_sided;        /* never shrinks */
    const float *emitted;     /* per cell: fill that was emitted since the last step; NULL: none was */
    float emitted_rate;       /* 1/s: of the excess that was emitted, in water away from air */
    /* The correction fades out below these speeds, m/s, of `velocity` (faces), in water and in sand; 0: it does not. Else a heap
     * would creep for seconds, and still water never rest. */
    float slow[2];
    const float *velocity[3];    /* NULL: it never fades */
    const int32_t *velocity_row; /* per row: where `velocity` has it (flip_row_table.h); may be NULL */
    bool is_all_sand;            /* where `sand` is NULL */
} WadiFlipDensityIn;

/* expansion, 1/s, per cell of the rows of `fluid_row`: rate times the excess of the smoothed fill beyond the band,
 * times the open part of the cell; at least emitted_rate times what was emitted of that; 0 outside FLUID. */
void wadi_flip_density(const WadiFlipDensityIn *in, float *expansion);

#endif
