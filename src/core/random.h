/* Counter-based random numbers: a value is a hash of (seed, id, purpose), never a running generator, so it
 * does not depend on the order of evaluation or the thread count. */
#ifndef WADI_CORE_RANDOM_H
#define WADI_CORE_RANDOM_H

#include "core/hash.h"

/* One constant per use, so that two uses with the same seed and id are independent. Written to no file, but a
 * change of a number changes results: append only. */
typedef enum WadiRandomPurpose {
    WADI_RANDOM_TEST = 0,
    WADI_RANDOM_JITTER = 1,
    WADI_RANDOM_EMIT = 2,
    WADI_RANDOM_GRAIN = 3,
    WADI_RANDOM_SPLIT = 4,
    WADI_RANDOM_SECONDARY = 5,
    WADI_RANDOM_TURN = 6,
} WadiRandomPurpose;

static inline uint64_t wadi_random_bits(uint64_t seed, uint64_t id, WadiRandomPurpose purpose)
{
    return wadi_hash_combine(wadi_hash_combine(seed, (uint64_t)purpose), id);
}

/* [0, 1), 53 bits. */
static inline double wadi_random_unit(uint64_t seed, uint64_t id, WadiRandomPurpose purpose)
{
    return (double)(wadi_random_bits(seed, id, purpose) >> 11) * 0x1p-53;
}

/* Three independent values in [0, 1) with 21 bits each from one hash. */
static inline void wadi_random_unit3(uint64_t seed, uint64_t id, WadiRandomPurpose purpose, double out[3])
{
    uint64_t bits = wadi_random_bits(seed, id, purpose);
    out[0] = (double)(bits & 0x1fffff) * 0x1p-21;
    out[1] = (double)((bits >> 21) & 0x1fffff) * 0x1p-21;
    out[2] = (double)((bits >> 42) & 0x1fffff) * 0x1p-21;
}

#endif
