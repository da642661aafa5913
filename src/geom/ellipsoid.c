/* Signed distance to an ellipsoid: the nearest surface point satisfies (y - x) parallel to the gradient,
 * which is one equation in the multiplier.
 * Source: D. Eberly, "Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid" (2013).
 * Differs: the unknown is u = s + 1, which keeps full precision next to the pole at the smallest radius, and
 * the root is bracketed by Newton steps from the left (the function is convex and falling, so they never
 * overshoot) beside bisection, instead of bisection alone. */
#include "geom/primitives.h"

/* g(u) = sum (r_i z_i / (u + r_i - 1))^2 - 1 and its derivative; u > 0 where z_2 > 0. */
static double residual(const double rz[3], const double shift[3], double u, double *slope)
{
    double g = -1.0, d = 0.0;
    for (int i = 0; i < 3; ++i) {
        if (rz[i] > 0.0) {
            double q = rz[i] / (u + shift[i]);
            g += q * q;
            d -= 2.0 * q * q / (u + shift[i]);
        }
    }
    *slope = d;
    return g;
}

static double find_root(const double rz[3], const double shift[3], double low, double high)
{
    for (int i = 0; i < 80 && high - low > 4e-16 * high; ++i) {
        double slope;
        double g = residual(rz, shift, low, &slope);
        if (!(g > 0.0)) {
            return low;
        }
        double step = -g / slope;
        if (!(step > 2e-16 * low)) {
            return low;
        }
        low = fmin(low + step, high);
        double middle = high > 4.0 * low ? sqrt(low) * sqrt(high) : 0.5 * (low + high);
        if (residual(rz, shift, middle, &slope) > 0.0) {
            low = fmax(low, middle);
        } else {
            high = middle;
        }
    }
    return low;
}

double wadi_ellipsoid_distance(WadiVec3 radii, WadiVec3 x, WadiVec3 *normal)
{
    double e[3] = { radii.x, radii.y, radii.z }, y[3] = { fabs(x.x), fabs(x.y), fabs(x.z) };
    int order[3] = { 0, 1, 2 }; /* radii falling, so that the last is the smallest */
    for (int pass = 0; pass < 3; ++pass) {
        int i = pass % 2;
        if (e[order[i]] < e[order[i + 1]]) {
            int swap = order[i];
            order[i] = order[i + 1];
            order[i + 1] = swap;
        }
    }
    double smallest = e[order[2]];
    double rz[3], shift[3], inside = 0.0, low = 0.0, high = 0.0;
    for (int k = 0; k < 3; ++k) {
        double ek = e[order[k]], ratio = ek / smallest, z = y[order[k]] / ek;
        rz[k] = ratio * ratio * z;
        shift[k] = (ratio - 1.0) * (ratio + 1.0);
        inside += z * z;
        low = fmax(low, rz[k] - shift[k]);
        high += rz[k] * rz[k];
    }
    high = fmax(sqrt(high), low);

    double nearest[3];
    double slope;
    bool has_pole = rz[2] > 0.0 || (rz[1] > 0.0 && shift[1] == 0.0) || (rz[0] > 0.0 && shift[0] == 0.0);
    if (!has_pole && low == 0.0 && !(residual(rz, shift, 0.0, &slope) > 0.0)) {
        /* In the plane of the two larger radii and near the centre: the nearest point lies on the normal
         * of that plane. */
        double sum = 0.0;
        for (int k = 0; k < 2; ++k) {
            double q = rz[k] > 0.0 ? rz[k] / shift[k] : 0.0;
            nearest[order[k]] = q * e[order[k]];
            sum += q * q;
        }
        nearest[order[2]] = smallest * sqrt(fmax(1.0 - sum, 0.0));
    } else {
        double u = find_root(rz, shift, low, high);
        for (int k = 0; k < 3; ++k) {
            nearest[order[k]] = rz[k] > 0.0 ? e[order[k]] * rz[k] / (u + shift[k]) : 0.0;
        }
    }
    const double sign[3] = { x.x < 0.0 ? -1.0 : 1.0, x.y < 0.0 ? -1.0 : 1.0, x.z < 0.0 ? -1.0 : 1.0 };
    if (normal != NULL) {
        /* Scaled by the smallest radius, so that tiny and huge ellipsoids neither under- nor overflow. */
        double n[3];
        for (int i = 0; i < 3; ++i) {
            n[i] = sign[i] * (nearest[i] / e[i]) * (smallest / e[i]);
        }
        *normal = wadi_normalized_or(wadi_vec3(n[0], n[1], n[2]), wadi_vec3(0, 0, 1));
    }
    double distance = wadi_norm(wadi_vec3(y[0] - nearest[0], y[1] - nearest[1], y[2] - nearest[2]));
    return inside < 1.0 ? -distance : distance;
}
