/* Nesterov's accelerated gradient method: the part of its last change that extrapolates a step. [N83] */
#ifndef WADI_MATH_NESTEROV_H
#define WADI_MATH_NESTEROV_H

#include <math.h>

/* t at the start of a solve whose guess is the solution of the last step: short waves are left. With 1 the
 * first two steps have no momentum, and friction takes five iterations instead of four. */
#define WADI_NESTEROV_WARM 3.0

/* t: 1 at the start and after a restart; then that of the next step. */
static inline double wadi_nesterov_momentum(double *t)
{
    const double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * *t * *t)), momentum = (*t - 1.0) / next;
    *t = next;
    return momentum;
}

#endif
