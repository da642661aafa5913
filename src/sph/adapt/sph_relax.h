/* Particles about those that were split or merged shift, so that all of them lie evenly again: each moves
 * against the gradient of its concentration e_i = sum_j V_j grad W_ij, which is what irregular positions add
 * to the pressure's force, 2 P e. Velocities stay. [LXSR12; theory 11.9] */
#ifndef WADI_SPH_RELAX_H
#define WADI_SPH_RELAX_H

#include "core/arena.h"
#include "geom/solids.h"
#include "particles/store.h"
#include "sph/walls/sph_kernel.h"

typedef struct WadiSphRelaxIn {
    WadiParticles *particles;
    const double *volume;        /* per particle, over that of one with the spacing given */
    double spacing;              /* m */
    const WadiSolids *solids;    /* mirror what lies before them */
    const WadiSphSpline *spline; /* the narrower one of the solver, which restores a lattice faster */
    double time;                 /* s: of the solids */
    /* Per particle. Those that changed shift, and their neighbours, where they may move. */
    const uint8_t *is_removed, *is_changed, *may_move;
} WadiSphRelaxIn;

WadiStatus wadi_sph_relax(const WadiSphRelaxIn *in, WadiArena *arena, WadiError *error);

#endif
