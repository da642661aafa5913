/* Density correction: the divergence that restores the number of particles in a cell. [theory 4.3] */
#ifndef WADI_FLIP_DENSITY_H
#define WADI_FLIP_DENSITY_H

#include "grid/rows.h"

typedef struct WadiFlipDensityIn {
    const WadiRows *rows;
    const uint8_t *fluid;     /* per row: bit l set where the cell of lane l is FLUID */
    const uint8_t *solid;     /* per row: cells inside solids */
    const float *fill;        /* per cell: volume of its particles / volume of a cell */
    const int32_t *solid_row; /* per row: its row in `fraction` (flip_row_table.h); may be NULL */
    const float *fraction;    /* per cell: fraction of its volume inside solids */
    const float *sand;        /* per cell: fraction of its particles that is sand; NULL: band[0] everywhere */
    /* Per row with a FLUID cell: its row in the result; NULL: the result has all rows. */
    const int32_t *fluid_row;
    float band[2];        /* deviation of the fill that is not corrected, in water and in sand */
    float rate;           /* 1/s */
    bool is_one_sided;    /* never shrinks */
    const float *emitted; /* per cell: fill emitted since the last step; NULL: none */
    float emitted_rate;   /* 1/s: for the emitted part of the excess, in water away from air */
    /* m/s, in water and in sand: below these speeds of `velocity` the correction fades out; 0: it does
     * not. Otherwise heaps would creep and still water would never rest. */
    float slow[2];
    const float *velocity[3];    /* NULL: it never fades */
    const int32_t *velocity_row; /* per row: its row in `velocity` (flip_row_table.h); may be NULL */
    bool is_all_sand;            /* used if `sand` is NULL */
    const uint8_t *compressed;   /* per row: cells that a solid compressed do not fade; NULL: none */
    const uint8_t *held;         /* per row: bonded sand below its yield law keeps its density; NULL: none */
    uint8_t *has_room;           /* per row, set if `compressed` is: cells without excess beyond the band */
} WadiFlipDensityIn;

/* expansion, 1/s, per cell of the rows of `fluid_row`: rate times the excess of the smoothed fill beyond
 * the band times the cell's open fraction; at least emitted_rate times its emitted part; 0 outside FLUID. */
void wadi_flip_density(const WadiFlipDensityIn *in, float *expansion);

#endif
