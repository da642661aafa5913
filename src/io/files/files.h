/* Files that are complete or absent: written under a temporary name, flushed, renamed. */
#ifndef WADI_IO_FILES_H
#define WADI_IO_FILES_H

#include <stdbool.h>

#include "core/status.h"

enum { WADI_PATH_SIZE = 4096 };

/* Replaces the content of `path` atomically. */
WadiStatus wadi_file_write(const char *path, const void *bytes, size_t size, WadiError *error);
/* Reads a whole regular file and appends a zero; release with wadi_free(*bytes, *size + 1, 1). Fails on more
 * than `limit` bytes. */
WadiStatus wadi_file_read(const char *path, size_t limit, char **bytes, size_t *size, WadiError *error);
/* The same, but pipes and devices are read to their end, however long that takes. */
WadiStatus wadi_file_read_any(const char *path, size_t limit, char **bytes, size_t *size, WadiError *error);
/* Opens a regular file for reading. Anything else is an error: a pipe without a writer would block. */
WadiStatus wadi_file_open_regular(const char *path, int *fd, WadiError *error);
/* mkdir -p; links to folders are followed. */
WadiStatus wadi_folder_make(const char *path, WadiError *error);
bool wadi_file_exists(const char *path);
/* Whether the file exists and `text` occurs in its first WADI_FILE_HEAD bytes, before any zero byte. */
enum { WADI_FILE_HEAD = 4096 };
bool wadi_file_head_has(const char *path, const char *text);
/* Removes a file. A missing file is no error. */
WadiStatus wadi_file_remove(const char *path, WadiError *error);

/* Calls `visit` for each entry of a folder except "." and "..", in any order, until one fails. A missing
 * folder has no entries; a link to one is an error. */
typedef WadiStatus WadiFolderVisit(void *user, const char *folder, const char *name, WadiError *error);
WadiStatus wadi_folder_visit(const char *folder, WadiFolderVisit *visit, void *user, WadiError *error);

/* A file written atomically in pieces: open, put, …, then commit or cancel. The temporary file is
 * PATH.tmp-PID. */
typedef struct WadiFileWriter {
    int fd; /* -1: not open */
    char path[WADI_PATH_SIZE];
    char temporary[WADI_PATH_SIZE];
    struct WadiFileStream *stream; /* NULL: none */
} WadiFileWriter;

/* When one of these fails, the temporary file is removed and the writer closed. */
WadiStatus wadi_file_writer_open(WadiFileWriter *writer, const char *path, WadiError *error);
/* For large files, called before the first put: writes bypass the page cache where the system supports it.
 * Offsets must then increase, gaps become zeros, and the caller's bytes must not change before the commit.
 * Data aligned to WADI_FILE_SECTOR both in memory and in the file is not copied. */
enum { WADI_FILE_SECTOR = 4096 };
void wadi_file_writer_stream(WadiFileWriter *writer);
WadiStatus wadi_file_writer_put(WadiFileWriter *writer, const void *bytes, size_t size, uint64_t offset,
                                WadiError *error);
WadiStatus wadi_file_writer_commit(WadiFileWriter *writer, WadiError *error);
/* Safe after a failure or a commit. */
void wadi_file_writer_cancel(WadiFileWriter *writer);

/* Length of the final name when `name` is that of a temporary file ("run.json.tmp-12": 8), else 0. */
size_t wadi_file_temporary_stem(const char *name);

#endif
