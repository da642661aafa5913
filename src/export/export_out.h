/* A file that is put together from text, numbers and bytes, and is whole or absent. The first failure sticks: what follows does
 * nothing, and closing tells, so that a writer of a format is a plain list of puts. */
#ifndef WADI_EXPORT_OUT_H
#define WADI_EXPORT_OUT_H

#include "io/files/files.h"
#include "math/vec3.h"

typedef struct WadiExportOut {
    WadiFileWriter writer;
    char *buffer; /* owned */
    size_t used;
    uint64_t offset; /* of the buffer in the file */
    WadiStatus status;
    WadiError *error; /* borrowed */
} WadiExportOut;

/* A failure is told by closing. */
void wadi_out_open(WadiExportOut *out, const char *path, WadiError *error);
/* The file is in its place exactly when this returns WADI_OK. */
WadiStatus wadi_out_close(WadiExportOut *out);

void wadi_out_bytes(WadiExportOut *out, const void *bytes, size_t size);
void wadi_out_text(WadiExportOut *out, const char *text);
/* At most 1000 characters. */
void wadi_out_printf(WadiExportOut *out, const char *format, ...) WADI_PRINTF(2, 3);
/* With so many digits behind the point, 0 to 15, less the zeros at the end; a number that is not finite is a failure
 * (WADI_ERR_NUMERIC). An order of magnitude faster than printf: files have tens of millions of them. */
void wadi_out_number(WadiExportOut *out, double value, int decimals);
/* "x,y,z" with that separator. */
void wadi_out_vector(WadiExportOut *out, WadiVec3 value, char separator, int decimals);

/* Digits behind the point such that rounding moves a number by less than `step`. */
int wadi_out_decimals(double step);

#endif
