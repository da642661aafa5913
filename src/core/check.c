#include "core/check.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void wadi_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: wadi: this should never happen: %s\n", file, line, condition);
    abort();
}
