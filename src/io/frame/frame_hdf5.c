#include "io/frame/frame_hdf5.h"

#include <pthread.h>
#include <string.h>

#include "core/alloc.h"
#include "io/frame/frame_hdf5_driver.h"

/* HDF5 as Debian builds it is not thread-safe: one call at a time in the whole process. */
static pthread_mutex_t hdf5_mutex = PTHREAD_MUTEX_INITIALIZER;

/* More than HDF5 allocates for an image. Out of memory, HDF5 leaves files half open and crashes when the
 * process ends. */
static const size_t hdf5_bytes = (size_t)16 << 20;

/* One use of HDF5: mutex locked, error printing off, image opened. */
typedef struct Session {
    WadiHdf5Image image;
    hid_t driver, fapl, file;
    H5E_auto2_t print_function;
    void *print_data;
} Session;

/* False: HDF5 does not accept the driver; it would then write files of its own. */
static bool session_begin(Session *session, unsigned char *image, size_t size, uint64_t file_size)
{
    pthread_mutex_lock(&hdf5_mutex);
    *session = (Session){ .image = { image, size, file_size }, .file = H5I_INVALID_HID };
    H5Eget_auto2(H5E_DEFAULT, &session->print_function, &session->print_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5Eclear2(H5E_DEFAULT);
    session->driver = wadi_hdf5_driver_register();
    session->fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(session->fapl, H5F_CLOSE_STRONG);
    return wadi_hdf5_driver_use(session->fapl, session->driver, &session->image) >= 0;
}

static bool session_close_file(Session *session)
{
    bool is_closed = session->file < 0 || H5Fclose(session->file) >= 0;
    session->file = H5I_INVALID_HID;
    return is_closed;
}

static void session_end(Session *session)
{
    session_close_file(session);
    H5Pclose(session->fapl);
    H5FDunregister(session->driver);
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, session->print_function, session->print_data);
    pthread_mutex_unlock(&hdf5_mutex);
}

size_t wadi_frame_metadata_size(int array_count)
{
    /* Measured: file attributes and groups 2.4 KiB at most, an array with the longest name 0.45 KiB. */
    size_t bytes = WADI_FRAME_USER_BLOCK + 3584 + (size_t)array_count * 576;
    return (bytes + 511) / 512 * 512;
}

static hid_t file_type(WadiType type)
{
    switch (type) {
    case WADI_TYPE_U8: return H5T_STD_U8LE;
    case WADI_TYPE_U32: return H5T_STD_U32LE;
    case WADI_TYPE_U64: return H5T_STD_U64LE;
    case WADI_TYPE_I32: return H5T_STD_I32LE;
    case WADI_TYPE_F32: return H5T_IEEE_F32LE;
    case WADI_TYPE_F64: return H5T_IEEE_F64LE;
    }
    return H5I_INVALID_HID;
}

static bool put_attribute(hid_t object, const char *name, hid_t type, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool is_good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    is_good = attribute >= 0 && H5Aclose(attribute) >= 0 && is_good;
    H5Sclose(space);
    return is_good;
}

/* Fixed-length text: variable-length text would need a heap in the file. */
static bool put_text(hid_t object, const char *name, const char *text)
{
    size_t length = strlen(text);
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, length > 0 ? length : 1);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    bool is_good = put_attribute(object, name, type, text);
    H5Tclose(type);
    return is_good;
}

const char *wadi_frame_format(const char *group)
{
    return strcmp(group, "particles") == 0 ? "wadi-frame 1" : "wadi-checkpoint 1";
}

static bool put_file_attributes(hid_t file, const char *group, const WadiFrameHeader *header)
{
    int32_t frame = header->frame;
    return put_text(file, "format", wadi_frame_format(group)) && put_text(file, "wadi", wadi_version()) &&
           put_text(file, "name", header->name) && put_text(file, "up", "z") &&
           put_text(file, "units", "SI") && put_attribute(file, "time", H5T_IEEE_F64LE, &header->time) &&
           put_attribute(file, "frame", H5T_STD_I32LE, &frame) &&
           put_attribute(file, "fps", H5T_IEEE_F64LE, &header->fps);
}

