/* Passes over rows of the viscosity solve. A vector is three arrays, one a component, zero where there is
 * no unknown. */
#ifndef WADI_FLIP_VISCOSITY_PASSES_H
#define WADI_FLIP_VISCOSITY_PASSES_H

#include "flip/viscosity/flip_viscosity.h"

enum { WADI_VISCOUS_BLOCK = 256 }; /* rows */

typedef struct WadiViscousPasses {
    const WadiFlipViscous *viscous;
    float *stress[6];       /* per cell: xx, yy, zz, and xy, xz, yz at the low edges */
    const float *strain[6]; /* added to that of u in wadi_viscous_force; NULL: none */
    const int32_t *strain_row;
    float *inverse[3];
    double *partials;
} WadiViscousPasses;

/* inverse = 1 / diagonal of the operator. */
void wadi_viscous_diagonal(const WadiViscousPasses *passes);
/* q = A p; returns p . q. Other faces of p may hold values, which act as prescribed velocities. */
double wadi_viscous_multiply(const WadiViscousPasses *passes, float *const p[3], float *const q[3]);
/* r = div stress of u: the initial residual. Returns the largest |r|. */
double wadi_viscous_force(const WadiViscousPasses *passes, float *const u[3], float *const r[3]);
/* x += alpha p, r -= alpha q; returns the largest |r|. */
double wadi_viscous_advance(const WadiViscousPasses *passes, float alpha, float *const p[3],
                            float *const q[3], float *const x[3], float *const r[3]);
/* z = r / diagonal; returns r . z. */
double wadi_viscous_scale(const WadiViscousPasses *passes, float *const r[3], float *const z[3]);
/* p = z + beta p. */
void wadi_viscous_direction(const WadiViscousPasses *passes, float beta, float *const z[3],
                            float *const p[3]);

#endif
