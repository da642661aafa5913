/* The content of a file as a size and a hash, and copies that are verified against it. */
#ifndef WADI_IO_FILE_COPY_H
#define WADI_IO_FILE_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

typedef struct WadiFileDigest {
    uint64_t size; /* bytes */
    uint64_t hash; /* of all bytes */
} WadiFileDigest;

/* Reads an unsigned integer in this base, after optional spaces; *at moves past it. */
bool wadi_scan_digits(const char **at, int base, uint64_t *number);
/* Reads a digest as it is written in text: hash in hexadecimal, a space, the size. */
bool wadi_scan_digest(const char **at, WadiFileDigest *digest);

/* Digest of a regular file. Anything else (a pipe, a folder) is an error; the call never blocks on a pipe. */
WadiStatus wadi_file_digest(const char *path, WadiFileDigest *digest, WadiError *error);
/* Digest that a file with these bytes would have. */
WadiFileDigest wadi_bytes_digest(const void *bytes, size_t size);
/* Whether `path` is a regular file with this content. A file of another size is not read. */
bool wadi_file_has_digest(const char *path, WadiFileDigest digest);
/* Copies a file atomically. It is an error when the content no longer has this digest. */
WadiStatus wadi_file_copy(const char *from, const char *to, WadiFileDigest digest, WadiError *error);

#endif
