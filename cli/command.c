#include "command.h"

#include <stdlib.h>
#include <string.h>

#include "progress.h"

int wadi_cli_exit_code(WadiStatus status)
{
    switch (status) {
    case WADI_OK: return WADI_CLI_EXIT_GOOD;
    case WADI_ERR_SCENE:
    case WADI_ERR_ARGUMENT:
    case WADI_ERR_UNSUPPORTED: return WADI_CLI_EXIT_USAGE;
    case WADI_ERR_STOPPED: return WADI_CLI_EXIT_STOPPED;
    case WADI_ERR_BUSY: return WADI_CLI_EXIT_BUSY;
    case WADI_ERR_MEMORY:
    case WADI_ERR_IO:
    case WADI_ERR_FORMAT:
    case WADI_ERR_NUMERIC:
    case WADI_ERR_INTERNAL: break;
    }
    return WADI_CLI_EXIT_FAILED;
}

WadiStatus wadi_cli_load_scene(const WadiCliArgs *args, WadiScene **scene, WadiError *error)
{
    WadiSceneDef def = wadi_default_scene_def();
    def.path = args->operand;
    def.sets = args->sets;
    def.set_count = args->set_count;
    if (args->solver == NULL) {
        return wadi_scene_load(scene, &def, error);
    }

    size_t size = sizeof "solver=" + strlen(args->solver);
    char *solver_set = malloc(size);
    if (solver_set == NULL) {
        *scene = NULL;
        error->status = WADI_ERR_MEMORY;
        snprintf(error->text, sizeof error->text, "out of memory");
        return WADI_ERR_MEMORY;
    }
    snprintf(solver_set, size, "solver=%s", args->solver);
    /* Last, so that it takes precedence over --set solver=…; WadiCliArgs.sets has space for it. */
    args->sets[def.set_count++] = solver_set;
    WadiStatus status = wadi_scene_load(scene, &def, error);
    args->sets[args->set_count] = NULL;
    free(solver_set);
    return status;
}

static const char *option_for(WadiHint hint)
{
    switch (hint) {
    case WADI_HINT_NONE: break;
    case WADI_HINT_HAS_FRAMES:
        return "continue with --resume, replace them with --overwrite, or choose another folder with -o";
    case WADI_HINT_SCENE_CHANGED:
        return "take --from-frame N to continue from a frame with the new scene, or --overwrite to begin "
               "again";
    case WADI_HINT_FEWER_FRAMES: return "--from-frame N would drop those after frame N";
    case WADI_HINT_RESUME: return "remove the cause, then continue with --resume";
    }
    return NULL;
}

const char *wadi_cli_error_text(const WadiError *error, char *text, size_t size)
{
    const char *option = option_for(error->hint);
    if (option != NULL) {
        snprintf(text, size, "%.*s; %s", error->hint_at, error->text, option);
    } else {
        snprintf(text, size, "%s", error->text);
    }
    return text;
}

void wadi_cli_print_error(const WadiError *error)
{
    char text[WADI_ERROR_TEXT_SIZE];
    fprintf(stderr, "wadi: %s\n", wadi_cli_error_text(error, text, sizeof text));
}

void wadi_cli_print_message(WadiLogLevel level, const char *text)
{
    bool has_colour = wadi_cli_has_colour();
    if (level == WADI_LOG_WARNING) {
        fprintf(stderr, "wadi: %swarning:%s %s\n", has_colour ? "\033[33m" : "", has_colour ? "\033[0m" : "",
                text);
    } else {
        fprintf(stderr, "wadi: %s\n", text);
    }
}

WadiCliJson wadi_cli_json_error(const WadiError *error)
{
    char text[WADI_ERROR_TEXT_SIZE];
    WadiCliJson json = wadi_cli_json_open(stdout);
    wadi_cli_json_text(&json, "event", "error");
    wadi_cli_json_text(&json, "status", wadi_status_name(error->status));
    wadi_cli_json_text(&json, "text", wadi_cli_error_text(error, text, sizeof text));
    return json;
}

int wadi_cli_failure(const WadiCliArgs *args, const WadiError *error)
{
    if (args->json) {
        WadiCliJson json = wadi_cli_json_error(error);
        wadi_cli_json_close(&json);
    }
    wadi_cli_print_error(error);
    return wadi_cli_exit_code(error->status);
}

static int count_lines(const char *text)
{
    int count = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        count += length > 0;
        text += length;
        text += *text == '\n';
    }
    return count;
}

int wadi_cli_scene_failure(const WadiCliArgs *args, const WadiError *error, const char *consequence)
{
    if (error->status != WADI_ERR_SCENE) {
        int code = wadi_cli_failure(args, error);
        return error->status == WADI_ERR_MEMORY ? code : WADI_CLI_EXIT_USAGE;
    }
    if (args->json) {
        WadiCliJson json = wadi_cli_json_error(error);
        wadi_cli_json_close(&json);
    }
    int count = count_lines(error->text);
    fprintf(stderr, "%s\n%d problem%s%s\n", error->text, count, count == 1 ? "" : "s", consequence);
    return WADI_CLI_EXIT_USAGE;
}

void wadi_cli_print_text(char *text)
{
    size_t length = strlen(text);
    fputs(text, stdout);
    if (length == 0 || text[length - 1] != '\n') {
        fputc('\n', stdout);
    }
    wadi_text_release(text);
}
