#include "render/image/video_check.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/files/files.h"

/* A range of the file. */
typedef struct Span {
    uint64_t at, end;
} Span;

typedef struct Reader {
    FILE *file;
    uint64_t size;
} Reader;

static bool read_at(const Reader *r, uint64_t at, void *bytes, size_t size)
{
    return at <= r->size && size <= r->size - at && fseeko(r->file, (off_t)at, SEEK_SET) == 0 &&
           fread(bytes, 1, size, r->file) == size;
}

static uint32_t read_u32(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Reads the box at the beginning of `where`: its kind and contents; moves `where` past it. False: cut off or
 * no box. */
static bool next_box(const Reader *r, Span *where, char kind[4], Span *inside)
{
    unsigned char head[16];
    if (where->end - where->at < 8 || !read_at(r, where->at, head, 8)) {
        return false;
    }
    uint64_t size = read_u32(head), header = 8;
    if (size == 1) {
        if (!read_at(r, where->at, head, 16)) {
            return false;
        }
        size = (uint64_t)read_u32(head + 8) << 32 | read_u32(head + 12);
        header = 16;
    }
    if (size < header || size > where->end - where->at) {
        return false;
    }
    memcpy(kind, head + 4, 4);
    *inside = (Span){ where->at + header, where->at + size };
    where->at += size;
    return true;
}

static bool find_box(const Reader *r, Span where, const char *wanted, Span *inside)
{
    char kind[4];
    while (next_box(r, &where, kind, inside)) {
        if (memcmp(kind, wanted, 4) == 0) {
            return true;
        }
    }
    return false;
}

/* True when boxes fill the file, among them the index and the pictures. */
static bool has_whole_boxes(const Reader *r, Span *index)
{
    Span where = { 0, r->size }, inside;
    bool has_index = false, has_pictures = false;
    char kind[4];
    while (where.at < where.end) {
        if (!next_box(r, &where, kind, &inside)) {
            return false;
        }
        if (memcmp(kind, "moov", 4) == 0) {
            *index = inside;
            has_index = true;
        }
        has_pictures = has_pictures || memcmp(kind, "mdat", 4) == 0;
    }
    return has_index && has_pictures;
}

/* Bytes and count of the pictures, from the table of their sizes. */
static bool sum_pictures(const Reader *r, Span table, uint64_t *bytes, uint32_t *count)
{
    unsigned char head[12], size[4];
    if (!read_at(r, table.at, head, sizeof head)) {
        return false;
    }
    uint32_t common_size = read_u32(head + 4);
    *count = read_u32(head + 8);
    *bytes = (uint64_t)common_size * *count;
    if (common_size != 0) {
        return true;
    }
    if ((table.end - table.at - sizeof head) / sizeof size < *count) {
        return false;
    }
    for (uint32_t i = 0; i < *count; ++i) {
        if (!read_at(r, table.at + sizeof head + (uint64_t)i * sizeof size, size, sizeof size)) {
            return false;
        }
        *bytes += read_u32(size);
    }
    return true;
}

static WadiStatus check_mp4(const Reader *r, int pictures, WadiError *error)
{
    static const char *const path[] = { "trak", "mdia", "minf", "stbl", "stsz" };
    Span inside = { 0 };
    uint64_t bytes = 0;
    uint32_t count = 0;
    if (!has_whole_boxes(r, &inside)) {
        return wadi_fail(error, WADI_ERR_FORMAT, "the file is cut off");
    }
    bool is_good = true;
    for (size_t i = 0; i < sizeof path / sizeof *path && is_good; ++i) {
        is_good = find_box(r, inside, path[i], &inside);
    }
    if (!is_good || !sum_pictures(r, inside, &bytes, &count)) {
        return wadi_fail(error, WADI_ERR_FORMAT, "it has no list of its pictures");
    }
    if ((int64_t)count != pictures || bytes > r->size) {
        return wadi_fail(error, WADI_ERR_FORMAT, "it has %u of %d pictures", (unsigned)count, pictures);
    }
    return WADI_OK;
}

/* Moves *at past the sub-blocks that begin there. */
static bool skip_blocks(const Reader *r, uint64_t *at)
{
    unsigned char length;
    do {
        if (!read_at(r, *at, &length, 1)) {
            return false;
        }
        *at += 1u + length;
    } while (length > 0);
    return true;
}

static uint64_t colour_table_bytes(unsigned char packed)
{
    return (packed & 0x80) != 0 ? 3u * (2u << (packed & 7)) : 0;
}

static WadiStatus check_gif(const Reader *r, int pictures, WadiError *error)
{
    unsigned char head[13], block[10];
    int count = 0;
    bool is_good = read_at(r, 0, head, sizeof head) && memcmp(head, "GIF8", 4) == 0;
    uint64_t at = sizeof head + (is_good ? colour_table_bytes(head[10]) : 0);
    while (is_good && (is_good = read_at(r, at, block, 1)) && block[0] != 0x3b) {
        if (block[0] == 0x21) { /* an extension: its kind, then blocks */
            at += 2;
        } else if (block[0] == 0x2c && read_at(r, at, block, sizeof block)) {
            at += sizeof block + colour_table_bytes(block[9]) + 1;
            count += 1;
        } else {
            is_good = false;
        }
        is_good = is_good && skip_blocks(r, &at);
    }
    if (!is_good || at + 1 != r->size) {
        return wadi_fail(error, WADI_ERR_FORMAT, "the file is cut off");
    }
    return count >= 1 && count <= pictures
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_FORMAT, "it has %d of %d pictures", count, pictures);
}

WadiStatus wadi_video_check(const char *path, bool is_gif, int pictures, WadiError *error)
{
    int fd;
    WADI_TRY(wadi_file_open_regular(path, &fd, error));
    Reader r = { .file = fdopen(fd, "rb") };
    if (r.file == NULL) {
        close(fd);
        return wadi_fail(error, WADI_ERR_IO, "cannot read %s", path);
    }
    off_t end = fseeko(r.file, 0, SEEK_END) == 0 ? ftello(r.file) : 0;
    r.size = end > 0 ? (uint64_t)end : 0;
    WadiStatus status = r.size == 0 ? wadi_fail(error, WADI_ERR_FORMAT, "the file is empty")
                        : is_gif    ? check_gif(&r, pictures, error)
                                    : check_mp4(&r, pictures, error);
    fclose(r.file);
    return status;
}
