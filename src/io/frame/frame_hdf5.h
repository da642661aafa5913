/* The HDF5 metadata of a frame file, built in memory: HDF5 neither reads nor writes the disk. It works on an
 * image of the first bytes of the file through its own driver (frame_hdf5_driver.c); frame_file.c writes the
 * values at the offsets found here. A full disk is then an errno of our write, not an HDF5 file that cannot
 * be closed, and no value is copied. Reading uses the user block, because HDF5 1.10.8 writes past its buffers
 * when its metadata is damaged. */
#ifndef WADI_IO_FRAME_HDF5_H
#define WADI_IO_FRAME_HDF5_H

#include "io/frame/frame_file.h"

enum {
    WADI_FRAME_USER_BLOCK = 8192, /* bytes before the HDF5 data: a power of two */
    WADI_FRAME_LARGE = 4 << 20,   /* bytes of arrays from which a file bypasses the page cache */
};

/* Alignment of the arrays in a file, from the total bytes of all arrays: 64 for readers that map the file, in
 * large files a disk sector. */
static inline size_t wadi_frame_alignment(size_t bytes_of_arrays)
{
    return bytes_of_arrays >= WADI_FRAME_LARGE ? 4096 : 64;
}

/* Arrays smaller than this many bytes are not aligned. */
static inline size_t wadi_frame_aligned_from(size_t bytes_of_arrays)
{
    return bytes_of_arrays >= WADI_FRAME_LARGE ? 4096 : 1;
}

static inline size_t wadi_frame_array_bytes(const WadiFrameArray *array)
{
    return array->count * (size_t)array->components * wadi_type_size(array->type);
}

/* Bytes of the image, user block included, for this number of arrays. */
size_t wadi_frame_metadata_size(int array_count);

/* In: the header, and name, type, components, count and checksum of every array. Fills `image`
 * (wadi_frame_metadata_size zero bytes), the offsets, metadata_size and file_size. */
WadiStatus wadi_frame_metadata_build(const char *group, WadiFrameLayout *layout, unsigned char *image,
                                     WadiError *error);

/* The value of the attribute `format`: "wadi-frame 1" or "wadi-checkpoint 1". */
const char *wadi_frame_format(const char *group);

#endif
