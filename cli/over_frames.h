/* What the commands over a run's frames share: surface, render, export. */
#ifndef WADI_CLI_OVER_FRAMES_H
#define WADI_CLI_OVER_FRAMES_H

#include "command.h"
#include "progress.h"

typedef struct WadiCliWork {
    const WadiCliArgs *args;
    WadiCliProgress progress;
    const char *event; /* of a file that is done, with --json: "mesh" */
} WadiCliWork;

/* `event` is borrowed. */
WadiCliWork wadi_cli_work_open(const WadiCliArgs *args, const char *event);

/* "--OPTION: expected …, found '…'"; returns false. */
bool wadi_cli_work_usage(const WadiCliWork *work, const char *option, const char *expected,
                         const char *found);
/* --up: false after a usage error. */
bool wadi_cli_work_up(const WadiCliWork *work, bool *is_y_up);
/* --frames "12" or "12-20", when it was given; false after explaining. */
bool wadi_cli_work_frames(const WadiCliWork *work, int *first, int *last);

/* A WadiLog's function; `user` is the WadiCliWork. */
void wadi_cli_work_log(void *user, WadiLogLevel level, const char *text);

/* The event of a file as far as all commands have it; the caller adds its own and closes it. */
WadiCliJson wadi_cli_work_json(const WadiCliWork *work, const WadiProgress *done);
/* The progress line, with words and a count of its own for the command. */
void wadi_cli_work_tell(WadiCliWork *work, const WadiProgress *done, const char *stage, int64_t particles);

/* Ctrl-C ends when what was begun is done, and a terminal is told so. */
void wadi_cli_work_catch(const WadiCliWork *work);
/* After the call: WADI_CLI_EXIT_GOOD, or the failure told. `done` of `noun` were finished; `consequence` is for settings that
 * are wrong: "; no mesh was made". */
int wadi_cli_work_end(WadiCliWork *work, WadiStatus status, WadiError *error, int done, const char *noun,
                      const char *consequence);

#endif
