/* Distances of any bounded shape cached in a narrow band around its surface: one trilinear look-up instead of a walk
 * through trees. Sparse: only tiles of 8^3 cells that the band touches are stored. */
#ifndef WADI_GEOM_SDF_BAND_H
#define WADI_GEOM_SDF_BAND_H

#include "geom/shape.h"
#include "grid/tile_map.h"

typedef struct WadiSdfBand WadiSdfBand;

/* The shape as it is at `time`, cells of `cell_size` metres, exact at nodes up to `band_cells` cells from the surface. */
WadiStatus wadi_sdf_band_create(WadiSdfBand **band, const WadiShape *shape, double cell_size,
                                double band_cells, double time, WadiError *error);
void wadi_sdf_band_destroy(WadiSdfBand *band);

/* Distance and its gradient (may be NULL; not normalised). Beyond the band: plus or minus its width with the right sign,
 * gradient zero; returns false there. */
bool wadi_sdf_band_sample(const WadiSdfBand *band, WadiVec3 x, double *distance, WadiVec3 *gradient);
/* The distance, and how far it may be from the true one, as far as the band goes. */
bool wadi_sdf_band_distance(const WadiSdfBand *band, WadiVec3 x, double *distance, double *error);

/* All of it with what it is worth. */
typedef struct WadiBandPoint {
    double distance;
    WadiVec3 gradient;
    double error; /* m: no more than this from the true distance, as far as the band goes */
    double bend;  /* m: how far the nodes around are from the plane that distance and gradient make */
} WadiBandPoint;

/* Tiles of the last samples, for the next. */
enum { WADI_BAND_HINTS = 64 };

typedef struct WadiBandHint {
    struct {
        WadiTile tile;
        int32_t index; /* -1: the band has no such tile, -2: nothing is remembered here */
    } last[WADI_BAND_HINTS];
} WadiBandHint;

void wadi_sdf_band_hint_clear(WadiBandHint *hint);

/* `hint` may be NULL. */
bool wadi_sdf_band_look(const WadiSdfBand *band, WadiVec3 x, WadiBandHint *hint, WadiBandPoint *point);

/* 1 outside, -1 inside, 0: the band cannot tell. No surface is nearer to x than `clear`, and the shape has no holes. */
int wadi_sdf_band_side(const WadiSdfBand *band, WadiVec3 x, WadiBandHint *hint, double clear);
double wadi_sdf_band_cell(const WadiSdfBand *band);

size_t wadi_sdf_band_bytes(const WadiSdfBand *band);
int32_t wadi_sdf_band_tile_count(const WadiSdfBand *band);

#endif
