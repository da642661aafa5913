/* Particles that came too close push each other apart. [A24 conclusion; theory 7.4] */
#ifndef WADI_FLIP_SEPARATE_H
#define WADI_FLIP_SEPARATE_H

#include "core/arena.h"
#include "particles/store.h"

typedef struct WadiFlipSeparateIn {
    const WadiParticles *particles; /* count and ids; positions are not read */
    double diameter;                /* m: no two should be nearer */
    int iterations;
} WadiFlipSeparateIn;

typedef struct WadiFlipSeparateReport {
    int64_t contacts; /* pairs nearer than a diameter before the last iteration */
} WadiFlipSeparateReport;

/* Grains of this diameter cannot jam at the rest density, so that separation never swells a body: a cube of particles with
 * this distance fills 0.52 of its volume, loose packings of spheres begin at 0.55. */
static inline double wadi_flip_separate_diameter(double cell_size, int particles_per_axis)
{
    return cell_size / particles_per_axis;
}

/* Two in one place part in a direction of their own: that of particle `id`, opposite to the other's. */
WadiVec3 wadi_flip_any_direction(uint32_t id, uint32_t other);

/* Change the places x, y, z (ends of paths, before they are followed against the solids, which thereby hold). The centre of
 * mass stays. Pairs are neighbours by place alone: two on either side of a thin wall push too, and the wall stops them. */
WadiStatus wadi_flip_separate(const WadiFlipSeparateIn *in, double *x, double *y, double *z,
                              WadiArena *scratch, WadiFlipSeparateReport *report, WadiError *error);

#endif
