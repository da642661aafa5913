/* Collects the problems of a scene, so that all are reported at once in the order of the file. */
#ifndef WADI_IO_SCENE_REPORT_H
#define WADI_IO_SCENE_REPORT_H

#include <stdbool.h>

#include "core/array.h"
#include "core/text.h"

/* Location in the source text. */
typedef struct WadiSourceLocation {
    int set;          /* index of the override, -1: in the scene file */
    int line, column; /* from 1; 0: unknown */
} WadiSourceLocation;

typedef struct WadiProblem {
    WadiSourceLocation location;
    int order;  /* of arrival, among equal locations */
    char *text; /* "bodies[0].material: …"; owned */
} WadiProblem;

enum {
    WADI_REPORT_SHOWN = 20,
    WADI_REPORT_MAX = 1000, /* further ones are only counted: a hostile file may have a million */
};

typedef struct WadiReport {
    const char *path;        /* of the scene; borrowed */
    const char *const *sets; /* borrowed */
    WADI_ARRAY(WadiProblem) problems;
    int dropped;     /* counted, not stored */
    bool has_failed; /* out of memory */
} WadiReport;

void wadi_report_free(WadiReport *report);
/* "path: message"; `path` may be "" for the file as a whole. */
void wadi_report_add(WadiReport *report, WadiSourceLocation location, const char *path, const char *format,
                     ...) WADI_PRINTF(4, 5);
/* True when further problems are only counted: their message need not be made. */
bool wadi_report_is_full(const WadiReport *report);
/* WADI_ERR_SCENE with the text; WADI_OK without problems. */
WadiStatus wadi_report_finish(WadiReport *report, WadiError *error);
/* Appends "pile.yaml:12:5" or "set a.b=c". */
void wadi_report_append_location(const WadiReport *report, WadiSourceLocation location, WadiText *text);

/* Appends user text in a form safe for messages: one line, bounded, control characters escaped. */
void wadi_text_append_shown(WadiText *text, const char *user_text, size_t length);

#endif
