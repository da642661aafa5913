/* Colour maps: lightness changes evenly along a map, so that equal steps look equal, also in grey and to
 * colour-blind readers. */
#ifndef WADI_RENDER_COLOUR_MAP_H
#define WADI_RENDER_COLOUR_MAP_H

#include <stdint.h>

typedef enum WadiColourMap {
    WADI_MAP_DUNE,   /* violet, red, sand, pale: the default */
    WADI_MAP_LAGOON, /* dark blue, teal, pale yellow: pressures, wetness */
    WADI_MAP_SPLIT,  /* blue, white, red: about zero */
    WADI_MAP_GREY,
    WADI_MAP_KINDS, /* distinct colours for integers */
    WADI_MAP_COUNT
} WadiColourMap;

const char *wadi_colour_map_name(WadiColourMap map);
/* -1 when there is no map of that name. */
int wadi_colour_map_find(const char *name);

/* sRGB at t, clamped to 0..1. KINDS: t is an integer from 0 on. */
void wadi_colour_map_at(WadiColourMap map, double t, uint8_t rgb[3]);

#endif
