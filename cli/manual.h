/* Texts generated from the tables of commands.h and stored in the tree: docs/man/wadi.1, docs/cli.md and
 * cli/completions/. */
#ifndef WADI_CLI_MANUAL_H
#define WADI_CLI_MANUAL_H

#include <stdbool.h>
#include <stdio.h>

void wadi_cli_dump_man(FILE *out);
void wadi_cli_dump_markdown(FILE *out);
/* `shell` is bash, zsh or fish; false for another. */
bool wadi_cli_dump_completion(FILE *out, const char *shell);

#endif
