/* State of the marching-cubes passes. */
#ifndef WADI_SURFACE_MARCH_H
#define WADI_SURFACE_MARCH_H

#include "surface/mesh/surface_mesh.h"

/* A lattice edge that the surface crosses has one vertex and belongs to the row of its low node: bit 3 lane +
 * axis of `crossed`. A row's vertices are numbered in the order of these bits, so that counting bits finds
 * the vertex of an edge. The null row has none. */
typedef struct WadiMarch {
    const WadiField *field;
    uint8_t *inside;   /* per row: bit lane, value < 0 */
    uint32_t *crossed; /* per row */
    uint32_t *start;   /* per row: number of its first vertex */
    int64_t *vertices; /* per block of WADI_ROW_BLOCK rows: count, then number of the first */
    int64_t *triangles;
    WadiSurfaceMesh *surface;
} WadiMarch;

static inline uint32_t wadi_march_vertex(const WadiMarch *march, int32_t row, int lane, int axis)
{
    uint32_t before = (UINT32_C(1) << (3 * lane + axis)) - 1;
    return march->start[row] + (uint32_t)__builtin_popcount(march->crossed[row] & before);
}

/* Positions and normals of the vertices of rows [first, end). */
void wadi_march_place_vertices(const WadiMarch *march, int32_t first, int32_t end);

#endif
