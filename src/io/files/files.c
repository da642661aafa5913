#include "io/files/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/os/os_file.h"
#include "io/files/file_stream.h"

/* Linux transfers at most 2 GiB per call. Smaller pieces detect a full disk earlier. */
static const size_t largest_piece = (size_t)64 << 20;

static const char temporary_mark[] = ".tmp-";

bool wadi_file_head_has(const char *path, const char *text)
{
    char head[WADI_FILE_HEAD + 1];
    int fd;
    if (wadi_file_open_regular(path, &fd, NULL) != WADI_OK) {
        return false;
    }
    ssize_t size = read(fd, head, WADI_FILE_HEAD);
    close(fd);
    head[size > 0 ? size : 0] = '\0';
    return strstr(head, text) != NULL;
}

bool wadi_file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

WadiStatus wadi_file_remove(const char *path, WadiError *error)
{
    if (unlink(path) != 0 && errno != ENOENT) {
        return wadi_fail_errno(error, errno, "cannot remove %s", path);
    }
    return WADI_OK;
}

/* A folder may be a link to one on another disk. Fails when that disk is not mounted. */
static WadiStatus check_link(const char *folder, WadiError *error)
{
    char target[WADI_PATH_SIZE];
    struct stat info;
    const ssize_t length = wadi_os_read_link(folder, target, sizeof target - 1);
    if (length <= 0 || stat(folder, &info) == 0) {
        return WADI_OK;
    }
    target[length] = '\0';
    return wadi_fail(
        error, WADI_ERR_IO,
        "%s is a link to %s, which is not there: mount that disk or make that folder, or remove the "
        "link",
        folder, target);
}

WadiStatus wadi_folder_visit(const char *folder, WadiFolderVisit *visit, void *user, WadiError *error)
{
    DIR *directory = opendir(folder);
    if (directory == NULL) {
        return errno == ENOENT ? check_link(folder, error)
                               : wadi_fail_errno(error, errno, "cannot read folder %s", folder);
    }
    WadiStatus status = WADI_OK;
    const struct dirent *entry;
    while (status == WADI_OK && (errno = 0, entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            status = visit(user, folder, entry->d_name, error);
        }
    }
    if (status == WADI_OK && errno != 0) {
        status = wadi_fail_errno(error, errno, "cannot read folder %s", folder);
    }
    closedir(directory);
    return status;
}

static WadiStatus sync_folder(const char *path, WadiError *error)
{
    /* Some network file systems cannot flush a folder and return EINVAL. Nothing can be done then. */
    if (wadi_os_flush_folder(path) != 0 && errno != EINVAL && errno != ENOTSUP) {
        return wadi_fail_errno(error, errno, "cannot flush folder %s", path);
    }
    return WADI_OK;
}

static WadiStatus sync_parent(const char *path, WadiError *error)
{
    char folder[WADI_PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        return sync_folder(".", error);
    }
    slash[slash == folder ? 1 : 0] = '\0';
    return sync_folder(folder, error);
}

WadiStatus wadi_file_writer_open(WadiFileWriter *writer, const char *path, WadiError *error)
{
    writer->fd = -1;
    writer->stream = NULL;
    int length = snprintf(writer->path, sizeof writer->path, "%s", path);
    int full = snprintf(writer->temporary, sizeof writer->temporary, "%s%s%ld", path, temporary_mark,
                        (long)getpid());
    if (length < 1 || full < 0 || full >= WADI_PATH_SIZE) {
        return wadi_fail_errno(error, length < 1 ? ENOENT : ENAMETOOLONG, "cannot write %.200s", path);
    }
    /* A leftover of an earlier process with the same number must not be opened. */
    unlink(writer->temporary);
    writer->fd = wadi_os_open_new(writer->temporary);
    if (writer->fd < 0) {
        return wadi_fail_errno(error, errno, "cannot write %s", path);
    }
    return WADI_OK;
}

