/* wadi check: validate a scene and estimate what a run would need. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "human.h"
#include "wadi/render.h"

enum { WARNING_MAX = 100 };

/* Warnings are printed after the table, or as a list of the JSON object. */
typedef struct Warnings {
    char *texts[WARNING_MAX];
    int count;
} Warnings;

static void on_log(void *user, WadiLogLevel level, const char *text)
{
    Warnings *warnings = user;
    if (level != WADI_LOG_WARNING || warnings->count == WARNING_MAX) {
        return;
    }
    char *copy = strdup(text);
    if (copy != NULL) {
        warnings->texts[warnings->count++] = copy;
    }
}

static void print_row(const char *name, const char *value)
{
    printf("%-14s %s\n", name, value);
}

static void print_table(const WadiCliArgs *args, const WadiScene *scene, int frames,
                        const WadiEstimate *estimate, double picture)
{
    char a[WADI_CLI_HUMAN_SIZE], b[WADI_CLI_HUMAN_SIZE], row[256];
    double fps = wadi_scene_fps(scene);
    printf("%-14s %s (%s)\n", "scene", wadi_scene_name(scene), args->operand);
    print_row("solver", wadi_scene_solver(scene));
    snprintf(row, sizeof row, "%s at %g a second", wadi_cli_human_count(a, frames), fps);
    print_row("frames", row);
    print_row("cell size", wadi_cli_human_small(a, estimate->cell_size, "m"));
    print_row("spacing", wadi_cli_human_small(a, estimate->spacing, "m"));
    snprintf(row, sizeof row, "%s at the start, %s at the end",
             wadi_cli_human_count(a, estimate->particles_start),
             wadi_cli_human_count(b, estimate->particles_end));
    print_row("particles", row);
    print_row("memory", wadi_cli_human_bytes(a, estimate->memory_bytes));
    print_row("disk", wadi_cli_human_bytes(a, estimate->disk_bytes));
    snprintf(row, sizeof row, "%s, limited by %s", wadi_cli_human_small(a, estimate->step, "s"),
             estimate->step_limit != NULL ? estimate->step_limit : "nothing");
    print_row("first step", row);
    print_row("steps a frame", wadi_cli_human_number(a, estimate->steps_per_frame));
    if (estimate->seconds >= 0.0) {
        bool is_short = estimate->seconds < 1.0; /* estimates are not finer than that */
        snprintf(row, sizeof row, "%s%s on %d thread%s", is_short ? "less than a second" : "about ",
                 is_short ? "" : wadi_cli_human_duration(a, estimate->seconds), estimate->threads,
                 estimate->threads == 1 ? "" : "s");
        print_row("time", row);
    }
    if (picture >= 0.0) {
        snprintf(row, sizeof row, "about %s a picture of `wadi render`, ",
                 wadi_cli_human_duration(a, picture));
        const size_t length = strlen(row);
        snprintf(row + length, sizeof row - length, "%s for all",
                 wadi_cli_human_duration(a, picture * frames));
        print_row("drawing", row);
    }
}

static void print_json(const WadiCliArgs *args, const WadiScene *scene, int frames,
                       const WadiEstimate *estimate, double picture, const Warnings *warnings)
{
    WadiCliJson json = wadi_cli_json_open(stdout);
    wadi_cli_json_text(&json, "scene", args->operand);
    wadi_cli_json_text(&json, "name", wadi_scene_name(scene));
    wadi_cli_json_text(&json, "solver", wadi_scene_solver(scene));
    wadi_cli_json_integer(&json, "frames", frames);
    wadi_cli_json_number(&json, "fps", wadi_scene_fps(scene));
    wadi_cli_json_number(&json, "cell_size", estimate->cell_size);
    wadi_cli_json_number(&json, "spacing", estimate->spacing);
    wadi_cli_json_integer(&json, "particles", estimate->particles_start);
    wadi_cli_json_integer(&json, "particles_end", estimate->particles_end);
    wadi_cli_json_number(&json, "memory_bytes", estimate->memory_bytes);
    wadi_cli_json_number(&json, "disk_bytes", estimate->disk_bytes);
    wadi_cli_json_number(&json, "step", estimate->step);
    wadi_cli_json_text(&json, "step_limit", estimate->step_limit != NULL ? estimate->step_limit : "");
    wadi_cli_json_number(&json, "steps_per_frame", estimate->steps_per_frame);
    wadi_cli_json_number(&json, "seconds", estimate->seconds >= 0.0 ? estimate->seconds : (double)NAN);
    wadi_cli_json_integer(&json, "threads", estimate->threads);
    wadi_cli_json_number(&json, "picture_seconds", picture >= 0.0 ? picture : (double)NAN);
    wadi_cli_json_texts(&json, "warnings", (const char *const *)warnings->texts, warnings->count);
    wadi_cli_json_close(&json);
}

int wadi_cli_check(const WadiCliArgs *args)
{
    WadiScene *scene = NULL;
    WadiError error = { 0 };
    if (wadi_cli_load_scene(args, &scene, &error) != WADI_OK) {
        return wadi_cli_scene_failure(args, &error, "");
    }

    Warnings warnings = { .count = 0 };
    WadiLog log = { .function = on_log, .user = &warnings };
    WadiEstimate estimate = { 0 };
    int frames = args->frames > 0 ? args->frames : wadi_scene_frames(scene);
    int code = WADI_CLI_EXIT_GOOD;
    double picture = -1.0; /* s */
    if ((args->no_time ? wadi_estimate_sizes(scene, frames, &log, &estimate, &error)
                       : wadi_estimate(scene, frames, args->threads, &log, &estimate, &error)) != WADI_OK) {
        code = wadi_cli_failure(args, &error);
    } else if (!args->no_time &&
               wadi_estimate_drawing(scene, WADI_QUALITY_PREVIEW, args->threads, &picture, NULL) != WADI_OK) {
        picture = -1.0; /* what cannot be drawn can be simulated */
    }
    if (code == WADI_CLI_EXIT_GOOD && args->json) {
        print_json(args, scene, frames, &estimate, picture, &warnings);
    } else if (code == WADI_CLI_EXIT_GOOD) {
        print_table(args, scene, frames, &estimate, picture);
    }
    if (!args->json) {
        fflush(stdout);
        for (int i = 0; i < warnings.count; ++i) {
            wadi_cli_print_message(WADI_LOG_WARNING, warnings.texts[i]);
        }
    }
    for (int i = 0; i < warnings.count; ++i) {
        free(warnings.texts[i]);
    }
    wadi_scene_destroy(scene);
    return code;
}
