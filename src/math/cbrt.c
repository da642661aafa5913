#include "math/cbrt.h"

#include <math.h>

double wadi_cbrt(double x)
{
    if (x == 0.0 || !isfinite(x)) {
        return x;
    }
    int exponent;
    double a = frexp(fabs(x), &exponent); /* 0.5 to 1 */
    const int third = exponent >= 0 ? exponent / 3 : -((2 - exponent) / 3);
    a = ldexp(a, exponent - 3 * third); /* 0.5 to 4 */
    /* Of a^(1/3) to 8 %; each step of Halley's method leaves about the cube of the error. */
    double y = 0.68 + 0.34 * a - 0.036 * a * a;
    for (int step = 0; step < 3; ++step) {
        const double cube = y * y * y;
        y *= (cube + 2.0 * a) / (2.0 * cube + a);
    }
    y -= (y * y * y - a) / (3.0 * y * y); /* what rounding left */
    return copysign(ldexp(y, third), x);
}
