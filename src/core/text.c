#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/array.h"
#include "wadi/json.h"

void wadi_text_free(WadiText *text)
{
    wadi_free(text->data, text->capacity, 1);
    *text = (WadiText){ 0 };
}

void wadi_text_clear(WadiText *text)
{
    text->length = 0;
    text->has_failed = false;
    if (text->data != NULL) {
        text->data[0] = '\0';
    }
}

static bool reserve(WadiText *text, size_t extra)
{
    if (text->has_failed) {
        return false;
    }
    WadiStatus status =
        wadi_array_reserve((void **)&text->data, &text->capacity, text->length + extra + 1, 1, "text", NULL);
    text->has_failed = status != WADI_OK;
    return status == WADI_OK;
}

void wadi_text_append_bytes(WadiText *text, const char *bytes, size_t length)
{
    if (length > 0 && reserve(text, length)) {
        memcpy(text->data + text->length, bytes, length);
        text->length += length;
        text->data[text->length] = '\0';
    }
}

void wadi_text_append(WadiText *text, const char *piece)
{
    wadi_text_append_bytes(text, piece, strlen(piece));
}

void wadi_text_vprintf(WadiText *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length > 0 && reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void wadi_text_printf(WadiText *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    wadi_text_vprintf(text, format, args);
    va_end(args);
}

/* Length of the valid UTF-8 sequence at `s`, or 0. */
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) {
        return 1;
    }
    const size_t length = s[0] >= 0xF0 && s[0] <= 0xF4  ? 4
                          : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
                          : s[0] >= 0xC2 && s[0] < 0xE0 ? 2
                                                        : 0;
    for (size_t i = 1; i < length; ++i) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    /* Overlong forms, surrogates and values past U+10FFFF. */
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0) || (s[0] == 0xF0 && s[1] < 0x90) ||
        (s[0] == 0xF4 && s[1] >= 0x90)) {
        return 0;
    }
    return length;
}

bool wadi_text_is_name(const char *text)
{
    return text[0] != '\0' && text[0] != '.' && text[0] != '-' &&
           text[strspn(text, WADI_NAME_CHARACTERS)] == '\0';
}

const char *wadi_json_put_character(const char *text, char piece[WADI_JSON_SIZE])
{
    const unsigned char c = (unsigned char)text[0];
    const size_t length = utf8_length((const unsigned char *)text);
    if (length == 0) {
        memcpy(piece, "\\ufffd", 7);
        return text + 1;
    }
    if (c == '"' || c == '\\' || c == '\n' || c == '\t') {
        const char letter = c == '\n' ? 'n' : c == '\t' ? 't' : (char)c;
        memcpy(piece, (const char[3]){ '\\', letter, '\0' }, 3);
    } else if (c < 0x20) {
        snprintf(piece, WADI_JSON_SIZE, "\\u%04x", c);
    } else {
        memcpy(piece, text, length);
        piece[length] = '\0';
    }
    return text + length;
}

void wadi_json_put_number(double value, char number[WADI_JSON_SIZE])
{
    if (!isfinite(value)) {
        memcpy(number, "null", 5);
        return;
    }
    for (int precision = 1; precision <= 17; ++precision) {
        snprintf(number, WADI_JSON_SIZE, "%.*g", precision, value);
        if (strtod(number, NULL) == value) {
            /* %g writes an exponent when there are more digits before the point than the precision: 6e+01.
             * 15 digits always read back the same, and %g drops trailing zeros. */
            if (fabs(value) < 1e15 && strchr(number, '+') != NULL) {
                snprintf(number, WADI_JSON_SIZE, "%.15g", value);
            }
            return;
        }
    }
}

void wadi_text_append_json(WadiText *text, const char *value)
{
    char piece[WADI_JSON_SIZE];
    wadi_text_append(text, "\"");
    while (*value != '\0') {
        value = wadi_json_put_character(value, piece);
        wadi_text_append(text, piece);
    }
    wadi_text_append(text, "\"");
}

void wadi_text_append_number(WadiText *text, double value)
{
    char number[WADI_JSON_SIZE];
    wadi_json_put_number(value, number);
    wadi_text_append(text, number);
}

static const char digits_of_base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void wadi_text_append_base64(WadiText *text, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t bits = (uint32_t)from[i] << 16 | (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                              (left > 2 ? (uint32_t)from[i + 2] : 0);
        char group[4] = { '=', '=', '=', '=' };
        for (size_t d = 0; d < 4 && d <= left; ++d) {
            group[d] = digits_of_base64[bits >> (18 - 6 * d) & 63];
        }
        wadi_text_append_bytes(text, group, sizeof group);
    }
}

bool wadi_text_read_base64(const char *text, size_t length, unsigned char *bytes, size_t *size)
{
    uint32_t bits = 0;
    size_t digits = 0;
    *size = 0;
    for (const char *at = text; at < text + length && *at != '='; ++at) {
        const char *digit = *at != '\0' ? strchr(digits_of_base64, *at) : NULL;
        if (digit == NULL) {
            return false;
        }
        bits = bits << 6 | (uint32_t)(digit - digits_of_base64);
        if (++digits % 4 != 1) {
            bytes[(*size)++] = (unsigned char)(bits >> (6 - 2 * ((digits - 1) % 4)));
        }
    }
    return true;
}

const char *wadi_text_cstr(const WadiText *text)
{
    return text->length > 0 ? text->data : "";
}

WadiStatus wadi_text_status(const WadiText *text, WadiError *error)
{
    return text->has_failed ? wadi_fail_memory(error, text->length, "text") : WADI_OK;
}

enum { LONGEST_NAME = 64 };

int wadi_text_distance(const char *a, const char *b)
{
    int n = (int)strnlen(a, LONGEST_NAME), m = (int)strnlen(b, LONGEST_NAME);
    int row[3][LONGEST_NAME + 1];
    for (int j = 0; j <= m; ++j) {
        row[0][j] = j;
    }
    for (int i = 1; i <= n; ++i) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; ++j) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *wadi_text_nearest(const char *word, const char *const *names, int count)
{
    const char *nearest = NULL;
    int best = 0;
    for (int i = 0; i < count; ++i) {
        if (names[i] == NULL) {
            continue;
        }
        int distance = wadi_text_distance(word, names[i]);
        if (nearest == NULL || distance < best) {
            nearest = names[i];
            best = distance;
        }
    }
    /* A typo changes a third of a word at most; beyond that the suggestion would only mislead. */
    int limit = ((int)strlen(word) + 2) / 3;
    return best <= limit ? nearest : NULL;
}
