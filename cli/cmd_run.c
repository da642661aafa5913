/* wadi run: simulate a scene into a run folder, with progress. */
#include <math.h>
#include <stdlib.h>

#include "command.h"
#include "human.h"
#include "options.h"
#include "progress.h"
#include "signals.h"

typedef struct Run {
    const WadiCliArgs *args;
    WadiCliProgress progress;
} Run;

static void on_log(void *user, WadiLogLevel level, const char *text)
{
    Run *run = user;
    if (run->args->json) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", level == WADI_LOG_WARNING ? "warning" : "info");
        wadi_cli_json_text(&json, "text", text);
        wadi_cli_json_close(&json);
    } else if (!run->args->quiet) {
        wadi_cli_progress_clear(&run->progress);
        wadi_cli_print_message(level, text);
    }
}

static void on_progress(void *user, const WadiProgress *state)
{
    Run *run = user;
    if (run->args->json && state->is_frame_done) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", "frame");
        wadi_cli_json_integer(&json, "frame", state->frame);
        wadi_cli_json_integer(&json, "frames", state->frame_count);
        wadi_cli_json_integer(&json, "particles", state->particles);
        wadi_cli_json_integer(&json, "awake_particles", state->particles - state->sleeping_particles);
        wadi_cli_json_integer(&json, "sleeping_particles", state->sleeping_particles);
        wadi_cli_json_integer(&json, "steps", state->steps);
        wadi_cli_json_number(&json, "seconds", state->seconds);
        wadi_cli_json_number(&json, "seconds_left",
                             state->seconds_left < 0.0 ? (double)NAN : state->seconds_left);
        wadi_cli_json_hash(&json, "state_hash", state->state_hash);
        wadi_cli_json_close(&json);
    }
    wadi_cli_progress_update(&run->progress, state);
}

static void print_word(FILE *out, const char *word)
{
    fputc(' ', out);
    wadi_cli_print_shell_word(out, word);
}

