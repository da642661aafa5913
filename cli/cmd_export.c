/* wadi export: a run as scenes and files for other programs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "human.h"
#include "options.h"
#include "progress.h"
#include "signals.h"

typedef struct Export {
    const WadiCliArgs *args;
    WadiCliProgress progress;
} Export;

static bool usage_error(const char *option, const char *expected, const char *found)
{
    wadi_cli_usage_error(wadi_cli_find_command("export"), "%s: expected %s, found '%s'", option, expected,
                         found);
    return false;
}

/* "12" or "12-20" */
static bool parse_frames(const char *text, WadiExportDef *def)
{
    int frame[2];
    int count = wadi_cli_parse_counts(text, '-', frame);
    if (count == 0 || frame[count - 1] < frame[0]) {
        return usage_error("--frames", "a frame or a range such as 10-20", text);
    }
    def->first_frame = frame[0];
    def->last_frame = frame[count - 1];
    return true;
}

static bool parse_target(const char *text, WadiExportDef *def)
{
    if (text == NULL) {
        wadi_cli_usage_error(wadi_cli_find_command("export"),
                             "--to is missing: pov, pbrt, blender, ply, obj or vdb");
        return false;
    }
    for (int t = 0; t < WADI_EXPORT_TARGET_COUNT; ++t) {
        if (strcmp(text, wadi_export_target_name((WadiExportTarget)t)) == 0) {
            def->target = (WadiExportTarget)t;
            return true;
        }
    }
    return usage_error("--to", "pov, pbrt, blender, ply, obj or vdb", text);
}

static bool parse_up(const char *text, WadiExportDef *def)
{
    if (strcmp(text, "y") != 0 && strcmp(text, "z") != 0) {
        return usage_error("--up", "y or z", text);
    }
    def->is_y_up = text[0] == 'y';
    return true;
}

static void on_log(void *user, WadiLogLevel level, const char *text)
{
    Export *export = user;
    if (export->args->json) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", level == WADI_LOG_WARNING ? "warning" : "info");
        wadi_cli_json_text(&json, "text", text);
        wadi_cli_json_close(&json);
    } else if (!export->args->quiet) {
        wadi_cli_progress_clear(&export->progress);
        wadi_cli_print_message(level, text);
    }
}

static void json_frame(const WadiExportProgress *state)
{
    WadiCliJson json = wadi_cli_json_open(stdout);
    wadi_cli_json_text(&json, "event", "export");
    wadi_cli_json_integer(&json, "frame", state->frame);
    wadi_cli_json_integer(&json, "frames_done", state->frames_done);
    wadi_cli_json_integer(&json, "frames", state->frame_count);
    wadi_cli_json_text(&json, "path", state->path);
    wadi_cli_json_bool(&json, "kept", state->is_kept);
    wadi_cli_json_integer(&json, "grains", state->grains);
    wadi_cli_json_integer(&json, "triangles", state->triangles);
    wadi_cli_json_number(&json, "seconds", state->seconds);
    wadi_cli_json_number(&json, "seconds_left",
                         state->seconds_left < 0.0 ? (double)NAN : state->seconds_left);
    wadi_cli_json_close(&json);
}

static void on_progress(void *user, const WadiExportProgress *state)
{
    Export *export = user;
    if (export->args->json) {
        json_frame(state);
    }
    WadiProgress line = { .frame = state->frames_done,
                          .frame_count = state->frame_count,
                          .is_frame_done = true,
                          .stage = state->is_kept ? "kept" : "export",
                          .particles = state->grains,
                          .seconds = state->seconds,
                          .seconds_left = state->seconds_left };
    wadi_cli_progress_update(&export->progress, &line);
}

static void json_end(const WadiExportReport *report)
{
    WadiCliJson json = wadi_cli_json_open(stdout);
    wadi_cli_json_text(&json, "event", "exports");
    wadi_cli_json_text(&json, "folder", report->folder);
    wadi_cli_json_integer(&json, "frames", report->frames);
    wadi_cli_json_integer(&json, "kept", report->kept);
    wadi_cli_json_integer(&json, "grains", report->grains);
    wadi_cli_json_integer(&json, "triangles", report->triangles);
    wadi_cli_json_number(&json, "seconds", report->seconds);
    wadi_cli_json_close(&json);
}

static void print_summary(const WadiExportReport *report, WadiExportTarget target)
{
    char text[WADI_CLI_HUMAN_SIZE];
    int made = report->frames - report->kept;
    printf("%d frame%s written, %d kept, ", made, made == 1 ? "" : "s", report->kept);
    if (report->grains > 0) {
        printf("%s grains, ", wadi_cli_human_count(text, report->grains));
    }
    printf("%s triangles, ", wadi_cli_human_count(text, report->triangles));
    printf("%s: %s\n", wadi_cli_human_duration(text, report->seconds), report->folder);
    if (target == WADI_EXPORT_BLENDER) {
        printf("blender -P %s/load.py\n", report->folder);
    }
}

static int make(Export *export, const WadiExportDef *def)
{
    const WadiCliArgs *args = export->args;
    WadiExportReport report;
    WadiError error = { 0 };
    WadiStatus status = wadi_export(args->operand, def, &report, &error);
    wadi_cli_progress_clear(&export->progress);
    if (status == WADI_ERR_SCENE) {
        return wadi_cli_scene_failure(args, &error, "; nothing was written");
    }
    if (status == WADI_ERR_STOPPED) {
        snprintf(error.text, sizeof error.text,
                 "stopped after %d frame%s; the same command goes on with the others", report.frames,
                 report.frames == 1 ? "" : "s");
    }
    if (status != WADI_OK) {
        return wadi_cli_failure(args, &error);
    }
    if (args->json) {
        json_end(&report);
    } else if (!args->quiet) {
        print_summary(&report, def->target);
    }
    return WADI_CLI_EXIT_GOOD;
}

#define STOPPING "wadi: stopping when the frame that was begun is done; Ctrl-C again ends at once\n"

int wadi_cli_export(const WadiCliArgs *args)
{
    Export export = { .args = args, .progress = wadi_cli_progress_open(args->quiet || args->json) };
    WadiExportDef def = wadi_default_export_def();
    export.progress.has_particles = false;
    if (!parse_target(args->to, &def) ||
        (args->frame_range != NULL && !parse_frames(args->frame_range, &def)) ||
        (args->up != NULL && !parse_up(args->up, &def))) {
        return WADI_CLI_EXIT_USAGE;
    }
    def.sets = args->sets;
    def.set_count = args->set_count;
    def.folder = args->output;
    def.is_forced = args->force;
    def.threads = args->threads;
    def.log = (WadiLog){ .function = on_log, .user = &export };
    def.progress = on_progress;
    def.progress_user = &export;
    def.stop = wadi_cli_stop_flag();
    bool is_quiet = export.progress.is_silent || !export.progress.is_terminal;
    wadi_cli_catch_signals(is_quiet                      ? NULL
                           : export.progress.has_escapes ? "\r\033[K" STOPPING
                                                         : "\n" STOPPING);
    return make(&export, &def);
}
