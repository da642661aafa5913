/* Writing and parsing of run.json as text; other code uses run_folder.h. */
#ifndef WADI_IO_RUN_JSON_H
#define WADI_IO_RUN_JSON_H

#include "core/text.h"
#include "io/run/run_folder.h"

enum { WADI_RUN_JSON_LIMIT = 4 << 20 }; /* bytes; a summary has at most about 100 KiB */

void wadi_run_summary_append(const WadiRunSummary *summary, WadiText *text);
/* `path` is for messages. On failure the summary is empty. */
WadiStatus wadi_run_summary_parse(const char *path, const char *text, size_t length, WadiRunSummary *summary,
                                  WadiError *error);

#endif
