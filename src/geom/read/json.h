/* JSON as one flat array of values, for files that are not trusted: nesting and the number of values are
 * limited, memory is at most about 24 times the text, and nothing is copied out of it. */
#ifndef WADI_GEOM_JSON_H
#define WADI_GEOM_JSON_H

#include <stdbool.h>

#include "core/status.h"

typedef enum WadiJsonType {
    WADI_JSON_NULL,
    WADI_JSON_FALSE,
    WADI_JSON_TRUE,
    WADI_JSON_NUMBER,
    WADI_JSON_STRING,
    WADI_JSON_ARRAY,
    WADI_JSON_OBJECT
} WadiJsonType;

enum { WADI_JSON_DEPTH_MAX = 64, WADI_JSON_VALUES_MAX = 1 << 23 };

typedef struct WadiJsonValue {
    WadiJsonType type;
    uint32_t next;     /* index of the value after this one and its contents */
    uint32_t count;    /* elements of an array, pairs of an object */
    const char *begin; /* of a number, or of a string without its quotes and with its escapes */
    const char *end;
} WadiJsonValue;

/* Value 0 is the root. An element of an array follows its container; in an object each key, a string, stands
 * before its value. `text` must outlive it. A zeroed one is valid and empty. */
typedef struct WadiJson {
    WadiJsonValue *values;
    uint32_t count;
    size_t capacity;
} WadiJson;

/* Index that stands for no value. */
#define WADI_JSON_NONE UINT32_MAX

WadiStatus wadi_json_parse(WadiJson *json, const char *text, size_t size, const char *name, WadiError *error);
void wadi_json_free(WadiJson *json);

/* NONE when `object` is NONE, no object or has no such key. */
uint32_t wadi_json_get(const WadiJson *json, uint32_t object, const char *key);
/* The first element of an array and their number, 0 when it is no array. The next one is .next. */
uint32_t wadi_json_begin(const WadiJson *json, uint32_t array, uint32_t *count);
bool wadi_json_is(const WadiJson *json, uint32_t value, WadiJsonType type);
/* false, and the number unchanged, when the value is NONE or no number. */
bool wadi_json_number(const WadiJson *json, uint32_t value, double *number);
/* As before, for whole numbers from 0 to `max`. */
bool wadi_json_whole(const WadiJson *json, uint32_t value, uint64_t max, uint64_t *number);
/* The string with its escapes resolved; false when it is no string, is longer than size - 1 or has a byte
 * 0. */
bool wadi_json_string(const WadiJson *json, uint32_t value, char *text, size_t size);

#endif