void wadi_file_writer_cancel(WadiFileWriter *writer)
{
    if (writer->fd >= 0) {
        wadi_file_stream_end(writer);
        close(writer->fd);
        writer->fd = -1;
        unlink(writer->temporary);
    }
}

static WadiStatus fail_writer(WadiFileWriter *writer, int problem, WadiError *error)
{
    wadi_file_writer_cancel(writer);
    return wadi_fail_errno(error, problem, "cannot write %s", writer->path);
}

/* Returns 0 or the errno. */
static int write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
    const char *cursor = bytes;
    while (size > 0) {
        size_t piece = size < largest_piece ? size : largest_piece;
        ssize_t written = wadi_os_write_at(fd, cursor, piece, offset);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return written < 0 ? errno : ENOSPC;
        }
        cursor += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return 0;
}

WadiStatus wadi_file_writer_put(WadiFileWriter *writer, const void *bytes, size_t size, uint64_t offset,
                                WadiError *error)
{
    /* Past the limit the kernel sends SIGXFSZ, which ends a program without a handler for it. */
    const uint64_t limit = wadi_os_file_limit();
    if (offset > limit || size > limit - offset) {
        return fail_writer(writer, EFBIG, error);
    }
    int problem = writer->stream != NULL ? wadi_file_stream_put(writer, bytes, size, offset)
                                         : write_at(writer->fd, bytes, size, offset);
    return problem == 0 ? WADI_OK : fail_writer(writer, problem, error);
}

WadiStatus wadi_file_writer_commit(WadiFileWriter *writer, WadiError *error)
{
    int late = writer->stream != NULL ? wadi_file_stream_finish(writer) : 0;
    if (late != 0) {
        return fail_writer(writer, late, error);
    }
    int result = wadi_os_flush(writer->fd);
    if (result != 0 && errno != EINVAL && errno != ENOTSUP) {
        return fail_writer(writer, errno, error);
    }
    result = close(writer->fd);
    int problem = errno;
    writer->fd = -1;
    if (result == 0 || problem == EINTR) {
        result = wadi_os_rename(writer->temporary, writer->path);
        problem = errno;
    }
    if (result != 0) {
        unlink(writer->temporary);
        return wadi_fail_errno(error, problem, "cannot write %s", writer->path);
    }
    return sync_parent(writer->path, error);
}

size_t wadi_file_temporary_stem(const char *name)
{
    const char *mark = NULL;
    for (const char *next = strstr(name, temporary_mark); next != NULL;
         next = strstr(next + 1, temporary_mark)) {
        mark = next;
    }
    if (mark == NULL || mark == name) {
        return 0;
    }
    const char *digits = mark + sizeof temporary_mark - 1;
    size_t length = strspn(digits, "0123456789");
    return length > 0 && digits[length] == '\0' ? (size_t)(mark - name) : 0;
}

WadiStatus wadi_file_write(const char *path, const void *bytes, size_t size, WadiError *error)
{
    WadiFileWriter writer;
    WADI_TRY(wadi_file_writer_open(&writer, path, error));
    WADI_TRY(wadi_file_writer_put(&writer, bytes, size, 0, error));
    return wadi_file_writer_commit(&writer, error);
}

static WadiStatus fail_too_large(const char *path, size_t limit, WadiError *error)
{
    return wadi_fail(error, WADI_ERR_FORMAT, "%s: larger than %zu bytes, which no such file of wadi is", path,
                     limit);
}

/* Reads to the end of the file into *bytes, which has *capacity bytes and grows as needed. */
static WadiStatus read_all(int fd, const char *path, size_t limit, char **bytes, size_t *capacity,
                           size_t *used, WadiError *error)
{
    for (;;) {
        if (*used == *capacity) {
            WADI_TRY(wadi_realloc((void **)bytes, *capacity, *capacity * 2, 1, path, error));
            *capacity *= 2;
        }
        size_t space = *capacity - *used;
        ssize_t got = read(fd, *bytes + *used, space < largest_piece ? space : largest_piece);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return wadi_fail_errno(error, errno, "cannot read %s", path);
        }
        if (got == 0) {
            return WADI_OK;
        }
        *used += (size_t)got;
        if (*used > limit) {
            return fail_too_large(path, limit, error);
        }
    }
}

