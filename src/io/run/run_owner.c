#include "io/run/run_owner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/alloc.h"
#include "io/files/files.h"
#include "io/run/run_files.h"
#include "io/run/run_folder.h"

enum { MARK_LIMIT = 4096 };
static const char mark_name[] = ".wadi-run";
static const char mark_text[] = "A run of wadi; this file marks the folder as one that wadi may write to.\n";

static void mark_path(const char *folder, char path[WADI_PATH_SIZE])
{
    snprintf(path, WADI_PATH_SIZE, "%s/%s", folder, mark_name);
}

/* Files that exist from the start of a run, before the mark. */
static bool is_neutral(const char *name)
{
    static const char *const names[] = { "lock", "particles", "checkpoint" };
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    size_t stem = wadi_file_temporary_stem(name);
    return stem == sizeof mark_name - 1 && memcmp(name, mark_name, stem) == 0;
}

static WadiStatus visit_foreign(void *user, const char *folder, const char *name, WadiError *error)
{
    (void)folder, (void)error;
    char *foreign = user;
    if (!is_neutral(name) && (foreign[0] == '\0' || strcmp(name, foreign) < 0)) {
        snprintf(foreign, 256, "%s", name);
    }
    return WADI_OK;
}

/* *foreign: the alphabetically first name that does not belong to a run that has just begun; "" without
 * one. */
static WadiStatus find_foreign(const char *folder, char foreign[256], WadiError *error)
{
    struct stat info;
    foreign[0] = '\0';
    if (stat(folder, &info) == 0 && !S_ISDIR(info.st_mode)) {
        return WADI_OK;
    }
    return wadi_folder_visit(folder, visit_foreign, foreign, error);
}

static bool is_run_of_wadi(const char *folder)
{
    char path[WADI_PATH_SIZE];
    mark_path(folder, path);
    if (wadi_file_head_has(path, mark_text)) {
        return true;
    }
    WadiRunSummary *summary = NULL;
    bool is_ours = false;
    if (WADI_NEW(&summary, 1, "run summary", NULL) == WADI_OK) {
        is_ours = wadi_run_summary_read(folder, summary, NULL) == WADI_OK;
        wadi_run_summary_free(summary);
        WADI_DELETE(summary, 1);
    }
    return is_ours || wadi_run_has_frame(folder);
}

WadiStatus wadi_run_owner_check(const char *folder, WadiError *error)
{
    char foreign[256];
    WADI_TRY(find_foreign(folder, foreign, error));
    if (foreign[0] == '\0' || is_run_of_wadi(folder)) {
        return WADI_OK;
    }
    return wadi_fail(
        error, WADI_ERR_ARGUMENT,
        "%s is not a run of wadi and not empty (it holds %.100s); nothing was written: choose a new folder",
        folder, foreign);
}

WadiStatus wadi_run_owner_mark(const char *folder, const WadiFileDigest *scene, WadiError *error)
{
    char path[WADI_PATH_SIZE], text[256], line[80] = "";
    mark_path(folder, path);
    if (scene != NULL) {
        snprintf(line, sizeof line, "scene %016" PRIx64 " %" PRIu64 "\n", scene->hash, scene->size);
    }
    int length = snprintf(text, sizeof text, "%s%s", mark_text, line);
    return wadi_file_write(path, text, (size_t)length, error);
}

bool wadi_run_owner_has_scene(const char *folder)
{
    char path[WADI_PATH_SIZE], *text = NULL;
    size_t size = 0;
    WadiFileDigest scene;
    mark_path(folder, path);
    if (wadi_file_read(path, MARK_LIMIT, &text, &size, NULL) != WADI_OK) {
        return false;
    }
    const size_t mark = sizeof mark_text - 1, word = strlen("scene ");
    bool is_known =
        size > mark + word && memcmp(text, mark_text, mark) == 0 && memcmp(text + mark, "scene ", word) == 0;
    const char *at = text + (is_known ? mark + word : 0);
    is_known = is_known && wadi_scan_digest(&at, &scene);
    wadi_free(text, size + 1, 1);
    snprintf(path, sizeof path, "%s/scene.yaml", folder);
    return is_known && wadi_file_has_digest(path, scene);
}
