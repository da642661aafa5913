#include "render/solid_texture.h"

#include <math.h>

#include "core/random.h"
#include "render/image/noise.h"

enum { OCTAVES = 3 };

WadiRgb wadi_solid_texture(const WadiGrainPalette *palette, WadiVec3 position)
{
    double u[3], patch = 0.0, weight = 0.5, width = 24.0;
    for (int octave = 0; octave < OCTAVES; ++octave, weight *= 0.5, width *= 0.4) {
        patch += weight * wadi_value_noise(wadi_scale(position, 1.0 / width), (uint64_t)octave + 1);
    }
    uint64_t grain =
        wadi_lattice_id((int64_t)floor(position.x), (int64_t)floor(position.y), (int64_t)floor(position.z));
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
