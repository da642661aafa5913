/* Distances of any bounded shape cached in a narrow band around its surface: one trilinear sample instead
 * of a search in trees. Sparse: only tiles of 8^3 cells that the band touches are stored. */
#ifndef WADI_GEOM_SDF_BAND_H
#define WADI_GEOM_SDF_BAND_H

#include "geom/mesh/mesh_distance.h"
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

/* Cache of tiles for the next samples. */
enum { WADI_BAND_HINTS = 64, WADI_BAND_NO_TILE = -3 };

typedef struct WadiBandHint {
    struct {
        WadiTile tile;
        int32_t index; /* of the tile; -1: outside the band, -2: the same inside the shape, or NO_TILE */
    } last[WADI_BAND_HINTS];
} WadiBandHint;

void wadi_sdf_band_hint_clear(WadiBandHint *hint);

/* 1 outside, -1 inside, 0 undecided. Requires that no surface is nearer to x than `clear`, and a shape
 * without holes. */
int wadi_sdf_band_side(const WadiSdfBand *band, WadiVec3 x, double clear);

/* Add lists of the triangles that can be nearest to the points of a cell, in cells where interpolation is
 * poor: near an edge or a thin wall the band bends, or its gradient is short. The shape is the mesh of
 * `tree`, half > 0: a shell of that half thickness. */
WadiStatus wadi_sdf_band_add_lists(WadiSdfBand *band, const WadiMesh *mesh, const WadiMeshTree *tree,
                                   double half, WadiError *error);
double wadi_sdf_band_cell(const WadiSdfBand *band);

size_t wadi_sdf_band_bytes(const WadiSdfBand *band);
int32_t wadi_sdf_band_tile_count(const WadiSdfBand *band);

#endif
