/* Distances of any bounded shape cached in a narrow band around its surface: one trilinear sample instead
 * of a search in trees. Sparse: only tiles of 8^3 cells that the band touches are stored. */
#ifndef WADI_GEOM_SDF_BAND_H
#define WADI_GEOM_SDF_BAND_H

#include "geom/shape.h"
#include "grid/tile_map.h"

typedef struct WadiSdfBand WadiSdfBand;

/* The shape as it is at `time`, cells of `cell_size` metres, exact at nodes up to `band_cells` cells from the
 * surface. */
WadiStatus wadi_sdf_band_create(WadiSdfBand **band, const WadiShape *shape, double cell_size,
                                double band_cells, double time, WadiError *error);
void wadi_sdf_band_destroy(WadiSdfBand *band);

/* Distance and its gradient (may be NULL; not normalised). Beyond the band: plus or minus its width with the
 * right sign, gradient zero; returns false there. */
bool wadi_sdf_band_sample(const WadiSdfBand *band, WadiVec3 x, double *distance, WadiVec3 *gradient);
/* The distance and a bound on its error; false beyond the band. */
bool wadi_sdf_band_distance(const WadiSdfBand *band, WadiVec3 x, double *distance, double *error);

/* A sample with its accuracy. */
typedef struct WadiBandPoint {
    double distance;
    WadiVec3 gradient;
    double error; /* m, bound on the error of the distance inside the band */
    double bend;  /* m, largest deviation of the nodes around from a linear function */
} WadiBandPoint;

/* Cache of tiles for the next samples. */
enum { WADI_BAND_HINTS = 64 };

typedef struct WadiBandHint {
    struct {
        WadiTile tile;
        int32_t index; /* -1: the band has no such tile, -2: empty entry */
    } last[WADI_BAND_HINTS];
} WadiBandHint;

void wadi_sdf_band_hint_clear(WadiBandHint *hint);

/* `hint` may be NULL. */
bool wadi_sdf_band_query(const WadiSdfBand *band, WadiVec3 x, WadiBandHint *hint, WadiBandPoint *point);

/* 1 outside, -1 inside, 0 undecided. Requires that no surface is nearer to x than `clear`, and a shape
 * without holes. */
int wadi_sdf_band_side(const WadiSdfBand *band, WadiVec3 x, WadiBandHint *hint, double clear);
double wadi_sdf_band_cell(const WadiSdfBand *band);

size_t wadi_sdf_band_bytes(const WadiSdfBand *band);
int32_t wadi_sdf_band_tile_count(const WadiSdfBand *band);

#endif
