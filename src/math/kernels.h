/* Smoothing kernels with support radius h, in three and two dimensions: poly6 and spiky of [MCG03], and the
 * cubic spline [theory 11.1]. Not used yet: the sph solver needs them. */
#ifndef WADI_MATH_KERNELS_H
#define WADI_MATH_KERNELS_H

/* W(r) and dW/dr; zero for r >= h. `dimension` is 2 or 3. */
double wadi_kernel_cubic(double r, double h, int dimension);
double wadi_kernel_cubic_slope(double r, double h, int dimension);

/* [MCG03], 3D only. */
double wadi_kernel_poly6(double r, double h);
double wadi_kernel_spiky(double r, double h);
double wadi_kernel_spiky_slope(double r, double h);
double wadi_kernel_viscosity_laplacian(double r, double h);

#endif
