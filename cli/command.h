/* Shared by the commands: loading the scene, and converting a failure to text and an exit code. */
#ifndef WADI_CLI_COMMAND_H
#define WADI_CLI_COMMAND_H

#include "commands.h"
#include "json_out.h"
#include "wadi/wadi.h"

int wadi_cli_exit_code(WadiStatus status);

/* Loads args->operand with the overrides of --set and --solver. */
WadiStatus wadi_cli_load_scene(const WadiCliArgs *args, WadiScene **scene, WadiError *error);
/* Prints why loading failed and returns the exit code: an unreadable scene is a usage error. `consequence`
 * follows the number of problems, such as "; nothing was run". */
int wadi_cli_scene_failure(const WadiCliArgs *args, const WadiError *error, const char *consequence);

/* Runs a scene into args->output with progress, events and a summary; returns the exit code. `folder` is the
 * -o argument of the printed command that continues a stopped run; NULL: the run folder itself. */
int wadi_cli_simulate(const WadiCliArgs *args, const WadiScene *scene, const char *folder);

/* The text of an error for command-line users: with the option that helps instead of the library's field.
 * Writes at most `size` bytes, returns `text`. */
const char *wadi_cli_error_text(const WadiError *error, char *text, size_t size);
/* "wadi: TEXT" on standard error. */
void wadi_cli_print_error(const WadiError *error);
/* "wadi: warning: TEXT" or "wadi: TEXT" on standard error. */
void wadi_cli_print_message(WadiLogLevel level, const char *text);

/* Begins {"event":"error","status":…,"text":… on standard output; the caller may add members and must close
 * it. */
WadiCliJson wadi_cli_json_error(const WadiError *error);
/* Failure of a command without its own events: text, with --json also the error event, exit code. */
int wadi_cli_failure(const WadiCliArgs *args, const WadiError *error);

/* Prints a text of the library to standard output with a final newline, and releases it. */
void wadi_cli_print_text(char *text);

#endif
