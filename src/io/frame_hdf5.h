/* The HDF5 metadata of a frame file, made in memory: HDF5 never touches the disk, and never reads. It works
 * on an image of the first bytes of the file through a driver of its own (frame_hdf5_driver.c); the values
 * behind the metadata are written by frame_file.c at the offsets found here. So a full disk is an errno of
 * our own write and never an HDF5 file that cannot be closed, and no value is buffered twice. Reading goes by
 * the table in the user block, because HDF5 does not survive hostile metadata: with a few bytes changed,
 * 1.10.8 writes past its buffers. */
#ifndef WADI_IO_FRAME_HDF5_H
#define WADI_IO_FRAME_HDF5_H

#include "io/frame_file.h"

enum {
    WADI_FRAME_USER_BLOCK = 8192, /* bytes before the HDF5 data proper: a power of two */
    WADI_FRAME_ALIGNMENT = 64,    /* of every array in the file, for those who map it */
};

/* Bytes of the image, user block included, for this many arrays. */
size_t wadi_frame_metadata_size(int array_count);

/* In: header and the name, type, components, count and checksum of every array. Fills `image` (of
 * wadi_frame_metadata_size bytes, zeroed), the offsets, metadata_size and file_size. */
WadiStatus wadi_frame_metadata_build(const char *group, WadiFrameLayout *layout, unsigned char *image,
                                     WadiError *error);

/* The value of the attribute `format`: "wadi-frame 1" or "wadi-checkpoint 1". */
const char *wadi_frame_format(const char *group);

#endif
