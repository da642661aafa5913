/* Viscosity as one implicit, variational problem: the velocity that loses least from u*, kinetic energy and
 * dissipation together [BB08].
 *   min over u of  1/2 sum_faces m (u - u*)^2 + sum_cells n (d_a u_a)^2 + 1/2 sum_edges e (d_b u_a + d_a u_b)^2
 * m: liquid share of a face's volume; n, e: coefficient mu dt / (rho h^2) times the liquid share of a cell's or an edge's
 * volume. The stress is the full symmetric one, so that rotation costs nothing and a free surface needs no condition of its
 * own: nothing pulls at it. Solids hold what touches them: closed faces have the solid's velocity. */
#ifndef WADI_FLIP_VISCOSITY_H
#define WADI_FLIP_VISCOSITY_H

#include "linsys/poisson.h"

typedef struct WadiFlipViscosityIn {
    const WadiRows *rows;
    const uint8_t *fluid;     /* per row: bit l set where the cell of lane l is FLUID */
    const uint8_t *solid;     /* per row: cells inside solids */
    const float *distance;    /* per cell: from the free surface, m, negative in fluid; NULL: labels alone */
    const int32_t *solid_row; /* per row: where the next three have it (flip_row_table.h); may be NULL */
    const float *solid_distance; /* per cell: from the solids, m; NULL: walls lie on faces */
    const float *open[3];        /* per face: open fraction */
    const float
        *solid_velocity[3]; /* per face, component of the solid's velocity, m/s; read where closed; NULL: 0 */
    const uint8_t *reached[3]; /* per row: faces that particles gave a velocity; NULL: all */
    const float *coefficient;  /* per cell: mu dt / (rho_ref h^2); also in air cells that the surface cuts */
    const float *density;      /* per cell, kg/m^3; NULL: the reference's everywhere */
    double reference_density;
    double cell_size;           /* m */
    bool is_slippery;           /* walls hold nothing along them */
    WadiPoissonSettings solver; /* tolerances in m/s: the residual is of m u, a change of velocity */
} WadiFlipViscosityIn;

typedef struct WadiFlipViscosityReport {
    int iterations;
    double first_residual, residual; /* m/s */
    int64_t unknowns;
    bool has_converged, has_multigrid;
} WadiFlipViscosityReport;

/* Velocities of open faces in or beside the fluid change; all others are left alone. Momentum sum m u is kept where no wall
 * is. When the iteration ends early, the velocity is still one of less energy than u*: a step cannot blow up. */
WadiStatus wadi_flip_viscosity(const WadiFlipViscosityIn *in, float *const velocity[3], WadiArena *scratch,
                               WadiFlipViscosityReport *report, WadiError *error);

/* What the iteration runs over: flip_viscosity_setup.c. Arrays in the order of rows; zero where they do not act. */
enum { WADI_VISCOUS_XY, WADI_VISCOUS_XZ, WADI_VISCOUS_YZ };

typedef struct WadiFlipViscous {
    const WadiRows *rows;
    uint8_t *unknown[3]; /* per row and component */
    uint8_t *acts;       /* per row: 1 where a stress or an unknown is */
    float *mass[3];      /* per face; > 0 exactly at unknowns */
    float *normal;       /* per cell: 2 n */
    float *edge[3];      /* per cell: e of the xy, xz, yz edge at its low corner */
    float largest;       /* of all coefficients */
} WadiFlipViscous;

WadiStatus wadi_flip_viscosity_setup(const WadiFlipViscosityIn *in, WadiFlipViscous *viscous,
                                     WadiArena *arena, WadiError *error);

#endif