static bool put_array(hid_t group, hid_t dcpl, WadiFrameArray *array)
{
    hsize_t size[2] = { array->count, (hsize_t)array->components };
    hid_t space = H5Screate_simple(array->components > 1 ? 2 : 1, size, NULL);
    hid_t dataset =
        H5Dcreate2(group, array->name, file_type(array->type), space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    bool is_good = dataset >= 0 && put_attribute(dataset, "checksum", H5T_STD_U64LE, &array->checksum);
    if (is_good && array->count > 0) {
        haddr_t offset = H5Dget_offset(dataset);
        is_good = offset != HADDR_UNDEF;
        array->offset = offset;
    }
    is_good = dataset >= 0 && H5Dclose(dataset) >= 0 && is_good;
    H5Sclose(space);
    return is_good;
}

static bool build_file(Session *session, const char *group_name, WadiFrameLayout *layout)
{
    hid_t fcpl = H5Pcreate(H5P_FILE_CREATE);
    hid_t gcpl = H5Pcreate(H5P_GROUP_CREATE);
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_userblock(fcpl, WADI_FRAME_USER_BLOCK);
    /* No time stamps: equal input must give equal bytes. */
    H5Pset_obj_track_times(fcpl, false);
    H5Pset_obj_track_times(gcpl, false);
    H5Pset_obj_track_times(dcpl, false);
    /* The order of the arrays is part of a state. Links in the group's header preserve it without a heap or a
     * tree. */
    H5Pset_link_creation_order(gcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_link_phase_change(gcpl, WADI_STATE_MAX, 0);
    H5Pset_layout(dcpl, H5D_CONTIGUOUS);
    H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);

    session->file = H5Fcreate("image", H5F_ACC_TRUNC, fcpl, session->fapl);
    bool is_good = session->file >= 0 && put_file_attributes(session->file, group_name, &layout->header);
    hid_t group = is_good ? H5Gcreate2(session->file, group_name, H5P_DEFAULT, gcpl, H5P_DEFAULT) : -1;
    is_good = group >= 0;
    for (int i = 0; i < layout->array_count && is_good; ++i) {
        is_good = put_array(group, dcpl, &layout->array[i]);
    }
    is_good = group >= 0 && H5Gclose(group) >= 0 && is_good;
    H5Pclose(fcpl);
    H5Pclose(gcpl);
    H5Pclose(dcpl);
    return session_close_file(session) && is_good;
}

WadiStatus wadi_frame_metadata_build(const char *group, WadiFrameLayout *layout, unsigned char *image,
                                     WadiError *error)
{
    size_t size = wadi_frame_metadata_size(layout->array_count);
    Session session;
    WADI_TRY(wadi_memory_probe(hdf5_bytes, "the layout of a frame", error));
    bool is_good = session_begin(&session, image, size, 0);
    /* One block for all metadata, superblock included, so that all values come after it. */
    H5Pset_meta_block_size(session.fapl, size - WADI_FRAME_USER_BLOCK);
    size_t arrays = 0;
    for (int i = 0; i < layout->array_count; ++i) {
        arrays += wadi_frame_array_bytes(&layout->array[i]);
    }
    H5Pset_alignment(session.fapl, wadi_frame_aligned_from(arrays), wadi_frame_alignment(arrays));
    H5Pset_small_data_block_size(session.fapl, 0);
    is_good = is_good && build_file(&session, group, layout);
    layout->file_size = session.image.file_size > size ? session.image.file_size : size;
    layout->metadata_size = size;
    session_end(&session);
    for (int i = 0; i < layout->array_count && is_good; ++i) {
        is_good = layout->array[i].count == 0 || layout->array[i].offset >= size;
    }
    if (!is_good) {
        return wadi_fail(error, WADI_ERR_IO, "HDF5 could not lay out %d arrays", layout->array_count);
    }
    return WADI_OK;
}
