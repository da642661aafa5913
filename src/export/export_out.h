/* A buffered file of text, numbers and bytes, complete or absent. After the first failure all calls do
 * nothing and closing returns it, so that a writer of a format is a plain list of calls. */
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

/* A failure is returned by wadi_out_close. */
void wadi_out_open(WadiExportOut *out, const char *path, WadiError *error);
/* The file exists exactly when this returns WADI_OK. */
WadiStatus wadi_out_close(WadiExportOut *out);

void wadi_out_bytes(WadiExportOut *out, const void *bytes, size_t size);
/* Bytes put so far. */
uint64_t wadi_out_size(const WadiExportOut *out);
/* Replaces bytes that were put before. */
void wadi_out_rewrite(WadiExportOut *out, uint64_t offset, const void *bytes, size_t size);
void wadi_out_text(WadiExportOut *out, const char *text);
/* At most 1000 characters. */
void wadi_out_printf(WadiExportOut *out, const char *format, ...) WADI_PRINTF(2, 3);
/* At most `decimals` digits after the point, 0 to 15, without trailing zeros; a number that is not finite is
 * a failure (WADI_ERR_NUMERIC). Ten times faster than printf: files have tens of millions of numbers. */
void wadi_out_number(WadiExportOut *out, double value, int decimals);
/* "x,y,z" with that separator. */
void wadi_out_vector(WadiExportOut *out, WadiVec3 value, char separator, int decimals);

/* Digits after the point such that rounding changes a number by less than `step`. */
int wadi_out_decimals(double step);

#endif
