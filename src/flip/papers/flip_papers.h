/* What `friction: zb05` and `published: zb05` share. */
#ifndef WADI_FLIP_PAPERS_H
#define WADI_FLIP_PAPERS_H

#include "flip/flip.h"
#include "flip/published/flip_rigid.h"

/* Coefficient of friction in cells of solids next to the sand; the cells for the stages of flip_rigid.h:
 * flip_solve_zb05.c. */
WadiStatus wadi_flip_wall_coefficients(const WadiFlip *flip, const WadiFlipStep *step, float **mu,
                                       WadiError *error);
WadiFrictionGrid wadi_flip_rigid_grid(const WadiFlipStep *step);

#endif
