/* wadi render: pictures and a video of a run, or of a scene that is simulated first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "human.h"
#include "options.h"
#include "over_frames.h"
#include "signals.h"
#include "wadi/secondary.h"

/* Parses up to `count` numbers separated by commas, to the end of the text; returns their number, 0 for other
 * text. */
static int parse_numbers(const char *text, double *numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        char *end = NULL;
        numbers[i] = strtod(text, &end);
        if (end == text || !isfinite(numbers[i])) {
            return 0;
        }
        if (*end == '\0') {
            return i + 1;
        }
        if (*end != ',') {
            return 0;
        }
        text = end + 1;
    }
    return 0;
}

static bool parse_range(const WadiCliWork *work, const char *text, WadiRenderDef *def)
{
    double ends[2];
    if (parse_numbers(text, ends, 2) != 2 || !(ends[0] < ends[1])) {
        return wadi_cli_work_usage(work, "--range", "two numbers such as 0,2.5, the lower first", text);
    }
    def->low = ends[0];
    def->high = ends[1];
    return true;
}

static bool parse_cut(const WadiCliWork *work, const char *text, WadiRenderDef *def)
{
    double numbers[6];
    int axis = text[0] - 'x';
    def->has_cut = true;
    if (axis >= 0 && axis < 3 && text[1] == '=' && parse_numbers(text + 2, numbers, 1) == 1) {
        def->cut_point[axis] = numbers[0];
        def->cut_normal[axis] = 1.0;
        def->is_cut_faced = true;
        return true;
    }
    if (parse_numbers(text, numbers, 6) == 6 &&
        (numbers[3] != 0.0 || numbers[4] != 0.0 || numbers[5] != 0.0)) {
        memcpy(def->cut_point, numbers, sizeof def->cut_point);
        memcpy(def->cut_normal, numbers + 3, sizeof def->cut_normal);
        return true;
    }
    return wadi_cli_work_usage(
        work, "--cut", "x=0.5, y=0.5 or z=0.5, or six numbers: a point and a direction that is not zero",
        text);
}

/* The size as two settings. */
typedef struct Size {
    char width[40], height[40];
} Size;

static bool parse_size(const WadiCliWork *work, const char *text, Size *size)
{
    int side[2];
    if (wadi_cli_parse_counts(text, 'x', side) != 2) {
        return wadi_cli_work_usage(work, "--size", "a width and a height in pixels such as 1280x720", text);
    }
    snprintf(size->width, sizeof size->width, "render.width=%d", side[0]);
    snprintf(size->height, sizeof size->height, "render.height=%d", side[1]);
    return true;
}

static void on_progress(void *user, const WadiProgress *state)
{
    WadiCliWork *work = user;
    if (work->args->json) {
        WadiCliJson json = wadi_cli_work_json(work, state);
        wadi_cli_json_integer(&json, "grains", state->grains);
        wadi_cli_json_integer(&json, "triangles", state->triangles);
        wadi_cli_json_number(&json, "stage_seconds", state->stage_seconds);
        wadi_cli_json_number(&json, "tree_seconds", state->tree_seconds);
        wadi_cli_json_number(&json, "trace_seconds", state->trace_seconds);
        wadi_cli_json_close(&json);
    }
    wadi_cli_work_progress(work, state, "picture", 0);
}

static void json_end(const WadiRenderReport *report)
{
    WadiCliJson json = wadi_cli_json_open(stdout);
    wadi_cli_json_text(&json, "event", "images");
    wadi_cli_json_text(&json, "folder", report->folder);
    wadi_cli_json_integer(&json, "pictures", report->pictures);
    wadi_cli_json_integer(&json, "kept", report->kept);
    wadi_cli_json_text(&json, "video", report->video);
    wadi_cli_json_text(&json, "gif", report->gif);
    wadi_cli_json_text(&json, "sheet", report->sheet);
    wadi_cli_json_integer(&json, "warnings", report->warning_count);
    wadi_cli_json_number(&json, "seconds", report->seconds);
    wadi_cli_json_number(&json, "prepare_seconds", report->prepare_seconds);
    wadi_cli_json_number(&json, "light_seconds", report->light_seconds);
    wadi_cli_json_text(&json, "costs", report->costs);
    wadi_cli_json_close(&json);
}

