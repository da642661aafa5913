/* The exponential function, of the same bits on every machine: C libraries differ in the last bit. Within
 * 0.53 units in the last place. */
#ifndef WADI_MATH_EXP_H
#define WADI_MATH_EXP_H

double wadi_exp(double x);

#endif
