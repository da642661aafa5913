/* Frames and checkpoints as HDF5 files. A frame: group /particles with one dataset per array (position N x 3
 * f64, velocity N x 3 f32, id, material, …); file attributes time, frame, fps, up ("z"), units ("SI"), name,
 * wadi (version), format. A checkpoint: group /state likewise. Datasets are contiguous, so raw bytes are
 * written straight from the snapshot and any reader can map them; each carries the attribute `checksum`
 * (wadi_hash_bytes of its bytes), which reading verifies. docs/formats.md has the bytes. */
#ifndef WADI_IO_FRAME_FILE_H
#define WADI_IO_FRAME_FILE_H

#include "core/state.h"

typedef struct WadiFrameHeader {
    double time; /* s */
    int frame;
    double fps;
    char name[256]; /* of the scene */
} WadiFrameHeader;

/* Where one array lies in a file. */
typedef struct WadiFrameArray {
    char name[WADI_STATE_NAME_SIZE];
    WadiType type;
    int components;
    size_t count;
    uint64_t offset; /* of its first byte; 0 for an empty array */
    uint64_t checksum;
} WadiFrameArray;

/* Everything about a file but the values. Invariants of a layout that was read: names are unique; every array
 * lies inside the file and behind its metadata. */
typedef struct WadiFrameLayout {
    WadiFrameHeader header;
    int array_count;
    WadiFrameArray array[WADI_STATE_MAX];
    uint64_t file_size;
    size_t metadata_size; /* bytes before the first value */
} WadiFrameLayout;

/* The layout of a snapshot in memory: names and shapes; offsets, checksums and sizes are 0. */
void wadi_frame_layout_of(const WadiFrameHeader *header, const WadiState *state, WadiFrameLayout *layout);

/* Atomic, as wadi_file_write. `group` is "particles" or "state". */
WadiStatus wadi_frame_file_write(const char *path, const char *group, const WadiFrameHeader *header,
                                 const WadiState *state, WadiError *error);
/* Reads every dataset of the group; WADI_ERR_FORMAT names the file and dataset that is damaged. The state may
 * be one that was used before: its memory is reused. After a failure it is empty. In "particles" every array has as many items as
 * `position`, whose values are finite and below 1e12; position, velocity, id and material have their types. */
WadiStatus wadi_frame_file_read(const char *path, const char *group, WadiFrameHeader *header,
                                WadiState *state, WadiError *error);
/* The same in memory: the bytes that the file would have, and back. WADI_DELETE(bytes, size) frees them. `name` stands for the path
 * in messages. */
WadiStatus wadi_frame_bytes_write(unsigned char **bytes, size_t *bytes_size, const char *group,
                                  const WadiFrameHeader *header, const WadiState *state, WadiError *error);
WadiStatus wadi_frame_bytes_read(const void *bytes, size_t size, const char *name, const char *group,
                                 WadiFrameHeader *header, WadiState *state, WadiError *error);
/* The layout alone, without reading or verifying values. */
WadiStatus wadi_frame_file_read_layout(const char *path, const char *group, WadiFrameLayout *layout,
                                       WadiError *error);
/* Whether the file is whole as far as its size and the hash of its metadata tell: cheap, and exact against
 * truncation. */
WadiStatus wadi_frame_file_check(const char *path, WadiError *error);
/* Size in bytes of the file that would be written; of a large one up to some hundred bytes more. */
size_t wadi_frame_file_bytes(const WadiState *state);

#endif
