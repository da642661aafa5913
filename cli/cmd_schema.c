/* wadi schema: the JSON Schema of scene files, or their reference page. */
#include "command.h"

int wadi_cli_schema(const WadiCliArgs *args)
{
    char *text = NULL;
    WadiError error = { 0 };
    WadiStatus status =
        args->markdown ? wadi_scene_reference(&text, &error) : wadi_scene_schema(&text, &error);
    if (status != WADI_OK) {
        return wadi_cli_failure(args, &error);
    }
    wadi_cli_print_text(text);
    return WADI_CLI_EXIT_GOOD;
}
