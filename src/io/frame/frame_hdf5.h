/* The HDF5 metadata of a frame file, made in memory: HDF5 never touches the disk, and never reads. It works
 * on an image of the first bytes of the file through a driver of its own (frame_hdf5_driver.c); the values
 * behind the metadata are written by frame_file.c at the offsets found here. So a full disk is an errno of
 * our own write and never an HDF5 file that cannot be closed, and no value is buffered twice. Reading goes by
 * the table in the user block, because HDF5 does not survive hostile metadata: with a few bytes changed,
 * 1.10.8 writes past its buffers. */
#ifndef WADI_IO_FRAME_HDF5_H
#define WADI_IO_FRAME_HDF5_H

#include "io/frame/frame_file.h"

enum {
    WADI_FRAME_USER_BLOCK = 8192, /* bytes before the HDF5 data proper: a power of two */
    WADI_FRAME_LARGE = 4 << 20,   /* bytes of arrays from which a file goes to the disk past the page cache */
};

/* Of an array in the file, given the bytes of all arrays: for those who map it, and in large files for the disk, which takes
 * whole sectors; there the smallest arrays lie anywhere. */
static inline size_t wadi_frame_alignment(size_t bytes_of_arrays)
{
    return bytes_of_arrays >= WADI_FRAME_LARGE ? 4096 : 64;
}

/* Arrays of at least so many bytes are aligned. */
static inline size_t wadi_frame_aligned_from(size_t bytes_of_arrays)
{
    return bytes_of_arrays >= WADI_FRAME_LARGE ? 4096 : 1;
}

static inline size_t wadi_frame_array_bytes(const WadiFrameArray *array)
{
    return array->count * (size_t)array->components * wadi_type_size(array->type);
}

/* Bytes of the image, user block included, for this many arrays. */
size_t wadi_frame_metadata_size(int array_count);

/* In: header and the name, type, components, count and checksum of every array. Fills `image` (of
 * wadi_frame_metadata_size bytes, zeroed), the offsets, metadata_size and file_size. */
WadiStatus wadi_frame_metadata_build(const char *group, WadiFrameLayout *layout, unsigned char *image,
                                     WadiError *error);

/* The value of the attribute `format`: "wadi-frame 1" or "wadi-checkpoint 1". */
const char *wadi_frame_format(const char *group);

#endif
