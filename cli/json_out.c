#include "json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Bytes of the UTF-8 sequence at `text`; 0 when it is invalid (including overlong forms and surrogates). */
static int utf8_length(const unsigned char *text)
{
    if (text[0] < 0x80) {
        return 1;
    }
    int length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4) {
        return 0;
    }
    for (int i = 1; i < length; ++i) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool is_too_long = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool is_outside = (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf4 && text[1] > 0x8f);
    return is_too_long || is_outside ? 0 : length;
}

static void write_text(FILE *out, const char *value)
{
    fputc('"', out);
    const unsigned char *c = (const unsigned char *)value;
    while (*c != '\0') {
        int length = utf8_length(c);
        if (length == 0) {
            fputs("\\ufffd", out);
            ++c;
        } else if (*c == '"' || *c == '\\') {
            fprintf(out, "\\%c", *c++);
        } else if (*c == '\n') {
            fputs("\\n", out);
            ++c;
        } else if (*c < 0x20) {
            fprintf(out, "\\u%04x", *c++);
        } else {
            fwrite(c, 1, (size_t)length, out);
            c += length;
        }
    }
    fputc('"', out);
}

static void write_key(WadiCliJson *json, const char *key)
{
    if (json->needs_comma) {
        fputc(',', json->out);
    }
    json->needs_comma = true;
    write_text(json->out, key);
    fputc(':', json->out);
}

WadiCliJson wadi_cli_json_open(FILE *out)
{
    fputc('{', out);
    return (WadiCliJson){ .out = out };
}

void wadi_cli_json_text(WadiCliJson *json, const char *key, const char *value)
{
    write_key(json, key);
    write_text(json->out, value);
}

void wadi_cli_json_integer(WadiCliJson *json, const char *key, int64_t value)
{
    write_key(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void wadi_cli_json_number(WadiCliJson *json, const char *key, double value)
{
    write_key(json, key);
    if (!isfinite(value)) {
        fputs("null", json->out);
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    fputs(text, json->out);
}

void wadi_cli_json_bool(WadiCliJson *json, const char *key, bool value)
{
    write_key(json, key);
    fputs(value ? "true" : "false", json->out);
}

void wadi_cli_json_hash(WadiCliJson *json, const char *key, uint64_t value)
{
    write_key(json, key);
    fprintf(json->out, "\"%016" PRIx64 "\"", value);
}

void wadi_cli_json_texts(WadiCliJson *json, const char *key, const char *const *values, int count)
{
    write_key(json, key);
    fputc('[', json->out);
    for (int i = 0; i < count; ++i) {
        if (i > 0) {
            fputc(',', json->out);
        }
        write_text(json->out, values[i]);
    }
    fputc(']', json->out);
}

void wadi_cli_json_numbers(WadiCliJson *json, const char *key, const char *const *names, const double *values,
                           int count)
{
    write_key(json, key);
    WadiCliJson inner = wadi_cli_json_open(json->out);
    for (int i = 0; i < count; ++i) {
        wadi_cli_json_number(&inner, names[i], values[i]);
    }
    fputc('}', json->out);
}

void wadi_cli_json_close(WadiCliJson *json)
{
    fputs("}\n", json->out);
    fflush(json->out);
}
