/* Eight contacts at a time: records of eight floats become eight vectors of one component each, and back.
 *
 * Never pass or return vectors by value: their calling convention depends on the target. */
#ifndef WADI_DEM_VECTORS_H
#define WADI_DEM_VECTORS_H

#include <math.h>

#include "grid/row_vectors.h"

enum { WADI_DEM_LANES = 8 };

/* Element l of vector c becomes element c of vector l. */
static inline __attribute__((always_inline)) void wadi_dem_transpose(WadiF8 r[8])
{
    WadiF8 a[8], b[8];
    for (int n = 0; n < 8; n += 2) {
        a[n] = __builtin_shufflevector(r[n], r[n + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        a[n + 1] = __builtin_shufflevector(r[n], r[n + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int n = 0; n < 8; n += 4) {
        b[n] = __builtin_shufflevector(a[n], a[n + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        b[n + 1] = __builtin_shufflevector(a[n], a[n + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        b[n + 2] = __builtin_shufflevector(a[n + 1], a[n + 3], 0, 1, 8, 9, 4, 5, 12, 13);
        b[n + 3] = __builtin_shufflevector(a[n + 1], a[n + 3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int n = 0; n < 4; ++n) {
        r[n] = __builtin_shufflevector(b[n], b[n + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        r[n + 4] = __builtin_shufflevector(b[n], b[n + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

/* Square roots by lane, correctly rounded on every processor. */
#ifdef __AVX__
#define WADI_SQRT8(a) ((WadiF8)_mm256_sqrt_ps((__m256)(a)))
#else
static inline __attribute__((always_inline)) void wadi_dem_sqrt(const WadiF8 *a, WadiF8 *root)
{
    for (int l = 0; l < 8; ++l) {
        (*root)[l] = sqrtf((*a)[l]);
    }
}
#define WADI_SQRT8(a)                                                                                        \
    __extension__({                                                                                          \
        WadiF8 wadi_sqrt_in = (a), wadi_sqrt_out;                                                            \
        wadi_dem_sqrt(&wadi_sqrt_in, &wadi_sqrt_out);                                                        \
        wadi_sqrt_out;                                                                                       \
    })
#endif

#endif
