/* The progress of a run on standard error: one line that is redrawn on a terminal, occasional plain lines in
 * a log. */
#ifndef WADI_CLI_PROGRESS_H
#define WADI_CLI_PROGRESS_H

#include <stdbool.h>

#include "wadi/run.h"

typedef struct WadiCliProgress {
    bool has_particles; /* the line shows the number of particles; default true */
    bool is_silent;
    bool is_terminal;
    bool has_escapes; /* the terminal can erase to the end of the line */
    bool has_colour;
    bool is_shown;     /* the line is on the screen */
    int shown_columns; /* its width */
    bool was_printed;  /* at least once */
    double printed_at; /* s, monotonic */
} WadiCliProgress;

WadiCliProgress wadi_cli_progress_open(bool is_silent);
/* Shows the state, unless it was shown a moment ago. */
void wadi_cli_progress_update(WadiCliProgress *progress, const WadiProgress *state);
/* Removes the line from the screen, so that other text can be printed; the next update draws it again. */
void wadi_cli_progress_clear(WadiCliProgress *progress);

/* Columns of the terminal at standard error; 80 when unknown. */
int wadi_cli_terminal_width(void);
/* Whether text on standard error may be coloured: a terminal, not a dumb one, and NO_COLOR is not set. */
bool wadi_cli_has_colour(void);

#endif
