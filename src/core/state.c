#include "core/state.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/hash.h"
#include "core/parallel.h"

enum { COPY_BLOCK = 1 << 17 }; /* bytes */

size_t wadi_type_size(WadiType type)
{
    switch (type) {
    case WADI_TYPE_U8: return 1;
    case WADI_TYPE_U32:
    case WADI_TYPE_I32:
    case WADI_TYPE_F32: return 4;
    case WADI_TYPE_U64:
    case WADI_TYPE_F64: return 8;
    }
    return 0;
}

const char *wadi_type_name(WadiType type)
{
    static const char *const names[] = { "u8", "u32", "u64", "i32", "f32", "f64" };
    return names[type];
}

void wadi_state_free(WadiState *state)
{
    for (int i = 0; i < WADI_STATE_MAX; ++i) {
        wadi_free(state->array[i].data, state->array[i].capacity, 1);
    }
    *state = (WadiState){ 0 };
}

void wadi_state_clear(WadiState *state)
{
    state->count = 0;
    state->next_use = WADI_USE_BOTH;
}

WadiStatus wadi_state_add(WadiState *state, const char *name, WadiType type, int components, size_t count,
                          void **data, WadiError *error)
{
    WADI_ASSERT_TRY(state->count < WADI_STATE_MAX, error);
    WADI_ASSERT_TRY(strlen(name) < WADI_STATE_NAME_SIZE, error);
    WADI_ASSERT_TRY(components >= 1 && components <= WADI_STATE_COMPONENTS_MAX, error);
    WADI_ASSERT_TRY(wadi_state_find(state, name) == NULL, error);
    *data = NULL;
    WadiStateArray *array = &state->array[state->count];
    size_t bytes = 0;
    if (!wadi_size_multiply(count, wadi_type_size(type) * (size_t)components, &bytes)) {
        return wadi_fail_memory(error, SIZE_MAX, name);
    }
    if (bytes > array->capacity) {
        /* A small margin, so that an emitter does not force a new block each frame. */
        size_t wanted = bytes + bytes / 8;
        wadi_free(array->data, array->capacity, 1);
        array->data = NULL;
        array->capacity = 0;
        WADI_TRY(wadi_alloc_unset(&array->data, wanted, 1, name, error));
        array->capacity = wanted;
    }
    snprintf(array->name, sizeof array->name, "%s", name);
    array->type = type;
    array->use = state->next_use == 0 ? WADI_USE_BOTH : state->next_use;
    array->components = components;
    array->count = count;
    array->is_hashed = false;
    state->count += 1;
    *data = array->data;
    return WADI_OK;
}

typedef struct Copy {
    char *to;
    const char *from;
} Copy;

static void copy_bytes(void *context, int64_t first, int64_t end)
{
    const Copy *copy = context;
    memcpy(copy->to + first, copy->from + first, (size_t)(end - first));
}

WadiStatus wadi_state_put(WadiState *state, const char *name, WadiType type, int components, size_t count,
                          const void *values, WadiError *error)
{
    void *data = NULL;
    WADI_TRY(wadi_state_add(state, name, type, components, count, &data, error));
    if (count > 0) {
        Copy copy = { data, values };
        wadi_parallel_for((int64_t)(count * (size_t)components * wadi_type_size(type)), COPY_BLOCK,
                          copy_bytes, &copy);
    }
    return WADI_OK;
}

const char *wadi_state_name(WadiStateName *name, const char *owner, const char *what)
{
    int length = snprintf(name->text, sizeof name->text, "%s_%s", owner, what);
    WADI_ASSERT(length > 0 && length < WADI_STATE_NAME_SIZE);
    return name->text;
}

const WadiStateArray *wadi_state_find(const WadiState *state, const char *name)
{
    for (int i = 0; i < state->count; ++i) {
        if (strcmp(state->array[i].name, name) == 0) {
            return &state->array[i];
        }
    }
    return NULL;
}

WadiStatus wadi_state_expect(const WadiState *state, const char *name, WadiType type, int components,
                             size_t count, const WadiStateArray **found, WadiError *error)
{
    *found = NULL;
    const WadiStateArray *array = wadi_state_find(state, name);
    if (array == NULL) {
        return wadi_fail(error, WADI_ERR_FORMAT, "no array '%s'", name);
    }
    if (array->type != type || array->components != components) {
        return wadi_fail(error, WADI_ERR_FORMAT, "array '%s' is %s x %d, expected %s x %d", name,
                         wadi_type_name(array->type), array->components, wadi_type_name(type), components);
    }
    if (count != SIZE_MAX && array->count != count) {
        return wadi_fail(error, WADI_ERR_FORMAT, "array '%s' has %zu items, expected %zu", name, array->count,
                         count);
    }
    *found = array;
    return WADI_OK;
}

void wadi_state_select(const WadiState *state, WadiUse use, WadiState *view)
{
    view->count = 0;
    view->next_use = use;
    for (int i = 0; i < state->count; ++i) {
        if ((state->array[i].use & use) != 0) {
            view->array[view->count] = state->array[i];
            view->array[view->count++].capacity = 0;
        }
    }
}

WadiStatus wadi_state_drop_rows(const WadiState *state, WadiUse use, const uint8_t *is_dropped, size_t count,
                                WadiState *out, WadiError *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
        kept += is_dropped[i] == 0;
    }
    wadi_state_clear(out);
    out->next_use = use;
    for (int a = 0; a < state->count; ++a) {
        const WadiStateArray *from = &state->array[a];
        if ((from->use & use) == 0) {
            continue;
        }
        WADI_ASSERT_TRY(from->count == count, error);
        const size_t size = wadi_type_size(from->type) * (size_t)from->components;
        void *data = NULL;
        WADI_TRY(wadi_state_add(out, from->name, from->type, from->components, kept, &data, error));
        char *to = data;
        for (size_t i = 0; i < count; ++i) {
            if (is_dropped[i] == 0) {
                memcpy(to, (const char *)from->data + i * size, size);
                to += size;
            }
        }
    }
    return WADI_OK;
}

