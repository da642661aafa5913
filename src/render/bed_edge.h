/* Sand beyond the sides of a domain, so that a bed goes over into the plain around it without an edge. */
#ifndef WADI_RENDER_BED_EDGE_H
#define WADI_RENDER_BED_EDGE_H

#include "core/arena.h"
#include "surface/cloud/cloud.h"

/* Spacings beyond the domain where the plain begins. */
#define WADI_BED_RIM 6.0

typedef struct WadiBed {
    WadiBox domain;
    double height, wetness; /* m and 0..1, of the plain */
} WadiBed;

/* The cloud and its mirror images in the four upright sides of the domain. The heights of images over the
 * plain, and their wetness, fall in proportion to the distance from the side, to those of the plain at the
 * rim. Beyond sides without sand there is that of the plain. In the arena. */
WadiStatus wadi_bed_extend(WadiCloud *to, const WadiCloud *cloud, const WadiBed *bed, WadiArena *arena,
                           WadiError *error);

#endif
