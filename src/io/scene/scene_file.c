/* Files that a scene names: resolved relative to the scene and checked during parsing, not in the middle of a
 * run. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/os/os_file.h"
#include "io/scene/scene_read.h"

enum { MOST_FILES = 100000 };

/* Resolves a path relative to the scene. When a finished run is read, a path from an override is relative to
 * the working directory instead: the run folder only has the run's own files. */
static bool resolve(WadiSceneReader *r, int node, bool is_pattern, char **path)
{
    WadiText text = { 0 };
    const char *folder = r->scene->folder, *name = wadi_yaml_text(&r->yaml, node);
    bool is_beside = !r->is_record || wadi_yaml_node(&r->yaml, node)->location.set < 0;
    if (is_beside && name[0] != '/' && strcmp(folder, ".") != 0 && folder[0] != '\0') {
        for (const char *c = folder; *c != '\0'; ++c) {
            wadi_text_append(&text, is_pattern && *c == '%' ? "%" : "");
            wadi_text_append_bytes(&text, c, 1);
        }
        wadi_text_append(&text, folder[strlen(folder) - 1] == '/' ? "" : "/");
    }
    wadi_text_append(&text, name);
    bool is_good = wadi_read_ok(r, wadi_text_status(&text, r->error)) &&
                   wadi_read_ok(r, wadi_string_copy(path, wadi_text_cstr(&text), text.length, r->error));
    wadi_text_free(&text);
    return is_good;
}

/* Why the file cannot be read, or NULL. */
static const char *file_problem(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return errno == ENOENT ? "no such file" : strerror(errno);
    }
    if (S_ISDIR(info.st_mode)) {
        return "is a folder, not a file";
    }
    if (!S_ISREG(info.st_mode)) {
        return "is not a regular file";
    }
    int fd = wadi_os_open_read(path, 0);
    if (fd < 0) {
        return strerror(errno);
    }
    close(fd);
    return NULL;
}

/* In a finished run files may be missing, but an existing one must not be a pipe: reading it could block. */
static const char *find_problem(const WadiSceneReader *r, const char *path)
{
    struct stat info;
    bool is_skipped = r->is_record && (stat(path, &info) != 0 || S_ISREG(info.st_mode));
    return is_skipped ? NULL : file_problem(path);
}

static void list_file(WadiSceneReader *r, int node, const char *path, bool is_sequence)
{
    WadiSceneFile file = { .node = node, .is_sequence = is_sequence };
    if (r->files == NULL || !wadi_read_ok(r, wadi_string_copy(&file.path, path, strlen(path), r->error))) {
        return;
    }
    WadiStatus status = WADI_ARRAY_PUSH(&r->files->list, file, "files of the scene", r->error);
    if (!wadi_read_ok(r, status)) {
        wadi_string_free(file.path);
    }
}

static bool read_path(WadiSceneReader *r, int node, bool is_pattern, char **path)
{
    const WadiYamlNode *n = wadi_yaml_node(&r->yaml, node);
    if (n->kind != WADI_YAML_SCALAR || wadi_yaml_type(&r->yaml, node) != WADI_YAML_TEXT || n->length == 0) {
        wadi_read_wrong_type(r, node, "the path of a file");
        return false;
    }
    if (n->length >= PATH_MAX / 2) {
        wadi_read_problem(r, node, "the path is too long");
        return false;
    }
    if (is_pattern && !wadi_file_pattern_is_valid(wadi_yaml_text(&r->yaml, node))) {
        wadi_read_problem(r, node,
                          "expected one number field such as %%04d in the name (\"wave.%%04d.obj\")");
        return false;
    }
    if (!resolve(r, node, is_pattern, path)) {
        return false;
    }
    list_file(r, node, *path, is_pattern);
    return true;
}

static void report_file(WadiSceneReader *r, int node, const char *path, const char *problem)
{
    size_t length = strlen(path);
    wadi_read_problem(r, node, "%s%s: %s", length > 300 ? "…" : "", length > 300 ? path + length - 300 : path,
                      problem);
}

void wadi_read_file(WadiSceneReader *r, int node, char **path)
{
    if (!read_path(r, node, false, path)) {
        return;
    }
    const char *problem = find_problem(r, *path);
    if (problem != NULL) {
        report_file(r, node, *path, problem);
    }
}

bool wadi_file_pattern_is_valid(const char *pattern)
{
    const char *field = strchr(pattern, '%');
    if (field == NULL || strchr(field + 1, '%') != NULL) {
        return false;
    }
    size_t digits = strspn(field + 1, "0123456789");
    return digits <= 2 && field[1 + digits] == 'd';
}

void wadi_read_file_pattern(WadiSceneReader *r, int node, char **path)
{
    read_path(r, node, true, path);
}

void wadi_file_pattern_expand(const char *pattern, int number, WadiText *path)
{
    const char *field = strchr(pattern, '%');
    for (; field[1] == '%'; field = strchr(pattern, '%')) {
        wadi_text_append_bytes(path, pattern, (size_t)(field + 1 - pattern));
        pattern = field + 2;
    }
    size_t digits = strspn(field + 1, "0123456789");
    int width = 0;
    for (size_t i = 0; i < digits; ++i) {
        width = 10 * width + (field[1 + i] - '0');
    }
    wadi_text_append_bytes(path, pattern, (size_t)(field - pattern));
    if (field[1] == '0') {
        wadi_text_printf(path, "%0*d", width, number);
    } else {
        wadi_text_printf(path, "%*d", width, number);
    }
    wadi_text_append(path, field + 1 + digits + 1);
}

void wadi_check_sequence(WadiSceneReader *r, int node, const WadiShapeDef *def)
{
    int count = def->last_number - def->first_number + 1;
    if (count > MOST_FILES) {
        wadi_read_problem(r, node, "a sequence of %d files; at most %d are possible", count, MOST_FILES);
        return;
    }
    if (r->files != NULL && r->files->list.count > 0) {
        /* The sequence whose pattern was read last. */
        WadiSceneFile *file = &r->files->list.data[r->files->list.count - 1];
        file->first_number = def->first_number;
        file->last_number = def->last_number;
    }
    WadiText path = { 0 }, first = { 0 };
    const char *problem = NULL;
    int missing = 0;
    for (int number = def->first_number; number <= def->last_number; ++number) {
        wadi_text_clear(&path);
        wadi_file_pattern_expand(def->file, number, &path);
        const char *found =
            wadi_read_ok(r, wadi_text_status(&path, r->error)) ? find_problem(r, path.data) : NULL;
        if (found != NULL && missing++ == 0) {
            problem = found;
            wadi_text_append(&first, path.data);
        }
    }
    if (missing == 1) {
        report_file(r, node, wadi_text_cstr(&first), problem);
    } else if (missing > 1) {
        WadiText message = { 0 };
        wadi_text_printf(&message, "%s (and %d more of the sequence's %d files)", problem, missing - 1,
                         count);
        report_file(r, node, wadi_text_cstr(&first), wadi_text_cstr(&message));
        wadi_read_drop(r, &message);
    }
    wadi_read_drop(r, &first);
    wadi_read_drop(r, &path);
}
