/* One JSON object on one line of a stream: open, add members, close. */
#ifndef WADI_CLI_JSON_OUT_H
#define WADI_CLI_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct WadiCliJson {
    FILE *out;
    bool needs_comma;
} WadiCliJson;

WadiCliJson wadi_cli_json_open(FILE *out);
void wadi_cli_json_text(WadiCliJson *json, const char *key, const char *value);
void wadi_cli_json_integer(WadiCliJson *json, const char *key, int64_t value);
/* The shortest decimal that parses to the same double; null for values that JSON does not have. */
void wadi_cli_json_number(WadiCliJson *json, const char *key, double value);
void wadi_cli_json_bool(WadiCliJson *json, const char *key, bool value);
/* 16 hexadecimal digits as text: many readers would round a 64-bit number. */
void wadi_cli_json_hash(WadiCliJson *json, const char *key, uint64_t value);
void wadi_cli_json_texts(WadiCliJson *json, const char *key, const char *const *values, int count);
/* An object of numbers by name. */
void wadi_cli_json_numbers(WadiCliJson *json, const char *key, const char *const *names, const double *values,
                           int count);
/* Ends the line and flushes it, so that a reader gets each event at once. */
void wadi_cli_json_close(WadiCliJson *json);

#endif
