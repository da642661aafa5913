/* Numbers, words and lines of text files of meshes. Independent of the locale, never past `end`. */
#ifndef WADI_GEOM_MESH_TEXT_H
#define WADI_GEOM_MESH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decimal number at *at, which is advanced past it. false, and *at unchanged, when there is none. */
bool wadi_scan_number(const char **at, const char *end, double *number);
bool wadi_scan_whole(const char **at, const char *end, int64_t *number);

typedef struct WadiScan {
    const char *at, *end;
    size_t line; /* from 1 */
} WadiScan;

/* Spaces and tabs, not line ends. */
void wadi_scan_blanks(WadiScan *scan);
/* To the begin of the next line; \n, \r\n and \r end one. */
void wadi_scan_next_line(WadiScan *scan);
/* Blanks and line ends, and what stands between `comment` (0: none) and the end of its line. */
void wadi_scan_space(WadiScan *scan, char comment);
/* The bytes up to the next blank or line end, after blanks; length 0 at the end of the line. */
const char *wadi_scan_word(WadiScan *scan, size_t *length);
bool wadi_scan_is_at_line_end(WadiScan *scan);
/* Equal but for the case of ASCII letters. */
bool wadi_word_is(const char *word, size_t length, const char *wanted);

#endif
