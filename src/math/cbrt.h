/* The cube root, of the same bits on every machine: the C library's differs where the processor has a fused
 * multiply-add. Within a unit in the last place; exact for cubes of whole numbers below 2^17. */
#ifndef WADI_MATH_CBRT_H
#define WADI_MATH_CBRT_H

double wadi_cbrt(double x);

#endif
