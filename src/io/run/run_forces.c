#include "io/run/run_forces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/files/files.h"

enum { COLUMNS = 18, NAME_COLUMN = 2 };
static const size_t LARGEST = (size_t)1 << 30; /* bytes */

static void path_of(char path[WADI_PATH_SIZE], const char *folder)
{
    snprintf(path, WADI_PATH_SIZE, "%s/forces.csv", folder);
}

/* Bytes of the line with its end; 0: it has none, or not all columns. */
static size_t line_length(const char *line)
{
    const char *end = strchr(line, '\n');
    int columns = 1;
    for (const char *c = line; end != NULL && c < end; ++c) {
        columns += *c == ',';
    }
    return end != NULL && columns == COLUMNS ? (size_t)(end - line) + 1 : 0;
}

void wadi_run_forces_truncate(WadiText *table, int last)
{
    if (table->length == 0) {
        return;
    }
    size_t at = line_length(table->data);
    for (size_t length = 1; at > 0 && length > 0; at += length) {
        length = line_length(table->data + at);
        const long frame = length > 0 ? strtol(table->data + at, NULL, 10) : 0;
        length = frame >= 1 && frame <= last ? length : 0;
    }
    table->length = at;
    table->data[at] = '\0';
}

WadiStatus wadi_run_forces_read(const char *folder, int last, WadiText *table, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    wadi_text_clear(table);
    path_of(path, folder);
    if (!wadi_file_exists(path)) {
        return WADI_OK;
    }
    char *bytes = NULL;
    size_t size = 0;
    WADI_TRY(wadi_file_read(path, LARGEST, &bytes, &size, error));
    wadi_text_append_bytes(table, bytes, strlen(bytes));
    wadi_free(bytes, size + 1, 1);
    WADI_TRY(wadi_text_status(table, error));
    wadi_run_forces_truncate(table, last);
    return WADI_OK;
}

WadiStatus wadi_run_forces_write(const char *folder, const WadiText *table, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    path_of(path, folder);
    return table->length > 0 ? wadi_file_write(path, table->data, table->length, error) : WADI_OK;
}

/* The text of a column, and where the next one begins. */
static const char *read_column(const char *at, char value[512])
{
    const size_t length = strcspn(at, ",\n");
    snprintf(value, 512, "%.*s", (int)(length < 511 ? length : 511), at);
    return at + length + (at[length] != '\0');
}

static void append_line(const char *header, const char *line, WadiText *json)
{
    char name[512], value[512], vector[512] = "";
    for (int c = 0; c < COLUMNS; ++c) {
        header = read_column(header, name);
        line = read_column(line, value);
        char *axis = c > NAME_COLUMN ? strrchr(name, '_') : NULL;
        if (axis == NULL) {
            wadi_text_printf(json, "%s\"%s\": ", c > 0 ? ", " : "{", name);
        } else {
            *axis = '\0';
            if (strcmp(vector, name) == 0) {
                wadi_text_append(json, ", ");
            } else {
                wadi_text_printf(json, "%s, \"%s\": [", vector[0] != '\0' ? "]" : "", name);
                snprintf(vector, sizeof vector, "%s", name);
            }
        }
        if (c == NAME_COLUMN) {
            wadi_text_append_json(json, value);
        } else {
            wadi_text_append_number(json, strtod(value, NULL));
        }
    }
    wadi_text_append(json, "]}");
}

void wadi_run_forces_append_json(const WadiText *table, WadiText *json)
{
    wadi_text_append(json, "[");
    const char *last = NULL;
    long frame = 0;
    size_t at = table->length > 0 ? line_length(table->data) : 0;
    for (size_t length; at > 0 && (length = line_length(table->data + at)) > 0; at += length) {
        const long of = strtol(table->data + at, NULL, 10);
        last = of != frame ? table->data + at : last;
        frame = of;
    }
    for (const char *line = last; line != NULL && *line != '\0'; line = strchr(line, '\n') + 1) {
        wadi_text_append(json, line != last ? ", " : "");
        append_line(table->data, line, json);
    }
    wadi_text_append(json, "]");
}
