/* The first function of the program. CMakeLists.txt compiles this file for every processor of its family, so
 * that missing instructions are reported before one is executed. */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "wadi/base.h"

/* After a failed assert the frames are worthless, and a core file helps to find the cause. */
static void report_bug(void *user, const char *condition, const char *file, int line)
{
    (void)user;
    fprintf(stderr, "wadi: %s:%d: this should never happen: %s\nwadi: that is a bug; please report it\n",
            file, line, condition);
    abort();
}

int main(int argc, char **argv)
{
    WadiError error;
    if (wadi_check_processor(&error) != WADI_OK) {
        fprintf(stderr, "wadi: %s\n", error.text);
        return WADI_CLI_EXIT_FAILED;
    }
    wadi_set_assert_hook(&(WadiAssertHook){ report_bug, NULL });
    return wadi_cli_main(argc, argv);
}
