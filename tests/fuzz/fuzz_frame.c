/* The frame and checkpoint reader on any bytes: as a file, as changes to a file that wadi wrote, or as such
 * changes with the hashes made right again, as an attacker would. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "io/frame/frame_block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

static void clean(void)
{
    unlink(path);
}

/* A whole file of two small arrays. */
static size_t make_file(unsigned char *bytes, size_t capacity, uint64_t *hash)
{
    snprintf(path, sizeof path, "/dev/shm/wadi-fuzz-%ld.h5", (long)getpid());
    atexit(clean);
    WadiState state = { 0 };
    double position[6] = { 0, 1, 2, 3, 4, 5 };
    uint32_t id[2] = { 7, 8 };
    WadiFrameHeader header = { .time = 0.5, .frame = 3, .fps = 24.0, .name = "fuzz" };
    if (wadi_state_put(&state, "position", WADI_TYPE_F64, 3, 2, position, NULL) != WADI_OK ||
        wadi_state_put(&state, "id", WADI_TYPE_U32, 1, 2, id, NULL) != WADI_OK ||
        wadi_frame_file_write(path, "particles", &header, &state, NULL) != WADI_OK) {
        abort();
    }
    *hash = wadi_state_hash(&state, WADI_USE_BOTH);
    wadi_state_free(&state);
    FILE *file = fopen(path, "rb");
    size_t length = file != NULL ? fread(bytes, 1, capacity, file) : 0;
    if (length == 0) {
        abort();
    }
    fclose(file);
    return length;
}

/* Each 3 bytes of input: where, and what to write there. */
static size_t edit(unsigned char *bytes, size_t length, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 2 < size; i += 3) {
        size_t place = ((size_t)data[i] << 8 | data[i + 1]) % length;
        bytes[place] = data[i + 2];
    }
    return size % 3 == 1 ? length * data[size - 1] / 255 : length;
}

/* Makes the hashes agree with whatever the block says now. */
static void forge(unsigned char *bytes, size_t length)
{
    WadiUserBlock block;
    if (length < WADI_FRAME_USER_BLOCK) {
        return;
    }
    memcpy(&block, bytes, sizeof block);
    if (block.metadata_size >= WADI_FRAME_USER_BLOCK && block.metadata_size <= length) {
        block.metadata_hash = wadi_metadata_hash(bytes, (size_t)block.metadata_size);
    }
    memcpy(bytes, &block, sizeof block);
    block.block_hash = wadi_block_hash(bytes);
    memcpy(bytes, &block, sizeof block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char whole[1 << 16];
    static size_t whole_size;
    static uint64_t whole_hash;
    if (whole_size == 0) {
        whole_size = make_file(whole, sizeof whole, &whole_hash);
    }
    if (size < 1) {
        return 0;
    }
    static unsigned char bytes[sizeof whole];
    const unsigned char *content = data + 1;
    size_t length = size - 1;
    if (data[0] & 1) {
        memcpy(bytes, whole, whole_size);
        length = edit(bytes, whole_size, data + 1, size - 1);
        content = bytes;
        if (data[0] & 4) {
            forge(bytes, length);
        }
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, content, length) != (ssize_t)length) {
        abort();
    }
    close(fd);
    size_t live = wadi_alloc_live_bytes();
    WadiState state = { 0 };
    WadiFrameHeader header;
    WadiError error;
    WadiStatus status =
        wadi_frame_file_read(path, data[0] & 2 ? "state" : "particles", &header, &state, &error);
    /* Of the changed files only those may be accepted that differ in bytes which mean nothing. */
    if (status == WADI_OK && (data[0] & 5) == 1 && wadi_state_hash(&state, WADI_USE_BOTH) != whole_hash) {
        abort();
    }
    wadi_state_free(&state);
    if (wadi_alloc_live_bytes() != live) {
        abort();
    }
    return 0;
}
