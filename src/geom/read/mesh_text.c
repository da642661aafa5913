#include "geom/read/mesh_text.h"

#include <math.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* mantissa 10^exponent. In the first case both factors are doubles without error and the result is the
 * nearest one; elsewhere it may be off in the last place. */
static double decimal(uint64_t mantissa, int64_t exponent)
{
    static const double power[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    if (mantissa == 0) {
        return 0.0;
    }
    if (mantissa <= UINT64_C(1) << 53 && exponent >= -22 && exponent <= 22) {
        return exponent < 0 ? (double)mantissa / power[-exponent] : (double)mantissa * power[exponent];
    }
    if (exponent < -400 || exponent > 400) {
        return exponent < 0 ? 0.0 : (double)INFINITY;
    }
    long double scale = 1.0L, factor = 10.0L;
    for (int64_t e = exponent < 0 ? -exponent : exponent; e > 0; e >>= 1) {
        scale *= (e & 1) != 0 ? factor : 1.0L;
        factor *= factor;
    }
    return (double)(exponent < 0 ? (long double)mantissa / scale : (long double)mantissa * scale);
}

/* The exponent after a mantissa: 0 when there is none. */
static int64_t scan_exponent(const char **at, const char *end)
{
    const char *c = *at;
    if (c >= end || (*c != 'e' && *c != 'E')) {
        return 0;
    }
    ++c;
    bool is_negative = c < end && *c == '-';
    c += c < end && (*c == '-' || *c == '+');
    if (c >= end || !is_digit(*c)) {
        return 0;
    }
    int64_t exponent = 0;
    for (; c < end && is_digit(*c); ++c) {
        exponent = exponent < 100000 ? 10 * exponent + (*c - '0') : exponent;
    }
    *at = c;
    return is_negative ? -exponent : exponent;
}

bool wadi_scan_number(const char **at, const char *end, double *number)
{
    const char *c = *at;
    bool is_negative = c < end && *c == '-', has_digits = false;
    c += c < end && (*c == '-' || *c == '+');
    uint64_t mantissa = 0;
    int64_t exponent = 0;
    const uint64_t full = (UINT64_MAX - 9) / 10;
    for (int part = 0; part < 2; ++part) {
        for (; c < end && is_digit(*c); ++c) {
            has_digits = true;
            if (mantissa <= full) {
                mantissa = 10 * mantissa + (uint64_t)(*c - '0');
                exponent -= part;
            } else {
                exponent += 1 - part;
            }
        }
        if (part == 0 && c < end && *c == '.') {
            ++c;
        } else {
            break;
        }
    }
    if (!has_digits) {
        return false;
    }
    exponent += scan_exponent(&c, end);
    double value = decimal(mantissa, exponent);
    *number = is_negative ? -value : value;
    *at = c;
    return true;
}

bool wadi_scan_whole(const char **at, const char *end, int64_t *number)
{
    const char *c = *at;
    bool is_negative = c < end && *c == '-';
    c += c < end && (*c == '-' || *c == '+');
    if (c >= end || !is_digit(*c)) {
        return false;
    }
    int64_t value = 0;
    for (; c < end && is_digit(*c); ++c) {
        if (value > (INT64_MAX - 9) / 10) {
            return false;
        }
        value = 10 * value + (*c - '0');
    }
    *number = is_negative ? -value : value;
    *at = c;
    return true;
}

void wadi_scan_blanks(WadiScan *scan)
{
    while (scan->at < scan->end && is_blank(*scan->at)) {
        ++scan->at;
    }
}

bool wadi_scan_is_at_line_end(WadiScan *scan)
{
    wadi_scan_blanks(scan);
    return scan->at >= scan->end || is_line_end(*scan->at);
}

static void skip_line_end(WadiScan *scan)
{
    if (scan->at < scan->end) {
        bool is_pair = *scan->at == '\r' && scan->end - scan->at > 1 && scan->at[1] == '\n';
        scan->at += is_pair ? 2 : 1;
        ++scan->line;
    }
}

void wadi_scan_next_line(WadiScan *scan)
{
    while (scan->at < scan->end && !is_line_end(*scan->at)) {
        ++scan->at;
    }
    skip_line_end(scan);
}

void wadi_scan_space(WadiScan *scan, char comment)
{
    while (scan->at < scan->end) {
        if (is_blank(*scan->at)) {
            ++scan->at;
        } else if (is_line_end(*scan->at)) {
            skip_line_end(scan);
        } else if (comment != '\0' && *scan->at == comment) {
            wadi_scan_next_line(scan);
        } else {
            return;
        }
    }
}

const char *wadi_scan_word(WadiScan *scan, size_t *length)
{
    wadi_scan_blanks(scan);
    const char *begin = scan->at;
    while (scan->at < scan->end && !is_blank(*scan->at) && !is_line_end(*scan->at)) {
        ++scan->at;
    }
    *length = (size_t)(scan->at - begin);
    return begin;
}

bool wadi_word_is(const char *word, size_t length, const char *wanted)
{
    for (size_t i = 0; i < length; ++i) {
        char c = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] | 32) : word[i];
        if (wanted[i] == '\0' || c != wanted[i]) {
            return false;
        }
    }
    return wanted[length] == '\0';
}
