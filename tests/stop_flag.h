/* An atomic flag as the stop of a long call. */
#ifndef WADI_TESTS_STOP_FLAG_H
#define WADI_TESTS_STOP_FLAG_H

#include <stdatomic.h>

#include "wadi/base.h"

static inline bool stop_flag_read(void *user)
{
    return atomic_load((atomic_bool *)user);
}

static inline WadiStop stop_when(atomic_bool *flag)
{
    return (WadiStop){ .is_requested = stop_flag_read, .user = flag };
}

#endif
