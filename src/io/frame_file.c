/* Writing frame files: user block with a table of the arrays, HDF5 metadata, then the arrays, each on a
 * multiple of 64 bytes. */
#include "io/frame_file.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/files.h"
#include "io/frame_block.h"

/* Bytes from which a file is worth a stream. */
enum { STREAM_SIZE = 4 << 20 };

size_t wadi_frame_file_bytes(const WadiState *state)
{
    size_t bytes = wadi_frame_metadata_size(state->count);
    size_t last = bytes;
    for (int i = 0; i < state->count; ++i) {
        const WadiStateArray *array = &state->array[i];
        size_t size = array->count * (size_t)array->components * wadi_type_size(array->type);
        if (size > 0) {
            bytes = (bytes + WADI_FRAME_ALIGNMENT - 1) / WADI_FRAME_ALIGNMENT * WADI_FRAME_ALIGNMENT;
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

/* Puts the user block before the metadata in `image`. */
static void fill_block(const WadiFrameLayout *layout, const char *group, unsigned char *image)
{
    WadiUserBlock block = { .version = WADI_BLOCK_VERSION,
                            .file_size = layout->file_size,
                            .metadata_size = layout->metadata_size,
                            .metadata_hash = wadi_metadata_hash(image, layout->metadata_size),
                            .time = layout->header.time,
                            .fps = layout->header.fps,
                            .frame = layout->header.frame,
                            .array_count = (uint64_t)layout->array_count };
    memcpy(block.magic, WADI_BLOCK_MAGIC, sizeof block.magic);
    memcpy(block.name, layout->header.name, strnlen(layout->header.name, sizeof block.name - 1));
    snprintf(block.format, sizeof block.format, "%s", wadi_frame_format(group));
    for (int i = 0; i < layout->array_count; ++i) {
        const WadiFrameArray *from = &layout->array[i];
        WadiBlockArray *to = &block.array[i];
        /* Not the whole field: what lies behind the end of a name may differ between equal states. */
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

static WadiStatus write_pieces(WadiFileWriter *writer, const WadiFrameLayout *layout,
                               const unsigned char *image, const WadiState *state, WadiError *error)
{
    WADI_TRY(wadi_file_writer_put(writer, image, layout->metadata_size, 0, error));
    uint64_t end = layout->metadata_size;
    for (int i = 0; i < state->count; ++i) {
        const WadiFrameArray *array = &layout->array[i];
        if (array->count > 0) {
            WADI_TRY(wadi_file_writer_put(writer, state->array[i].data, wadi_frame_array_bytes(array),
                                          array->offset, error));
            end = array->offset + wadi_frame_array_bytes(array) > end
                      ? array->offset + wadi_frame_array_bytes(array)
                      : end;
        }
    }
    /* HDF5 insists that a file reaches as far as it allocated. */
    if (end < layout->file_size) {
        WADI_TRY(wadi_file_writer_put(writer, "", 1, layout->file_size - 1, error));
    }
    return WADI_OK;
}

WadiStatus wadi_frame_file_write(const char *path, const char *group, const WadiFrameHeader *header,
                                 const WadiState *state, WadiError *error)
{
    WadiFrameLayout layout;
    wadi_frame_layout_of(header, state, &layout);
    for (int i = 0; i < state->count; ++i) {
        layout.array[i].checksum = wadi_state_array_hash(&state->array[i]);
    }
    size_t size = wadi_frame_metadata_size(state->count);
    unsigned char *image = NULL;
    WADI_TRY(WADI_NEW(&image, size, "metadata of a frame", error));
    WadiStatus status = wadi_frame_metadata_build(group, &layout, image, error);
    if (status == WADI_OK) {
        fill_block(&layout, group, image);
        WadiFileWriter writer;
        status = wadi_file_writer_open(&writer, path, error);
        if (status == WADI_OK) {
            if (layout.file_size >= STREAM_SIZE) {
                wadi_file_writer_stream(&writer);
            }
            status = write_pieces(&writer, &layout, image, state, error);
        }
        if (status == WADI_OK) {
            status = wadi_file_writer_commit(&writer, error);
        }
    }
    WADI_DELETE(image, size);
    return status;
}
