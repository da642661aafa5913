/* Numbers, sizes and times for people. Each function fills `text` (WADI_CLI_HUMAN_SIZE bytes) and returns
 * it. */
#ifndef WADI_CLI_HUMAN_H
#define WADI_CLI_HUMAN_H

#include <stdint.h>
#include <stdio.h>

enum { WADI_CLI_HUMAN_SIZE = 48 };

/* 53,214 */
const char *wadi_cli_human_count(char *text, int64_t count);
/* 210 MiB */
const char *wadi_cli_human_bytes(char *text, double bytes);
/* A duration: 0.17 s, 12.3 s, 4 min 05 s, 2 h 13 min */
const char *wadi_cli_human_duration(char *text, double seconds);
/* A remaining time: 0:07, 12:30, 2:13:05, 3 d 4 h */
const char *wadi_cli_human_remaining(char *text, double seconds);
/* Three digits, without an exponent from 1000 on: 0.0137, 12.5, 43210 */
const char *wadi_cli_human_number(char *text, double value);
/* A step or a length with a fitting prefix: 0.83 ms, 5 mm. `unit` is "s" or "m". */
const char *wadi_cli_human_small(char *text, double value, const char *unit);
/* The clock time `seconds` from now: 14:32, with seconds when it is near, with the day when it is far. */
const char *wadi_cli_human_clock(char *text, double seconds);

/* Prints the word for a shell, quoted where needed. */
void wadi_cli_print_shell_word(FILE *out, const char *word);

#endif
