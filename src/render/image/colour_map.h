/* Colours that stand for numbers: lightness rises evenly along a map, so that equal steps look equal, also in grey and to those
 * who do not tell red from green. */
#ifndef WADI_RENDER_COLOUR_MAP_H
#define WADI_RENDER_COLOUR_MAP_H

#include <stdint.h>

typedef enum WadiColourMap {
    WADI_MAP_DUNE,   /* violet, red, sand, pale: the default */
    WADI_MAP_LAGOON, /* dark blue, teal, pale yellow: pressures, wetness */
    WADI_MAP_SPLIT,  /* blue, white, red: about zero */
    WADI_MAP_GREY,
    WADI_MAP_KINDS, /* unlike colours for whole numbers */
    WADI_MAP_COUNT
} WadiColourMap;

const char *wadi_colour_map_name(WadiColourMap map);
/* -1: no map of that name. */
int wadi_colour_map_find(const char *name);

/* sRGB at t, 0..1, beyond which the ends hold. KINDS: t is a whole number from 0 on. */
void wadi_colour_map_at(WadiColourMap map, double t, uint8_t rgb[3]);

/* Lightness, 0..1, of an sRGB colour in OKLab [Ott20]. */
double wadi_colour_lightness(const uint8_t rgb[3]);

#endif
