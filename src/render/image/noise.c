#include "render/image/noise.h"

#include <math.h>

#include "core/random.h"

double wadi_value_noise(WadiVec3 x, uint64_t seed)
{
    double low[3] = { floor(x.x), floor(x.y), floor(x.z) },
           t[3] = { x.x - low[0], x.y - low[1], x.z - low[2] };
    for (int axis = 0; axis < 3; ++axis) {
        t[axis] = t[axis] * t[axis] * (3.0 - 2.0 * t[axis]);
    }
    double sum = 0.0;
    for (int n = 0; n < 8; ++n) {
        uint64_t id = wadi_lattice_id((int64_t)low[0] + (n & 1), (int64_t)low[1] + (n >> 1 & 1),
                                      (int64_t)low[2] + (n >> 2));
        double weight = ((n & 1) != 0 ? t[0] : 1.0 - t[0]) * ((n & 2) != 0 ? t[1] : 1.0 - t[1]) *
                        ((n & 4) != 0 ? t[2] : 1.0 - t[2]);
        sum += weight * (2.0 * wadi_random_unit(seed, id, WADI_RANDOM_GRAIN) - 1.0);
    }
    return sum;
}
