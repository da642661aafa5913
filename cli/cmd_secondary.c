/* wadi secondary: foam, spray, bubbles and dust of a run. */
#include "command.h"
#include "human.h"
#include "options.h"
#include "over_frames.h"
#include "signals.h"
#include "wadi/secondary.h"

static void on_progress(void *user, const WadiProgress *state)
{
    WadiCliWork *work = user;
    if (work->args->json) {
        WadiCliJson json = wadi_cli_work_json(work, state);
        wadi_cli_json_integer(&json, "particles", state->particles);
        wadi_cli_json_close(&json);
    }
    wadi_cli_work_progress(work, state, "secondary", state->particles);
}

static void json_end(const WadiSecondaryReport *report)
{
    WadiCliJson json = wadi_cli_json_open(stdout);
    wadi_cli_json_text(&json, "event", "secondary");
    wadi_cli_json_text(&json, "folder", report->folder);
    wadi_cli_json_integer(&json, "frames", report->frames);
    wadi_cli_json_integer(&json, "files", report->files);
    wadi_cli_json_integer(&json, "kept", report->kept);
    wadi_cli_json_integer(&json, "particles", report->particles);
    wadi_cli_json_integer(&json, "most", report->most);
    wadi_cli_json_number(&json, "seconds", report->seconds);
    wadi_cli_json_close(&json);
}

static void print_summary(const WadiSecondaryReport *report)
{
    char text[WADI_CLI_HUMAN_SIZE];
    printf("%d frame%s, %d file%s written, %d kept, ", report->frames, report->frames == 1 ? "" : "s",
           report->files, report->files == 1 ? "" : "s", report->kept);
    if (report->files > 0) {
        printf("up to %s particles, ", wadi_cli_human_count(text, report->most));
    }
    printf("%s: %s\n", wadi_cli_human_duration(text, report->seconds), report->folder);
    if (report->files > 1 && report->most == 0) {
        printf("Nothing was fast enough to make foam or dust; secondary.slow and secondary.fast say how fast "
               "it must be.\n");
    }
}

int wadi_cli_secondary(const WadiCliArgs *args)
{
    WadiCliWork work = wadi_cli_work_open(args, "file");
    WadiSecondaryOptions options = wadi_default_secondary_options();
    options.last_frame = args->frames;
    options.sets = args->sets;
    options.set_count = args->set_count;
    options.is_forced = args->force;
    options.threads = args->threads;
    options.progress = on_progress;
    options.progress_user = &work;
    options.stop = wadi_cli_stop();
    options.log = (WadiLog){ .function = wadi_cli_work_log, .user = &work };
    wadi_cli_work_catch(&work);
    WadiSecondaryReport report;
    WadiError error = { 0 };
    WadiStatus status = wadi_secondary(args->operand, &options, &report, &error);
    int code = wadi_cli_work_end(&work, status, &error, report.frames, "frame", "; nothing was made");
    if (code == WADI_CLI_EXIT_GOOD && args->json) {
        json_end(&report);
    } else if (code == WADI_CLI_EXIT_GOOD && !args->quiet) {
        print_summary(&report);
    }
    return code;
}
