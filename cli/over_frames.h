/* Shared by the commands that process a run's frames: surface, render, export. */
#ifndef WADI_CLI_OVER_FRAMES_H
#define WADI_CLI_OVER_FRAMES_H

#include "command.h"
#include "progress.h"

typedef struct WadiCliWork {
    const WadiCliArgs *args;
    WadiCliProgress progress;
    const char *event; /* name of the event of a finished file, with --json: "mesh" */
} WadiCliWork;

/* `event` is borrowed. */
WadiCliWork wadi_cli_work_open(const WadiCliArgs *args, const char *event);

/* Prints "--OPTION: expected …, found '…'"; returns false. */
bool wadi_cli_work_usage(const WadiCliWork *work, const char *option, const char *expected,
                         const char *found);
/* --up: false after a usage error. */
bool wadi_cli_work_up(const WadiCliWork *work, bool *is_y_up);
/* --frames "12" or "12-20", if given; false after a usage error. */
bool wadi_cli_work_frames(const WadiCliWork *work, int *first, int *last);

/* --quality; false after a usage error. */
bool wadi_cli_work_quality(const WadiCliWork *work, const char *text, WadiQuality *quality);
/* --share, --wait and --stale, where `stale` has its default; false after a usage error. */
bool wadi_cli_work_share(const WadiCliWork *work, bool *is_shared, bool *is_waiting, double *stale);

/* A WadiLog's function; `user` is the WadiCliWork. */
void wadi_cli_work_log(void *user, WadiLogLevel level, const char *text);

/* Begins the event of a file with the members common to all commands; the caller adds more and closes it. */
WadiCliJson wadi_cli_work_json(const WadiCliWork *work, const WadiProgress *done);
/* Updates the progress line with the command's stage name and particle count. */
void wadi_cli_work_progress(WadiCliWork *work, const WadiProgress *done, const char *stage,
                            int64_t particles);

/* After Ctrl-C the work ends when the current file is finished; a message on the terminal says so. */
void wadi_cli_work_catch(const WadiCliWork *work);
/* Returns WADI_CLI_EXIT_GOOD, or prints the failure and returns its code. `done` of `noun` were finished;
 * `consequence` is for wrong settings: "; no mesh was made". */
int wadi_cli_work_end(WadiCliWork *work, WadiStatus status, WadiError *error, int done, const char *noun,
                      const char *consequence);

#endif
