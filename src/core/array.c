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

WadiStatus wadi_array_renew(void **data, size_t *capacity, size_t wanted, size_t size, const char *what,
                            WadiError *error)
{
    if (wanted <= *capacity && *capacity / 2 <= wanted) {
        return WADI_OK;
    }
    wadi_free(*data, *capacity, size);
    *data = NULL;
    *capacity = 0;
    const size_t target = wanted + wanted / 16;
    WADI_TRY(wadi_alloc_unset(data, target, size, what, error));
    *capacity = target;
    return WADI_OK;
}

WadiStatus wadi_array_fit(void **data, size_t *capacity, size_t wanted, size_t size, const char *what,
                          WadiError *error)
{
    if (wanted <= *capacity && *capacity / 2 <= wanted) {
        return WADI_OK;
    }
    const size_t target = wanted + wanted / 16;
    WADI_TRY(wadi_realloc(data, *capacity, target, size, what, error));
    *capacity = target;
    return WADI_OK;
}
