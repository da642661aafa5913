/* Interface of the C++ module wadi_vdb.so to write_vdb.c. It is loaded with the first VDB file, so that
 * nothing else needs C++ or OpenVDB. Plain C and self-contained: the module calls no function of wadi. */
#ifndef WADI_SURFACE_VDB_MODULE_H
#define WADI_SURFACE_VDB_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Eight nodes along x, the first at a multiple of eight. */
typedef struct WadiVdbRow {
    int32_t node[3];
    const float *value; /* m */
} WadiVdbRow;

typedef struct WadiVdbRows {
    double cell; /* m */
    size_t count;
    const WadiVdbRow *row;
} WadiVdbRows;

/* Metadata of the file. */
typedef struct WadiVdbFacts {
    const char *wadi, *material, *key; /* version, name, hexadecimal text */
    int frame;
    double subframe, time, fps;
} WadiVdbFacts;

enum { WADI_VDB_TEXT_SIZE = 512 };

/* The number rises with every change of this interface. */
#define WADI_VDB_WRITE "wadi_vdb_write_1"

/* Returns 0 on success; otherwise `problem` holds the reason. */
typedef int WadiVdbWrite(const char *path, const WadiVdbRows *rows, const WadiVdbFacts *facts,
                         char problem[WADI_VDB_TEXT_SIZE]);

WadiVdbWrite wadi_vdb_write_1;

#ifdef __cplusplus
}
#endif
#endif
