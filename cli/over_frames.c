#include "over_frames.h"

#include <math.h>
#include <string.h>

#include "options.h"
#include "signals.h"

#define STOPPING "wadi: stopping; Ctrl-C again ends at once\n"
#define STOPPED "stopped; the same command goes on with what is not done"

WadiCliWork wadi_cli_work_open(const WadiCliArgs *args, const char *event)
{
    return (WadiCliWork){ .args = args,
                          .progress = wadi_cli_progress_open(args->quiet || args->json),
                          .event = event };
}

bool wadi_cli_work_usage(const WadiCliWork *work, const char *option, const char *expected, const char *found)
{
    wadi_cli_usage_error(wadi_cli_find_command(work->args->command), "%s: expected %s, found '%s'", option,
                         expected, found);
    return false;
}

bool wadi_cli_work_frames(const WadiCliWork *work, int *first, int *last)
{
    const char *text = work->args->frame_range;
    if (text == NULL) {
        return true;
    }
    int frame[2];
    int count = wadi_cli_parse_counts(text, '-', frame);
    if (count == 0 || frame[count - 1] < frame[0]) {
        return wadi_cli_work_usage(work, "--frames", "a frame or a range such as 10-20", text);
    }
    *first = frame[0];
    *last = frame[count - 1];
    return true;
}

bool wadi_cli_work_up(const WadiCliWork *work, bool *is_y_up)
{
    const char *text = work->args->up;
    if (text != NULL && strcmp(text, "y") != 0 && strcmp(text, "z") != 0) {
        return wadi_cli_work_usage(work, "--up", "y or z", text);
    }
    *is_y_up = text != NULL && text[0] == 'y';
    return true;
}

bool wadi_cli_work_quality(const WadiCliWork *work, const char *text, WadiQuality *quality)
{
    static const char *const names[3] = { "draft", "preview", "final" };
    for (int i = 0; i < 3; ++i) {
        if (strcmp(text, names[i]) == 0) {
            *quality = (WadiQuality)i;
            return true;
        }
    }
    return wadi_cli_work_usage(work, "--quality", "draft, preview or final", text);
}

bool wadi_cli_work_share(const WadiCliWork *work, bool *is_shared, bool *is_waiting, double *stale)
{
    const WadiCliArgs *args = work->args;
    const char *alone = args->wait ? "--wait" : args->stale > 0 ? "--stale" : args->video ? "--video" : NULL;
    if (!args->share && alone != NULL) {
        return wadi_cli_work_usage(work, alone, "--share beside it", "none");
    }
    if (args->share && args->force) {
        wadi_cli_usage_error(wadi_cli_find_command(args->command),
                             "--force makes every process draw all frames again, which --share divides; "
                             "remove the old files and share");
        return false;
    }
    *is_shared = args->share;
    *is_waiting = args->wait;
    *stale = args->stale > 0 ? args->stale : *stale;
    return true;
}

void wadi_cli_work_log(void *user, WadiLogLevel level, const char *text)
{
    WadiCliWork *work = user;
    if (work->args->json) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", level == WADI_LOG_WARNING ? "warning" : "info");
        wadi_cli_json_text(&json, "text", text);
        wadi_cli_json_close(&json);
    } else if (!work->args->quiet) {
        wadi_cli_progress_clear(&work->progress);
        wadi_cli_print_message(level, text);
    }
}

WadiCliJson wadi_cli_work_json(const WadiCliWork *work, const WadiProgress *done)
{
    WadiCliJson json = wadi_cli_json_open(stdout);
    wadi_cli_json_text(&json, "event", work->event);
    wadi_cli_json_integer(&json, "frame", done->frame);
    wadi_cli_json_integer(&json, "frames_done", done->frames_done);
    wadi_cli_json_integer(&json, "frames", done->frame_count);
    wadi_cli_json_text(&json, "path", done->path);
    wadi_cli_json_bool(&json, "kept", done->is_kept);
    wadi_cli_json_number(&json, "seconds", done->seconds);
    wadi_cli_json_number(&json, "seconds_left", done->seconds_left < 0.0 ? (double)NAN : done->seconds_left);
    return json;
}

void wadi_cli_work_progress(WadiCliWork *work, const WadiProgress *done, const char *stage, int64_t particles)
{
    WadiProgress line = { .frame = done->frames_done,
                          .frame_count = done->frame_count,
                          .is_frame_done = true,
                          .stage = done->is_kept ? "kept" : stage,
                          .particles = particles,
                          .seconds = done->seconds,
                          .seconds_per_frame =
                              done->seconds / (done->frames_done > 0 ? done->frames_done : 1),
                          .seconds_left = done->seconds_left };
    wadi_cli_progress_update(&work->progress, &line);
}

void wadi_cli_work_catch(const WadiCliWork *work)
{
    const WadiCliProgress *progress = &work->progress;
    bool is_quiet = progress->is_silent || !progress->is_terminal;
    wadi_cli_catch_signals(is_quiet ? NULL : progress->has_escapes ? "\r\033[K" STOPPING : "\n" STOPPING);
    /* Files are complete or absent, so a picture or mesh being made may be abandoned. */
    wadi_cli_stop_within_a_second(
        work->args->json ? "{\"event\":\"error\",\"status\":\"stopped\",\"text\":\"" STOPPED "\"}\n" : NULL,
        "wadi: " STOPPED "\n");
}

int wadi_cli_work_end(WadiCliWork *work, WadiStatus status, WadiError *error, int done, const char *noun,
                      const char *consequence)
{
    wadi_cli_stop_cancel_limit();
    wadi_cli_progress_clear(&work->progress);
    if (status == WADI_OK) {
        return WADI_CLI_EXIT_GOOD;
    }
    if (status == WADI_ERR_SCENE) {
        return wadi_cli_scene_failure(work->args, error, consequence);
    }
    if (status == WADI_ERR_STOPPED) {
        snprintf(error->text, sizeof error->text,
                 "stopped after %d %s%s; the same command goes on with the others", done, noun,
                 done == 1 ? "" : "s");
    }
    return wadi_cli_failure(work->args, error);
}
