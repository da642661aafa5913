#include "io/run/output_index.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text.h"

enum { INDEX_LIMIT = 1 << 28, EDITED_LIMIT = 1 << 26, GROUP_MAX = 100000 };
static const char index_name[] = ".wadi-files", begun_word[] = "begun ";

WadiStatus wadi_file_names_add(WadiFileNames *names, const char *path, WadiError *error)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    char *copy = NULL;
    WADI_TRY(wadi_string_copy(&copy, name, strlen(name), error));
    WadiStatus status = WADI_ARRAY_PUSH(&names->list, copy, "names of files", error);
    if (status != WADI_OK) {
        wadi_string_free(copy);
    }
    return status;
}

void wadi_file_names_free(WadiFileNames *names)
{
    for (size_t i = 0; i < names->list.count; ++i) {
        wadi_string_free(names->list.data[i]);
    }
    WADI_ARRAY_FREE(&names->list);
}

/* Returns the line at `at` without its newline and moves *at to the next one; NULL when no complete line is
 * left. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (end == NULL) {
        return NULL;
    }
    *end = '\0';
    *at = end + 1;
    return line;
}

static bool skip_word(const char *line, const char *word, const char **after)
{
    size_t length = strlen(word);
    *after = line + length;
    return strncmp(line, word, length) == 0;
}

/* Parses complete entries; an entry that a killed process cut off is skipped. */
static WadiStatus parse(WadiOutputIndex *index, WadiError *error)
{
    char *at = index->text, *line;
    WadiOutputGroup group = { 0 };
    size_t wanted = 0;
    while ((line = next_line(&at)) != NULL) {
        WadiOutputFile file = { 0 };
        uint64_t key = 0, count = 0;
        const char *after;
        if (strncmp(line, begun_word, sizeof begun_word - 1) == 0) {
            const char *name = line + sizeof begun_word - 1;
            WADI_TRY(WADI_ARRAY_PUSH(&index->begun, name, "index of files", error));
        } else if (skip_word(line, "made ", &after) && wadi_scan_digits(&after, 16, &key) &&
                   wadi_scan_digits(&after, 10, &count) && count <= GROUP_MAX) {
            wanted = (size_t)count;
            group = (WadiOutputGroup){ .key = key, .first = index->files.count };
        } else if (skip_word(line, " ", &after) && wadi_scan_digest(&after, &file.digest) &&
                   after[0] == ' ' && after[1] != '\0' && strchr(after, '/') == NULL) {
            file.name = after + 1;
            group.count += 1;
            WADI_TRY(WADI_ARRAY_PUSH(&index->files, file, "index of files", error));
        } else if (skip_word(line, "end ", &after) && wadi_scan_digits(&after, 16, &key) &&
                   key == group.key && group.count == wanted && wanted > 0) {
            WADI_TRY(WADI_ARRAY_PUSH(&index->groups, group, "index of files", error));
            wanted = 0;
        }
    }
    return WADI_OK;
}

/* Whether the index lists the file: wadi wrote it, or began to. */
static bool is_listed(const WadiOutputIndex *index, const char *name)
{
    bool is_there = false;
    for (size_t i = 0; i < index->files.count && !is_there; ++i) {
        is_there = strcmp(index->files.data[i].name, name) == 0;
    }
    for (size_t i = 0; i < index->begun.count && !is_there; ++i) {
        is_there = strcmp(index->begun.data[i], name) == 0;
    }
    return is_there;
}

static bool is_product(const char *name)
{
    static const char *const endings[] = { ".mp4", ".gif", ".sheet.png" };
    bool is_there = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i) {
        const size_t length = strlen(name), end = strlen(endings[i]);
        is_there = is_there || (length > end && strcmp(name + length - end, endings[i]) == 0);
    }
    return is_there;
}

/* `user`: the index of the folder; NULL: a folder with videos and sheets. */
static WadiStatus remove_temporary(void *user, const char *folder, const char *name, WadiError *error)
{
    const WadiOutputIndex *index = user;
    char path[WADI_PATH_SIZE], final[WADI_PATH_SIZE];
    const size_t stem = wadi_file_temporary_stem(name);
    if (stem == 0 || snprintf(path, sizeof path, "%s/%s", folder, name) >= WADI_PATH_SIZE) {
        return WADI_OK;
    }
    snprintf(final, sizeof final, "%.*s", (int)stem, name);
    return (index != NULL ? is_listed(index, final) : is_product(final)) ? wadi_file_remove(path, error)
                                                                         : WADI_OK;
}

static void forget(WadiOutputIndex *index)
{
    if (index->text != NULL) {
        wadi_free(index->text, index->size + 1, 1);
        index->text = NULL;
    }
    WADI_ARRAY_FREE(&index->files);
    WADI_ARRAY_FREE(&index->groups);
    WADI_ARRAY_FREE(&index->begun);
}

