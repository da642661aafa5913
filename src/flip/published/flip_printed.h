/* Stages of [ZB05] and [A24] as printed, for `published`. What each printed rule gets wrong:
 * docs/reproduction.md. Units, labels and free faces as in flip_friction.h. */
#ifndef WADI_FLIP_PRINTED_H
#define WADI_FLIP_PRINTED_H

#include "flip/pressure/flip_project.h"
#include "flip/published/flip_rigid.h"
#include "flip/solids/flip_solid.h"
#include "flip/transfer/flip_transfer.h"
#include "particles/collide.h"

/* Strain rates times dx at the centres by central differences, and which FLUID cells are RIGID. `velocity`
 * must be extended beyond the fluid. load->k is the slope of eq. 2, load->sliding_fraction is not read.
 * [ZB05 sec. 3.2, eqs. 1, 2, 3, 5] */
WadiStatus wadi_printed_classify(const WadiFrictionGrid *grid, const float *const velocity[3],
                                 const WadiRigidLoad *load, WadiRigidCells *cells, WadiArena *arena,
                                 WadiError *error);
/* Divergence of the stress on the faces that touch no RIGID cell. [ZB05 sec. 3.2] */
void wadi_printed_slide(const WadiFrictionGrid *grid, const WadiRigidCells *cells, float *const velocity[3]);

typedef struct WadiPrintedCells {
    const WadiRows *rows;
    const uint8_t *fluid, *solid; /* per row */
    const int32_t *solid_row;     /* per row: its row in solid_speed; may be NULL */
    const float *solid_speed[3];  /* per face; NULL: 0 */
    double cell_size;
} WadiPrintedCells;

/* u.n >= 0: no face between a solid cell and another one moves into the solid. [ZB05 sec. 3.3] */
void wadi_printed_stop_at_solids(const WadiPrintedCells *cells, float *const velocity[3]);
/* Velocities outside the fluid: distance to it, then grad u . grad distance = 0. [ZB05 sec. 4.2.3] */
WadiStatus wadi_printed_extend(const WadiPrintedCells *cells, float *const velocity[3], WadiArena *scratch,
                               WadiError *error);
/* Faces of solid cells become 0. [A24 sec. I-B] */
void wadi_printed_clear_solids(const WadiPrintedCells *cells, float *const velocity[3]);

/* Gauss-Seidel: a cell after the other, in the order of the grid's rows, the net outflow is removed in equal
 * parts at the open faces. Walls have velocity 0. [A24 sec. I-B] */
WadiStatus wadi_printed_sweeps(const WadiFlipProjectIn *in, int sweeps, WadiFlipProjectOut *out,
                               WadiFlipProjectReport *report, WadiError *error);

typedef struct WadiPrintedMoveIn {
    const WadiSolids *solids;
    const WadiFlipGrid *grid;
    const WadiFlipSolid *solid;
    double cell_size, time, dt;
    int substeps; /* of RK2 in the grid's velocities [ZB05 sec. 4.2.5]; 0: x + dt v of the particle [A24] */
    bool is_stopped; /* particles that left a solid lose their velocity into it */
} WadiPrintedMoveIn;

/* Paths of all particles, which are moved out of solids along the normal after each part. */
WadiCollideReport wadi_printed_move(WadiParticles *particles, const WadiPrintedMoveIn *in);

#endif