/* The command line that continues this run; NULL when out of memory. The caller frees it. */
static char *resume_command(const WadiCliArgs *args, const char *folder)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    wadi_cli_print_shell_word(out, args->program);
    print_word(out, args->command);
    if (args->operand[0] == '-') {
        fputs(" ./", out);
        wadi_cli_print_shell_word(out, args->operand);
    } else {
        print_word(out, args->operand);
    }
    fputs(" -o", out);
    print_word(out, folder);
    for (int i = 0; i < args->set_count; ++i) {
        fputs(" --set", out);
        print_word(out, args->sets[i]);
    }
    if (args->solver != NULL) {
        fputs(" --solver", out);
        print_word(out, args->solver);
    }
    if (args->frames > 0) {
        fprintf(out, " --frames %d", args->frames);
    }
    if (args->threads > 0) {
        fprintf(out, " --threads %d", args->threads);
    }
    fputs(args->json ? " --json" : "", out);
    fputs(args->quiet ? " --quiet" : "", out);
    fputs(" --resume", out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void print_summary(const WadiScene *scene, const WadiRunReport *report)
{
    char text[WADI_CLI_HUMAN_SIZE];
    printf("%d frame%s, ", report->frames, report->frames == 1 ? "" : "s");
    printf("%s particles, ", wadi_cli_human_count(text, report->particles));
    if (report->drained_particles > 0) {
        printf("%s drained, ", wadi_cli_human_count(text, report->drained_particles));
    }
    printf("%s lost, ", wadi_cli_human_count(text, report->lost_particles));
    printf("%s", wadi_cli_human_duration(text, report->seconds));
    if (report->frames_done > 0) {
        printf(" (%s a frame)", wadi_cli_human_duration(text, report->seconds / report->frames_done));
    } else {
        printf(" (nothing was left to do)");
    }
    printf(", peak %s", wadi_cli_human_bytes(text, (double)report->peak_rss_bytes));
    if (report->warning_count > 0) {
        printf(", %d warning%s", report->warning_count, report->warning_count == 1 ? "" : "s");
    }
    printf(": %s\n", report->folder);
    printf("open %s/particles/%s.xdmf in ParaView\n", report->folder, wadi_scene_name(scene));
}

static void json_start(const WadiCliArgs *args, const WadiScene *scene, int frames)
{
    WadiCliJson json = wadi_cli_json_open(stdout);
    wadi_cli_json_text(&json, "event", "start");
    wadi_cli_json_text(&json, "wadi", wadi_version());
    wadi_cli_json_text(&json, "scene", args->operand);
    wadi_cli_json_text(&json, "name", wadi_scene_name(scene));
    wadi_cli_json_text(&json, "solver", wadi_scene_solver(scene));
    wadi_cli_json_integer(&json, "frames", frames);
    wadi_cli_json_number(&json, "fps", wadi_scene_fps(scene));
    wadi_cli_json_close(&json);
}

static void json_end(const WadiRunReport *report)
{
    WadiCliJson json = wadi_cli_json_open(stdout);
    wadi_cli_json_text(&json, "event", "end");
    wadi_cli_json_bool(&json, "ok", true);
    wadi_cli_json_text(&json, "run", report->folder);
    wadi_cli_json_integer(&json, "frames", report->frames);
    wadi_cli_json_integer(&json, "frames_done", report->frames_done);
    wadi_cli_json_integer(&json, "particles", report->particles);
    wadi_cli_json_integer(&json, "steps", report->steps);
    wadi_cli_json_integer(&json, "lost_particles", report->lost_particles);
    wadi_cli_json_integer(&json, "drained_particles", report->drained_particles);
    wadi_cli_json_number(&json, "seconds", report->seconds);
    wadi_cli_json_integer(&json, "peak_rss_bytes", (int64_t)report->peak_rss_bytes);
    wadi_cli_json_integer(&json, "warnings", report->warning_count);
    wadi_cli_json_hash(&json, "state_hash", report->state_hash);
    wadi_cli_json_close(&json);
}

/* Prints why the run ended early, which frames are complete, and how to continue where that can help. */
static int report_failure(const WadiCliArgs *args, const WadiRunReport *report, const char *folder,
                          int frames, const WadiError *error)
{
    bool is_stopped = error->status == WADI_ERR_STOPPED;
    /* The same numerical failure would occur again, and a run that was refused at the start left nothing to
     * continue. */
    bool can_resume = is_stopped || (report->frames_done > 0 &&
                                     (error->status == WADI_ERR_IO || error->status == WADI_ERR_MEMORY));
    char *command = NULL;
    if (can_resume && report->folder[0] != '\0') {
        command = resume_command(args, folder != NULL ? folder : report->folder);
    }
    if (args->json) {
        WadiCliJson json = wadi_cli_json_error(error);
        wadi_cli_json_text(&json, "run", report->folder);
        wadi_cli_json_integer(&json, "frames", report->frames);
        wadi_cli_json_text(&json, "resume", command != NULL ? command : "");
        wadi_cli_json_close(&json);
    }
    if (!is_stopped) {
        wadi_cli_print_error(error);
    }
    if (is_stopped && report->frames > 0) {
        fprintf(stderr, "wadi: stopped after frame %d of %d; the frames are in %s\n", report->frames, frames,
                report->folder);
    } else if (is_stopped) {
        fputs("wadi: stopped before the first frame\n", stderr);
    }
    if (command != NULL) {
        fprintf(stderr, "continue with: %s\n", command);
    }
    free(command);
    return wadi_cli_exit_code(error->status);
}

#define STOPPING "wadi: stopping after this step and writing a checkpoint; Ctrl-C again ends at once\n"

/* Text printed by the first Ctrl-C instead of the progress line. A log needs none. */
static const char *stop_notice(const WadiCliProgress *progress)
{
    if (progress->is_silent || !progress->is_terminal) {
        return NULL;
    }
    return progress->has_escapes ? "\r\033[K" STOPPING : "\n" STOPPING;
}

static bool has_conflict(const WadiCliArgs *args)
{
    const char *other = args->resume ? "--resume" : args->from_frame > 0 ? "--from-frame" : NULL;
    if (!args->overwrite || other == NULL) {
        return false;
    }
    wadi_cli_usage_error(wadi_cli_find_command("run"),
                         "--overwrite removes the frames that %s would keep; give one of the two", other);
    return true;
}

static WadiRunDef make_def(Run *run)
{
    const WadiCliArgs *args = run->args;
    WadiRunDef def = wadi_default_run_def();
    def.folder = args->output;
    if (args->overwrite) {
        def.mode = WADI_RUN_OVERWRITE;
    } else if (args->resume || args->from_frame > 0) {
        def.mode = WADI_RUN_RESUME;
    }
    def.from_frame = args->from_frame;
    def.frames = args->frames;
    def.threads = args->threads;
    def.log = (WadiLog){ .function = on_log, .user = run };
    def.progress = on_progress;
    def.progress_user = run;
    def.stop = wadi_cli_stop();
    return def;
}

/* The text of a file of changes; NULL after a message. The caller frees it. */
static char *read_changes(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *in = fopen(path, "rb"), *out = open_memstream(&text, &size);
    char piece[4096];
    size_t count = 0;
    bool is_good = in != NULL && out != NULL;
    while (is_good && (count = fread(piece, 1, sizeof piece, in)) > 0) {
        is_good = fwrite(piece, 1, count, out) == count;
    }
    is_good = is_good && !ferror(in);
    if (in != NULL) {
        fclose(in);
    }
    if (out == NULL || fclose(out) != 0 || !is_good) {
        fprintf(stderr, "wadi: cannot read the changes in %s\n", path);
        free(text);
        return NULL;
    }
    return text;
}

int wadi_cli_simulate(const WadiCliArgs *args, const WadiScene *scene, const char *folder)
{
    Run run = { .args = args, .progress = wadi_cli_progress_open(args->quiet || args->json) };
    WadiRunDef def = make_def(&run);
    char *changes = args->changes != NULL ? read_changes(args->changes) : NULL;
    if (args->changes != NULL && changes == NULL) {
        return WADI_CLI_EXIT_USAGE;
    }
    def.changes = changes;
    WadiRunReport report = { 0 };
    WadiError error = { 0 };
    int frames = args->frames > 0 ? args->frames : wadi_scene_frames(scene);
    wadi_cli_catch_signals(stop_notice(&run.progress));
    if (args->json) {
        json_start(args, scene, frames);
    }
    WadiStatus status = wadi_run(scene, &def, &report, &error);
    free(changes);
    wadi_cli_progress_clear(&run.progress);
    if (status != WADI_OK) {
        return report_failure(args, &report, folder, frames, &error);
    }
    if (args->json) {
        json_end(&report);
    } else if (!args->quiet) {
        print_summary(scene, &report);
    }
    return WADI_CLI_EXIT_GOOD;
}

int wadi_cli_run(const WadiCliArgs *args)
{
    if (has_conflict(args)) {
        return WADI_CLI_EXIT_USAGE;
    }
    WadiScene *scene = NULL;
    WadiError error = { 0 };
    if (wadi_cli_load_scene(args, &scene, &error) != WADI_OK) {
        return wadi_cli_scene_failure(args, &error, "; nothing was run");
    }
    int code = wadi_cli_simulate(args, scene, NULL);
    wadi_scene_destroy(scene);
    return code;
}
