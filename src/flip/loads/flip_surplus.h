/* What the pressure of a first-order surface has too much. [theory 5.7] */
#ifndef WADI_FLIP_LOADS_FLIP_SURPLUS_H
#define WADI_FLIP_LOADS_FLIP_SURPLUS_H

#include "flip/flip.h"

/* As P, m/s; `weight` is the growth of P along the axes over a cell of material at rest. */
double wadi_flip_surplus(const WadiFlip *flip, const WadiFlipStep *step, const double weight[3]);

#endif
