/* wadi surface: wrap the particles of a run's frames into meshes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "human.h"
#include "options.h"
#include "progress.h"
#include "signals.h"

typedef struct Surface {
    const WadiCliArgs *args;
    WadiCliProgress progress;
    int shown; /* frames done, on the progress line */
} Surface;

static int usage_error(const char *option, const char *expected, const char *found)
{
    return wadi_cli_usage_error(wadi_cli_find_command("surface"), "%s: expected %s, found '%s'", option,
                                expected, found);
}

/* "12" or "12-20"; false after explaining. */
static bool parse_frames(const char *text, WadiSurfaceDef *def)
{
    int frame[2];
    int count = wadi_cli_parse_counts(text, '-', frame);
    if (count == 0 || frame[count - 1] < frame[0]) {
        usage_error("--frames", "a frame or a range such as 10-20", text);
        return false;
    }
    def->first_frame = frame[0];
    def->last_frame = frame[count - 1];
    return true;
}

static bool parse_subframe(const char *text, WadiSurfaceDef *def)
{
    char *end = NULL;
    def->subframe = strtod(text, &end);
    if (end == text || *end != '\0' || !(def->subframe >= 0.0 && def->subframe <= 1.0)) {
        usage_error("--subframe", "a part of a frame, from 0 to 1", text);
        return false;
    }
    return true;
}

/* "ply,obj" */
static bool parse_formats(const char *text, WadiSurfaceDef *def)
{
    static const char *const names[3] = { "ply", "obj", "vdb" };
    def->formats = 0;
    for (const char *at = text;; ++at) {
        size_t length = strcspn(at, ",");
        unsigned format = 0;
        for (unsigned i = 0; i < 3; ++i) {
            format |= strlen(names[i]) == length && strncmp(names[i], at, length) == 0 ? 1u << i : 0;
        }
        if (format == 0) {
            usage_error("--format", "ply, obj, vdb or several with commas between", text);
            return false;
        }
        def->formats |= format;
        at += length;
        if (*at == '\0') {
            return true;
        }
    }
}

static void on_progress(void *user, const WadiSurfaceProgress *state)
{
    Surface *surface = user;
    if (surface->args->json) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", "mesh");
        wadi_cli_json_integer(&json, "frame", state->frame);
        wadi_cli_json_integer(&json, "frames_done", state->frames_done);
        wadi_cli_json_integer(&json, "frames", state->frame_count);
        wadi_cli_json_text(&json, "material", state->material);
        wadi_cli_json_text(&json, "path", state->path);
        wadi_cli_json_bool(&json, "kept", state->is_kept);
        wadi_cli_json_integer(&json, "particles", state->particles);
        wadi_cli_json_integer(&json, "triangles", state->triangles);
        wadi_cli_json_integer(&json, "vertices", state->vertices);
        wadi_cli_json_number(&json, "seconds", state->seconds);
        wadi_cli_json_number(&json, "seconds_left",
                             state->seconds_left < 0.0 ? (double)NAN : state->seconds_left);
        wadi_cli_json_close(&json);
    }
    if (state->frames_done == surface->shown) {
        return;
    }
    surface->shown = state->frames_done;
    WadiProgress line = { .frame = state->frames_done,
                          .frame_count = state->frame_count,
                          .is_frame_done = true,
                          .stage = state->is_kept ? "kept" : "mesh",
                          .particles = state->particles,
                          .seconds = state->seconds,
                          .seconds_left = state->seconds_left };
    wadi_cli_progress_update(&surface->progress, &line);
}

