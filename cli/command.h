/* What the commands share: loading the scene they are given, and turning a failure into text and an exit
 * code. */
#ifndef WADI_CLI_COMMAND_H
#define WADI_CLI_COMMAND_H

#include "commands.h"
#include "json_out.h"
#include "wadi/wadi.h"

int wadi_cli_exit_code(WadiStatus status);

/* Loads args->operand with the overrides of --set and --solver. */
WadiStatus wadi_cli_load_scene(const WadiCliArgs *args, WadiScene **scene, WadiError *error);
/* Tells why it failed; returns the exit code: a scene that cannot be read is bad usage. `consequence`
 * follows the number of problems, such as "; nothing was run". */
int wadi_cli_scene_failure(const WadiCliArgs *args, const WadiError *error, const char *consequence);

/* Runs a scene into args->output with progress, events and a summary; returns the exit code. `folder` is what the command that
 * continues a stopped run gives to -o; NULL: the run folder itself. */
int wadi_cli_simulate(const WadiCliArgs *args, const WadiScene *scene, const char *folder);

/* The text of an error for a person at the command line: with the option that helps in place of the library's field. Prints at most
 * `size` bytes, returns `text`. */
const char *wadi_cli_error_text(const WadiError *error, char *text, size_t size);
/* "wadi: TEXT" on standard error. */
void wadi_cli_print_error(const WadiError *error);
/* "wadi: warning: TEXT" or "wadi: TEXT" on standard error. */
void wadi_cli_print_message(WadiLogLevel level, const char *text);

/* Begins {"event":"error","status":…,"text":… on standard output; the caller may add members and closes
 * it. */
WadiCliJson wadi_cli_json_error(const WadiError *error);
/* The failure of a command without events of its own: text, with --json the error event too, exit code. */
int wadi_cli_failure(const WadiCliArgs *args, const WadiError *error);

/* A text of the library on standard output, ended by a newline; releases it. */
void wadi_cli_print_text(char *text);

#endif
