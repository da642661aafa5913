/* Writes that bypass the page cache (O_DIRECT). They must be whole sectors, from memory aligned to a sector.
 * Aligned pieces are written from the caller's memory; the bytes between them (heads, tails, gaps) are first
 * copied into sectors of the stream. Pieces are gathered because each system call waits for the disk. */
#include "io/files/file_stream.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/os/os_file.h"

enum { SECTOR = WADI_FILE_SECTOR, PIECES = 64, BUFFER_BYTES = 1 << 18 };

typedef struct WadiFileStream {
    uint64_t start; /* offset in the file of the first piece */
    uint64_t end;   /* offset in the file after the last byte put */
    WadiOsPiece piece[PIECES];
    int count;
    size_t used;           /* bytes of the stream's sectors in use */
    unsigned char *sector; /* the first aligned sector in `memory` */
    unsigned char memory[BUFFER_BYTES + SECTOR];
} WadiFileStream;

void wadi_file_writer_stream(WadiFileWriter *writer)
{
    /* Without memory, or on a file system without O_DIRECT, writes go through the page cache. */
    if (!wadi_os_direct(writer->fd, true)) {
        return;
    }
    if (WADI_NEW(&writer->stream, 1, "writing files", NULL) != WADI_OK) {
        wadi_os_direct(writer->fd, false);
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

/* Writes all gathered pieces and empties the list. */
static int flush(int fd, WadiFileStream *stream)
{
    WadiOsPiece *piece = stream->piece;
    int remaining = stream->count;
    while (remaining > 0) {
        ssize_t written = wadi_os_write_pieces(fd, piece, remaining, stream->start);
        if (written < 0 && (errno == EINTR || (errno == EINVAL && wadi_os_direct(fd, false)))) {
            continue;
        }
        if (written <= 0) {
            return written < 0 ? errno : ENOSPC;
        }
        stream->start += (uint64_t)written;
        for (; remaining > 0 && (size_t)written >= piece->size; ++piece, --remaining) {
            written -= (ssize_t)piece->size;
        }
        if (written > 0) {
            piece->bytes = (const char *)piece->bytes + written;
            piece->size -= (size_t)written;
            if ((size_t)written % SECTOR != 0) {
                /* A full disk: the next write, through the cache, gives the errno. */
                wadi_os_direct(fd, false);
            }
        }
    }
    stream->count = 0;
    stream->used = 0;
    return 0;
}

/* Appends bytes, or zeros when `bytes` is NULL. */
static int append(int fd, WadiFileStream *stream, const char *bytes, uint64_t size)
{
    while (size > 0) {
        const size_t in_sector = (size_t)(stream->end % SECTOR);
        if (in_sector == 0 && (stream->count == PIECES || stream->used == BUFFER_BYTES)) {
            int problem = flush(fd, stream);
            if (problem != 0) {
                return problem;
            }
        }
        WadiOsPiece *last = stream->count > 0 ? &stream->piece[stream->count - 1] : NULL;
        if (in_sector == 0 && bytes != NULL && (uintptr_t)bytes % SECTOR == 0 && size >= SECTOR) {
            const size_t whole = (size_t)(size / SECTOR * SECTOR);
            stream->piece[stream->count++] = (WadiOsPiece){ bytes, whole };
            bytes += whole;
            stream->end += whole;
            size -= whole;
            continue;
        }
        unsigned char *to = stream->sector + stream->used;
        if (last == NULL || (const unsigned char *)last->bytes + last->size != to) {
            last = &stream->piece[stream->count++];
            *last = (WadiOsPiece){ to, 0 };
        }
        const size_t space = SECTOR - in_sector, part = size < space ? (size_t)size : space;
        if (bytes != NULL) {
            memcpy(to, bytes, part);
            bytes += part;
        } else {
            memset(to, 0, part);
        }
        last->size += part;
        stream->used += part;
        stream->end += part;
        size -= part;
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
    /* An incomplete last sector goes through the page cache. */
    WadiOsPiece tail_piece = { NULL, tail };
    if (tail > 0) {
        WadiOsPiece *last = &stream->piece[stream->count - 1];
        last->size -= tail;
        tail_piece.bytes = (const char *)last->bytes + last->size;
        stream->count -= last->size == 0;
    }
    int problem = flush(writer->fd, stream);
    wadi_os_direct(writer->fd, false);
    if (problem == 0 && tail > 0) {
        stream->piece[0] = tail_piece;
        stream->count = 1;
        problem = flush(writer->fd, stream);
    }
    wadi_file_stream_end(writer);
    return problem;
}
