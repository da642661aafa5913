/* A growing text, for JSON, XDMF, schemas and reports.
 * After the first failure appends do nothing and wadi_text_status returns it, so that a writer is a plain
 * list of appends with one check at the end. A zeroed WadiText is valid and empty. */
#ifndef WADI_CORE_TEXT_H
#define WADI_CORE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>

#include "core/status.h"

typedef struct WadiText {
    char *data; /* terminated when length > 0; use wadi_text_cstr for a never-NULL pointer */
    size_t length;
    size_t capacity;
    bool has_failed;
} WadiText;

/* Characters of names of scenes, materials, colliders and arrays, which become parts of files and scripts of
 * other programs. */
#define WADI_NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
/* Whether the text is not empty, has only these and begins with neither '.' nor '-'. */
bool wadi_text_is_name(const char *text);

void wadi_text_free(WadiText *text);
void wadi_text_clear(WadiText *text);
void wadi_text_append(WadiText *text, const char *piece);
void wadi_text_append_bytes(WadiText *text, const char *bytes, size_t length);
void wadi_text_printf(WadiText *text, const char *format, ...) WADI_PRINTF(2, 3);
void wadi_text_vprintf(WadiText *text, const char *format, va_list args) WADI_PRINTF(2, 0);
/* A JSON string with its quotes, and a number, see wadi/json.h. */
void wadi_text_append_json(WadiText *text, const char *value);
void wadi_text_append_number(WadiText *text, double value);
/* Bytes as base64. */
void wadi_text_append_base64(WadiText *text, const void *bytes, size_t size);
const char *wadi_text_cstr(const WadiText *text);
WadiStatus wadi_text_status(const WadiText *text, WadiError *error);

/* Reads `length` characters of base64 into `bytes`, up to the first '='. `bytes` has room for 3 bytes per 4
 * characters, or is the text itself. *size: how many. False: the text has another character. */
bool wadi_text_read_base64(const char *text, size_t length, unsigned char *bytes, size_t *size);

/* Edit distance for "did you mean": insertions, deletions, replacements and swaps of neighbours. */
int wadi_text_distance(const char *a, const char *b);
/* The nearest of `count` names (NULL entries are skipped) if it is a likely typo, else NULL. */
const char *wadi_text_nearest(const char *word, const char *const *names, int count);

#endif
