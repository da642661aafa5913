/* Files that are whole or absent: written under a temporary name, flushed, renamed. */
#ifndef WADI_IO_FILES_H
#define WADI_IO_FILES_H

#include <stdbool.h>

#include "core/status.h"

enum { WADI_PATH_SIZE = 4096 };

/* Replace `path` by these bytes, atomically. */
WadiStatus wadi_file_write(const char *path, const void *bytes, size_t size, WadiError *error);
/* The whole file, with a zero behind it; release with wadi_free(*bytes, *size + 1, 1). Refuses more than
 * `limit` bytes, and what is not a regular file. */
WadiStatus wadi_file_read(const char *path, size_t limit, char **bytes, size_t *size, WadiError *error);
/* The same, but pipes and devices are read to their end, however long that takes. */
WadiStatus wadi_file_read_any(const char *path, size_t limit, char **bytes, size_t *size, WadiError *error);
/* Open a regular file to read; anything else (a pipe without a writer would wait for ever) is an error. */
WadiStatus wadi_file_open_regular(const char *path, int *fd, WadiError *error);
/* mkdir -p */
WadiStatus wadi_folder_make(const char *path, WadiError *error);
bool wadi_file_exists(const char *path);
/* Whether a file is there and `text` stands in its first WADI_FILE_HEAD bytes, before any byte 0. */
enum { WADI_FILE_HEAD = 4096 };
bool wadi_file_head_has(const char *path, const char *text);
/* Remove a file; one that is not there is fine. */
WadiStatus wadi_file_remove(const char *path, WadiError *error);

/* An atomic file in pieces: open, put, …, then commit or cancel. The temporary file is PATH.tmp-PID beside
 * the file. */
typedef struct WadiFileWriter {
    int fd; /* -1: not open */
    char path[WADI_PATH_SIZE];
    char temporary[WADI_PATH_SIZE];
    struct WadiFileStream *stream; /* NULL: none */
} WadiFileWriter;

/* On failure of any of these the temporary file is gone and the writer closed. */
WadiStatus wadi_file_writer_open(WadiFileWriter *writer, const char *path, WadiError *error);
/* For files of many megabytes, before the first put: they go to the disk past the page cache where the system lets them, which
 * saves a copy and leaves the cache to others. Puts come in the order of their offsets then, gaps become zeros, and what is put
 * stays as it is until the commit. What lies on a multiple of WADI_FILE_SECTOR in memory and in the file is not copied at all. */
enum { WADI_FILE_SECTOR = 4096 };
void wadi_file_writer_stream(WadiFileWriter *writer);
WadiStatus wadi_file_writer_put(WadiFileWriter *writer, const void *bytes, size_t size, uint64_t offset,
                                WadiError *error);
WadiStatus wadi_file_writer_commit(WadiFileWriter *writer, WadiError *error);
/* Safe after a failure or a commit. */
void wadi_file_writer_cancel(WadiFileWriter *writer);

/* Length of the name under which a temporary file will be known, when `name` is one ("run.json.tmp-12": 8),
 * else 0. */
size_t wadi_file_temporary_stem(const char *name);

#endif
