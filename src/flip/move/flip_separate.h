/* Particles that are too close push each other apart. [A24 conclusion; theory 7.4] */
#ifndef WADI_FLIP_SEPARATE_H
#define WADI_FLIP_SEPARATE_H

#include "core/arena.h"
#include "particles/store.h"

typedef struct WadiFlipSeparateIn {
    const WadiParticles *particles; /* count and ids; positions are not read */
    double diameter;                /* m: smallest distance of a pair */
    int iterations;
} WadiFlipSeparateIn;

typedef struct WadiFlipSeparateReport {
    int64_t contacts; /* pairs closer than a diameter before the last iteration */
} WadiFlipSeparateReport;

/* Spheres of this diameter cannot jam at the rest density, so that separation never swells a body: they
 * fill 0.52 of the volume, and loose packings begin at 0.55. */
static inline double wadi_flip_separate_diameter(double cell_size, int particles_per_axis)
{
    return cell_size / particles_per_axis;
}

/* Unit direction in which particle `id` leaves `other` if both have the same position; opposite for the
 * other. */
WadiVec3 wadi_flip_any_direction(uint32_t id, uint32_t other);

/* Change the positions x, y, z (path ends, before the solids stop them). The centre of mass stays. Pairs
 * on either side of a thin wall push each other too, and the wall stops them. */
WadiStatus wadi_flip_separate(const WadiFlipSeparateIn *in, double *x, double *y, double *z,
                              WadiArena *scratch, WadiFlipSeparateReport *report, WadiError *error);

#endif
