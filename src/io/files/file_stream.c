/* Files that go to the disk past the page cache (O_DIRECT): in whole sectors, from memory on a multiple of a sector. Pieces that
 * lie so are written from where they are; what is between them (heads, tails, gaps) is put together in sectors of our own. All
 * goes to the disk in as few calls as possible, for each waits for it. */
#include "io/files/file_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/check.h"

enum { SECTOR = WADI_FILE_SECTOR, PIECES = 64, OWN_BYTES = 1 << 18 };

typedef struct WadiFileStream {
    uint64_t start; /* of the pieces, in the file */
    uint64_t end;   /* of all that was put */
    struct iovec piece[PIECES];
    int count;
    size_t used;           /* bytes of own sectors */
    unsigned char *sector; /* the first of our own */
    unsigned char memory[OWN_BYTES + SECTOR];
} WadiFileStream;

/* Through the page cache from now on. false: it went there before. */
static bool leave_disk(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_DIRECT) != 0 && fcntl(fd, F_SETFL, flags & ~O_DIRECT) == 0;
}

void wadi_file_writer_stream(WadiFileWriter *writer)
{
    int flags = fcntl(writer->fd, F_GETFL);
    /* Without the memory, or on a file system that has no such writes, all goes by the page cache. */
    if (flags < 0 || fcntl(writer->fd, F_SETFL, flags | O_DIRECT) != 0) {
        return;
    }
    if (WADI_NEW(&writer->stream, 1, "writing files", NULL) != WADI_OK) {
        leave_disk(writer->fd);
        return;
    }
    WadiFileStream *stream = writer->stream;
    size_t past = (uintptr_t)stream->memory % SECTOR;
    stream->sector = stream->memory + (past == 0 ? 0 : SECTOR - past);
}

void wadi_file_stream_end(WadiFileWriter *writer)
{
    WADI_DELETE(writer->stream, 1);
    writer->stream = NULL;
}

/* Writes all pieces and forgets them. */
static int flush(int fd, WadiFileStream *stream)
{
    struct iovec *piece = stream->piece;
    int left = stream->count;
    while (left > 0) {
        ssize_t written = pwritev(fd, piece, left, (off_t)stream->start);
        if (written < 0 && (errno == EINTR || (errno == EINVAL && leave_disk(fd)))) {
            continue;
        }
        if (written <= 0) {
            return written < 0 ? errno : ENOSPC;
        }
        stream->start += (uint64_t)written;
        for (; left > 0 && (size_t)written >= piece->iov_len; ++piece, --left) {
            written -= (ssize_t)piece->iov_len;
        }
        if (written > 0) {
            piece->iov_base = (char *)piece->iov_base + written;
            piece->iov_len -= (size_t)written;
            if ((size_t)written % SECTOR != 0) {
                leave_disk(fd); /* a disk that is full wrote a part of a sector: let it say so */
            }
        }
    }
    stream->count = 0;
    stream->used = 0;
    return 0;
}

/* The next bytes; NULL: zeros. */
static int append(int fd, WadiFileStream *stream, const char *bytes, uint64_t size)
{
    while (size > 0) {
        const size_t in_sector = (size_t)(stream->end % SECTOR);
        if (in_sector == 0 && (stream->count == PIECES || stream->used == OWN_BYTES)) {
            int problem = flush(fd, stream);
            if (problem != 0) {
                return problem;
            }
        }
        struct iovec *last = stream->count > 0 ? &stream->piece[stream->count - 1] : NULL;
        if (in_sector == 0 && bytes != NULL && (uintptr_t)bytes % SECTOR == 0 && size >= SECTOR) {
            const size_t whole = (size_t)(size / SECTOR * SECTOR);
            stream->piece[stream->count++] = (struct iovec){ (void *)bytes, whole };
            bytes += whole;
            stream->end += whole;
            size -= whole;
            continue;
        }
        unsigned char *to = stream->sector + stream->used;
        if (last == NULL || (unsigned char *)last->iov_base + last->iov_len != to) {
            last = &stream->piece[stream->count++];
            *last = (struct iovec){ to, 0 };
        }
        const size_t room = SECTOR - in_sector, take = size < room ? (size_t)size : room;
        if (bytes != NULL) {
            memcpy(to, bytes, take);
            bytes += take;
        } else {
            memset(to, 0, take);
        }
        last->iov_len += take;
        stream->used += take;
        stream->end += take;
        size -= take;
    }
    return 0;
}

int wadi_file_stream_put(WadiFileWriter *writer, const void *bytes, size_t size, uint64_t offset)
{
    WadiFileStream *stream = writer->stream;
    WADI_ASSERT(offset >= stream->end);
    int problem = append(writer->fd, stream, NULL, offset - stream->end);
    return problem == 0 ? append(writer->fd, stream, bytes, size) : problem;
}

int wadi_file_stream_finish(WadiFileWriter *writer)
{
    WadiFileStream *stream = writer->stream;
    const size_t tail = (size_t)(stream->end % SECTOR);
    /* The last sector, where it is not whole, goes through the page cache. */
    struct iovec rest = { NULL, tail };
    if (tail > 0) {
        struct iovec *last = &stream->piece[stream->count - 1];
        last->iov_len -= tail;
        rest.iov_base = (char *)last->iov_base + last->iov_len;
        stream->count -= last->iov_len == 0;
    }
    int problem = flush(writer->fd, stream);
    leave_disk(writer->fd);
    if (problem == 0 && tail > 0) {
        stream->piece[0] = rest;
        stream->count = 1;
        problem = flush(writer->fd, stream);
    }
    wadi_file_stream_end(writer);
    return problem;
}