WadiStatus wadi_file_open_regular(const char *path, int *fd, WadiError *error)
{
    struct stat info;
    *fd = wadi_os_open_read(path, 0);
    if (*fd < 0) {
        return wadi_fail_errno(error, errno, "cannot read %s", path);
    }
    if (fstat(*fd, &info) == 0 && S_ISREG(info.st_mode)) {
        return WADI_OK;
    }
    close(*fd);
    *fd = -1;
    return wadi_fail(error, WADI_ERR_IO, "cannot read %s: it is not a regular file", path);
}

/* Closes fd. */
static WadiStatus read_open(int fd, const char *path, size_t limit, char **bytes, size_t *size,
                            WadiError *error)
{
    char *data = NULL;
    size_t capacity = 0, used = 0;
    struct stat info;
    WadiStatus status = WADI_OK;
    if (fstat(fd, &info) != 0) {
        status = wadi_fail_errno(error, errno, "cannot read %s", path);
    } else if (S_ISREG(info.st_mode) && (uint64_t)info.st_size > limit) {
        status = fail_too_large(path, limit, error);
    } else {
        /* One byte more than the file: the last read detects the end, and the terminating zero fits. */
        size_t wanted = S_ISREG(info.st_mode) ? (size_t)info.st_size + 1 : (size_t)1 << 16;
        status = wadi_alloc((void **)&data, wanted, 1, path, error);
        capacity = status == WADI_OK ? wanted : 0;
    }
    if (status == WADI_OK) {
        status = read_all(fd, path, limit, &data, &capacity, &used, error);
    }
    if (status == WADI_OK && capacity != used + 1) {
        status = wadi_realloc((void **)&data, capacity, used + 1, 1, path, error);
        capacity = status == WADI_OK ? used + 1 : capacity;
    }
    close(fd);
    if (status != WADI_OK) {
        wadi_free(data, capacity, 1);
        return status;
    }
    data[used] = '\0';
    *bytes = data;
    *size = used;
    return WADI_OK;
}

WadiStatus wadi_file_read(const char *path, size_t limit, char **bytes, size_t *size, WadiError *error)
{
    int fd;
    *bytes = NULL;
    *size = 0;
    WADI_TRY(wadi_file_open_regular(path, &fd, error));
    return read_open(fd, path, limit, bytes, size, error);
}

WadiStatus wadi_file_read_any(const char *path, size_t limit, char **bytes, size_t *size, WadiError *error)
{
    *bytes = NULL;
    *size = 0;
    int fd = wadi_os_open_read(path, WADI_OS_WAITS);
    return fd >= 0 ? read_open(fd, path, limit, bytes, size, error)
                   : wadi_fail_errno(error, errno, "cannot read %s", path);
}

WadiStatus wadi_folder_make(const char *path, WadiError *error)
{
    char part[WADI_PATH_SIZE];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part) {
        return wadi_fail_errno(error, length == 0 ? ENOENT : ENAMETOOLONG, "cannot make folder '%.200s'",
                               path);
    }
    for (size_t i = 1; i <= length; ++i) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        memcpy(part, path, i);
        part[i] = '\0';
        if (wadi_os_make_folder(part) == 0) {
            WADI_TRY(sync_parent(part, error));
            continue;
        }
        /* mkdir may fail (read-only, no permission) although the folder exists: that is no error. */
        int problem = errno == EEXIST ? ENOTDIR : errno;
        struct stat info;
        if (stat(part, &info) != 0 || !S_ISDIR(info.st_mode)) {
            WADI_TRY(check_link(part, error));
            return wadi_fail_errno(error, problem, "cannot make folder %s%s%s", path, i < length ? ": " : "",
                                   i < length ? part : "");
        }
    }
    return WADI_OK;
}
