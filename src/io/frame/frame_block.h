/* The user block of a frame file, shared by its writer and its reader. */
#ifndef WADI_IO_FRAME_BLOCK_H
#define WADI_IO_FRAME_BLOCK_H

#include "core/hash.h"
#include "io/frame/frame_hdf5.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "frame files are little-endian and are written without conversion"
#endif

/* The user block, which wadi reads and HDF5 skips. The HDF5 metadata after it has the same content for other
 * programs; both are made from one WadiFrameLayout. The structs are the bytes of the file: a change needs a
 * new version. */
typedef struct WadiBlockArray {
    char name[WADI_STATE_NAME_SIZE];
    uint32_t type; /* WadiType */
    uint32_t components;
    uint64_t count, offset, checksum;
} WadiBlockArray;

typedef struct WadiUserBlock {
    char magic[8];
    uint64_t block_hash; /* of the remaining bytes of the user block */
    uint64_t version;
    uint64_t file_size;
    uint64_t metadata_size; /* bytes before the first array, this block included */
    uint64_t metadata_hash; /* of the bytes from the end of the user block to metadata_size */
    char format[24];        /* value of the attribute of this name */
    double time, fps;
    int64_t frame;
    char name[256];
    uint64_t array_count;
    WadiBlockArray array[WADI_STATE_MAX];
    uint64_t scene; /* 0 in files of versions without it */
} WadiUserBlock;

_Static_assert(sizeof(WadiBlockArray) == 80 && offsetof(WadiUserBlock, array) == 360 &&
                   offsetof(WadiUserBlock, scene) == 5480,
               "the bytes of a file");
_Static_assert(sizeof(WadiUserBlock) <= WADI_FRAME_USER_BLOCK, "the user block holds the table");
_Static_assert(sizeof((WadiFrameHeader){ 0 }.name) == sizeof((WadiUserBlock){ 0 }.name),
               "names are copied whole");
_Static_assert(WADI_TYPE_U8 == 0 && WADI_TYPE_U32 == 1 && WADI_TYPE_U64 == 2 && WADI_TYPE_I32 == 3 &&
                   WADI_TYPE_F32 == 4 && WADI_TYPE_F64 == 5,
               "numbers of types are written to files");

#define WADI_BLOCK_MAGIC "WADI\r\n\x1a\n"
enum { WADI_BLOCK_VERSION = 1 };

/* `image` begins with the complete user block. */
static inline uint64_t wadi_block_hash(const unsigned char *image)
{
    size_t start = offsetof(WadiUserBlock, version);
    return wadi_hash_bytes(0, image + start, WADI_FRAME_USER_BLOCK - start);
}

static inline uint64_t wadi_metadata_hash(const unsigned char *image, size_t metadata_size)
{
    return wadi_hash_bytes(0, image + WADI_FRAME_USER_BLOCK, metadata_size - WADI_FRAME_USER_BLOCK);
}

#endif
