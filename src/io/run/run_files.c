#include "io/run/run_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/frame/frame_file.h"
#include "io/run/run_folder.h"

void wadi_run_frame_path(char *path, size_t size, const char *folder, const char *name, int frame)
{
    snprintf(path, size, "%s/particles/%s.%04d.h5", folder, name, frame);
}

void wadi_run_secondary_path(char *path, size_t size, const char *folder, const char *name, int frame)
{
    snprintf(path, size, "%s/secondary/%s.%04d.h5", folder, name, frame);
}

void wadi_run_wet_path(char *path, size_t size, const char *folder, const char *name, int frame)
{
    snprintf(path, size, "%s/secondary/%s.wet.%04d.h5", folder, name, frame);
}

void wadi_run_grains_path(char *path, size_t size, const char *folder, const char *name, int frame)
{
    snprintf(path, size, "%s/secondary/%s.grains.%04d.h5", folder, name, frame);
}

void wadi_run_checkpoint_path(char *path, size_t size, const char *folder, const char *name,
                              WadiRunCheckpoint checkpoint)
{
    snprintf(path, size, "%s/checkpoint/%s.%04d%s.h5", folder, name, checkpoint.frame,
             checkpoint.is_kept ? ".keep" : "");
}

static bool has_ending(const char *text, size_t length, const char *ending)
{
    size_t size = strlen(ending);
    return length > size && memcmp(text + length - size, ending, size) == 0;
}

/* As wadi_run_parse_name, for the first `length` bytes. */
static int parse_name(const char *file_name, size_t length, const char *name, bool *is_kept)
{
    if (!has_ending(file_name, length, ".h5")) {
        return -1;
    }
    length -= strlen(".h5");
    *is_kept = has_ending(file_name, length, ".keep");
    length -= *is_kept ? strlen(".keep") : 0;
    size_t start = length;
    while (start > 0 && file_name[start - 1] >= '0' && file_name[start - 1] <= '9') {
        --start;
    }
    size_t digits = length - start;
    /* Four digits, or more without a leading zero: exactly what printf writes. */
    if (digits < 4 || digits > 9 || (digits > 4 && file_name[start] == '0') || start < 2 ||
        file_name[start - 1] != '.') {
        return -1;
    }
    if (name != NULL && (strlen(name) != start - 1 || memcmp(name, file_name, start - 1) != 0)) {
        return -1;
    }
    int frame = 0;
    for (size_t i = start; i < length; ++i) {
        frame = frame * 10 + (file_name[i] - '0');
    }
    return frame;
}

int wadi_run_parse_name(const char *file_name, const char *name, bool *is_kept)
{
    return parse_name(file_name, strlen(file_name), name, is_kept);
}

/* FOLDER/SUB */
static WadiStatus visit_folder(const char *folder, const char *sub, WadiFolderVisit *visit, void *user,
                               WadiError *error)
{
    char path[WADI_PATH_SIZE];
    if (snprintf(path, sizeof path, "%s%s", folder, sub) >= WADI_PATH_SIZE) {
        return wadi_fail_errno(error, ENAMETOOLONG, "cannot read %.200s", folder);
    }
    return wadi_folder_visit(path, visit, user, error);
}

typedef struct Search {
    const char *name;
    WadiRunCheckpoints *checkpoints;
    int last_frame;
    bool has_any;
} Search;

static WadiStatus visit_checkpoint(void *user, const char *folder, const char *file_name, WadiError *error)
{
    (void)folder;
    Search *search = user;
    WadiRunCheckpoint found;
    found.frame = wadi_run_parse_name(file_name, search->name, &found.is_kept);
    return found.frame < 0 ? WADI_OK : WADI_ARRAY_PUSH(search->checkpoints, found, "checkpoints", error);
}

static int newest_first(const void *a, const void *b)
{
    const WadiRunCheckpoint *first = a, *second = b;
    return first->frame != second->frame ? (first->frame < second->frame ? 1 : -1)
                                         : (int)first->is_kept - (int)second->is_kept;
}

WadiStatus wadi_run_find_checkpoints(const char *folder, const char *name, WadiRunCheckpoints *checkpoints,
                                     WadiError *error)
{
    checkpoints->count = 0;
    Search search = { .name = name, .checkpoints = checkpoints };
    WADI_TRY(visit_folder(folder, "/checkpoint", visit_checkpoint, &search, error));
    if (checkpoints->count > 1) {
        qsort(checkpoints->data, checkpoints->count, sizeof *checkpoints->data, newest_first);
    }
    return WADI_OK;
}

static WadiStatus visit_frame(void *user, const char *folder, const char *file_name, WadiError *error)
{
    (void)folder;
    (void)error;
    Search *search = user;
    bool is_kept;
    int frame = wadi_run_parse_name(file_name, search->name, &is_kept);
    search->has_any = search->has_any || frame >= 0;
    search->last_frame = frame > search->last_frame ? frame : search->last_frame;
    return WADI_OK;
}

WadiStatus wadi_run_find_last_frame(const char *folder, const char *name, int *frame, WadiError *error)
{
    Search search = { .name = name };
    WadiStatus status = visit_folder(folder, "/particles", visit_frame, &search, error);
    *frame = search.last_frame;
    return status;
}

