/* The problems of a scene, collected so that all of them can be told at once, in the order of the file. */
#ifndef WADI_IO_SCENE_REPORT_H
#define WADI_IO_SCENE_REPORT_H

#include <stdbool.h>

#include "core/array.h"
#include "core/text.h"

/* Where something was written. */
typedef struct WadiPlace {
    int set;          /* index of the override, -1: in the scene file */
    int line, column; /* from 1; 0: no place */
} WadiPlace;

typedef struct WadiProblem {
    WadiPlace place;
    int order;  /* of arrival, among equal places */
    char *text; /* "bodies[0].material: …"; owned */
} WadiProblem;

enum {
    WADI_REPORT_SHOWN = 20,
    WADI_REPORT_KEPT = 1000, /* more are only counted: a hostile file has a million */
};

typedef struct WadiReport {
    const char *path;        /* of the scene; borrowed */
    const char *const *sets; /* borrowed */
    WADI_ARRAY(WadiProblem) problems;
    int dropped;     /* counted, not kept */
    bool has_failed; /* out of memory */
} WadiReport;

void wadi_report_free(WadiReport *report);
/* "path: message"; `path` may be "" for the file as a whole. */
void wadi_report_add(WadiReport *report, WadiPlace place, const char *path, const char *format, ...)
    WADI_PRINTF(4, 5);
/* True once further problems are only counted: the message need not be made. */
bool wadi_report_is_full(const WadiReport *report);
/* WADI_ERR_SCENE with the text, WADI_OK when there is no problem. */
WadiStatus wadi_report_finish(WadiReport *report, WadiError *error);
/* "pile.yaml:12:5" or "set a.b=c". */
void wadi_report_place(const WadiReport *report, WadiPlace place, WadiText *text);

/* A user's text made fit for a message: one line, bounded, control characters escaped. */
void wadi_text_append_shown(WadiText *text, const char *user_text, size_t length);

#endif
