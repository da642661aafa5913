/* A picture of 8-bit RGB and its way into a PNG file. */
#ifndef WADI_RENDER_IMAGE_H
#define WADI_RENDER_IMAGE_H

#include <stdint.h>

#include "core/status.h"

enum { WADI_IMAGE_SIDE_MAX = 16384 };

/* Rows from the top, three bytes a pixel, sRGB. A zeroed image is valid and empty. */
typedef struct WadiImage {
    int width, height;
    uint8_t *rgb;
} WadiImage;

/* Black. */
WadiStatus wadi_image_init(WadiImage *image, int width, int height, WadiError *error);
void wadi_image_free(WadiImage *image);

/* Replaces `path` atomically. */
WadiStatus wadi_image_write_png(const WadiImage *image, const char *path, WadiError *error);

#endif
