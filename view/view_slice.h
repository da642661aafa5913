/* A plane of cells through the domain: what is in each of them, and the mean velocity of its particles. */
#ifndef WADI_VIEW_SLICE_H
#define WADI_VIEW_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wadi/sim.h"

typedef enum WadiViewCell {
    WADI_VIEW_AIR = 0,
    WADI_VIEW_WATER = 1, /* bits: a cell may have both */
    WADI_VIEW_SAND = 2,
    WADI_VIEW_SOLID = 4, /* its middle is in a collider */
} WadiViewCell;

/* The plane is `axis` = low + layer + 1/2 cells; u and v are the other two axes in their order. */
typedef struct WadiViewSlice {
    int axis, layer, count[2];
    double low[3], cell;  /* m */
    uint8_t *type;        /* of count[0] * count[1] cells, u fastest */
    float (*velocity)[2]; /* m/s along u and v */
    uint32_t *particles;
} WadiViewSlice;

typedef struct WadiViewSliceInput {
    int axis;
    double fraction; /* 0..1 of the box */
    double low[3], high[3], cell_size;
    WadiView position, velocity, material;
    const bool *is_water; /* by material */
} WadiViewSliceInput;

/* False: no memory, or there is nothing to cut. Cells are larger than cell_size where there would be more
 * than WADI_VIEW_SLICE_CELLS. Solid cells are marked by the caller. */
enum { WADI_VIEW_SLICE_CELLS = 40000 };
bool wadi_view_slice_make(WadiViewSlice *slice, const WadiViewSliceInput *input);
void wadi_view_slice_free(WadiViewSlice *slice);
/* The middle of cell n. */
void wadi_view_slice_middle(const WadiViewSlice *slice, size_t n, double at[3]);
/* The message for the page; NULL: no memory. view/README.md has its layout. */
unsigned char *wadi_view_slice_message(const WadiViewSlice *slice, size_t *size);

#endif
