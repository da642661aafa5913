/* Stopping a run with Ctrl-C and similar signals. */
#ifndef WADI_CLI_SIGNALS_H
#define WADI_CLI_SIGNALS_H

#include "wadi/base.h"

/* From now on the first SIGINT, SIGHUP or SIGTERM sets the stop flag and prints `text` (static storage; NULL:
 * nothing) to standard error; the second ends the program at once. A SIGINT or SIGHUP that was ignored
 * remains ignored (nohup, background jobs of a script). */
void wadi_cli_catch_signals(const char *text);

/* For work that may be abandoned: when it does not stop within a second after the stop flag is set, the
 * program ends and prints these texts (static storage; NULL: none) to standard output and standard error.
 * Call it after wadi_cli_catch_signals. */
void wadi_cli_stop_within_a_second(const char *out, const char *err);

/* The work has ended: cancels that time limit. */
void wadi_cli_stop_cancel_limit(void);

/* True after the first signal. */
bool wadi_cli_is_stopped(void);
/* The same for WadiRunDef.stop and its like. */
WadiStop wadi_cli_stop(void);

#endif