/* s a picture: faster ones need no advice. */
static const double SLOW_PICTURE = 1.0;

/* What the pictures cost, and how to make them in half the time. */
static void print_costs(const WadiCliArgs *args, const WadiRenderReport *report)
{
    char prepare[WADI_CLI_HUMAN_SIZE], light[WADI_CLI_HUMAN_SIZE];
    if (report->pictures == 0 || report->seconds < SLOW_PICTURE * report->pictures) {
        return;
    }
    printf("a picture: %s for surfaces and grains, %s for light",
           wadi_cli_human_duration(prepare, report->prepare_seconds / report->pictures),
           wadi_cli_human_duration(light, report->light_seconds / report->pictures));
    printf(report->costs[0] != '\0' ? ", which these make slower: %s\n" : "%s\n", report->costs);
    if (report->light_seconds > report->prepare_seconds) {
        const bool is_draft = args->quality != NULL && strcmp(args->quality, "draft") == 0;
        printf("half of the light's time: %s, or a picture 0.7 times as wide and high (--size)\n",
               is_draft ? "--samples 2" : "half as many --samples; less: --quality draft, without caustics");
    } else {
        printf("half of that time: particles 1.25 times as far apart, or coarser surfaces (surface.cell)\n");
    }
}

static void print_summary(const WadiRenderReport *report)
{
    char text[WADI_CLI_HUMAN_SIZE];
    printf("%d picture%s drawn, %d kept, ", report->pictures, report->pictures == 1 ? "" : "s", report->kept);
    printf("%s", wadi_cli_human_duration(text, report->seconds));
    if (report->pictures > 0) {
        printf(" (%s a picture)", wadi_cli_human_duration(text, report->seconds / report->pictures));
    }
    printf(": %s\n", report->folder);
    const char *const others[3] = { report->video, report->gif, report->sheet };
    for (int i = 0; i < 3; ++i) {
        if (others[i][0] != '\0') {
            printf("%s\n", others[i]);
        }
    }
}

static void on_foam(void *user, const WadiProgress *state)
{
    WadiCliWork *work = user;
    if (!work->args->json) {
        wadi_cli_work_progress(work, state, "foam", state->particles);
    }
}

enum { WARNING_SIZE = 2200 };

/* Foam for the pictures, where there is none. One process makes it, and not for numbers as colours. Pictures
 * without it are better than none: what fails is a warning beside them. */
static void make_foam(WadiCliWork *work, const char *run, const WadiRenderDef *def,
                      char warning[WARNING_SIZE])
{
    warning[0] = '\0';
    if (def->is_shared || def->is_video_only || def->attribute != NULL) {
        return;
    }
    WadiSecondaryOptions options = wadi_default_secondary_options();
    options.last_frame = def->last_frame;
    options.sets = def->sets;
    options.set_count = def->set_count;
    options.threads = def->threads;
    options.progress = on_foam;
    options.progress_user = work;
    options.stop = def->stop;
    WadiError error = { 0 };
    const WadiStatus status = wadi_secondary_for_pictures(run, &options, NULL, &error);
    if (status != WADI_OK && status != WADI_ERR_STOPPED && status != WADI_ERR_SCENE) {
        snprintf(warning, WARNING_SIZE, "pictures without new foam: %.2000s", error.text);
    }
}

