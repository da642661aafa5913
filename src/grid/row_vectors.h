/* Rows as vectors: eight floats, and doubles by half rows, by the vector extensions of gcc and clang.
 *
 * Never pass or return vectors by value: their calling convention depends on the target. */
#ifndef WADI_GRID_ROW_VECTORS_H
#define WADI_GRID_ROW_VECTORS_H

#ifdef __AVX__
#include <immintrin.h>
#endif

#include "grid/rows.h"

typedef float WadiF8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t WadiI8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t WadiU8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint8_t WadiB32 __attribute__((vector_size(32), aligned(1), may_alias));
typedef float WadiF4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef double WadiD4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t WadiL4 __attribute__((vector_size(32), aligned(8), may_alias));

/* The eight floats of a row, and four doubles from `lane` on; _OUT to write. */
#define WADI_ROW(array, row) (*(const WadiF8 *)((array) + WADI_ROW_CELLS * (size_t)(row)))
#define WADI_ROW_OUT(array, row) (*(WadiF8 *)((array) + WADI_ROW_CELLS * (size_t)(row)))
#define WADI_HALF(array, row, lane) (*(const WadiD4 *)((array) + WADI_ROW_CELLS * (size_t)(row) + (lane)))
#define WADI_HALF_OUT(array, row, lane) (*(WadiD4 *)((array) + WADI_ROW_CELLS * (size_t)(row) + (lane)))
/* Each cell's neighbour along x, from the row and the previous or next one. */
#define WADI_ROW_SHIFT_UP(before, row) __builtin_shufflevector(before, row, 7, 8, 9, 10, 11, 12, 13, 14)
#define WADI_ROW_SHIFT_DOWN(row, after) __builtin_shufflevector(row, after, 1, 2, 3, 4, 5, 6, 7, 8)
#define WADI_ROW_LOW(row) __builtin_shufflevector(row, row, 0, 1, 2, 3)
#define WADI_ROW_HIGH(row) __builtin_shufflevector(row, row, 4, 5, 6, 7)
/* Conversions, and a > b ? a : b or a < b ? a : b by lane: one instruction each, where gcc makes several of
 * the plain form. */
#ifdef __AVX__
#define WADI_DOUBLES(four) ((WadiD4)_mm256_cvtps_pd((__m128)(four)))
#define WADI_FLOATS(four) ((WadiF4)_mm256_cvtpd_ps((__m256d)(four)))
#define WADI_MAX8(a, b) ((WadiF8)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define WADI_MIN8(a, b) ((WadiF8)_mm256_min_ps((__m256)(a), (__m256)(b)))
#else
#define WADI_DOUBLES(four) __builtin_convertvector(four, WadiD4)
#define WADI_FLOATS(four) __builtin_convertvector(four, WadiF4)
#define WADI_MAX8(a, b) WADI_ROW_SELECT((a) > (b), a, b)
#define WADI_MIN8(a, b) WADI_ROW_SELECT((a) < (b), a, b)
#endif
#define WADI_ROW_LOW_DOUBLE(row) WADI_DOUBLES(WADI_ROW_LOW(row))
#define WADI_ROW_HIGH_DOUBLE(row) WADI_DOUBLES(WADI_ROW_HIGH(row))

/* Sets all bits of the lanes whose bit is set. */
static inline __attribute__((always_inline)) void wadi_row_mask(unsigned bits, WadiI8 *mask)
{
    const WadiI8 bit = { 1, 2, 4, 8, 16, 32, 64, 128 };
    const WadiB32 all = (WadiB32){ 0 } + (uint8_t)bits; /* as bytes: one instruction from memory */
    *mask = ((WadiI8)all & bit) == bit;
}

/* One bit per lane of a mask. */
static inline __attribute__((always_inline)) unsigned wadi_row_bits(const WadiI8 *mask)
{
#ifdef __AVX__
    return (unsigned)_mm256_movemask_ps((__m256)*mask);
#else
    const WadiI8 bit = { 1, 2, 4, 8, 16, 32, 64, 128 };
    WadiI8 sum = *mask & bit;
    sum |= __builtin_shufflevector(sum, sum, 4, 5, 6, 7, 0, 1, 2, 3);
    sum |= __builtin_shufflevector(sum, sum, 2, 3, 0, 1, 6, 7, 4, 5);
    sum |= __builtin_shufflevector(sum, sum, 1, 0, 3, 2, 5, 4, 7, 6);
    return (unsigned)sum[0];
#endif
}

/* The same for four doubles. */
static inline __attribute__((always_inline)) unsigned wadi_half_bits(const WadiL4 *mask)
{
#ifdef __AVX__
    return (unsigned)_mm256_movemask_pd((__m256d)*mask);
#else
    return (unsigned)(((*mask)[0] & 1) | ((*mask)[1] & 2) | ((*mask)[2] & 4) | ((*mask)[3] & 8));
#endif
}

/* `yes` where the mask is set, else `no`. */
#define WADI_ROW_SELECT(mask, yes, no) ((WadiF8)(((WadiI8)(yes) & (mask)) | ((WadiI8)(no) & ~(mask))))

#endif
