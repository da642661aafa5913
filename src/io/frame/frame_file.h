/* Frames and checkpoints as HDF5 files. A frame has the group /particles with one dataset per array (position
 * N x 3 f64, velocity N x 3 f32, id, material, …) and the file attributes time, frame, fps, up ("z"), units
 * ("SI"), name, wadi (version), format. A checkpoint has the group /state instead. Datasets are contiguous,
 * so that any reader can map them; each has the attribute `checksum` (wadi_hash_bytes of its bytes), which
 * reading verifies. The byte layout is in docs/formats.md. */
#ifndef WADI_IO_FRAME_FILE_H
#define WADI_IO_FRAME_FILE_H

#include "core/state.h"

typedef struct WadiFrameHeader {
    double time; /* s */
    int frame;
    double fps;
    char name[256]; /* of the scene */
    uint64_t scene; /* WadiScene.content_hash of the run; 0: not known */
} WadiFrameHeader;

/* Position of one array in a file. */
typedef struct WadiFrameArray {
    char name[WADI_STATE_NAME_SIZE];
    WadiType type;
    int components;
    size_t count;
    uint64_t offset; /* of its first byte in the file; 0 for an empty array */
    uint64_t checksum;
} WadiFrameArray;

/* Everything in a file except the values. Invariants after reading: names are unique; every array is inside
 * the file and after its metadata. */
typedef struct WadiFrameLayout {
    WadiFrameHeader header;
    int array_count;
    WadiFrameArray array[WADI_STATE_MAX];
    uint64_t file_size;
    size_t metadata_size; /* bytes before the first value */
} WadiFrameLayout;

/* The layout of a snapshot in memory: names and shapes. Offsets, checksums and sizes are 0. */
void wadi_frame_layout_of(const WadiFrameHeader *header, const WadiState *state, WadiFrameLayout *layout);

/* Atomic, as wadi_file_write. `group` is "particles" or "state". */
WadiStatus wadi_frame_file_write(const char *path, const char *group, const WadiFrameHeader *header,
                                 const WadiState *state, WadiError *error);
/* Reads every dataset of the group; WADI_ERR_FORMAT names the damaged file and dataset. The memory of a used
 * state is reused; after a failure the state is empty. In "particles" every array has as many items as
 * `position`, whose values are finite and below 1e12; position, velocity, id and material have the documented
 * types. */
WadiStatus wadi_frame_file_read(const char *path, const char *group, WadiFrameHeader *header,
                                WadiState *state, WadiError *error);
/* The same with a buffer in memory instead of a file. WADI_DELETE(bytes, size) frees it. `name` replaces the
 * path in messages. */
WadiStatus wadi_frame_bytes_write(unsigned char **bytes, size_t *bytes_size, const char *group,
                                  const WadiFrameHeader *header, const WadiState *state, WadiError *error);
WadiStatus wadi_frame_bytes_read(const void *bytes, size_t size, const char *name, const char *group,
                                 WadiFrameHeader *header, WadiState *state, WadiError *error);
/* Reads the layout only; values are neither read nor verified. */
WadiStatus wadi_frame_file_read_layout(const char *path, const char *group, WadiFrameLayout *layout,
                                       WadiError *error);
/* Checks the size of the file and the hash of its metadata: cheap, and detects every truncation. */
WadiStatus wadi_frame_file_check(const char *path, WadiError *error);
/* Size in bytes of the file that would be written; for a large file up to a few hundred bytes too much. */
size_t wadi_frame_file_bytes(const WadiState *state);

#endif
