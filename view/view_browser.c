#include "view_browser.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX "wadi-view-"
#define FILE_NAME "open.html"

bool wadi_view_browser_is_there(void)
{
    const bool has_display = getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL;
    return has_display && getenv("SSH_CONNECTION") == NULL;
}

/* Places for the file, NULL after the last. The home folder comes first: browsers of snap read neither /tmp
 * nor hidden folders nor those of other programs. */
static const char *place(int n)
{
    const char *places[3] = { getenv("HOME"), getenv("XDG_RUNTIME_DIR"), "/tmp" };
    return n < 3 ? (places[n] != NULL && places[n][0] == '/' ? places[n] : "") : NULL;
}

static void remove_file(const char *folder)
{
    char file[1100];
    snprintf(file, sizeof file, "%s/" FILE_NAME, folder);
    unlink(file);
    rmdir(folder);
}

/* "wadi-view-PID-XXXXXX" of a process that ended. */
static bool is_left(const char *name)
{
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0) {
        return false;
    }
    char *end;
    const long process = strtol(name + strlen(PREFIX), &end, 10);
    return process > 0 && *end == '-' && strlen(end) == 7 && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

void wadi_view_browser_clean(void)
{
    const char *where;
    for (int n = 0; (where = place(n)) != NULL; ++n) {
        DIR *folder = where[0] != '\0' ? opendir(where) : NULL;
        const struct dirent *entry;
        while (folder != NULL && (entry = readdir(folder)) != NULL) {
            char path[1024];
            struct stat info;
            if (is_left(entry->d_name) &&
                snprintf(path, sizeof path, "%s/%s", where, entry->d_name) < (int)sizeof path &&
                lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid()) {
                remove_file(path);
            }
        }
        if (folder != NULL) {
            closedir(folder);
        }
    }
}

static bool write_file(const char *folder, const char *address)
{
    char file[1100], page[1024];
    snprintf(file, sizeof file, "%s/" FILE_NAME, folder);
    const int length = snprintf(page, sizeof page,
                                "<!doctype html>\n<meta charset=\"utf-8\"><title>wadi view</title>\n"
                                "<meta name=\"referrer\" content=\"no-referrer\">\n"
                                "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"
                                "<a href=\"%s\">wadi view</a>\n",
                                address, address);
    const int out = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    const bool is_written =
        out >= 0 && length < (int)sizeof page && write(out, page, (size_t)length) == length;
    return out >= 0 && close(out) == 0 && is_written;
}

/* In a process group of its own, so that Ctrl-C in the terminal does not end the browser. */
static bool start_program(WadiViewBrowser *browser)
{
    char program[] = "xdg-open", file[1100];
    char *const arguments[] = { program, file, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    snprintf(file, sizeof file, "%s/" FILE_NAME, browser->folder);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (int n = 0; n < 3; ++n) {
        posix_spawn_file_actions_addopen(&actions, n, "/dev/null", n == 0 ? O_RDONLY : O_WRONLY, 0);
    }
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const bool is_started =
        posix_spawnp(&browser->program, program, &actions, &attributes, arguments, environ) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    browser->program = is_started ? browser->program : 0;
    return is_started;
}

bool wadi_view_browser_open(WadiViewBrowser *browser, const char *address)
{
    const char *where;
    *browser = (WadiViewBrowser){ 0 };
    for (int n = 0; (where = place(n)) != NULL && browser->folder[0] == '\0'; ++n) {
        const int length = snprintf(browser->folder, sizeof browser->folder, "%s/" PREFIX "%ld-XXXXXX", where,
                                    (long)getpid());
        if (where[0] == '\0' || length >= (int)sizeof browser->folder || mkdtemp(browser->folder) == NULL) {
            browser->folder[0] = '\0';
        } else if (!write_file(browser->folder, address)) {
            wadi_view_browser_forget(browser);
        }
    }
    if (browser->folder[0] != '\0' && start_program(browser)) {
        return true;
    }
    wadi_view_browser_forget(browser);
    return false;
}

void wadi_view_browser_forget(WadiViewBrowser *browser)
{
    if (browser->folder[0] != '\0') {
        remove_file(browser->folder);
        browser->folder[0] = '\0';
    }
    if (browser->program > 0 && waitpid(browser->program, NULL, WNOHANG) != 0) {
        browser->program = 0;
    }
}
