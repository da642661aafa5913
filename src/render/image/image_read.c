/* Reads PNG files, and checks that they are complete. */
#include <png.h>
#include <stdio.h>
#include <string.h>

#include "render/image/image.h"

WadiStatus wadi_image_read_png(WadiImage *image, const char *path, WadiError *error)
{
    *image = (WadiImage){ 0 };
    png_image png = { .version = PNG_IMAGE_VERSION };
    if (png_image_begin_read_from_file(&png, path) == 0) {
        return wadi_fail(error, WADI_ERR_IO, "%s: %s", path, png.message);
    }
    if (png.width > WADI_IMAGE_SIDE_MAX || png.height > WADI_IMAGE_SIDE_MAX) {
        png_image_free(&png);
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: more than %d pixels a side", path, WADI_IMAGE_SIDE_MAX);
    }
    png.format = PNG_FORMAT_RGB;
    WadiStatus status = wadi_image_init(image, (int)png.width, (int)png.height, error);
    png_color black = { 0 };
    if (status == WADI_OK && png_image_finish_read(&png, &black, image->rgb, 0, NULL) == 0) {
        status = wadi_fail(error, WADI_ERR_FORMAT, "%s: %s", path, png.message);
        wadi_image_free(image);
    }
    png_image_free(&png);
    return status;
}

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The checksum of PNG's chunks: CRC-32, four bits at a time. */
static uint32_t chunk_checksum(const unsigned char *bytes, size_t size)
{
    uint32_t table[16], crc = UINT32_MAX;
    for (uint32_t i = 0; i < 16; ++i) {
        table[i] = i;
        for (int bit = 0; bit < 4; ++bit) {
            table[i] = (table[i] & 1) != 0 ? table[i] >> 1 ^ UINT32_C(0xedb88320) : table[i] >> 1;
        }
    }
    for (size_t i = 0; i < size; ++i) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

bool wadi_image_png_is_whole(const void *bytes, size_t size)
{
    static const unsigned char signature[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    const unsigned char *file = bytes;
    if (size < sizeof signature || memcmp(file, signature, sizeof signature) != 0) {
        return false;
    }
    for (size_t at = sizeof signature; size - at >= 12;) {
        size_t length = big_endian(file + at);
        if (length > size - at - 12 ||
            big_endian(file + at + 8 + length) != chunk_checksum(file + at + 4, 4 + length)) {
            return false;
        }
        bool is_end = memcmp(file + at + 4, "IEND", 4) == 0;
        at += 12 + length;
        if (is_end) {
            return at == size;
        }
    }
    return false;
}
