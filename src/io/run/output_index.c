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

/* Endings of the files that commands write besides the run itself. */
static const char *const endings[] = { ".ply", ".obj",  ".vdb",  ".png", ".mp4", ".gif", ".pov",
                                       ".inc", ".pbrt", ".json", ".py",  ".hdr", ".pfm", NULL };

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

/* `user`: the wanted endings. */
static WadiStatus remove_temporary(void *user, const char *folder, const char *name, WadiError *error)
{
    const char *const *wanted = user;
    char path[WADI_PATH_SIZE];
    const size_t stem = wadi_file_temporary_stem(name);
    for (int e = 0; wanted[e] != NULL && stem > 0; ++e) {
        const size_t length = strlen(wanted[e]);
        if (stem > length && memcmp(name + stem - length, wanted[e], length) == 0 &&
            snprintf(path, sizeof path, "%s/%s", folder, name) < WADI_PATH_SIZE) {
            return wadi_file_remove(path, error);
        }
    }
    return WADI_OK;
}

WadiStatus wadi_output_remove_temporaries(const char *folder, const char *const *wanted, WadiError *error)
{
    return wadi_folder_visit(folder, remove_temporary, (void *)wanted, error);
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

/* If no other process has the folder open, removes temporary files. On a file system without locks they
 * remain. */
static WadiStatus lock_and_clean(WadiOutputIndex *index, WadiError *error)
{
    index->was_alone = flock(index->fd, LOCK_EX | LOCK_NB) == 0;
    if (index->was_alone) {
        WADI_TRY(wadi_output_remove_temporaries(index->folder, endings, error));
    }
    int result;
    do {
        result = flock(index->fd, LOCK_SH);
    } while (result != 0 && errno == EINTR);
    return WADI_OK;
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
    WADI_TRY(lock_and_clean(index, error));
    WADI_TRY(wadi_file_read(path, INDEX_LIMIT, &index->text, &index->size, error));
    /* A truncated last line must not merge with the next entry. */
    if (index->size > 0 && index->text[index->size - 1] != '\n' && write(index->fd, "\n", 1) != 1) {
        return wadi_fail_errno(error, errno, "cannot write %s", path);
    }
    return parse(index, error);
}

WadiStatus wadi_output_index_open(WadiOutputIndex *index, const char *folder, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    *index = (WadiOutputIndex){ .fd = -1 };
    snprintf(index->folder, sizeof index->folder, "%s", folder);
    if (snprintf(path, sizeof path, "%s/%s", folder, index_name) >= WADI_PATH_SIZE) {
        return wadi_fail_errno(error, ENAMETOOLONG, "cannot write into %.200s", folder);
    }
    WADI_TRY(wadi_folder_make(folder, error));
    WadiStatus status = open_index(index, path, error);
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
    if (index->text != NULL) {
        wadi_free(index->text, index->size + 1, 1);
    }
    WADI_ARRAY_FREE(&index->files);
    WADI_ARRAY_FREE(&index->groups);
    WADI_ARRAY_FREE(&index->begun);
    *index = (WadiOutputIndex){ .fd = -1 };
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The newest entry of the file; `key` NULL: with any key. */
static const WadiOutputGroup *find_group(const WadiOutputIndex *index, const char *name, const uint64_t *key)
{
    for (size_t g = index->groups.count; g-- > 0;) {
        const WadiOutputGroup *group = &index->groups.data[g];
        for (size_t f = 0; f < group->count && (key == NULL || group->key == *key); ++f) {
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
    const WadiOutputGroup *group = find_group(index, name, &key);
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

/* One write, so that entries of several threads and processes do not mix. */
static WadiStatus append(const WadiOutputIndex *index, const char *text, size_t length, WadiError *error)
{
    errno = ENOSPC; /* for a short write, which sets no errno */
    return write(index->fd, text, length) == (ssize_t)length
               ? WADI_OK
               : wadi_fail_errno(error, errno, "cannot write %s/%s", index->folder, index_name);
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

WadiStatus wadi_output_index_claim(const WadiOutputIndex *index, const char *path, WadiError *error)
{
    const char *name = name_of(path);
    bool is_ours = find_group(index, name, NULL) != NULL;
    for (size_t i = 0; i < index->begun.count && !is_ours; ++i) {
        is_ours = strcmp(index->begun.data[i], name) == 0;
    }
    if (is_ours) {
        return WADI_OK;
    }
    WADI_TRY(wadi_output_check_foreign(path, error));
    char line[WADI_PATH_SIZE];
    int length = snprintf(line, sizeof line, "%s%s\n", begun_word, name);
    return append(index, line, (size_t)length, error);
}
