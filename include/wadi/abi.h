/* Sizes of the public structs, for bindings of other languages that lay them out themselves. */
#ifndef WADI_ABI_H
#define WADI_ABI_H

#include "wadi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct WadiAbiType {
    const char *name; /* "WadiSceneDef" */
    size_t size;      /* bytes, as the library was compiled */
} WadiAbiType;

/* All structs of these headers that a program may allocate, *count of them; static storage. */
WADI_API const WadiAbiType *wadi_abi_types(int *count);

#ifdef __cplusplus
}
#endif
#endif
