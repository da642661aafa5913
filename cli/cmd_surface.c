/* wadi surface: wrap the particles of a run's frames into meshes. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "human.h"
#include "options.h"
#include "over_frames.h"
#include "signals.h"

typedef struct Surface {
    WadiCliWork work;
    int shown; /* finished frames shown on the progress line */
} Surface;

static bool parse_subframe(const WadiCliWork *work, const char *text, WadiSurfaceDef *def)
{
    char *end = NULL;
    def->subframe = strtod(text, &end);
    if (end == text || *end != '\0' || !(def->subframe >= 0.0 && def->subframe <= 1.0)) {
        return wadi_cli_work_usage(work, "--subframe", "a part of a frame, from 0 to 1", text);
    }
    return true;
}

/* "ply,obj" */
static bool parse_formats(const WadiCliWork *work, const char *text, WadiSurfaceDef *def)
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
            return wadi_cli_work_usage(work, "--format", "ply, obj, vdb or several with commas between",
                                       text);
        }
        def->formats |= format;
        at += length;
        if (*at == '\0') {
            return true;
        }
    }
}

static void on_progress(void *user, const WadiProgress *state)
{
    Surface *surface = user;
    if (surface->work.args->json) {
        WadiCliJson json = wadi_cli_work_json(&surface->work, state);
        wadi_cli_json_text(&json, "material", state->material);
        wadi_cli_json_integer(&json, "particles", state->particles);
        wadi_cli_json_integer(&json, "triangles", state->triangles);
        wadi_cli_json_integer(&json, "vertices", state->vertices);
        wadi_cli_json_close(&json);
    }
    if (state->frames_done != surface->shown) {
        surface->shown = state->frames_done;
        wadi_cli_work_progress(&surface->work, state, "mesh", state->particles);
    }
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

/* Adds the method as one more --set after the given ones; WadiCliArgs.sets has space for it. */
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

static int make_surfaces(Surface *surface, const WadiSurfaceDef *def)
{
    const WadiCliArgs *args = surface->work.args;
    WadiSurfaceReport report;
    WadiError error = { 0 };
    WadiStatus status = wadi_surface(args->operand, def, &report, &error);
    int code =
        wadi_cli_work_end(&surface->work, status, &error, report.frames, "frame", "; no mesh was made");
    if (code == WADI_CLI_EXIT_GOOD && args->json) {
        json_end(&report);
    } else if (code == WADI_CLI_EXIT_GOOD && !args->quiet) {
        print_summary(&report);
    }
    return code;
}

int wadi_cli_surface(const WadiCliArgs *args)
{
    Surface surface = { .work = wadi_cli_work_open(args, "mesh") };
    WadiSurfaceDef def = wadi_default_surface_def();
    if (!wadi_cli_work_frames(&surface.work, &def.first_frame, &def.last_frame) ||
        !wadi_cli_work_share(&surface.work, &def.is_shared, &def.is_waiting, &def.stale) ||
        (args->subframe != NULL && !parse_subframe(&surface.work, args->subframe, &def)) ||
        (args->format != NULL && !parse_formats(&surface.work, args->format, &def)) ||
        !wadi_cli_work_up(&surface.work, &def.is_y_up)) {
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
    def.stop = wadi_cli_stop();
    def.log = (WadiLog){ .function = wadi_cli_work_log, .user = &surface.work };
    char *set = args->method != NULL ? method_set(args, &def) : NULL;
    if (args->method != NULL && set == NULL) {
        WadiError error = { .status = WADI_ERR_MEMORY, .text = "out of memory" };
        return wadi_cli_failure(args, &error);
    }
    wadi_cli_work_catch(&surface.work);
    int code = make_surfaces(&surface, &def);
    free(set);
    return code;
}
