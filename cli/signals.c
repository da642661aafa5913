#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

/* Set by a signal handler and read by threads of the library. */
static atomic_bool is_stopped;
/* Text that the first signal prints; set before the handlers. */
static const char *notice;
static size_t notice_length;

/* Texts printed when the work does not stop within a second; both NULL: no time limit. */
static const char *last_out, *last_err;
static volatile sig_atomic_t has_time_limit;

static void print_text(int fd, const char *text)
{
    ssize_t written = text != NULL ? write(fd, text, strlen(text)) : 0;
    (void)written;
}

static void on_alarm(int signal_number)
{
    (void)signal_number;
    print_text(STDOUT_FILENO, last_out);
    print_text(STDERR_FILENO, last_err);
    _exit(WADI_CLI_EXIT_STOPPED);
}

static void on_signal(int signal_number)
{
    (void)signal_number;
    if (atomic_exchange(&is_stopped, true)) {
        _exit(WADI_CLI_EXIT_STOPPED);
    }
    if (has_time_limit) {
        alarm(1);
    }
    if (notice_length > 0) {
        /* A step may take long: without a message the user would think that nothing happened. */
        ssize_t written = write(STDERR_FILENO, notice, notice_length);
        (void)written;
    }
}

static void catch_signal(int signal_number, void (*handler)(int), bool respects_ignored)
{
    struct sigaction old;
    if (respects_ignored && sigaction(signal_number, NULL, &old) == 0 && old.sa_handler == SIG_IGN) {
        return;
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    /* Interrupted reads and writes are restarted: the library stops between two steps, not inside a file. */
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
    has_time_limit = 1;
}

void wadi_cli_stop_cancel_limit(void)
{
    has_time_limit = 0;
    alarm(0);
}

bool wadi_cli_is_stopped(void)
{
    return atomic_load(&is_stopped);
}

static bool read_flag(void *user)
{
    (void)user;
    return wadi_cli_is_stopped();
}

WadiStop wadi_cli_stop(void)
{
    return (WadiStop){ .is_requested = read_flag };
}
