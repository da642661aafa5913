#include "core/array.h"

WadiStatus wadi_array_reserve(void **data, size_t *capacity, size_t wanted, size_t size, const char *what,
                              WadiError *error)
{
    if (wanted <= *capacity) {
        return WADI_OK;
    }
    size_t grown = *capacity + *capacity / 2;
    size_t target = grown > wanted ? grown : wanted;
    if (target < 8) {
        target = 8;
    }
    WADI_TRY(wadi_realloc(data, *capacity, target, size, what, error));
    *capacity = target;
    return WADI_OK;
}
