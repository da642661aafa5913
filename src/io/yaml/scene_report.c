#include "io/yaml/scene_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BYTES = 80 };

void wadi_report_free(WadiReport *report)
{
    for (size_t i = 0; i < report->problems.count; ++i) {
        wadi_string_free(report->problems.data[i].text);
    }
    WADI_ARRAY_FREE(&report->problems);
}

bool wadi_report_is_full(const WadiReport *report)
{
    return report->problems.count >= WADI_REPORT_MAX || report->has_failed;
}

void wadi_report_add(WadiReport *report, WadiSourceLocation location, const char *path, const char *format,
                     ...)
{
    if (wadi_report_is_full(report)) {
        ++report->dropped;
        return;
    }
    WadiText text = { 0 };
    wadi_text_append(&text, path);
    wadi_text_append(&text, path[0] != '\0' ? ": " : "");
    va_list args;
    va_start(args, format);
    wadi_text_vprintf(&text, format, args);
    va_end(args);

    WadiProblem problem = { .location = location, .order = (int)report->problems.count };
    WadiStatus status =
        text.has_failed ? WADI_ERR_MEMORY : wadi_string_copy(&problem.text, text.data, text.length, NULL);
    if (status == WADI_OK) {
        status = WADI_ARRAY_PUSH(&report->problems, problem, "problems", NULL);
    }
    if (status != WADI_OK) {
        wadi_string_free(problem.text);
        report->has_failed = true;
    }
    wadi_text_free(&text);
}

/* Problems of the file first, by line and column; then those of the overrides, in their order. */
static int compare(const void *left, const void *right)
{
    const WadiProblem *a = left, *b = right;
    if (a->location.set != b->location.set) {
        return a->location.set < b->location.set ? -1 : 1;
    }
    if (a->location.set < 0 && a->location.line != b->location.line) {
        return a->location.line < b->location.line ? -1 : 1;
    }
    if (a->location.set < 0 && a->location.column != b->location.column) {
        return a->location.column < b->location.column ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

void wadi_text_append_shown(WadiText *text, const char *user_text, size_t length)
{
    size_t shown = length;
    if (shown > SHOWN_BYTES) {
        shown = SHOWN_BYTES;
        while (shown > 0 && ((unsigned char)user_text[shown] & 0xC0) == 0x80) {
            --shown; /* do not cut inside a UTF-8 character */
        }
    }
    for (size_t i = 0; i < shown; ++i) {
        unsigned char c = (unsigned char)user_text[i];
        if (c == '\n') {
            wadi_text_append(text, "\\n");
        } else if (c < 0x20 || c == 0x7f) {
            wadi_text_printf(text, "\\x%02x", c);
        } else {
            wadi_text_append_bytes(text, &user_text[i], 1);
        }
    }
    wadi_text_append(text, shown < length ? "…" : "");
}

void wadi_report_append_location(const WadiReport *report, WadiSourceLocation location, WadiText *text)
{
    if (location.set >= 0) {
        wadi_text_append(text, "set ");
        wadi_text_append_shown(text, report->sets[location.set], strlen(report->sets[location.set]));
    } else if (location.line > 0) {
        wadi_text_printf(text, "%s:%d:%d", report->path, location.line, location.column);
    } else {
        wadi_text_append(text, report->path);
    }
}

WadiStatus wadi_report_finish(WadiReport *report, WadiError *error)
{
    if (report->has_failed) {
        return wadi_fail_memory(error, sizeof(WadiProblem), "the list of problems");
    }
    if (report->problems.count == 0) {
        return WADI_OK;
    }
    qsort(report->problems.data, report->problems.count, sizeof(WadiProblem), compare);

    /* As many problems as fit, with space left for the number of the others. */
    enum { COUNT_BYTES = 32 };
    int total = (int)report->problems.count + report->dropped, shown = 0;
    WadiText all = { 0 }, line = { 0 };
    for (size_t i = 0; i < report->problems.count && shown < WADI_REPORT_SHOWN; ++i) {
        wadi_text_clear(&line);
        wadi_text_append(&line, shown > 0 ? "\n" : "");
        wadi_report_append_location(report, report->problems.data[i].location, &line);
        wadi_text_append(&line, ": ");
        wadi_text_append(&line, report->problems.data[i].text);
        if (shown > 0 && all.length + line.length + COUNT_BYTES >= WADI_ERROR_TEXT_SIZE) {
            break;
        }
        wadi_text_append_bytes(&all, wadi_text_cstr(&line), line.length);
        ++shown;
    }
    if (shown < total) {
        wadi_text_printf(&all, "\n… and %d more", total - shown);
    }
    WadiStatus status = wadi_text_status(&all, error);
    if (status == WADI_OK) {
        status = wadi_text_status(&line, error);
    }
    if (status == WADI_OK) {
        status = wadi_fail(error, WADI_ERR_SCENE, "%s", wadi_text_cstr(&all));
    }
    wadi_text_free(&line);
    wadi_text_free(&all);
    return status;
}
