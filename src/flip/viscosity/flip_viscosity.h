/* Viscosity as one implicit, variational problem: kinetic energy and dissipation are minimised together
 * [BB08; theory 5.6].
 *   min over u of  1/2 sum_faces m (u - u*)^2 + sum_cells n (d_a u_a)^2
 *                  + 1/2 sum_edges e (d_b u_a + d_a u_b)^2
 * m: liquid fraction of a face's control volume; n, e: coefficient mu dt / (rho h^2) times the liquid
 * fraction of a cell's or an edge's volume. The stress is the full symmetric one: rotation costs nothing and
 * a free surface needs no condition. A strain rate that does not come from u may be added. Closed faces have
 * the solid's velocity. */
#ifndef WADI_FLIP_VISCOSITY_H
#define WADI_FLIP_VISCOSITY_H

#include "linsys/poisson.h"

typedef struct WadiFlipViscosityIn {
    const WadiRows *rows;
    const uint8_t *fluid;     /* per row: bit l set where the cell of lane l is FLUID */
    const uint8_t *solid;     /* per row: cells inside solids */
    const float *distance;    /* per cell: from the free surface, m, negative in fluid; NULL: labels alone */
    const int32_t *solid_row; /* per row: its row in the next three arrays (flip_row_table.h); may be NULL */
    const float *solid_distance; /* per cell: from the solids, m; NULL: walls lie on faces */
    const float *open[3];        /* per face: open fraction */
    /* Per face, component of the solid's velocity, m/s; read where closed; NULL: 0. */
    const float *solid_velocity[3];
    const uint8_t *reached[3]; /* per row: faces with a velocity from particles; NULL: all */
    const float *coefficient;  /* per cell: mu dt / (rho_ref h^2); also in air cells that the surface cuts */
    /* Per cell: strain rate of the displacement beyond D(u), xx, yy, zz, xy, xz, yz, times the cell size,
     * m/s; NULL: 0. */
    const float *strain[6];
    const int32_t *strain_row; /* per row: its row in `strain` (flip_row_table.h) */
    /* Per face: an impulse beside that of viscosity, m/s times the mass of a full face; NULL: 0. */
    const float *impulse[3];
    const float *density[3]; /* per face, kg/m^3; NULL: the reference's everywhere */
    double reference_density;
    double cell_size;           /* m */
    bool is_slippery;           /* free slip at walls */
    WadiPoissonSettings solver; /* tolerances in m/s: the residual is of m u, a change of velocity */
} WadiFlipViscosityIn;

typedef struct WadiFlipViscosityReport {
    int iterations;
    double first_residual, residual; /* m/s */
    int64_t unknowns;
    bool has_converged, has_multigrid;
} WadiFlipViscosityReport;

/* Changes the velocities of open faces in or next to the fluid only. Momentum sum m u is conserved away
 * from walls. If the iteration ends early, the velocity still has less energy than u*: a step cannot blow
 * up. */
WadiStatus wadi_flip_viscosity(const WadiFlipViscosityIn *in, float *const velocity[3], WadiArena *scratch,
                               WadiFlipViscosityReport *report, WadiError *error);

/* The discrete problem, built by flip_viscosity_setup.c. Arrays in the order of rows; zero where nothing
 * acts. */
enum { WADI_VISCOUS_XY, WADI_VISCOUS_XZ, WADI_VISCOUS_YZ };

typedef struct WadiFlipViscous {
    const WadiRows *rows;
    uint8_t *unknown[3]; /* per row and component */
    uint8_t *is_active;  /* per row: 1 if it has a stress or an unknown */
    float *mass[3];      /* per face; > 0 exactly at unknowns */
    float *normal;       /* per cell: 2 n */
    float *edge[3];      /* per cell: e of the xy, xz, yz edge at its low corner */
    float largest;       /* of all coefficients */
} WadiFlipViscous;

WadiStatus wadi_flip_viscosity_setup(const WadiFlipViscosityIn *in, WadiFlipViscous *viscous,
                                     WadiArena *arena, WadiError *error);

#endif
