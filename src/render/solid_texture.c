#include "render/solid_texture.h"

#include <math.h>

#include "core/random.h"

enum { OCTAVES = 3 };

static uint64_t lattice_id(int64_t i, int64_t j, int64_t k)
{
    return wadi_hash_combine(wadi_hash_combine((uint64_t)i, (uint64_t)j), (uint64_t)k);
}

/* Random values at integer positions, smoothly interpolated: -1 .. 1. */
static double value_noise(WadiVec3 x, uint64_t seed)
{
    double low[3] = { floor(x.x), floor(x.y), floor(x.z) },
           t[3] = { x.x - low[0], x.y - low[1], x.z - low[2] };
    for (int axis = 0; axis < 3; ++axis) {
        t[axis] = t[axis] * t[axis] * (3.0 - 2.0 * t[axis]);
    }
    double sum = 0.0;
    for (int n = 0; n < 8; ++n) {
        uint64_t id =
            lattice_id((int64_t)low[0] + (n & 1), (int64_t)low[1] + (n >> 1 & 1), (int64_t)low[2] + (n >> 2));
        double weight = ((n & 1) != 0 ? t[0] : 1.0 - t[0]) * ((n & 2) != 0 ? t[1] : 1.0 - t[1]) *
                        ((n & 4) != 0 ? t[2] : 1.0 - t[2]);
        sum += weight * (2.0 * wadi_random_unit(seed, id, WADI_RANDOM_GRAIN) - 1.0);
    }
    return sum;
}

WadiRgb wadi_solid_texture(const WadiGrainPalette *palette, WadiVec3 position)
{
    double u[3], patch = 0.0, weight = 0.5, width = 24.0;
    for (int octave = 0; octave < OCTAVES; ++octave, weight *= 0.5, width *= 0.4) {
        patch += weight * value_noise(wadi_scale(position, 1.0 / width), (uint64_t)octave + 1);
    }
    uint64_t grain =
        lattice_id((int64_t)floor(position.x), (int64_t)floor(position.y), (int64_t)floor(position.z));
    wadi_random_unit3(5, grain, WADI_RANDOM_GRAIN, u);
    int c = 0;
    for (double remaining = u[0]; c + 1 < WADI_GRAIN_COLOURS && remaining >= (double)palette->fraction[c];
         ++c) {
        remaining -= (double)palette->fraction[c];
    }
    c = palette->fraction[c] > 0.0f ? c : 0;
    double factor = 1.0 + (double)palette->variation * (2.0 * u[1] - 1.0) + 0.5 * patch;
    const uint8_t *colour = palette->colour[c];
    return wadi_scalef(wadi_srgb(colour[0], colour[1], colour[2]), (float)fmax(factor, 0.05));
}
