#include "json_out.h"

#include <inttypes.h>

#include "wadi/json.h"

static void write_text(FILE *out, const char *value)
{
    char piece[WADI_JSON_SIZE];
    fputc('"', out);
    while (*value != '\0') {
        value = wadi_json_put_character(value, piece);
        fputs(piece, out);
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
    char number[WADI_JSON_SIZE];
    wadi_json_put_number(value, number);
    fputs(number, json->out);
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