size_t wadi_state_array_bytes(const WadiStateArray *array)
{
    return array->count * (size_t)array->components * wadi_type_size(array->type);
}

uint64_t wadi_state_array_hash(const WadiStateArray *array)
{
    return array->is_hashed ? array->hash : wadi_hash_bytes(0, array->data, wadi_state_array_bytes(array));
}

typedef struct Hashing {
    WadiState *state;
    WadiUse use;
} Hashing;

static void hash_arrays(void *context, int64_t first, int64_t end)
{
    const Hashing *hashing = context;
    for (int64_t i = first; i < end; ++i) {
        WadiStateArray *array = &hashing->state->array[i];
        if ((array->use & hashing->use) != 0) {
            array->hash = wadi_state_array_hash(array);
            array->is_hashed = true;
        }
    }
}

void wadi_state_hash_arrays(WadiState *state, WadiUse use)
{
    Hashing hashing = { state, use };
    wadi_parallel_for(state->count, 1, hash_arrays, &hashing);
}

uint64_t wadi_state_hash(const WadiState *state, WadiUse use)
{
    uint64_t hash = 0;
    for (int i = 0; i < state->count; ++i) {
        const WadiStateArray *array = &state->array[i];
        if ((array->use & use) == 0) {
            continue;
        }
        hash = wadi_hash_bytes(hash, array->name, strlen(array->name));
        hash = wadi_hash_combine(hash, (uint64_t)array->type * 256 + (uint64_t)array->components);
        hash = wadi_hash_combine(hash, array->count);
        hash = wadi_hash_combine(hash, wadi_state_array_hash(array));
    }
    return hash;
}

WadiStatus wadi_state_fail(WadiError *error, const WadiStateArray *array, size_t item, const char *format,
                           ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return wadi_fail(error, WADI_ERR_FORMAT,
                     "array '%s' of the checkpoint, item %zu: %s; resume from an earlier checkpoint",
                     array->name, item, text);
}

WadiStatus wadi_state_check_reals(const WadiStateArray *array, double low, double high, WadiError *error)
{
    const size_t components = (size_t)array->components;
    for (size_t n = 0; n < array->count * components; ++n) {
        const double value = array->type == WADI_TYPE_F32 ? (double)((const float *)array->data)[n]
                                                          : ((const double *)array->data)[n];
        if (!isfinite(value)) {
            return wadi_state_fail(error, array, n / components, "%g is not finite", value);
        }
        if (!(value >= low && value <= high)) {
            return wadi_state_fail(error, array, n / components, "%g is not from %g to %g", value, low, high);
        }
    }
    return WADI_OK;
}

/* Unsigned values beyond INT64_MAX are INT64_MAX. */
static int64_t integer_at(const WadiStateArray *array, size_t n)
{
    switch (array->type) {
    case WADI_TYPE_U8: return ((const uint8_t *)array->data)[n];
    case WADI_TYPE_U32: return ((const uint32_t *)array->data)[n];
    case WADI_TYPE_I32: return ((const int32_t *)array->data)[n];
    case WADI_TYPE_U64: {
        const uint64_t value = ((const uint64_t *)array->data)[n];
        return value > INT64_MAX ? INT64_MAX : (int64_t)value;
    }
    case WADI_TYPE_F32:
    case WADI_TYPE_F64: break;
    }
    return 0;
}

WadiStatus wadi_state_check_integers(const WadiStateArray *array, int64_t low, int64_t high, WadiError *error)
{
    const size_t components = (size_t)array->components;
    for (size_t n = 0; n < array->count * components; ++n) {
        const int64_t value = integer_at(array, n);
        if (value < low || value > high) {
            return wadi_state_fail(error, array, n / components, "%lld is not from %lld to %lld",
                                   (long long)value, (long long)low, (long long)high);
        }
    }
    return WADI_OK;
}

WadiStatus wadi_state_expect_reals(const WadiState *state, const char *name, WadiType type, int components,
                                   size_t count, double low, double high, const WadiStateArray **found,
                                   WadiError *error)
{
    WADI_TRY(wadi_state_expect(state, name, type, components, count, found, error));
    return wadi_state_check_reals(*found, low, high, error);
}

WadiStatus wadi_state_expect_integers(const WadiState *state, const char *name, WadiType type, int components,
                                      size_t count, int64_t low, int64_t high, const WadiStateArray **found,
                                      WadiError *error)
{
    WADI_TRY(wadi_state_expect(state, name, type, components, count, found, error));
    return wadi_state_check_integers(*found, low, high, error);
}

WadiStatus wadi_state_expect_numbers(const WadiState *state, const char *name, int count,
                                     const WadiStateArray **found, WadiError *error)
{
    *found = wadi_state_find(state, name);
    if (*found == NULL || (*found)->components != count) {
        return wadi_fail(error, WADI_ERR_FORMAT,
                         "the checkpoint is of another version of the solver %s; start the run anew, or "
                         "resume it with the version that wrote it",
                         name);
    }
    return wadi_state_expect_reals(state, name, WADI_TYPE_F64, count, 1, -INFINITY, (double)INFINITY, found,
                                   error);
}
