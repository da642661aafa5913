/* The reader of run.json on any bytes; what it accepts must come back the same after writing it again. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/run/run_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t live = wadi_alloc_live_bytes();
    WadiError error;
    WadiRunSummary summary, again;
    if (wadi_run_summary_parse("run.json", (const char *)data, size, &summary, &error) == WADI_OK) {
        char *json = NULL, *json_again = NULL;
        if (wadi_run_summary_json(&summary, &json, &error) != WADI_OK ||
            wadi_run_summary_parse("run.json", json, strlen(json), &again, &error) != WADI_OK ||
            wadi_run_summary_json(&again, &json_again, &error) != WADI_OK || strcmp(json, json_again) != 0) {
            abort();
        }
        wadi_string_free(json);
        wadi_string_free(json_again);
        wadi_run_summary_free(&again);
    }
    wadi_run_summary_free(&summary);
    if (wadi_alloc_live_bytes() != live) {
        abort();
    }
    return 0;
}
