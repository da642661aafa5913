/* The command-line parser and the help texts, both driven by the tables of commands.h. */
#ifndef WADI_CLI_OPTIONS_H
#define WADI_CLI_OPTIONS_H

#include <stdio.h>

#include "commands.h"
#include "wadi/base.h"

/* Parses argv[0 .. count-1], the words after the command's name, into `args`, whose `sets` must have space
 * for `count` entries. A mistake is explained on standard error and false returned. Stops at --help and
 * --version. */
bool wadi_cli_parse(const WadiCliCommand *command, int count, char **argv, WadiCliArgs *args);

/* Parses one or two integers from 1 to 9999999 separated by `separator`, such as 10-20 or 1280x720; returns
 * their number, 0 for other text. */
int wadi_cli_parse_counts(const char *text, char separator, int counts[2]);

/* Prints "wadi: TEXT" and where to read more to standard error; returns WADI_CLI_EXIT_USAGE. */
int wadi_cli_usage_error(const WadiCliCommand *command, const char *format, ...) WADI_PRINTF(2, 3);
/* The same for a word that is no command, with the nearest command. */
int wadi_cli_command_error(const char *word);

/* The nearest of `count` names if `word` is an unambiguous prefix or a likely typo of it, else NULL. */
const char *wadi_cli_nearest(const char *word, const char *const *names, int count);

/* "wadi run SCENE [-o RUN] [--frames N] …", from column `column` on, wrapped to 80 columns. */
void wadi_cli_print_usage(FILE *out, const WadiCliCommand *command, int column);
/* The text of `--help`. */
void wadi_cli_print_help(FILE *out, const WadiCliCommand *command);
/* Prints the words of `text` in lines of `width` columns; the first line starts at column `column`, the
 * others after `indent` blanks. */
void wadi_cli_print_wrapped(FILE *out, const char *text, int column, int indent, int width);

#endif
