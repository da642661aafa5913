/* Sample points of a pixel: the first two dimensions of the Sobol sequence, shuffled and scrambled by hashes
 * for every pair of dimensions. Any prefix of a power of two is stratified in each pair, and pairs are
 * independent.
 * Source: [B20]. A value depends on (pixel, sample, pair) alone. */
#ifndef WADI_RENDER_SAMPLER_H
#define WADI_RENDER_SAMPLER_H

#include "core/hash.h"

typedef struct WadiSampler {
    uint64_t pixel; /* hash of the pixel and the seed */
    uint32_t sample;
    uint32_t pair; /* increases along a path */
} WadiSampler;

static inline uint32_t wadi_bits_reversed(uint32_t x)
{
    x = __builtin_bswap32(x);
    x = ((x & 0x0f0f0f0fu) << 4) | ((x >> 4) & 0x0f0f0f0fu);
    x = ((x & 0x33333333u) << 2) | ((x >> 2) & 0x33333333u);
    return ((x & 0x55555555u) << 1) | ((x >> 1) & 0x55555555u);
}

/* Owen scrambling of a bit-reversed number: each bit is flipped by a hash of the bits below it.
 * Source: Laine and Karras [B20 sec. 3] with the constants of [Veg21], which mix better. */
static inline uint32_t wadi_owen_reversed(uint32_t x, uint32_t seed)
{
    x ^= x * 0x3d20adeau;
    x += seed;
    x *= (seed >> 16) | 1u;
    x ^= x * 0x05526c56u;
    x ^= x * 0x53a22864u;
    return x;
}

/* Second Sobol dimension of a bit-reversed index. Its matrix is Pascal's triangle modulo 2, the fifth tensor
 * power of [1 1; 0 1]: five steps instead of 32 columns. */
static inline uint32_t wadi_sobol_second(uint32_t reversed)
{
    reversed ^= (reversed & 0x55555555u) << 1;
    reversed ^= (reversed & 0x33333333u) << 2;
    reversed ^= (reversed & 0x0f0f0f0fu) << 4;
    reversed ^= (reversed & 0x00ff00ffu) << 8;
    reversed ^= (reversed & 0x0000ffffu) << 16;
    return reversed;
}

/* [0, 1), 24 bits. */
static inline float wadi_bits_unit(uint32_t x)
{
    return (float)(x >> 8) * 0x1p-24f;
}

/* The next two values in [0, 1). */
static inline void wadi_sampler_next2(WadiSampler *sampler, float u[2])
{
    uint64_t hash = wadi_hash_mix(sampler->pixel + UINT64_C(0x9e3779b97f4a7c15) * ++sampler->pair);
    uint64_t more = wadi_hash_mix(hash + UINT64_C(0x9e3779b97f4a7c15));
    /* The shuffled index; its reversed bits are the first dimension. */
    uint32_t index = wadi_owen_reversed(wadi_bits_reversed(sampler->sample), (uint32_t)more);
    uint32_t second = wadi_sobol_second(index);
    uint32_t x = wadi_owen_reversed(wadi_bits_reversed(index), (uint32_t)hash);
    uint32_t y = wadi_owen_reversed(wadi_bits_reversed(second), (uint32_t)(hash >> 32));
    u[0] = wadi_bits_unit(wadi_bits_reversed(x));
    u[1] = wadi_bits_unit(wadi_bits_reversed(y));
}

static inline float wadi_sampler_next(WadiSampler *sampler)
{
    float u[2];
    wadi_sampler_next2(sampler, u);
    return u[0];
}

#endif
