/* 64-bit hash of byte streams (state_hash, checksums of datasets) and of small integer tuples (random
 * numbers, cell keys). Not cryptographic. The values are written to files: never change them without a new
 * format version. */
#ifndef WADI_CORE_HASH_H
#define WADI_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A bijection of 64-bit words that spreads every input bit over the word (the finaliser of SplitMix64). */
static inline uint64_t wadi_hash_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x;
}

static inline uint64_t wadi_hash_combine(uint64_t hash, uint64_t value)
{
    return wadi_hash_mix(hash ^
                         (wadi_hash_mix(value + UINT64_C(0x9e3779b97f4a7c15)) + (hash << 6) + (hash >> 2)));
}

/* Hash of `size` bytes, continued from `seed` (0 to begin). Chained pieces give another value than the
 * whole: always use the same pieces. */
uint64_t wadi_hash_bytes(uint64_t seed, const void *bytes, size_t size);

#endif
