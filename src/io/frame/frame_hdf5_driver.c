/* HDF5's `core` driver would hold the values in memory, too; its `sec2` driver writes to the disk itself and
 * leaves a file that cannot be closed when the disk is full. Hence this small driver. */
#include "io/frame/frame_hdf5_driver.h"

#include <stdlib.h>
#include <string.h>

/* The common part must be the first member. */
typedef struct ImageFile {
    H5FD_t common;
    WadiHdf5Image *image;
    haddr_t end_of_allocation;
} ImageFile;

static H5FD_t *image_open(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr)
{
    (void)name;
    (void)flags;
    (void)maxaddr;
    const WadiHdf5Image *const *image = H5Pget_driver_info(fapl);
    if (image == NULL || *image == NULL) {
        return NULL;
    }
    ImageFile *file =
        calloc(1, sizeof *file); /* not through the allocation hook: HDF5's other memory is not either */
    if (file == NULL) {
        return NULL;
    }
    file->image = (WadiHdf5Image *)*image;
    return &file->common;
}

static herr_t image_close(H5FD_t *file)
{
    free(file);
    return 0;
}

/* Two images are never the same file, although both are opened under the same name. */
static int image_compare(const H5FD_t *a, const H5FD_t *b)
{
    const WadiHdf5Image *first = ((const ImageFile *)a)->image, *second = ((const ImageFile *)b)->image;
    return first < second ? -1 : first > second;
}

static herr_t image_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA;
    return 0;
}

static haddr_t image_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const ImageFile *)file)->end_of_allocation;
}

static herr_t image_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((ImageFile *)file)->end_of_allocation = address;
    return 0;
}

static haddr_t image_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const ImageFile *)file)->image->file_size;
}

static herr_t image_read(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t size,
                         void *buffer)
{
    (void)type;
    (void)dxpl;
    const WadiHdf5Image *image = ((const ImageFile *)file)->image;
    size_t inside = address < image->size ? image->size - (size_t)address : 0;
    inside = inside < size ? inside : size;
    if (inside > 0) {
        memcpy(buffer, image->bytes + address, inside);
    }
    memset((unsigned char *)buffer + inside, 0, size - inside);
    return 0;
}

static herr_t image_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t size,
                          const void *buffer)
{
    (void)type;
    (void)dxpl;
    WadiHdf5Image *image = ((ImageFile *)file)->image;
    if (address > image->size || size > image->size - (size_t)address) {
        return -1;
    }
    memcpy(image->bytes + address, buffer, size);
    return 0;
}

static herr_t image_truncate(H5FD_t *file, hid_t dxpl, hbool_t closing)
{
    (void)dxpl;
    (void)closing;
    ImageFile *self = (ImageFile *)file;
    self->image->file_size = self->end_of_allocation;
    return 0;
}

static const H5FD_class_t image_driver = {
#ifdef H5FD_CLASS_VERSION /* from HDF5 1.14 on, which refuses a driver without it */
    .version = H5FD_CLASS_VERSION,
    .value = H5_VFD_RESERVED,
#endif
    .name = "wadi_image",
    .maxaddr = (haddr_t)1 << 62,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(WadiHdf5Image *),
    .open = image_open,
    .close = image_close,
    .cmp = image_compare,
    .query = image_query,
    .get_eoa = image_get_eoa,
    .set_eoa = image_set_eoa,
    .get_eof = image_get_eof,
    .read = image_read,
    .write = image_write,
    .truncate = image_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t wadi_hdf5_driver_register(void)
{
    return H5FDregister(&image_driver);
}

herr_t wadi_hdf5_driver_use(hid_t fapl, hid_t driver, WadiHdf5Image *image)
{
    return H5Pset_driver(fapl, driver, &image);
}