WadiStatus wadi_output_index_refresh(WadiOutputIndex *index, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    snprintf(path, sizeof path, "%.3800s/%s", index->folder, index_name);
    forget(index);
    WADI_TRY(wadi_file_read(path, INDEX_LIMIT, &index->text, &index->size, error));
    index->ends_in_line = index->size > 0 && index->text[index->size - 1] == '\n';
    return parse(index, error);
}

static WadiStatus open_index(WadiOutputIndex *index, const char *path, WadiError *error)
{
    struct stat info;
    index->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, (mode_t)0666);
    if (index->fd < 0) {
        return wadi_fail_errno(error, errno, "cannot write %s", path);
    }
    if (fstat(index->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return wadi_fail(error, WADI_ERR_IO, "%s: is not a regular file; remove it", path);
    }
    WADI_TRY(wadi_output_index_refresh(index, error));
    /* A truncated last line must not merge with the next entry. */
    return index->size == 0 || index->ends_in_line || write(index->fd, "\n", 1) == 1
               ? WADI_OK
               : wadi_fail_errno(error, errno, "cannot write %s", path);
}

static WadiStatus open_folder(WadiOutputIndex *index, const WadiOutputWork *work, const char *beside,
                              WadiError *error)
{
    char path[WADI_PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/%s", work->folder, index_name) >= WADI_PATH_SIZE) {
        return wadi_fail_errno(error, ENAMETOOLONG, "cannot write into %.200s", work->folder);
    }
    WADI_TRY(wadi_folder_make(work->folder, error));
    WADI_TRY(wadi_output_lock_enter(&index->lock, work, error));
    WADI_TRY(open_index(index, path, error));
    if (index->lock.is_alone) {
        WADI_TRY(wadi_folder_visit(index->folder, remove_temporary, index, error));
    }
    if (index->lock.is_alone && beside != NULL) {
        WADI_TRY(wadi_folder_visit(beside, remove_temporary, NULL, error));
    }
    wadi_output_lock_ready(&index->lock);
    return WADI_OK;
}

WadiStatus wadi_output_index_open(WadiOutputIndex *index, const WadiOutputWork *work, const char *beside,
                                  WadiError *error)
{
    *index = (WadiOutputIndex){ .fd = -1, .lock = { .lock.fd = -1, .guard = -1 } };
    snprintf(index->folder, sizeof index->folder, "%s", work->folder);
    WadiStatus status = open_folder(index, work, beside, error);
    if (status != WADI_OK) {
        wadi_output_index_close(index);
    }
    return status;
}

