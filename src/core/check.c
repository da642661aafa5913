#include "core/check.h"

#include <stdatomic.h>
#ifdef WADI_CHECKS
#include <stdio.h>
#include <stdlib.h>
#endif

static WadiAssertHook hook;
static atomic_uint count;
static _Atomic(const WadiAssertSite *) last;

void wadi_set_assert_hook(const WadiAssertHook *replacement)
{
    hook = replacement != NULL ? *replacement : (WadiAssertHook){ NULL, NULL };
}

void wadi_assert_failed(const WadiAssertSite *site)
{
    atomic_store(&last, site); /* before the count, which readers test */
    atomic_fetch_add(&count, 1);
    if (hook.function != NULL) {
        hook.function(hook.user, site->condition, site->file, site->line);
        return;
    }
#ifdef WADI_CHECKS
    fprintf(stderr, "%s:%d: wadi: this should never happen: %s\n", site->file, site->line, site->condition);
    abort();
#endif
}

WadiStatus wadi_fail_assert(WadiError *error, const WadiAssertSite *site)
{
    return wadi_fail(error, WADI_ERR_INTERNAL, "%s:%d: this should never happen: %s; a bug in wadi",
                     site->file, site->line, site->condition);
}

unsigned wadi_assert_count(void)
{
    return atomic_load(&count);
}

WadiStatus wadi_assert_status(WadiStatus status, unsigned before, WadiError *error)
{
    return atomic_load(&count) == before ? status : wadi_fail_assert(error, atomic_load(&last));
}
