/* Locations of the gallery's scenes and of its mesh. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gallery.h"

enum { PATH_SIZE = 4096 };

static bool is_readable(const char *folder, const char *name)
{
    char path[PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length < (int)sizeof path && access(path, R_OK) == 0;
}

/* The folder of the running program. */
static bool program_folder(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0 || (size_t)length >= size - 1) {
        return false;
    }
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return true;
}

bool wadi_gallery_folder(char *path, size_t size)
{
    /* Installed, then build/wadi and build/PRESET/wadi of a source tree; relative to the program, so that a
     * moved tree works. */
    static const char *const folders[] = { WADI_DATA_FROM_BIN "/gallery", "../scenes/gallery",
                                           "../../scenes/gallery" };
    const char *const probe = "fetch_bunny.sh";
    const char *data = getenv("WADI_DATA");
    if (data != NULL && data[0] != '\0') {
        if (snprintf(path, size, "%s/gallery", data) < (int)size && is_readable(path, probe)) {
            return true;
        }
        fprintf(stderr, "wadi: WADI_DATA is '%s', and there is no gallery in it\n", data);
        return false;
    }
    char program[PATH_SIZE];
    if (program_folder(program, sizeof program)) {
        for (size_t i = 0; i < sizeof folders / sizeof folders[0]; ++i) {
            if (snprintf(path, size, "%s/%s", program, folders[i]) < (int)size && is_readable(path, probe)) {
                return true;
            }
        }
    }
    fputs("wadi: the scenes of the gallery are not found beside the program; set WADI_DATA to the folder "
          "that has "
          "gallery/ in it (share/wadi of the installation)\n",
          stderr);
    return false;
}

static bool cache_folder(char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache != NULL && cache[0] == '/') {
        length = snprintf(path, size, "%s/wadi", cache);
    } else if (home != NULL && home[0] != '\0') {
        length = snprintf(path, size, "%s/.cache/wadi", home);
    }
    if (length < 0 || length >= (int)size) {
        fputs("wadi: no folder to keep meshes in: set HOME or XDG_CACHE_HOME\n", stderr);
        return false;
    }
    return true;
}

/* Runs GALLERY/fetch_NAME.sh, which prints the reason of a failure itself. */
static bool fetch(const char *gallery, const char *name, const char *target)
{
    char script[PATH_SIZE];
    if (snprintf(script, sizeof script, "%s/fetch_%s.sh", gallery, name) >= (int)sizeof script) {
        return false;
    }
    char shell[] = "sh", path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", target);
    char *arguments[] = { shell, script, path, NULL };
    pid_t child = 0;
    int failure = posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ);
    if (failure != 0) {
        fprintf(stderr, "wadi: cannot start %s: %s\n", script, strerror(failure));
        return false;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool wadi_gallery_mesh_folder(const char *gallery, const char *mesh, char *path, size_t size)
{
    char target[PATH_SIZE], name[64];
    if (!cache_folder(path, size)) {
        return false;
    }
    if (snprintf(target, sizeof target, "%s/%s", path, mesh) >= (int)sizeof target) {
        return false;
    }
    if (access(target, R_OK) == 0) {
        return true;
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(mesh, "."), mesh);
    fprintf(stderr, "wadi: fetching the %s with npm, once\n", name);
    return fetch(gallery, name, target);
}
