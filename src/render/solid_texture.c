#include "render/solid_texture.h"

#include <math.h>

#include "core/random.h"

enum { OCTAVES = 3 };

static uint64_t lattice_id(int64_t i, int64_t j, int64_t k)
{
    return wadi_hash_combine(wadi_hash_combine((uint64_t)i, (uint64_t)j), (uint64_t)k);
}

/* Random values at whole places, smooth between: -1 .. 1. */
static double value_noise(WadiVec3 x, uint64_t seed)
{
    double low[3] = { floor(x.x), floor(x.y), floor(x.z) },
           part[3] = { x.x - low[0], x.y - low[1], x.z - low[2] };
    for (int axis = 0; axis < 3; ++axis) {
        part[axis] = part[axis] * part[axis] * (3.0 - 2.0 * part[axis]);
    }
    double sum = 0.0;
    for (int n = 0; n < 8; ++n) {
        uint64_t id =
            lattice_id((int64_t)low[0] + (n & 1), (int64_t)low[1] + (n >> 1 & 1), (int64_t)low[2] + (n >> 2));
        double weight = ((n & 1) != 0 ? part[0] : 1.0 - part[0]) * ((n & 2) != 0 ? part[1] : 1.0 - part[1]) *
                        ((n & 4) != 0 ? part[2] : 1.0 - part[2]);
        sum += weight * (2.0 * wadi_random_unit(seed, id, WADI_RANDOM_GRAIN) - 1.0);
    }
    return sum;
}

WadiRgb wadi_solid_texture(const WadiGrainPalette *palette, WadiVec3 place)
{
    double u[3], patch = 0.0, weight = 0.5, width = 24.0;
    for (int octave = 0; octave < OCTAVES; ++octave, weight *= 0.5, width *= 0.4) {
        patch += weight * value_noise(wadi_scale(place, 1.0 / width), (uint64_t)octave + 1);
    }
    uint64_t grain = lattice_id((int64_t)floor(place.x), (int64_t)floor(place.y), (int64_t)floor(place.z));
    wadi_random_unit3(5, grain, WADI_RANDOM_GRAIN, u);
    int c = 0;
    for (double rest = u[0]; c + 1 < WADI_GRAIN_COLOURS && rest >= (double)palette->share[c]; ++c) {
        rest -= (double)palette->share[c];
    }
    c = palette->share[c] > 0.0f ? c : 0;
    double factor = 1.0 + (double)palette->variation * (2.0 * u[1] - 1.0) + 0.5 * patch;
    const uint8_t *colour = palette->colour[c];
    return wadi_scalef(wadi_srgb(colour[0], colour[1], colour[2]), (float)fmax(factor, 0.05));
}