void wadi_output_index_close(WadiOutputIndex *index)
{
    if (index->fd >= 0) {
        close(index->fd);
    }
    forget(index);
    wadi_output_lock_leave(&index->lock);
    *index = (WadiOutputIndex){ .fd = -1, .lock = { .lock.fd = -1, .guard = -1 } };
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The newest entry of the file with this key. */
static const WadiOutputGroup *find_group(const WadiOutputIndex *index, const char *name, uint64_t key)
{
    for (size_t g = index->groups.count; g-- > 0;) {
        const WadiOutputGroup *group = &index->groups.data[g];
        for (size_t f = 0; f < group->count && group->key == key; ++f) {
            if (strcmp(index->files.data[group->first + f].name, name) == 0) {
                return group;
            }
        }
    }
    return NULL;
}

void wadi_output_end_line(uint64_t key, char text[WADI_OUTPUT_END_SIZE])
{
    snprintf(text, WADI_OUTPUT_END_SIZE, "wadi_end %016" PRIx64, key);
}

/* Whether the file has its expected last line: an edited file has it, a truncated one has not. */
static bool is_edited(const char *path, uint64_t key)
{
    char end[WADI_OUTPUT_END_SIZE], *text = NULL;
    size_t size = 0;
    wadi_output_end_line(key, end);
    if (wadi_file_read(path, EDITED_LIMIT, &text, &size, NULL) != WADI_OK) {
        return false;
    }
    bool is_whole = strlen(text) == size && strstr(text, end) != NULL;
    wadi_free(text, size + 1, 1);
    return is_whole;
}

bool wadi_output_index_has(const WadiOutputIndex *index, const char *path, uint64_t key, bool is_editable)
{
    const char *name = name_of(path);
    const WadiOutputGroup *group = find_group(index, name, key);
    bool is_whole = group != NULL;
    for (size_t f = 0; is_whole && f < group->count; ++f) {
        const WadiOutputFile *file = &index->files.data[group->first + f];
        char file_path[WADI_PATH_SIZE];
        is_whole =
            snprintf(file_path, sizeof file_path, "%s/%s", index->folder, file->name) < WADI_PATH_SIZE &&
            (wadi_file_has_digest(file_path, file->digest) ||
             (is_editable && strcmp(file->name, name) == 0 && is_edited(file_path, key)));
    }
    return is_whole;
}

/* One write, so that entries of several threads and processes do not mix. NFS appends where its cache has the
 * end of the file; the lock makes it ask the server. */
static WadiStatus append(const WadiOutputIndex *index, const char *text, size_t length, WadiError *error)
{
    const bool is_locked = wadi_lock_wait(index->fd);
    errno = ENOSPC; /* for a short write, which sets no errno */
    const int problem = write(index->fd, text, length) == (ssize_t)length ? 0 : errno;
    if (is_locked) {
        flock(index->fd, LOCK_UN);
    }
    return problem == 0 ? WADI_OK
                        : wadi_fail_errno(error, problem, "cannot write %s/%s", index->folder, index_name);
}

WadiStatus wadi_output_index_add(const WadiOutputIndex *index, const WadiFileNames *names, uint64_t key,
                                 WadiError *error)
{
    WadiText text = { 0 };
    wadi_text_printf(&text, "made %016" PRIx64 " %zu\n", key, names->list.count);
    WadiStatus status = WADI_OK;
    for (size_t i = 0; i < names->list.count && status == WADI_OK; ++i) {
        char path[WADI_PATH_SIZE];
        WadiFileDigest digest;
        snprintf(path, sizeof path, "%.3800s/%.255s", index->folder, names->list.data[i]);
        status = wadi_file_digest(path, &digest, error);
        wadi_text_printf(&text, " %016" PRIx64 " %" PRIu64 " %s\n", digest.hash, digest.size,
                         names->list.data[i]);
    }
    wadi_text_printf(&text, "end %016" PRIx64 "\n", key);
    status = status == WADI_OK ? wadi_text_status(&text, error) : status;
    if (status == WADI_OK) {
        status = append(index, text.data, text.length, error);
    }
    wadi_text_free(&text);
    return status;
}

WadiStatus wadi_output_index_add_file(const WadiOutputIndex *index, const char *path, uint64_t key,
                                      WadiError *error)
{
    WadiFileNames names = { 0 };
    WadiStatus status = wadi_file_names_add(&names, path, error);
    if (status == WADI_OK) {
        status = wadi_output_index_add(index, &names, key, error);
    }
    wadi_file_names_free(&names);
    return status;
}

/* Recognises files of versions without an index: all but the sky maps name wadi near their beginning. */
static bool names_wadi(const char *path)
{
    char head[WADI_FILE_HEAD];
    int fd;
    if (wadi_file_open_regular(path, &fd, NULL) != WADI_OK) {
        return false;
    }
    ssize_t size = read(fd, head, sizeof head);
    close(fd);
    return size == 0 || (size > 0 && memmem(head, (size_t)size, "wadi", 4) != NULL);
}

WadiStatus wadi_output_check_foreign(const char *path, WadiError *error)
{
    struct stat info;
    return lstat(path, &info) != 0 || names_wadi(path)
               ? WADI_OK
               : wadi_fail(
                     error, WADI_ERR_ARGUMENT,
                     "%s is there and was not written by wadi; it would be replaced: move it, or choose "
                     "another folder",
                     path);
}

/* Whether a process that works side by side listed the file since the index was read. */
static bool is_listed_now(const WadiOutputIndex *index, const char *name)
{
    char path[WADI_PATH_SIZE], line[WADI_PATH_SIZE], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%.3800s/%s", index->folder, index_name);
    snprintf(line, sizeof line, "\n%s%.300s\n", begun_word, name);
    if (wadi_file_read(path, INDEX_LIMIT, &text, &size, NULL) != WADI_OK) {
        return false;
    }
    const char *after;
    const bool is_there = strstr(text, line) != NULL || skip_word(text, line + 1, &after);
    wadi_free(text, size + 1, 1);
    return is_there;
}

WadiStatus wadi_output_index_claim(const WadiOutputIndex *index, const char *path, WadiError *error)
{
    const char *name = name_of(path);
    WadiError foreign = { 0 };
    if (is_listed(index, name)) {
        return WADI_OK;
    }
    if (wadi_output_check_foreign(path, &foreign) != WADI_OK) {
        return is_listed_now(index, name) ? WADI_OK : wadi_fail(error, foreign.status, "%s", foreign.text);
    }
    char line[WADI_PATH_SIZE];
    int length = snprintf(line, sizeof line, "%s%s\n", begun_word, name);
    return append(index, line, (size_t)length, error);
}