WadiStatus wadi_run_has_results(const char *folder, bool *has_results, WadiError *error)
{
    Search search = { 0 };
    *has_results = false;
    WADI_TRY(visit_folder(folder, "/particles", visit_frame, &search, error));
    WADI_TRY(visit_folder(folder, "/checkpoint", visit_frame, &search, error));
    *has_results = search.has_any;
    return WADI_OK;
}

static WadiStatus visit_result(void *user, const char *folder, const char *file_name, WadiError *error)
{
    (void)error;
    Search *search = user;
    char path[WADI_PATH_SIZE];
    bool is_kept;
    search->has_any =
        search->has_any || (wadi_run_parse_name(file_name, NULL, &is_kept) >= 0 &&
                            snprintf(path, sizeof path, "%s/%s", folder, file_name) < WADI_PATH_SIZE &&
                            wadi_frame_file_check(path, NULL) == WADI_OK);
    return WADI_OK;
}

bool wadi_run_has_frame(const char *folder)
{
    Search search = { 0 };
    visit_folder(folder, "/particles", visit_result, &search, NULL);
    if (!search.has_any) {
        visit_folder(folder, "/checkpoint", visit_result, &search, NULL);
    }
    return search.has_any;
}

static WadiStatus remove_in(const char *folder, const char *file_name, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/%s", folder, file_name) >= WADI_PATH_SIZE) {
        return wadi_fail_errno(error, ENAMETOOLONG, "cannot remove %.200s", file_name);
    }
    return wadi_file_remove(path, error);
}

/* A file named like a frame belongs to wadi by the scene's name or, for another scene, by its content. */
static WadiStatus visit_remove_frame(void *user, const char *folder, const char *file_name, WadiError *error)
{
    const char *name = user;
    bool is_kept;
    if (wadi_run_parse_name(file_name, NULL, &is_kept) < 0) {
        return WADI_OK;
    }
    char path[WADI_PATH_SIZE];
    bool is_ours = wadi_run_parse_name(file_name, name, &is_kept) >= 0;
    if (!is_ours && snprintf(path, sizeof path, "%s/%s", folder, file_name) < WADI_PATH_SIZE) {
        is_ours = wadi_frame_file_check(path, NULL) == WADI_OK;
    }
    return is_ours ? remove_in(folder, file_name, error) : WADI_OK;
}

static WadiStatus visit_remove_index(void *user, const char *folder, const char *file_name, WadiError *error)
{
    (void)user;
    char path[WADI_PATH_SIZE], start[160] = { 0 };
    if (!has_ending(file_name, strlen(file_name), ".xdmf") ||
        snprintf(path, sizeof path, "%s/%s", folder, file_name) >= WADI_PATH_SIZE) {
        return WADI_OK;
    }
    int fd;
    if (wadi_file_open_regular(path, &fd, NULL) != WADI_OK) {
        return WADI_OK; /* not written by wadi */
    }
    ssize_t got = read(fd, start, sizeof start - 1);
    close(fd);
    if (got > 0 && strstr(start, "<!-- written by wadi -->") == NULL) {
        return WADI_OK;
    }
    WADI_TRY(wadi_file_remove(path, error));
    snprintf(path, sizeof path, "%s/%.*s.vertices", folder, (int)(strlen(file_name) - strlen(".xdmf")),
             file_name);
    return wadi_file_remove(path, error);
}

WadiStatus wadi_run_remove_results(const char *folder, const char *name, WadiError *error)
{
    /* run.json first: it must not list files that are being removed. */
    WADI_TRY(remove_in(folder, "run.json", error));
    WADI_TRY(remove_in(folder, "forces.csv", error));
    WADI_TRY(visit_folder(folder, "/checkpoint", visit_remove_frame, (void *)(uintptr_t)name, error));
    WADI_TRY(visit_folder(folder, "/particles", visit_remove_index, NULL, error));
    return visit_folder(folder, "/particles", visit_remove_frame, (void *)(uintptr_t)name, error);
}

static WadiStatus visit_temporary(void *user, const char *folder, const char *file_name, WadiError *error)
{
    static const char *const names[] = { "run.json", "scene.yaml", "changes.yaml", ".wadi-run" };
    (void)user;
    size_t stem = wadi_file_temporary_stem(file_name);
    bool is_kept;
    bool is_ours =
        stem > 0 && (parse_name(file_name, stem, NULL, &is_kept) >= 0 ||
                     has_ending(file_name, stem, ".xdmf") || has_ending(file_name, stem, ".vertices"));
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        is_ours = is_ours || (strlen(names[i]) == stem && memcmp(file_name, names[i], stem) == 0);
    }
    return is_ours ? remove_in(folder, file_name, error) : WADI_OK;
}

WadiStatus wadi_run_remove_temporaries(const char *folder, WadiError *error)
{
    WADI_TRY(visit_folder(folder, "", visit_temporary, NULL, error));
    WADI_TRY(visit_folder(folder, "/particles", visit_temporary, NULL, error));
    return visit_folder(folder, "/checkpoint", visit_temporary, NULL, error);
}
