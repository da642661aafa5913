/* The triangles of a marching-cubes cell for each of the 256 combinations of inside corners.
 *
 * Corner c of a cell is at (c & 1, c >> 1 & 1, c >> 2 & 1) from its low corner; bit c of a case marks it as
 * inside. Edge e runs along axis e >> 2; bits 0 and 1 of e are its coordinates on the next two axes (x: y, z;
 * y: z, x; z: x, y). */
#ifndef WADI_SURFACE_MARCH_TABLE_H
#define WADI_SURFACE_MARCH_TABLE_H

#include <stdint.h>

enum { WADI_MARCH_TRIANGLES = 5 };

typedef struct WadiMarchCase {
    uint8_t count;
    uint8_t edge[WADI_MARCH_TRIANGLES][3]; /* counterclockwise seen from outside */
} WadiMarchCase;

/* 256 cases, made at the first call. */
const WadiMarchCase *wadi_march_table(void);

/* The corner at the low end of an edge. */
static inline int wadi_march_edge_corner(int edge)
{
    int axis = edge >> 2;
    return (edge & 1) << (axis + 1) % 3 | (edge >> 1 & 1) << (axis + 2) % 3;
}

#endif
