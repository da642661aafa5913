/* The content of a file as a size and a hash, and copies that are proved to have it. */
#ifndef WADI_IO_FILE_COPY_H
#define WADI_IO_FILE_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

typedef struct WadiFileDigest {
    uint64_t size; /* bytes */
    uint64_t hash; /* of all of them */
} WadiFileDigest;

/* A whole number in this base behind spaces, without a sign; *at moves behind it. */
bool wadi_scan_digits(const char **at, int base, uint64_t *number);
/* A digest as it is written: the hash as hexadecimal digits, a space, the size. */
bool wadi_scan_digest(const char **at, WadiFileDigest *digest);

/* Of a regular file; anything else (a pipe, a folder) is an error, without waiting for it. */
WadiStatus wadi_file_digest(const char *path, WadiFileDigest *digest, WadiError *error);
/* Of a file with these bytes. */
WadiFileDigest wadi_bytes_digest(const void *bytes, size_t size);
/* Whether `path` is a regular file with this content. A file of another size is not read. */
bool wadi_file_has_digest(const char *path, WadiFileDigest digest);
/* Copy a file, atomically. `digest` is what the file is known to hold: one that has changed since is an error. */
WadiStatus wadi_file_copy(const char *from, const char *to, WadiFileDigest digest, WadiError *error);

#endif
