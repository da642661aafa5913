/* Text in pictures: a small fixed font of 5 x 7 dots. */
#ifndef WADI_RENDER_LETTERING_H
#define WADI_RENDER_LETTERING_H

#include "render/image/image.h"

enum { WADI_LETTER_WIDTH = 6, WADI_LETTER_HEIGHT = 9 }; /* dots from letter to letter and from line to line */

/* `scale` pixels per dot; (left, top) is the corner of the first letter. Clipped to the picture; characters
 * missing in the font become a box. */
void wadi_letter_text(WadiImage *image, int left, int top, int scale, const char *text, const uint8_t rgb[3]);
/* Width of the text in pixels. */
int wadi_letter_text_width(const char *text, int scale);

#endif
