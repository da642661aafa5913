/* wadi export: a run as scenes and files for other programs. */
#include <string.h>

#include "command.h"
#include "human.h"
#include "options.h"
#include "over_frames.h"
#include "signals.h"

static bool parse_target(const WadiCliWork *work, WadiExportDef *def)
{
    const char *text = work->args->to;
    if (text == NULL) {
        wadi_cli_usage_error(wadi_cli_find_command("export"),
                             "--to is missing: pov, pbrt, blender, usd, ply, obj or vdb");
        return false;
    }
    for (int t = 0; t < WADI_EXPORT_TARGET_COUNT; ++t) {
        if (strcmp(text, wadi_export_target_name((WadiExportTarget)t)) == 0) {
            def->target = (WadiExportTarget)t;
            return true;
        }
    }
    return wadi_cli_work_usage(work, "--to", "pov, pbrt, blender, usd, ply, obj or vdb", text);
}

static void on_progress(void *user, const WadiProgress *state)
{
    WadiCliWork *work = user;
    if (work->args->json) {
        WadiCliJson json = wadi_cli_work_json(work, state);
        wadi_cli_json_integer(&json, "grains", state->grains);
        wadi_cli_json_integer(&json, "triangles", state->triangles);
        wadi_cli_json_close(&json);
    }
    wadi_cli_work_progress(work, state, "export", state->grains);
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
        printf("blender -P %s/load.py -- --scene\n", report->folder);
    }
}

int wadi_cli_export(const WadiCliArgs *args)
{
    WadiCliWork work = wadi_cli_work_open(args, "export");
    WadiExportDef def = wadi_default_export_def();
    work.progress.has_particles = false;
    if (!parse_target(&work, &def) || !wadi_cli_work_frames(&work, &def.first_frame, &def.last_frame) ||
        !wadi_cli_work_up(&work, &def.is_y_up)) {
        return WADI_CLI_EXIT_USAGE;
    }
    def.sets = args->sets;
    def.set_count = args->set_count;
    def.folder = args->output;
    def.is_forced = args->force;
    def.is_one_file = args->one_file;
    def.threads = args->threads;
    def.log = (WadiLog){ .function = wadi_cli_work_log, .user = &work };
    def.progress = on_progress;
    def.progress_user = &work;
    def.stop = wadi_cli_stop();
    wadi_cli_work_catch(&work);
    WadiExportReport report;
    WadiError error = { 0 };
    WadiStatus status = wadi_export(args->operand, &def, &report, &error);
    int code = wadi_cli_work_end(&work, status, &error, report.frames, "frame", "; nothing was written");
    if (code == WADI_CLI_EXIT_GOOD && args->json) {
        json_end(&report);
    } else if (code == WADI_CLI_EXIT_GOOD && !args->quiet) {
        print_summary(&report, def.target);
    }
    return code;
}
