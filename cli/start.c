/* The first function of the program. CMakeLists.txt compiles this file for every processor of its family: what the
 * processor lacks is reported before the first instruction that it does not know. */
#include <stdio.h>

#include "command.h"
#include "wadi/base.h"

int main(int argc, char **argv)
{
    WadiError error;
    if (wadi_check_processor(&error) != WADI_OK) {
        fprintf(stderr, "wadi: %s\n", error.text);
        return WADI_CLI_EXIT_FAILED;
    }
    return wadi_cli_main(argc, argv);
}
