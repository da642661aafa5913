/* The body that particles of different sizes make, on a sparse grid: which cells it fills, and how deep the
 * outermost ones lie below its surface. */
#ifndef WADI_SPH_BODY_GRID_H
#define WADI_SPH_BODY_GRID_H

#include "geom/solids.h"
#include "grid/rows.h"
#include "particles/store.h"

typedef struct WadiSphBodyGrid {
    double cell_size; /* m */
    WadiTileMap tiles;
    uint64_t *mask;
    WadiRows rows;
    uint8_t *inside, *solid; /* a byte per row; cells behind walls count only beside the body */
    float *depth;            /* m: of cells beside air, sure to be positive; others are not set */
} WadiSphBodyGrid;

typedef struct WadiSphBodyGridIn {
    const WadiParticles *particles;
    const double *volume; /* per particle, over that of one with the spacing given */
    double spacing;       /* m: also the width of cells */
    const WadiSolids *solids;
    double time; /* s */
} WadiSphBodyGridIn;

/* Memory in the arena. WADI_ERR_NUMERIC for a particle whose cell has no index. */
WadiStatus wadi_sph_body_grid(WadiSphBodyGrid *grid, const WadiSphBodyGridIn *in, WadiArena *arena,
                              WadiError *error);
/* Two arrays over the cells, interpolated between the centres of those of the body: continuous, so that
 * the value of a particle at rest does not jump. Returns false where no such cell is beside it. */
bool wadi_sph_body_sample(const WadiSphBodyGrid *grid, const float *const arrays[2], const double x[3],
                          double values[2]);
/* Centre of a cell. */
WadiVec3 wadi_sph_body_centre(const WadiSphBodyGrid *grid, size_t cell);

#endif