static void json_end(const WadiSurfaceReport *report)
{
    WadiCliJson json = wadi_cli_json_open(stdout);
    wadi_cli_json_text(&json, "event", "meshes");
    wadi_cli_json_text(&json, "folder", report->folder);
    wadi_cli_json_integer(&json, "frames", report->frames);
    wadi_cli_json_integer(&json, "files", report->files);
    wadi_cli_json_integer(&json, "kept", report->kept);
    wadi_cli_json_integer(&json, "particles", report->particles);
    wadi_cli_json_integer(&json, "triangles", report->triangles);
    wadi_cli_json_integer(&json, "vertices", report->vertices);
    wadi_cli_json_number(&json, "seconds", report->seconds);
    wadi_cli_json_number(&json, "read_seconds", report->read_seconds);
    wadi_cli_json_number(&json, "field_seconds", report->field_seconds);
    wadi_cli_json_number(&json, "mesh_seconds", report->mesh_seconds);
    wadi_cli_json_number(&json, "write_seconds", report->write_seconds);
    wadi_cli_json_close(&json);
}

static void print_summary(const WadiSurfaceReport *report)
{
    char text[WADI_CLI_HUMAN_SIZE];
    printf("%d frame%s, %d file%s written, %d kept, ", report->frames, report->frames == 1 ? "" : "s",
           report->files, report->files == 1 ? "" : "s", report->kept);
    printf("%s triangles, ", wadi_cli_human_count(text, report->triangles));
    printf("%s", wadi_cli_human_duration(text, report->seconds));
    if (report->files > 0 && report->frames > 0) {
        printf(" (%s a frame)", wadi_cli_human_duration(text, report->seconds / report->frames));
    }
    printf(": %s\n", report->folder);
}

/* The method as one more --set, after those given; the room for it is part of WadiCliArgs.sets. */
static char *method_set(const WadiCliArgs *args, WadiSurfaceDef *def)
{
    size_t size = sizeof "surface.method=" + strlen(args->method);
    char *set = malloc(size);
    if (set != NULL) {
        snprintf(set, size, "surface.method=%s", args->method);
        args->sets[def->set_count++] = set;
    }
    return set;
}

static int make(Surface *surface, const WadiSurfaceDef *def)
{
    const WadiCliArgs *args = surface->args;
    WadiSurfaceReport report;
    WadiError error = { 0 };
    WadiStatus status = wadi_surface(args->operand, def, &report, &error);
    wadi_cli_progress_clear(&surface->progress);
    if (status == WADI_ERR_SCENE) {
        return wadi_cli_scene_failure(args, &error, "; no mesh was made");
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
        print_summary(&report);
    }
    return WADI_CLI_EXIT_GOOD;
}

#define STOPPING "wadi: stopping when the frames that were begun are done; Ctrl-C again ends at once\n"

int wadi_cli_surface(const WadiCliArgs *args)
{
    Surface surface = { .args = args, .progress = wadi_cli_progress_open(args->quiet || args->json) };
    WadiSurfaceDef def = wadi_default_surface_def();
    if ((args->frame_range != NULL && !parse_frames(args->frame_range, &def)) ||
        (args->subframe != NULL && !parse_subframe(args->subframe, &def)) ||
        (args->format != NULL && !parse_formats(args->format, &def))) {
        return WADI_CLI_EXIT_USAGE;
    }
    def.sets = args->sets;
    def.set_count = args->set_count;
    def.material = args->material;
    def.folder = args->output;
    def.is_forced = args->force;
    def.threads = args->threads;
    def.progress = on_progress;
    def.progress_user = &surface;
    def.stop = wadi_cli_stop_flag();
    char *set = args->method != NULL ? method_set(args, &def) : NULL;
    if (args->method != NULL && set == NULL) {
        WadiError error = { .status = WADI_ERR_MEMORY, .text = "out of memory" };
        return wadi_cli_failure(args, &error);
    }
    bool is_quiet = surface.progress.is_silent || !surface.progress.is_terminal;
    wadi_cli_catch_signals(is_quiet                       ? NULL
                           : surface.progress.has_escapes ? "\r\033[K" STOPPING
                                                          : "\n" STOPPING);
    int code = make(&surface, &def);
    free(set);
    return code;
}
