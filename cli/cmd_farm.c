/* wadi farm: write the frames of a run as a job for many machines. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "options.h"
#include "over_frames.h"

static bool parse_system(const WadiCliWork *work, const char *text, WadiFarmSystem *system)
{
    static const char *const names[] = { "sh", "slurm", "openjd", "flamenco", "opencue" };
    for (int i = 0; text != NULL && i < 5; ++i) {
        if (strcmp(text, names[i]) == 0) {
            *system = (WadiFarmSystem)i;
            return true;
        }
    }
    return wadi_cli_work_usage(work, "--to", "sh, slurm, openjd, flamenco or opencue",
                               text != NULL ? text : "nothing");
}

/* The words after "--" must be good for the command that gets them: a farm would tell hours later. */
static bool check_rest(const WadiCliWork *work, WadiFarmDef *def)
{
    const WadiCliArgs *args = work->args;
    const WadiCliCommand *command = wadi_cli_find_command(def->is_surface ? "surface" : "render");
    WadiCliArgs parsed = { .command = command->name, .operand = NULL };
    char **words = calloc((size_t)args->rest_count + 1, sizeof *words);
    const char **sets = calloc((size_t)args->rest_count + 3, sizeof *sets);
    bool is_good = words != NULL && sets != NULL;
    for (int i = 0; is_good && i < args->rest_count; ++i) {
        memcpy(&words[i], &args->rest[i], sizeof *words); /* argv's own, not const */
    }
    parsed.sets = sets;
    if (is_good) {
        words[args->rest_count] = (char[]){ "RUN" };
        is_good = wadi_cli_parse(command, args->rest_count + 1, words, &parsed);
    }
    const char *taken = parsed.frame_range != NULL ? "--frames"
                        : parsed.share             ? "--share"
                        : parsed.wait              ? "--wait"
                        : parsed.video             ? "--video"
                        : parsed.force             ? "--force"
                        : parsed.layout            ? "--layout"
                        : parsed.help              ? "--help"
                                                   : NULL;
    if (is_good && taken != NULL) {
        wadi_cli_usage_error(wadi_cli_find_command("farm"),
                             "%s after --: the job has its own; give --frames before --", taken);
        is_good = false;
    }
    def->has_video = !parsed.no_video;
    free(words);
    free(sets);
    return is_good;
}

static void print_report(const WadiCliArgs *args, const WadiFarmReport *report)
{
    if (args->json) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", "farm");
        wadi_cli_json_text(&json, "file", report->files[0]);
        wadi_cli_json_text(&json, "video_file", report->files[1]);
        wadi_cli_json_integer(&json, "frames", report->frames);
        wadi_cli_json_integer(&json, "tasks", report->tasks);
        wadi_cli_json_text(&json, "submit", report->submit);
        wadi_cli_json_close(&json);
    } else if (!args->quiet) {
        for (int i = 0; i < 2 && report->files[i][0] != '\0'; ++i) {
            printf("%s\n", report->files[i]);
        }
        printf("%d frames in %d task%s. Nothing was submitted; that is:\n  %s\n", report->frames,
               report->tasks, report->tasks == 1 ? "" : "s", report->submit);
    }
}

int wadi_cli_farm(const WadiCliArgs *args)
{
    WadiCliWork work = wadi_cli_work_open(args, "farm");
    WadiFarmDef def = wadi_default_farm_def();
    WadiFarmReport report;
    WadiError error = { 0 };
    if (args->work != NULL && strcmp(args->work, "render") != 0 && strcmp(args->work, "surface") != 0) {
        wadi_cli_work_usage(&work, "--work", "render or surface", args->work);
        return WADI_CLI_EXIT_USAGE;
    }
    def.is_surface = args->work != NULL && strcmp(args->work, "surface") == 0;
    if (!parse_system(&work, args->to, &def.system) ||
        !wadi_cli_work_frames(&work, &def.first_frame, &def.last_frame) || !check_rest(&work, &def)) {
        return WADI_CLI_EXIT_USAGE;
    }
    def.options = args->rest;
    def.option_count = args->rest_count;
    def.chunk = args->chunk;
    def.cpus = args->cpus;
    def.memory = args->memory;
    def.minutes = args->minutes;
    def.program = args->wadi;
    def.folder = args->output;
    if (wadi_farm(args->operand, &def, &report, &error) != WADI_OK) {
        return wadi_cli_failure(args, &error);
    }
    print_report(args, &report);
    return WADI_CLI_EXIT_GOOD;
}
