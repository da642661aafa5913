/* Open fractions of faces and cells from the solid's distance at their corners.
 * Source: [NMG09] (area fractions of faces). A square with alternating corners is decided by the mean of
 * its corners. */
#include "flip/solids/flip_solid_fraction.h"

#include <math.h>

double wadi_square_open(const double d[4], double touch)
{
    double smallest = fmin(fmin(d[0], d[1]), fmin(d[2], d[3]));
    double largest = fmax(fmax(d[0], d[1]), fmax(d[2], d[3]));
    if (largest <= touch) {
        return 0.0;
    }
    if (smallest >= -touch) {
        return 1.0;
    }
    const double value[4] = { d[0], d[1], d[3], d[2] }; /* around the square */
    const int count = (value[0] > 0) + (value[1] > 0) + (value[2] > 0) + (value[3] > 0);
    const int is_saddle = count == 2 && (value[0] > 0) == (value[2] > 0);
    /* Corners on the smaller side cut off triangles; without such corners the cut is a trapezium. */
    const int cuts_open = count == 1 || (is_saddle && d[0] + d[1] + d[2] + d[3] <= 0);
    if (count == 2 && !is_saddle) {
        double area = 0.0;
        for (int i = 0; i < 4; ++i) {
            double a = value[i], b = value[(i + 1) & 3], c = value[(i + 2) & 3], e = value[(i + 3) & 3];
            if (a > 0 && b > 0) {
                area = 0.5 * (b / (b - c) + a / (a - e));
            }
        }
        return area;
    }
    double triangles = 0.0;
    for (int i = 0; i < 4; ++i) {
        double a = value[i], before = value[(i + 3) & 3], after = value[(i + 1) & 3];
        if ((a > 0) == (cuts_open != 0)) {
            triangles += 0.5 * (a / (a - before)) * (a / (a - after));
        }
    }
    return cuts_open ? triangles : 1.0 - triangles;
}

/* Simpson's rule over three sections across the axis with the smallest change of the distance: there the
 * sections vary most smoothly. */
double wadi_cube_open(const double d[8], double touch)
{
    static const int across[3][4] = { { 0, 2, 4, 6 }, { 0, 1, 4, 5 }, { 0, 1, 2, 3 } };
    int best = 0;
    double smallest = INFINITY;
    for (int axis = 0; axis < 3; ++axis) {
        double change = 0.0;
        for (int n = 0; n < 4; ++n) {
            change += fabs(d[across[axis][n] + (1 << axis)] - d[across[axis][n]]);
        }
        if (change < smallest) {
            smallest = change;
            best = axis;
        }
    }
    double low[4], middle[4], high[4];
    for (int n = 0; n < 4; ++n) {
        low[n] = d[across[best][n]];
        high[n] = d[across[best][n] + (1 << best)];
        middle[n] = 0.5 * (low[n] + high[n]);
    }
    return (wadi_square_open(low, touch) + 4.0 * wadi_square_open(middle, touch) +
            wadi_square_open(high, touch)) /
           6.0;
}
