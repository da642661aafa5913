/* Small letters into pictures. */
#ifndef WADI_RENDER_LABEL_H
#define WADI_RENDER_LABEL_H

#include "render/image.h"

/* Of a letter, in dots; a letter is 6 wide with the gap behind it. */
enum { WADI_LABEL_HEIGHT = 8, WADI_LABEL_ADVANCE = 6 };

/* Pixels, when a dot has `size` of them. */
int wadi_label_width(const char *text, int size);
/* ASCII; other bytes are boxes. (left, top) is the first letter's upper left dot; what lies outside of the picture is left out. */
void wadi_label_draw(WadiImage *image, int left, int top, const char *text, int size, const uint8_t rgb[3]);

#endif
