/* Writes frame files: user block with a table of the arrays, HDF5 metadata, then the arrays. Each array
 * begins on a multiple of 64 bytes, in large files on a multiple of a disk sector. */
#include "io/frame/frame_file.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/files/files.h"
#include "io/frame/frame_block.h"

size_t wadi_frame_file_bytes(const WadiState *state)
{
    size_t bytes = wadi_frame_metadata_size(state->count), last = bytes, arrays = 0;
    for (int i = 0; i < state->count; ++i) {
        arrays += wadi_state_array_bytes(&state->array[i]);
    }
    const size_t alignment = wadi_frame_alignment(arrays), aligned_from = wadi_frame_aligned_from(arrays);
    for (int i = 0; i < state->count; ++i) {
        size_t size = wadi_state_array_bytes(&state->array[i]);
        if (size >= aligned_from) {
            bytes = (bytes + alignment - 1) / alignment * alignment;
        }
        if (size > 0) {
            last = bytes += size;
        }
    }
    return last;
}

void wadi_frame_layout_of(const WadiFrameHeader *header, const WadiState *state, WadiFrameLayout *layout)
{
    *layout = (WadiFrameLayout){ .header = *header, .array_count = state->count };
    for (int i = 0; i < state->count; ++i) {
        const WadiStateArray *from = &state->array[i];
        WadiFrameArray *to = &layout->array[i];
        memcpy(to->name, from->name, sizeof to->name);
        to->type = from->type;
        to->components = from->components;
        to->count = from->count;
    }
}

/* Writes the user block into `image`, in front of the metadata. */
static void fill_block(const WadiFrameLayout *layout, const char *group, unsigned char *image)
{
    WadiUserBlock block = { .version = WADI_BLOCK_VERSION,
                            .file_size = layout->file_size,
                            .metadata_size = layout->metadata_size,
                            .metadata_hash = wadi_metadata_hash(image, layout->metadata_size),
                            .time = layout->header.time,
                            .fps = layout->header.fps,
                            .frame = layout->header.frame,
                            .array_count = (uint64_t)layout->array_count,
                            .scene = layout->header.scene };
    memcpy(block.magic, WADI_BLOCK_MAGIC, sizeof block.magic);
    memcpy(block.name, layout->header.name, strnlen(layout->header.name, sizeof block.name - 1));
    snprintf(block.format, sizeof block.format, "%s", wadi_frame_format(group));
    for (int i = 0; i < layout->array_count; ++i) {
        const WadiFrameArray *from = &layout->array[i];
        WadiBlockArray *to = &block.array[i];
        /* Only the name itself: bytes after its terminating zero may differ between equal states. */
        memcpy(to->name, from->name, strlen(from->name));
        to->type = (uint32_t)from->type;
        to->components = (uint32_t)from->components;
        to->count = from->count;
        to->offset = from->offset;
        to->checksum = from->checksum;
    }
    memcpy(image, &block, sizeof block);
    uint64_t hash = wadi_block_hash(image);
    memcpy(image + offsetof(WadiUserBlock, block_hash), &hash, sizeof hash);
}

/* The first array at or after `offset`, or -1. HDF5 puts small arrays into the gaps before large ones. */
static int next_array(const WadiFrameLayout *layout, uint64_t offset)
{
    int next = -1;
    for (int i = 0; i < layout->array_count; ++i) {
        const WadiFrameArray *array = &layout->array[i];
        if (array->count > 0 && array->offset >= offset &&
            (next < 0 || array->offset < layout->array[next].offset)) {
            next = i;
        }
    }
    return next;
}

/* Destination of the bytes: a file, or a zeroed buffer of layout.file_size bytes. */
typedef struct Output {
    WadiFileWriter *file; /* NULL: write to `bytes` */
    unsigned char *bytes;
} Output;

static WadiStatus put(const Output *output, const void *bytes, size_t size, uint64_t offset, WadiError *error)
{
    if (output->file != NULL) {
        return wadi_file_writer_put(output->file, bytes, size, offset, error);
    }
    memcpy(output->bytes + offset, bytes, size);
    return WADI_OK;
}

static WadiStatus write_pieces(const Output *output, const WadiFrameLayout *layout,
                               const unsigned char *image, const WadiState *state, WadiError *error)
{
    WADI_TRY(put(output, image, layout->metadata_size, 0, error));
    uint64_t end = layout->metadata_size;
    for (int i = next_array(layout, end); i >= 0; i = next_array(layout, end)) {
        const WadiFrameArray *array = &layout->array[i];
        size_t size = wadi_frame_array_bytes(array);
        WADI_TRY(put(output, state->array[i].data, size, array->offset, error));
        end = array->offset + size;
    }
    /* HDF5 rejects a file that is shorter than what it allocated. */
    if (end < layout->file_size) {
        WADI_TRY(put(output, "", 1, layout->file_size - 1, error));
    }
    return WADI_OK;
}

/* Builds user block and metadata, and finds the offsets of the arrays. `image` has wadi_frame_metadata_size
 * zero bytes. */
static WadiStatus lay_out(const char *group, const WadiFrameHeader *header, const WadiState *state,
                          WadiFrameLayout *layout, unsigned char *image, WadiError *error)
{
    wadi_frame_layout_of(header, state, layout);
    for (int i = 0; i < state->count; ++i) {
        layout->array[i].checksum = wadi_state_array_hash(&state->array[i]);
    }
    WADI_TRY(wadi_frame_metadata_build(group, layout, image, error));
    fill_block(layout, group, image);
    return WADI_OK;
}

static WadiStatus write_file(const char *path, const WadiFrameLayout *layout, const unsigned char *image,
                             const WadiState *state, WadiError *error)
{
    WadiFileWriter writer;
    WADI_TRY(wadi_file_writer_open(&writer, path, error));
    if (layout->file_size >= WADI_FRAME_LARGE) {
        wadi_file_writer_stream(&writer);
    }
    WADI_TRY(write_pieces(&(Output){ .file = &writer }, layout, image, state, error));
    return wadi_file_writer_commit(&writer, error);
}

WadiStatus wadi_frame_file_write(const char *path, const char *group, const WadiFrameHeader *header,
                                 const WadiState *state, WadiError *error)
{
    WadiFrameLayout layout;
    size_t size = wadi_frame_metadata_size(state->count);
    unsigned char *image = NULL;
    WADI_TRY(WADI_NEW(&image, size, "metadata of a frame", error));
    WadiStatus status = lay_out(group, header, state, &layout, image, error);
    if (status == WADI_OK) {
        status = write_file(path, &layout, image, state, error);
    }
    WADI_DELETE(image, size);
    return status;
}

WadiStatus wadi_frame_bytes_write(unsigned char **bytes, size_t *bytes_size, const char *group,
                                  const WadiFrameHeader *header, const WadiState *state, WadiError *error)
{
    *bytes = NULL;
    *bytes_size = 0;
    WadiFrameLayout layout;
    size_t size = wadi_frame_metadata_size(state->count);
    unsigned char *image = NULL;
    WADI_TRY(WADI_NEW(&image, size, "metadata of a frame", error));
    WadiStatus status = lay_out(group, header, state, &layout, image, error);
    if (status == WADI_OK) {
        status = WADI_NEW(bytes, (size_t)layout.file_size, "bytes of a checkpoint", error);
    }
    if (status == WADI_OK) {
        *bytes_size = (size_t)layout.file_size;
        status = write_pieces(&(Output){ .bytes = *bytes }, &layout, image, state, error);
    }
    WADI_DELETE(image, size);
    return status;
}
