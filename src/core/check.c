#include "core/check.h"

#include <stdatomic.h>
#ifdef WADI_CHECKS
#include <stdio.h>
#include <stdlib.h>
#endif

static WadiAssertHook hook;
static atomic_uint count;
static _Atomic(const WadiAssertPlace *) last;

void wadi_set_assert_hook(const WadiAssertHook *replacement)
{
    hook = replacement != NULL ? *replacement : (WadiAssertHook){ NULL, NULL };
}

void wadi_assert_failed(const WadiAssertPlace *place)
{
    atomic_store(&last, place); /* before it is counted */
    atomic_fetch_add(&count, 1);
    if (hook.function != NULL) {
        hook.function(hook.user, place->condition, place->file, place->line);
        return;
    }
#ifdef WADI_CHECKS
    fprintf(stderr, "%s:%d: wadi: this should never happen: %s\n", place->file, place->line,
            place->condition);
    abort();
#endif
}

WadiStatus wadi_fail_assert(WadiError *error, const WadiAssertPlace *place)
{
    return wadi_fail(error, WADI_ERR_INTERNAL, "%s:%d: this should never happen: %s; a bug in wadi",
                     place->file, place->line, place->condition);
}

unsigned wadi_assert_count(void)
{
    return atomic_load(&count);
}

WadiStatus wadi_assert_status(WadiStatus status, unsigned before, WadiError *error)
{
    return atomic_load(&count) == before ? status : wadi_fail_assert(error, atomic_load(&last));
}
