/* A picture of 8-bit RGB and its way into a PNG file and back. */
#ifndef WADI_RENDER_IMAGE_H
#define WADI_RENDER_IMAGE_H

#include <stdbool.h>
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

/* A word about the picture that travels in its file: a tEXt chunk. Plain ASCII; the keyword has 1 to 79 letters. */
typedef struct WadiImageText {
    const char *keyword, *text;
} WadiImageText;

/* Replaces `path` atomically. */
WadiStatus wadi_image_write_png(const WadiImage *image, const char *path, WadiError *error);
WadiStatus wadi_image_write_png_with(const WadiImage *image, const char *path, const WadiImageText *texts,
                                     int text_count, WadiError *error);

/* Any PNG file, as 8-bit RGB; what is transparent is seen on black. */
WadiStatus wadi_image_read_png(WadiImage *image, const char *path, WadiError *error);
/* Whether these bytes are a whole PNG file: its chunks are there with their checksums, and nothing else. */
bool wadi_image_png_is_whole(const void *bytes, size_t size);
/* The text of `keyword` in a PNG file that has its end, cut to `size`. false: no such file, not whole, or no such text before
 * its pixels. Reads little more than those words. */
bool wadi_image_read_text(const char *path, const char *keyword, char *text, size_t size);

#endif
