#include "signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

/* The library polls an int; POSIX systems define sig_atomic_t as one, and the compiler would object
 * otherwise. */
static volatile sig_atomic_t stop_flag;
/* What the first signal prints; set before the handlers are. */
static const char *notice;
static size_t notice_length;

/* The same for the end of the patience; both NULL: there is no end. */
static const char *last_out, *last_err;
static volatile sig_atomic_t is_patience_short;

static void say(int fd, const char *text)
{
    ssize_t written = text != NULL ? write(fd, text, strlen(text)) : 0;
    (void)written;
}

static void on_alarm(int signal_number)
{
    (void)signal_number;
    say(STDOUT_FILENO, last_out);
    say(STDERR_FILENO, last_err);
    _exit(WADI_CLI_EXIT_STOPPED);
}

static void on_signal(int signal_number)
{
    (void)signal_number;
    if (stop_flag != 0) {
        _exit(WADI_CLI_EXIT_STOPPED);
    }
    stop_flag = 1;
    if (is_patience_short) {
        alarm(1);
    }
    if (notice_length > 0) {
        /* A step may take long: without a word the user would think that nothing happened. */
        ssize_t written = write(STDERR_FILENO, notice, notice_length);
        (void)written;
    }
}

static void catch_signal(int signal_number, void (*handler)(int), bool keeps_ignored)
{
    struct sigaction old;
    if (keeps_ignored && sigaction(signal_number, NULL, &old) == 0 && old.sa_handler == SIG_IGN) {
        return;
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    /* Interrupted reads and writes go on: the library stops between two steps, not inside a file. */
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

void wadi_cli_catch_signals(const char *text)
{
    notice = text;
    notice_length = text != NULL ? strlen(text) : 0;
    catch_signal(SIGINT, on_signal, true);
    catch_signal(SIGHUP, on_signal, true);
    catch_signal(SIGTERM, on_signal, false);
}

void wadi_cli_stop_within_a_second(const char *out, const char *err)
{
    last_out = out;
    last_err = err;
    catch_signal(SIGALRM, on_alarm, false);
    is_patience_short = 1;
}

void wadi_cli_stop_is_obeyed(void)
{
    is_patience_short = 0;
    alarm(0);
}

const volatile int *wadi_cli_stop_flag(void)
{
    return &stop_flag;
}
