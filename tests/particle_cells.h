/* Fill of the cells of a domain that begins at the origin: volume and evenness, for tests of whole scenes. */
#ifndef WADI_TESTS_PARTICLE_CELLS_H
#define WADI_TESTS_PARTICLE_CELLS_H

#include <stdlib.h>

#include "expect.h"
#include "sim/sim.h"

typedef struct ParticleCells {
    int size[3];
    int *count; /* particles per cell */
    int most;   /* in one cell */
    int64_t occupied, inner;
    double fill; /* mean over inner cells, those with no empty neighbour: 1 when the volume is conserved */
    double deviation; /* standard deviation of it */
    double crowded;   /* fraction of the inner cells with more than twice their number */
    double starved;   /* and with less than a third */
} ParticleCells;

static inline int particle_cell(const ParticleCells *cells, int i, int j, int k)
{
    const int at[3] = { i, j, k };
    for (int a = 0; a < 3; ++a) {
        if (at[a] < 0 || at[a] >= cells->size[a]) {
            return -1; /* beyond a wall */
        }
    }
    return cells->count[i + cells->size[0] * (j + cells->size[1] * k)];
}

static inline ParticleCells count_particle_cells(const WadiSim *sim, int nx, int ny, int nz)
{
    ParticleCells cells = { .size = { nx, ny, nz }, .count = calloc((size_t)(nx * ny * nz), sizeof(int)) };
    assert_non_null(cells.count);
    const WadiParticles *p = &sim->particles;
    const double h = sim->world->cell_size;
    for (int32_t n = 0; n < p->count; ++n) {
        int i = (int)(p->x[n] / h), j = (int)(p->y[n] / h), k = (int)(p->z[n] / h);
        i = i < 0 ? 0 : i >= nx ? nx - 1 : i;
        j = j < 0 ? 0 : j >= ny ? ny - 1 : j;
        k = k < 0 ? 0 : k >= nz ? nz - 1 : k;
        cells.count[i + nx * (j + ny * k)] += 1;
    }
    double sum = 0.0, square = 0.0, crowded = 0.0, starved = 0.0;
    for (int k = 0; k < nz; ++k) {
        for (int j = 0; j < ny; ++j) {
            for (int i = 0; i < nx; ++i) {
                int count = particle_cell(&cells, i, j, k);
                cells.occupied += count > 0;
                cells.most = count > cells.most ? count : cells.most;
                bool is_inner =
                    count > 0 && particle_cell(&cells, i - 1, j, k) != 0 &&
                    particle_cell(&cells, i + 1, j, k) != 0 && particle_cell(&cells, i, j - 1, k) != 0 &&
                    particle_cell(&cells, i, j + 1, k) != 0 && particle_cell(&cells, i, j, k - 1) != 0 &&
                    particle_cell(&cells, i, j, k + 1) != 0;
                if (is_inner) {
                    cells.inner += 1;
                    sum += count / 8.0;
                    square += count * count / 64.0;
                    crowded += count > 16;
                    starved += 3 * count < 8;
                }
            }
        }
    }
    cells.fill = sum / (double)cells.inner;
    cells.deviation = sqrt(fmax(0.0, square / (double)cells.inner - cells.fill * cells.fill));
    cells.crowded = crowded / (double)cells.inner;
    cells.starved = starved / (double)cells.inner;
    return cells;
}

static inline void free_particle_cells(ParticleCells *cells)
{
    free(cells->count);
    *cells = (ParticleCells){ 0 };
}

#endif
