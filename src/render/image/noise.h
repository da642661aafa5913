/* Smooth noise in space from hashes: the same value for the same position and seed, on every machine. */
#ifndef WADI_RENDER_NOISE_H
#define WADI_RENDER_NOISE_H

#include "core/hash.h"
#include "math/vec3.h"

static inline uint64_t wadi_lattice_id(int64_t i, int64_t j, int64_t k)
{
    return wadi_hash_combine(wadi_hash_combine((uint64_t)i, (uint64_t)j), (uint64_t)k);
}

/* Random values at integer positions, smoothly interpolated: -1 .. 1. */
double wadi_value_noise(WadiVec3 x, uint64_t seed);

#endif