static int draw(WadiCliWork *work, const char *run, const WadiRenderDef *def)
{
    const WadiCliArgs *args = work->args;
    WadiRenderReport report;
    WadiError error = { 0 };
    wadi_cli_work_catch(work);
    char warning[WARNING_SIZE];
    make_foam(work, run, def, warning);
    WadiStatus status = wadi_render(run, def, &report, &error);
    if (status == WADI_OK && warning[0] != '\0') {
        wadi_cli_work_log(work, WADI_LOG_WARNING, warning);
    }
    int code = wadi_cli_work_end(work, status, &error, report.pictures + report.kept, "picture",
                                 "; no picture was drawn");
    if (code == WADI_CLI_EXIT_GOOD && args->json) {
        json_end(&report);
    } else if (code == WADI_CLI_EXIT_GOOD && !args->quiet) {
        print_summary(&report);
        print_costs(args, &report);
    }
    return code;
}

static bool is_scene(const char *path)
{
    struct stat info;
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot != NULL && wadi_cli_scene_suffixes[i] != NULL; ++i) {
        if (strcmp(dot + 1, wadi_cli_scene_suffixes[i]) == 0) {
            return stat(path, &info) != 0 || !S_ISDIR(info.st_mode);
        }
    }
    return false;
}

/* Simulates or continues the scene in NAME.run and returns that path, which the caller frees; NULL: it failed
 * with *code. */
static char *simulate(const WadiCliArgs *args, int *code)
{
    WadiScene *scene = NULL;
    WadiError error = { 0 };
    if (wadi_cli_load_scene(args, &scene, &error) != WADI_OK) {
        *code = wadi_cli_scene_failure(args, &error, "; nothing was run");
        return NULL;
    }
    size_t size = strlen(wadi_scene_name(scene)) + sizeof ".run";
    char *run = malloc(size);
    *code = WADI_CLI_EXIT_FAILED;
    if (run != NULL) {
        snprintf(run, size, "%s.run", wadi_scene_name(scene));
        WadiCliArgs running = *args;
        running.command = "run";
        running.output = run;
        running.resume = !args->overwrite; /* existing frames are not simulated again */
        *code = wadi_cli_simulate(&running, scene, NULL);
    }
    wadi_scene_destroy(scene);
    if (*code != WADI_CLI_EXIT_GOOD) {
        free(run);
        return NULL;
    }
    return run;
}

static bool fill_def(WadiCliWork *work, WadiRenderDef *def)
{
    const WadiCliArgs *args = work->args;
    if (!wadi_cli_work_frames(work, &def->first_frame, &def->last_frame) ||
        !wadi_cli_work_share(work, &def->is_shared, &def->is_waiting, &def->stale) ||
        (args->quality != NULL && !wadi_cli_work_quality(work, args->quality, &def->quality)) ||
        (args->range != NULL && !parse_range(work, args->range, def)) ||
        (args->cut != NULL && !parse_cut(work, args->cut, def))) {
        return false;
    }
    if (args->share && is_scene(args->operand)) {
        return wadi_cli_work_usage(work, "--share", "a run folder: wadi run makes it", args->operand);
    }
    if (args->video && args->no_video) {
        return wadi_cli_work_usage(work, "--video", "no --no-video beside it", "--no-video");
    }
    if (args->color == NULL && (args->range != NULL || args->map != NULL)) {
        return wadi_cli_work_usage(work, args->range != NULL ? "--range" : "--map",
                                   "--color ATTRIBUTE beside it", "none");
    }
    def->every = args->every > 0 ? args->every : 1;
    def->samples = args->samples;
    def->attribute = args->color;
    def->map = args->map;
    def->folder = args->output;
    def->has_video = !args->no_video;
    def->is_video_only = args->video;
    def->has_gif = args->gif;
    def->sheet = args->sheet;
    def->is_forced = args->force;
    def->threads = args->threads;
    def->log = (WadiLog){ .function = wadi_cli_work_log, .user = work };
    def->progress = on_progress;
    def->progress_user = work;
    def->stop = wadi_cli_stop();
    return true;
}

