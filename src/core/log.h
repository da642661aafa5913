/* Messages to the caller of the library, which never prints by itself. */
#ifndef WADI_CORE_LOG_H
#define WADI_CORE_LOG_H

#include "wadi/base.h"

/* `log` may be NULL. */
void wadi_log(const WadiLog *log, WadiLogLevel level, const char *format, ...) WADI_PRINTF(3, 4);

#endif
