#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>

void wadi_log(const WadiLog *log, WadiLogLevel level, const char *format, ...)
{
    if (log == NULL || log->function == NULL) {
        return;
    }
    char text[WADI_ERROR_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log->function(log->user, level, text);
}
