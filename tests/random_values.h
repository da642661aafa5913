/* Random values for tests, each a hash of (seed, id). */
#ifndef WADI_TESTS_RANDOM_VALUES_H
#define WADI_TESTS_RANDOM_VALUES_H

#include "core/random.h"
#include "math/vec3.h"

/* [-1, 1) */
static inline double random_signed(uint64_t seed, uint64_t id)
{
    return 2.0 * wadi_random_unit(seed, id, WADI_RANDOM_TEST) - 1.0;
}

/* In the cube [-size, size)^3. */
static inline WadiVec3 random_point(uint64_t seed, uint64_t id, double size)
{
    return wadi_vec3(size * random_signed(seed, 3 * id), size * random_signed(seed, 3 * id + 1),
                     size * random_signed(seed, 3 * id + 2));
}

#endif
