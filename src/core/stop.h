/* Whether the caller of a long call wants it to end. */
#ifndef WADI_CORE_STOP_H
#define WADI_CORE_STOP_H

#include "wadi/base.h"

static inline bool wadi_stop_requested(WadiStop stop)
{
    return stop.is_requested != NULL && stop.is_requested(stop.user);
}

#endif
