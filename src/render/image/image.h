/* Pictures of 8-bit RGB; reading and writing PNG files. */
#ifndef WADI_RENDER_IMAGE_H
#define WADI_RENDER_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum { WADI_IMAGE_SIDE_MAX = 16384 };

/* Rows from the top, three bytes per pixel, sRGB. A zeroed image is valid and empty. */
typedef struct WadiImage {
    int width, height;
    uint8_t *rgb;
} WadiImage;

/* Black. */
WadiStatus wadi_image_init(WadiImage *image, int width, int height, WadiError *error);
void wadi_image_free(WadiImage *image);

/* Text stored in the file as a tEXt chunk. Plain ASCII; the keyword has 1 to 79 characters. */
typedef struct WadiImageText {
    const char *keyword, *text;
} WadiImageText;

/* Replaces `path` atomically. The first names wadi as its software, and removes what killed processes left of
 * this file. */
WadiStatus wadi_image_write_png(const WadiImage *image, const char *path, WadiError *error);
WadiStatus wadi_image_write_png_with(const WadiImage *image, const char *path, const WadiImageText *texts,
                                     int text_count, WadiError *error);

/* Any PNG file as 8-bit RGB; transparent pixels are blended with black. */
WadiStatus wadi_image_read_png(WadiImage *image, const char *path, WadiError *error);
/* True when the bytes are exactly one complete PNG file: all chunks with valid checksums. */
bool wadi_image_png_is_whole(const void *bytes, size_t size);

#endif
