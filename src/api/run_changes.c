/* Runs that repeat changes: RUN/changes.yaml holds them for later sessions. */
#include <stdio.h>
#include <string.h>

#include "api/change.h"
#include "core/alloc.h"
#include "io/files/files.h"

WadiStatus wadi_run_start_changes(WadiSim *sim, const char *run, const char *changes, bool is_fresh,
                                  WadiError *error)
{
    char path[WADI_PATH_SIZE], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/changes.yaml", run);
    if (changes != NULL) {
        WADI_TRY(wadi_sim_repeat_changes(sim, changes, error));
        return wadi_file_write(path, changes, strlen(changes), error);
    }
    if (is_fresh || !wadi_file_exists(path)) {
        return is_fresh ? wadi_file_remove(path, error) : WADI_OK;
    }
    WADI_TRY(wadi_file_read(path, WADI_YAML_MAX_BYTES, &text, &size, error));
    const WadiStatus status = wadi_sim_repeat_changes(sim, text, error);
    wadi_free(text, size + 1, 1);
    return status;
}
