#include "view_access.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_token(char token[WADI_VIEW_TOKEN + 1])
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789"; /* 32: five bits each */
    uint8_t bytes[WADI_VIEW_TOKEN];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    for (int i = 0; i < WADI_VIEW_TOKEN; ++i) {
        token[i] = letters[bytes[i] & 31];
    }
    token[WADI_VIEW_TOKEN] = '\0';
    return true;
}

static bool is_token(const char *text)
{
    return strlen(text) == WADI_VIEW_TOKEN &&
           strspn(text, "abcdefghijkmnpqrstuvwxyz23456789") == WADI_VIEW_TOKEN;
}

/* "…/wadi/view-8585.key", in folders that only the owner can read. */
static bool key_path(char *path, size_t size, int port)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char folder[3500];
    int length = -1;
    if (state != NULL && state[0] == '/') {
        length = snprintf(folder, sizeof folder, "%s", state);
    } else if (home != NULL && home[0] == '/') {
        char local[3400];
        snprintf(local, sizeof local, "%.3000s/.local", home);
        mkdir(local, 0700);
        length = snprintf(folder, sizeof folder, "%s/state", local);
    }
    if (length < 0 || length >= (int)sizeof folder - 20) {
        return false;
    }
    mkdir(folder, 0700);
    strcat(folder, "/wadi");
    mkdir(folder, 0700);
    return snprintf(path, size, "%s/view-%d.key", folder, port) < (int)size;
}

static bool read_key(const char *path, char key[WADI_VIEW_TOKEN + 1])
{
    struct stat info;
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool is_good = file >= 0 && fstat(file, &info) == 0 && info.st_uid == geteuid() &&
                   (info.st_mode & 077) == 0 && read(file, key, WADI_VIEW_TOKEN) == WADI_VIEW_TOKEN;
    key[WADI_VIEW_TOKEN] = '\0';
    is_good = is_good && is_token(key);
    if (file >= 0) {
        close(file);
    }
    return is_good;
}

static void write_key(const char *path, const char *key)
{
    unlink(path);
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) {
        if (write(file, key, WADI_VIEW_TOKEN) != WADI_VIEW_TOKEN) {
            unlink(path);
        }
        close(file);
    }
}

bool wadi_view_access_init(WadiViewAccess *access, const char *address, int port)
{
    char path[4096];
    memset(access, 0, sizeof *access);
    snprintf(access->address, sizeof access->address, "%s", address != NULL ? address : "");
    const bool has_path = key_path(path, sizeof path, port);
    if (!has_path || !read_key(path, access->session)) {
        if (!make_token(access->session)) {
            return false;
        }
        if (has_path) {
            write_key(path, access->session);
        }
    }
    return make_token(access->token);
}

bool wadi_view_access_renew(WadiViewAccess *access)
{
    return make_token(access->token);
}

bool wadi_view_access_host(const WadiViewAccess *access, const char *host)
{
    char name[300];
    const char *end = host[0] == '[' ? strchr(host, ']') : host + strcspn(host, ":");
    if (end == NULL || host[0] == '\0') {
        return false;
    }
    end += host[0] == '[';
    const size_t length = (size_t)(end - host);
    const char *port = *end == ':' ? end + 1 : end;
    if (length == 0 || length >= sizeof name || (*end != ':' && *end != '\0') ||
        strspn(port, "0123456789") != strlen(port) || strlen(port) > 5) {
        return false;
    }
    memcpy(name, host, length);
    name[length] = '\0';
    return strcmp(name, "127.0.0.1") == 0 || strcmp(name, "[::1]") == 0 ||
           strcasecmp(name, "localhost") == 0 ||
           (access->address[0] != '\0' && strcasecmp(name, access->address) == 0);
}

bool wadi_view_access_origin(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return strncmp(origin, scheme, strlen(scheme)) == 0 && strcasecmp(origin + strlen(scheme), host) == 0;
}

/* Takes as long for every wrong word. */
static bool is_equal(const char *a, const char *b)
{
    unsigned differences = 0;
    if (strlen(a) != WADI_VIEW_TOKEN) {
        return false;
    }
    for (int i = 0; i < WADI_VIEW_TOKEN; ++i) {
        differences |= (unsigned char)(a[i] ^ b[i]);
    }
    return differences == 0;
}

bool wadi_view_access_greeting(WadiViewAccess *access, const char *word, bool *was_token)
{
    *was_token = is_equal(word, access->token);
    return *was_token || is_equal(word, access->session);
}
