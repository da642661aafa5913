/* Shared by the files that build and sample narrow bands. */
#ifndef WADI_GEOM_SDF_BAND_INTERNAL_H
#define WADI_GEOM_SDF_BAND_INTERNAL_H

#include "geom/sdf_band.h"

/* Tiles store 9^3 nodes: shared faces twice, so that a sample reads one tile. */
enum {
    WADI_BAND_NODES = WADI_TILE_SIDE + 1,
    WADI_BAND_LAYER = WADI_BAND_NODES * WADI_BAND_NODES,
    WADI_BAND_TILE_NODES = WADI_BAND_NODES * WADI_BAND_LAYER
};

/* The triangles that can be nearest to a point of a cell; none: too many. */
typedef struct WadiBandList {
    uint32_t first, count; /* in `candidates` */
} WadiBandList;

struct WadiSdfBand {
    WadiTileMap map;
    float (*node)[WADI_BAND_TILE_NODES]; /* m, by tile */
    int8_t *after;                       /* -1: the gap after the tile, in +x, is inside; +1: outside */
    double cell, cells_per_metre, width; /* m, 1/m, m */
    /* By cell of a tile: 0 where the band is smooth, or 1 + the index of the cell's list. NULL: no lists. */
    uint32_t (*list)[WADI_TILE_CELLS];
    WadiBandList *lists;
    size_t lists_count, lists_capacity;
    WadiMeshCandidate *candidates; /* of all lists */
    size_t candidates_count, candidates_capacity;
};

/* The cell of the band around a point. */
typedef struct WadiBandCell {
    const float *node;        /* m: distance at its low corner; 9 nodes a line, 81 a layer */
    const WadiBandList *list; /* NULL: smooth, or a band without lists */
    double fx, fy, fz;        /* position in it, 0..1 */
} WadiBandCell;

static inline double wadi_band_corner(const WadiBandCell *cell, int c)
{
    return (double)cell->node[(c >> 2) * WADI_BAND_LAYER + (c >> 1 & 1) * WADI_BAND_NODES + (c & 1)];
}

/* Index of a tile, -1: outside and beyond the band, -2: inside and beyond it. */
int32_t wadi_sdf_band_search(const WadiSdfBand *band, WadiTile tile);

static inline int32_t wadi_sdf_band_tile(const WadiSdfBand *band, WadiTile tile, WadiBandHint *hint)
{
    if (hint == NULL) {
        return wadi_sdf_band_search(band, tile);
    }
    const int n = (tile.x & 3) | (tile.y & 3) << 2 | (tile.z & 3) << 4;
    if (hint->last[n].index == WADI_BAND_NO_TILE || !wadi_tile_is_same(hint->last[n].tile, tile)) {
        hint->last[n].tile = tile;
        hint->last[n].index = wadi_sdf_band_search(band, tile);
    }
    return hint->last[n].index;
}

/* false: the band has no tile there, and *beyond is its width with the right sign. */
static inline bool wadi_sdf_band_find(const WadiSdfBand *band, WadiVec3 x, WadiBandHint *hint,
                                      WadiBandCell *cell, double *beyond)
{
    const WadiVec3 u = wadi_scale(x, band->cells_per_metre);
    const double i = floor(u.x), j = floor(u.y), k = floor(u.z);
    *beyond = band->width;
    if (!(fabs(i) < 2e9 && fabs(j) < 2e9 && fabs(k) < 2e9)) {
        return false;
    }
    const int32_t a = (int32_t)i, b = (int32_t)j, c = (int32_t)k;
    const WadiTile tile = { a >> 3, b >> 3, c >> 3 };
    const int32_t index = wadi_sdf_band_tile(band, tile, hint);
    if (index < 0) {
        *beyond = index == -1 ? band->width : -band->width;
        return false;
    }
    cell->node = &band->node[index][(c & 7) * WADI_BAND_LAYER + (b & 7) * WADI_BAND_NODES + (a & 7)];
    cell->fx = u.x - i;
    cell->fy = u.y - j;
    cell->fz = u.z - k;
    const uint32_t list = band->list != NULL ? band->list[index][(c & 7) << 6 | (b & 7) << 3 | (a & 7)] : 0;
    cell->list = list != 0 ? band->lists + (list - 1) : NULL;
    return true;
}

/* The interpolated distance; `gradient`, m per cell of the band, may be NULL. */
static inline double wadi_band_cell_distance(const WadiBandCell *cell, WadiVec3 *gradient)
{
    const double fx = cell->fx, fy = cell->fy, fz = cell->fz;
    double v[8];
    for (int c = 0; c < 8; ++c) {
        v[c] = wadi_band_corner(cell, c);
    }
    const double x00 = v[0] + fx * (v[1] - v[0]), x10 = v[2] + fx * (v[3] - v[2]);
    const double x01 = v[4] + fx * (v[5] - v[4]), x11 = v[6] + fx * (v[7] - v[6]);
    const double y0 = x00 + fy * (x10 - x00), y1 = x01 + fy * (x11 - x01);
    if (gradient != NULL) {
        const double gx0 = (v[1] - v[0]) + fy * ((v[3] - v[2]) - (v[1] - v[0]));
        const double gx1 = (v[5] - v[4]) + fy * ((v[7] - v[6]) - (v[5] - v[4]));
        gradient->x = gx0 + fz * (gx1 - gx0);
        gradient->y = (x10 - x00) + fz * ((x11 - x01) - (x10 - x00));
        gradient->z = y1 - y0;
    }
    return y0 + fz * (y1 - y0);
}

/* Bound on the error of the interpolation, m. */
double wadi_band_cell_error(const WadiBandCell *cell, double size);

/* 1 outside, -1 inside, 0 undecided, for a point in the cell to which no surface is nearer than `clear`,
 * and a shape without holes. */
int wadi_band_cell_side(const WadiBandCell *cell, double size, double clear);

#endif
