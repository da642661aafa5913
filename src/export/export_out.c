#include "export/export_out.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"

enum { BUFFER_BYTES = 1 << 20, LINE_BYTES = 1024, DECIMALS_MAX = 15, NUMBER_BYTES = 48 };

static const double powers[DECIMALS_MAX + 1] = { 1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };

void wadi_out_open(WadiExportOut *out, const char *path, WadiError *error)
{
    *out = (WadiExportOut){ .writer.fd = -1, .error = error };
    out->status = WADI_NEW(&out->buffer, BUFFER_BYTES, "buffer of a file", error);
    if (out->status == WADI_OK) {
        out->status = wadi_file_writer_open(&out->writer, path, error);
    }
}

static void flush(WadiExportOut *out)
{
    if (out->status == WADI_OK && out->used > 0) {
        out->status = wadi_file_writer_put(&out->writer, out->buffer, out->used, out->offset, out->error);
        out->offset += out->used;
        out->used = 0;
    }
}

WadiStatus wadi_out_close(WadiExportOut *out)
{
    flush(out);
    if (out->status == WADI_OK) {
        out->status = wadi_file_writer_commit(&out->writer, out->error);
    }
    if (out->writer.fd >= 0) {
        wadi_file_writer_cancel(&out->writer);
    }
    WADI_DELETE(out->buffer, BUFFER_BYTES);
    out->buffer = NULL;
    return out->status;
}

void wadi_out_bytes(WadiExportOut *out, const void *bytes, size_t size)
{
    const char *from = bytes;
    while (out->status == WADI_OK && size > 0) {
        size_t free_bytes = BUFFER_BYTES - out->used, piece = size < free_bytes ? size : free_bytes;
        memcpy(out->buffer + out->used, from, piece);
        out->used += piece;
        from += piece;
        size -= piece;
        if (out->used == BUFFER_BYTES) {
            flush(out);
        }
    }
}

uint64_t wadi_out_size(const WadiExportOut *out)
{
    return out->offset + out->used;
}

void wadi_out_rewrite(WadiExportOut *out, uint64_t offset, const void *bytes, size_t size)
{
    flush(out);
    if (out->status == WADI_OK) {
        out->status = wadi_file_writer_put(&out->writer, bytes, size, offset, out->error);
    }
}

void wadi_out_text(WadiExportOut *out, const char *text)
{
    wadi_out_bytes(out, text, strlen(text));
}

void wadi_out_printf(WadiExportOut *out, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    WADI_ASSERT_ELSE(length >= 0 && length < LINE_BYTES, return;);
    wadi_out_bytes(out, line, (size_t)length);
}

void wadi_out_number(WadiExportOut *out, double value, int decimals)
{
    WADI_ASSERT_ELSE(decimals >= 0 && decimals <= DECIMALS_MAX, return;);
    if (!isfinite(value)) {
        if (out->status == WADI_OK) {
            out->status =
                wadi_fail(out->error, WADI_ERR_NUMERIC, "a number of %s is not finite", out->writer.path);
        }
        return;
    }
    double scaled = rint(fabs(value) * powers[decimals]);
    if (scaled >= 9e15) { /* not exact as an integer number of steps */
        wadi_out_printf(out, "%.17g", value);
        return;
    }
    char text[NUMBER_BYTES], *at = text + sizeof text;
    uint64_t digits = (uint64_t)scaled;
    bool is_negative = value < 0.0 && digits > 0, has_digits = false;
    for (int d = 0; d < decimals; ++d, digits /= 10) {
        if (digits % 10 != 0 || has_digits) {
            *--at = (char)('0' + digits % 10);
            has_digits = true;
        }
    }
    if (has_digits) {
        *--at = '.';
    }
    do {
        *--at = (char)('0' + digits % 10);
        digits /= 10;
    } while (digits > 0);
    if (is_negative) {
        *--at = '-';
    }
    wadi_out_bytes(out, at, (size_t)(text + sizeof text - at));
}

void wadi_out_vector(WadiExportOut *out, WadiVec3 value, char separator, int decimals)
{
    wadi_out_number(out, value.x, decimals);
    wadi_out_bytes(out, &separator, 1);
    wadi_out_number(out, value.y, decimals);
    wadi_out_bytes(out, &separator, 1);
    wadi_out_number(out, value.z, decimals);
}

int wadi_out_decimals(double step)
{
    double digits = step > 0.0 ? ceil(-log10(2.0 * step)) : 9.0;
    return (int)fmin(fmax(digits, 0.0), DECIMALS_MAX);
}
