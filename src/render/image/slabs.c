#include "render/image/slabs.h"

#include <math.h>

#include "core/hash.h"

/* Relative to the side of a slab: width of a joint. */
static const double JOINT = 0.014;
/* Largest relative change of brightness: between slabs, and of each octave of blotches. */
static const double SLAB_CHANGE = 0.07, BLOTCH_CHANGE = 0.075;
/* Size of the largest blotches relative to a slab, and the ratio of one octave to the next. */
static const double BLOTCH_SIZE = 0.45, BLOTCH_RATIO = 3.1;
/* Blotches fade out between this many times the averaged width and twice that. */
static const double BLOTCH_SEEN = 1.5;
enum { OCTAVES = 5, SEED = 57 };

static double unit_of(int64_t i, int64_t j, int64_t seed)
{
    const uint64_t id = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) +
                        (uint64_t)j * UINT64_C(0xd1b54a32d192ed03) +
                        (uint64_t)seed * UINT64_C(0x8cb92ba72f3d8dd7);
    return (double)(wadi_hash_mix(id) >> 11) * 0x1p-53;
}

static double smooth(double t)
{
    return t * t * (3.0 - 2.0 * t);
}

/* Random values at the integers, smoothly interpolated: -1 .. 1. */
static double noise(double x, double y, int64_t seed)
{
    double i = floor(x), j = floor(y), u = smooth(x - i), v = smooth(y - j);
    int64_t a = (int64_t)i, b = (int64_t)j;
    double low = (1.0 - u) * unit_of(a, b, seed) + u * unit_of(a + 1, b, seed),
           high = (1.0 - u) * unit_of(a, b + 1, seed) + u * unit_of(a + 1, b + 1, seed);
    return 2.0 * ((1.0 - v) * low + v * high) - 1.0;
}

/* Fraction of [x - w/2, x + w/2] within half a joint of an integer. */
static double joint_cover(double x, double w)
{
    if (w >= 1.0) {
        return JOINT;
    }
    w = fmax(w, 1e-6);
    double off = x - rint(x), low = fmax(off - 0.5 * w, -0.5 * JOINT),
           high = fmin(off + 0.5 * w, 0.5 * JOINT);
    return fmax(high - low, 0.0) / w;
}

WadiRgb wadi_slabs_colour(const WadiLook *look, double x, double y, const double width[2])
{
    const double side = fmax((double)look->texture_size, 1e-9), wide = fmax(width[0], width[1]) / side;
    x /= side;
    y /= side;
    const int64_t i = (int64_t)floor(x), j = (int64_t)floor(y);
    const double few = fmin(fmax(2.0 - 2.0 * wide, 0.0), 1.0); /* slabs are told apart */
    const double shift = 64.0 * unit_of(i, j, SEED + 1); /* of the blotches of a slab, which end at joints */
    double change = few * SLAB_CHANGE * (2.0 * unit_of(i, j, SEED) - 1.0), size = BLOTCH_SIZE;
    for (int octave = 0; octave < OCTAVES; ++octave, size /= BLOTCH_RATIO) {
        const double seen = fmin(fmax(size / (BLOTCH_SEEN * wide + 1e-12) - 1.0, 0.0), 1.0);
        if (seen <= 0.0) {
            break;
        }
        change += seen * BLOTCH_CHANGE * noise(x / size + shift, y / size - shift, SEED + 2 + octave);
    }
    const double across = joint_cover(x, width[0] / side), along = joint_cover(y, width[1] / side);
    const double joint = across + along - across * along;
    const float bright = (float)(1.0 + change),
                warm = (float)(few * 0.02 * (2.0 * unit_of(j, i, SEED) - 1.0));
    WadiRgb slab = { look->colour.x * (bright + warm), look->colour.y * bright,
                     look->colour.z * (bright - warm) };
    return wadi_lerpf(slab, look->second_colour, (float)joint);
}
