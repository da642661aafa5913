/* wedge.csv: a line for each run, as RFC 4180 has it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/wedge/wedge_runs.h"
#include "core/alloc.h"
#include "io/run/output_index.h"

static const char *const state_names[] = { "waiting", "running", "stopped", "done", "failed" };

/* Quoted where needed; an error of several lines becomes one. */
static void append_field(WadiText *text, const char *value)
{
    const bool is_quoted = strpbrk(value, ",\"\r\n") != NULL;
    wadi_text_append(text, is_quoted ? ",\"" : ",");
    for (const char *c = value; *c != '\0'; ++c) {
        if (*c == '\n' || *c == '\r') {
            wadi_text_append(text, c[1] != '\0' ? "; " : "");
        } else {
            wadi_text_append(text, *c == '"' ? "\"" : "");
            wadi_text_append_bytes(text, c, 1);
        }
    }
    wadi_text_append(text, is_quoted ? "\"" : "");
}

static void append_error(const WadiWedge *wedge, int i, WadiText *text)
{
    char path[WADI_PATH_SIZE], *bytes = NULL;
    size_t size = 0;
    wadi_wedge_error_path(wedge, i, path);
    if (wadi_file_read(path, 1 << 16, &bytes, &size, NULL) == WADI_OK) {
        append_field(text, bytes);
        wadi_free(bytes, size + 1, 1);
    } else {
        append_field(text, "");
    }
}

static void append_double(WadiText *text, double value)
{
    wadi_text_append(text, ",");
    if (value == value) { /* unknown stays empty */
        wadi_text_append_number(text, value);
    }
}

static void append_results(const char *run, WadiText *text)
{
    WadiRunInfo info;
    if (wadi_run_info_read(&info, run, NULL) != WADI_OK) {
        wadi_text_append(text, ",,,,,,,,,,,,\n");
        return;
    }
    int64_t particles = 0;
    for (int m = 0; m < info.material_count; ++m) {
        particles += info.materials[m].particles;
    }
    wadi_text_printf(text, ",%d,%" PRId64 ",%" PRId64, info.frames, particles, info.steps);
    append_double(text, info.seconds);
    wadi_text_printf(text, ",%" PRId64 ",%" PRId64, info.lost_particles, info.drained_particles);
    append_double(text, info.drift_mass);
    append_double(text, info.drift_volume);
    append_double(text, info.max_divergence);
    wadi_text_printf(text, ",%zu,%016" PRIx64 ",%016" PRIx64 "\n", info.peak_rss_bytes, info.content_hash,
                     info.state_hash);
    wadi_run_info_release(&info);
}

WadiStatus wadi_wedge_table(const WadiWedge *wedge, char path[4096], int *done, int *failed, WadiError *error)
{
    WadiText text = { 0 };
    *done = *failed = 0;
    wadi_text_append(&text, "run,wadi");
    for (int k = 0; k < wedge->key_count; ++k) {
        append_field(&text, wedge->keys[k].key);
    }
    wadi_text_append(&text,
                     ",status,error,folder,frames,particles,steps,seconds,lost_particles,drained_particles,"
                     "drift_mass,drift_volume,max_divergence,peak_rss_bytes,content_hash,state_hash\n");
    for (int i = 0; i < wedge->run_count; ++i) {
        char run[WADI_PATH_SIZE];
        const WadiWedgeState state = wadi_wedge_state(wedge, i);
        *done += state == WADI_WEDGE_DONE;
        *failed += state == WADI_WEDGE_FAILED;
        wadi_text_printf(&text, "%d,%s", i + 1, wadi_version());
        for (int k = 0; k < wedge->key_count; ++k) {
            append_field(&text, wadi_wedge_value(wedge, i, k));
        }
        append_field(&text, state_names[state]);
        append_error(wedge, i, &text);
        wadi_wedge_run_path(wedge, i, run);
        append_field(&text, strrchr(run, '/') + 1);
        append_results(run, &text);
    }
    snprintf(path, 4096, "%.4000s/wedge.csv", wedge->folder);
    WadiStatus status = wadi_text_status(&text, error);
    if (status == WADI_OK) {
        status = wadi_output_check_foreign(path, error);
    }
    if (status == WADI_OK) {
        status = wadi_file_write(path, text.data, text.length, error);
    }
    wadi_text_free(&text);
    return status;
}