static void print_layout(const WadiCliArgs *args, const WadiLayoutReport *report)
{
    if (args->json) {
        WadiCliJson json = wadi_cli_json_open(stdout);
        wadi_cli_json_text(&json, "event", "layout");
        wadi_cli_json_text(&json, "picture", report->picture);
        wadi_cli_json_text(&json, "overview", report->overview);
        wadi_cli_json_number(&json, "seconds", report->seconds);
        wadi_cli_json_close(&json);
    } else if (!args->quiet) {
        printf("%s\n", report->picture);
        if (report->overview[0] != '\0') {
            printf("%s\n", report->overview);
        }
    }
}

/* --layout: the scene without a run. */
static int draw_layout(WadiCliWork *work, const char *const size[2])
{
    WadiCliArgs args = *work->args;
    WadiLayoutDef def = wadi_default_layout_def();
    WadiLayoutReport report;
    WadiScene *scene = NULL;
    WadiError error = { 0 };
    if (!is_scene(args.operand)) {
        wadi_cli_work_usage(work, "--layout", "a scene file", args.operand);
        return WADI_CLI_EXIT_USAGE;
    }
    if (args.time != NULL && (parse_numbers(args.time, &def.time, 1) != 1 || def.time < 0.0)) {
        wadi_cli_work_usage(work, "--time", "seconds, 0 or more", args.time);
        return WADI_CLI_EXIT_USAGE;
    }
    for (int i = 0; i < 2 && size[i] != NULL; ++i) { /* WadiCliArgs.sets has space for them */
        args.sets[args.set_count++] = size[i];
    }
    if (wadi_cli_load_scene(&args, &scene, &error) != WADI_OK) {
        return wadi_cli_scene_failure(&args, &error, "; nothing was drawn");
    }
    def.folder = args.output;
    def.threads = args.threads;
    def.log = (WadiLog){ .function = wadi_cli_work_log, .user = work };
    WadiStatus status = wadi_render_layout(scene, &def, &report, &error);
    wadi_scene_destroy(scene);
    int code = wadi_cli_work_end(work, status, &error, status == WADI_OK, "picture", "; nothing was drawn");
    if (code == WADI_CLI_EXIT_GOOD) {
        print_layout(&args, &report);
    }
    return code;
}

int wadi_cli_render(const WadiCliArgs *args)
{
    WadiCliWork work = wadi_cli_work_open(args, "image");
    work.progress.has_particles = false;
    WadiRenderDef def = wadi_default_render_def();
    Size size;
    int code = WADI_CLI_EXIT_GOOD;
    if (!fill_def(&work, &def) || (args->size != NULL && !parse_size(&work, args->size, &size))) {
        return WADI_CLI_EXIT_USAGE;
    }
    if (args->layout) {
        const char *const sizes[2] = { args->size != NULL ? size.width : NULL,
                                       args->size != NULL ? size.height : NULL };
        return draw_layout(&work, sizes);
    }
    if (args->time != NULL) {
        wadi_cli_work_usage(&work, "--time", "--layout beside it", "none");
        return WADI_CLI_EXIT_USAGE;
    }
    if (args->overwrite && !is_scene(args->operand)) {
        wadi_cli_work_usage(&work, "--overwrite", "a scene file to simulate", args->operand);
        return WADI_CLI_EXIT_USAGE;
    }
    char *made = is_scene(args->operand) ? simulate(args, &code) : NULL;
    if (code != WADI_CLI_EXIT_GOOD) {
        return code;
    }
    def.sets = args->sets;
    /* The run of a scene has recorded all overrides, with the files they name. */
    def.set_count = made != NULL ? 0 : args->set_count;
    if (args->size != NULL) { /* WadiCliArgs.sets has space for them */
        args->sets[def.set_count++] = size.width;
        args->sets[def.set_count++] = size.height;
    }
    code = draw(&work, made != NULL ? made : args->operand, &def);
    free(made);
    return code;
}
