/* wadi wedge: runs of a scene with varied settings, a table and a mosaic of them. */
#include <string.h>

#include "command.h"
#include "human.h"
#include "options.h"
#include "over_frames.h"
#include "signals.h"

static void on_run(void *user, int index, int count, const char *label)
{
    WadiCliWork *work = user;
    if (work->args->json) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", "variant");
        wadi_cli_json_integer(&json, "run", index);
        wadi_cli_json_integer(&json, "runs", count);
        wadi_cli_json_text(&json, "values", label);
        wadi_cli_json_close(&json);
    } else if (!work->args->quiet) {
        wadi_cli_progress_clear(&work->progress);
        fprintf(stderr, "run %d of %d: %s\n", index, count, label);
    }
}

static void on_failed(void *user, int index, const char *label, const WadiError *error)
{
    WadiCliWork *work = user;
    wadi_cli_progress_clear(&work->progress);
    if (work->args->json) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", "variant_failed");
        wadi_cli_json_integer(&json, "run", index);
        wadi_cli_json_text(&json, "values", label);
        wadi_cli_json_text(&json, "status", wadi_status_name(error->status));
        wadi_cli_json_text(&json, "text", error->text);
        wadi_cli_json_close(&json);
    }
    fprintf(stderr, "wadi: run %d (%s): %s\n", index, label, error->text);
}

static void on_progress(void *user, const WadiProgress *state)
{
    WadiCliWork *work = user;
    wadi_cli_progress_update(&work->progress, state);
}

static void print_report(const WadiCliArgs *args, const WadiWedgeReport *report)
{
    if (args->json) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", "wedge");
        wadi_cli_json_text(&json, "folder", report->folder);
        wadi_cli_json_integer(&json, "runs", report->runs);
        wadi_cli_json_integer(&json, "done", report->done);
        wadi_cli_json_integer(&json, "failed", report->failed);
        wadi_cli_json_text(&json, "table", report->table);
        wadi_cli_json_text(&json, "mosaic", report->mosaic);
        wadi_cli_json_number(&json, "seconds", report->seconds);
        wadi_cli_json_close(&json);
    } else if (!args->quiet) {
        char text[WADI_CLI_HUMAN_SIZE];
        printf("%d of %d runs done, %d failed, %s: %s\n", report->done, report->runs, report->failed,
               wadi_cli_human_duration(text, report->seconds), report->table);
        if (report->mosaic[0] != '\0') {
            printf("%s\n", report->mosaic);
        }
    }
}

static bool fill_def(const WadiCliWork *work, WadiWedgeDef *def)
{
    const WadiCliArgs *args = work->args;
    int side[2];
    if (args->vary_count == 0) {
        return wadi_cli_work_usage(work, "--vary", "a key and its values, such as seed=1,2,3", "none");
    }
    if (args->grid && args->zip) {
        return wadi_cli_work_usage(work, "--grid", "no --zip beside it", "--zip");
    }
    if (args->quality != NULL && !wadi_cli_work_quality(work, args->quality, &def->quality)) {
        return false;
    }
    if (args->size != NULL) {
        if (wadi_cli_parse_counts(args->size, 'x', side) != 2) {
            return wadi_cli_work_usage(work, "--size", "a width and a height in pixels such as 480x270",
                                       args->size);
        }
        def->width = side[0];
        def->height = side[1];
    }
    def->scene = args->operand;
    def->sets = args->sets;
    def->set_count = args->set_count;
    def->vary = args->vary;
    def->vary_count = args->vary_count;
    def->is_zip = args->zip;
    def->index = args->index;
    def->is_resumed = args->resume;
    def->frames = args->frames;
    def->folder = args->output;
    def->has_mosaic = !args->no_mosaic;
    def->threads = args->threads;
    return true;
}

int wadi_cli_wedge(const WadiCliArgs *args)
{
    WadiCliWork work = wadi_cli_work_open(args, "wedge");
    WadiWedgeDef def = wadi_default_wedge_def();
    WadiWedgeReport report;
    WadiError error = { 0 };
    if (!fill_def(&work, &def)) {
        return WADI_CLI_EXIT_USAGE;
    }
    def.log = (WadiLog){ .function = wadi_cli_work_log, .user = &work };
    def.progress = on_progress;
    def.progress_user = &work;
    def.on_run = on_run;
    def.on_failed = on_failed;
    def.user = &work;
    def.stop = wadi_cli_stop();
    wadi_cli_catch_signals(NULL);
    const WadiStatus status = wadi_wedge(&def, &report, &error);
    wadi_cli_progress_clear(&work.progress);
    if (status == WADI_ERR_SCENE) {
        return wadi_cli_scene_failure(args, &error, "; nothing was run");
    }
    if (status != WADI_OK) {
        return wadi_cli_failure(args, &error);
    }
    print_report(args, &report);
    return report.failed > 0 ? WADI_CLI_EXIT_FAILED : WADI_CLI_EXIT_GOOD;
}
