/* An HDF5 file driver on a memory buffer that holds the first bytes of a larger file. */
#ifndef WADI_IO_FRAME_HDF5_DRIVER_H
#define WADI_IO_FRAME_HDF5_DRIVER_H

#include <hdf5.h>

/* Writes past `size` fail; reads past it return zeros. */
typedef struct WadiHdf5Image {
    unsigned char *bytes;
    size_t size;
    uint64_t file_size; /* file size reported to HDF5; grows as HDF5 allocates */
} WadiHdf5Image;

/* Registers the driver; negative on failure. Release with H5FDunregister. */
hid_t wadi_hdf5_driver_register(void);
/* Makes a file access list open `image` (borrowed until the file is closed). */
herr_t wadi_hdf5_driver_use(hid_t fapl, hid_t driver, WadiHdf5Image *image);

#endif
