/* Stopping a run from outside: Ctrl-C and its kin. */
#ifndef WADI_CLI_SIGNALS_H
#define WADI_CLI_SIGNALS_H

/* From now on the first SIGINT, SIGHUP or SIGTERM sets the stop flag and prints `text` (static storage;
 * NULL: nothing) to standard error; the second ends the program at once. A SIGINT or SIGHUP that was
 * ignored stays ignored (nohup, jobs in the background of a script). */
void wadi_cli_catch_signals(const char *text);

/* Of work that loses nothing by it: when the stop flag is not obeyed within a second, the program ends with these words (static
 * storage; NULL: none) on standard output and standard error. After wadi_cli_catch_signals. */
void wadi_cli_stop_within_a_second(const char *out, const char *err);

/* The work has ended by itself: no such end any more. */
void wadi_cli_stop_is_obeyed(void);

/* For WadiRunDef.stop. */
const volatile int *wadi_cli_stop_flag(void);

#endif
