#include "io/files/file_copy.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "io/files/files.h"

/* Part of the digest: the hash is chained over blocks of this size. */
enum { BLOCK_BYTES = 1 << 18 };

/* Reads a full block unless the file ends, so that the block sizes do not depend on how the system splits
 * reads. */
static ssize_t read_block(int fd, char *block)
{
    size_t used = 0;
    while (used < BLOCK_BYTES) {
        ssize_t got = read(fd, block + used, BLOCK_BYTES - used);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        used += (size_t)got;
    }
    return (ssize_t)used;
}

/* Digest of everything read from `fd`. If `writer` is not NULL, the bytes are also copied to it. */
static WadiStatus digest_and_copy(int fd, const char *path, WadiFileWriter *writer, WadiFileDigest *digest,
                                  WadiError *error)
{
    char *block = NULL;
    *digest = (WadiFileDigest){ 0 };
    WADI_TRY(WADI_NEW(&block, BLOCK_BYTES, "block of a file", error));
    WadiStatus status = WADI_OK;
    ssize_t got;
    while (status == WADI_OK && (got = read_block(fd, block)) != 0) {
        if (got < 0) {
            status = wadi_fail_errno(error, errno, "cannot read %s", path);
            break;
        }
        if (writer != NULL) {
            status = wadi_file_writer_put(writer, block, (size_t)got, digest->size, error);
        }
        digest->hash = wadi_hash_bytes(digest->hash, block, (size_t)got);
        digest->size += (uint64_t)got;
    }
    WADI_DELETE(block, BLOCK_BYTES);
    return status;
}

WadiFileDigest wadi_bytes_digest(const void *bytes, size_t size)
{
    const char *cursor = bytes;
    WadiFileDigest digest = { .size = size };
    for (size_t remaining = size; remaining > 0;) {
        size_t block = remaining < BLOCK_BYTES ? remaining : BLOCK_BYTES;
        digest.hash = wadi_hash_bytes(digest.hash, cursor, block);
        cursor += block;
        remaining -= block;
    }
    return digest;
}

bool wadi_scan_digits(const char **at, int base, uint64_t *number)
{
    const char *begin = *at + strspn(*at, " ");
    char *end = NULL;
    if (!isxdigit((unsigned char)*begin)) {
        return false;
    }
    errno = 0;
    unsigned long long found = strtoull(begin, &end, base);
    *number = found;
    *at = end;
    return end != begin && errno == 0;
}

bool wadi_scan_digest(const char **at, WadiFileDigest *digest)
{
    return wadi_scan_digits(at, 16, &digest->hash) && wadi_scan_digits(at, 10, &digest->size);
}

WadiStatus wadi_file_digest(const char *path, WadiFileDigest *digest, WadiError *error)
{
    int fd;
    *digest = (WadiFileDigest){ 0 };
    WADI_TRY(wadi_file_open_regular(path, &fd, error));
    WadiStatus status = digest_and_copy(fd, path, NULL, digest, error);
    close(fd);
    return status;
}

bool wadi_file_has_digest(const char *path, WadiFileDigest digest)
{
    struct stat info;
    WadiFileDigest found;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && (uint64_t)info.st_size == digest.size &&
           wadi_file_digest(path, &found, NULL) == WADI_OK && found.size == digest.size &&
           found.hash == digest.hash;
}

WadiStatus wadi_file_copy(const char *from, const char *to, WadiFileDigest digest, WadiError *error)
{
    int fd;
    WadiFileWriter writer;
    WadiFileDigest copied;
    WADI_TRY(wadi_file_open_regular(from, &fd, error));
    WadiStatus status = wadi_file_writer_open(&writer, to, error);
    if (status == WADI_OK) {
        status = digest_and_copy(fd, from, &writer, &copied, error);
    }
    if (status == WADI_OK && (copied.size != digest.size || copied.hash != digest.hash)) {
        status = wadi_fail(error, WADI_ERR_IO, "%s changed while it was copied to %s; start again", from, to);
    }
    if (status == WADI_OK) {
        status = wadi_file_writer_commit(&writer, error);
    } else {
        wadi_file_writer_cancel(&writer);
    }
    close(fd);
    return status;
}
