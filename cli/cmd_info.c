/* wadi info: describe a run folder or a file. */
#include "command.h"

int wadi_cli_info(const WadiCliArgs *args)
{
    char *text = NULL;
    WadiError error = { 0 };
    if (wadi_describe(args->operand, args->json, &text, &error) != WADI_OK) {
        return error.status == WADI_ERR_SCENE ? wadi_cli_scene_failure(args, &error, "")
                                              : wadi_cli_failure(args, &error);
    }
    wadi_cli_print_text(text);
    return WADI_CLI_EXIT_GOOD;
}
