/* The progress of a run on standard error: a line that rewrites itself on a terminal, now and then a plain
 * line in a log. */
#ifndef WADI_CLI_PROGRESS_H
#define WADI_CLI_PROGRESS_H

#include <stdbool.h>

#include "wadi/run.h"

typedef struct WadiCliProgress {
    bool has_particles; /* the line tells their number: true, unless the caller says otherwise */
    bool is_silent;
    bool is_terminal;
    bool has_escapes; /* the terminal can erase to the end of the line */
    bool has_colour;
    bool is_shown;     /* the line is on the screen now */
    int shown_columns; /* its width */
    bool was_printed;  /* at least once */
    double printed_at; /* s, monotonic */
} WadiCliProgress;

WadiCliProgress wadi_cli_progress_open(bool is_silent);
/* Show the state, unless it was shown a moment ago. */
void wadi_cli_progress_update(WadiCliProgress *progress, const WadiProgress *state);
/* Take the line off the screen, so that something else can be printed; the next update brings it back. */
void wadi_cli_progress_clear(WadiCliProgress *progress);

/* Columns of the terminal behind standard error; 80 when it does not say. */
int wadi_cli_terminal_width(void);
/* Whether texts on standard error may be coloured: a terminal, not a dumb one, and NO_COLOR is not set. */
bool wadi_cli_has_colour(void);

#endif
