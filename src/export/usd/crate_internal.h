/* What both halves of the crate writer share. */
#ifndef WADI_EXPORT_USD_CRATE_INTERNAL_H
#define WADI_EXPORT_USD_CRATE_INTERNAL_H

#include "export/usd/crate.h"

enum {
    WADI_CRATE_HEAD = 88,
    WADI_CRATE_BOOL = 1,
    WADI_CRATE_TOKEN_VECTOR = 41,
    WADI_CRATE_SPECIFIER = 42,
    WADI_CRATE_VARIABILITY = 44,
    WADI_CRATE_TIME_SAMPLES = 46,
    WADI_CRATE_DOUBLE_VECTOR = 48
};

#define WADI_CRATE_IS_ARRAY (UINT64_C(1) << 63)
#define WADI_CRATE_IS_INLINED (UINT64_C(1) << 62)

static inline WadiCrateValue wadi_crate_value(int type, uint64_t payload, uint64_t flags)
{
    return flags | (uint64_t)type << 48 | payload;
}

/* Bytes of the file so far, after padding to 8. */
uint64_t wadi_crate_align(WadiCrate *crate);
/* The number of a token, which is added where it is new. */
uint32_t wadi_crate_token_number(WadiCrate *crate, const char *text);
/* Writes all tables and the head. */
void wadi_crate_put_tables(WadiCrate *crate);

#endif
