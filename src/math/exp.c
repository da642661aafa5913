#include "math/exp.h"

#include <math.h>

/* ln 2 in two parts; the first ends in zeros, so that its product with an exponent is exact. */
static const double LN2 = 0x1.62e42feep-1, LN2_REST = 0x1.a39ef35793c76p-33;

/* r^3 / 3! + r^4 / 4! + … + r^16 / 16!. */
static double cubic_and_more(double r)
{
    double sum = 1.0;
    for (int n = 16; n > 3; --n) {
        sum = 1.0 + sum * r / n;
    }
    return sum * r * r * r / 6.0;
}

/* exp(r + rest), |r| <= ln 2 / 2: the terms 1, r and r^2 / 2 are added with what their rounding loses. */
static double near_zero(double r, double rest)
{
    const double split = 134217729.0 * r; /* 2^27 + 1: halves of 26 bits [Dekker] */
    const double high = split - (split - r), low = r - high;
    const double square = r * r, square_rest = ((high * high - square) + 2.0 * high * low) + low * low;
    const double sum = 1.0 + r, sum_rest = r - (sum - 1.0);
    const double all = sum + 0.5 * square, all_rest = 0.5 * square - (all - sum);
    return all + (((0.5 * square_rest + rest * sum) + (sum_rest + all_rest)) + cubic_and_more(r));
}

double wadi_exp(double x)
{
    if (isnan(x) || x > 710.0) {
        return isnan(x) ? x : (double)INFINITY;
    }
    if (x < -746.0) {
        return 0.0;
    }
    const double power = rint(x * 0x1.71547652b82fep+0); /* of 2 */
    const double high = x - power * LN2, low = -power * LN2_REST;
    const double r = high + low;
    return ldexp(near_zero(r, (high - r) + low), (int)power);
}
