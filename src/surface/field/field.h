/* A function of space whose zero is the surface, sampled at the nodes of a lattice in a narrow band around that zero.
 *
 * Node (i, j, k) lies at cell * (i, j, k). Nodes are kept by rows of eight along x (grid/rows.h, "cells" there are nodes here).
 * Values are negative inside and about metres, so that every method and every pass after it speaks of the same thing.
 *
 * Invariant (closedness): when two neighbouring nodes differ in sign, or one is exactly 0, all nodes of the four cells that
 * share their edge are in the band. A node outside the band has the sign of the nodes beside it. */
#ifndef WADI_SURFACE_FIELD_H
#define WADI_SURFACE_FIELD_H

#include "core/arena.h"
#include "grid/rows.h"
#include "surface/cloud/bins.h"
#include "surface/cloud/cloud.h"

/* The order of the scene's `surface.method`. */
typedef enum WadiSurfaceMethod {
    WADI_SURFACE_ZHU_BRIDSON,
    WADI_SURFACE_ANISOTROPIC,
    WADI_SURFACE_BLOBBY,
    WADI_SURFACE_COLOR_FIELD,
    WADI_SURFACE_METHOD_COUNT
} WadiSurfaceMethod;

/* Lengths in spacings are multiples of each particle's own spacing, so that mixed sizes need no settings. */
typedef struct WadiFieldDef {
    WadiSurfaceMethod method;
    double cell;   /* m */
    double reach;  /* spacings: R of ZB05; particles further away than this are not seen. 2 */
    double radius; /* spacings: r of ZB05. 1 */
    double offset; /* spacings: how far the surface is moved in, zhu_bridson only; 0: the paper's */
    /* spacings: how far it may be moved in and out to hold the particles' volume */
    double volume_slack[2];
    bool is_concave_fixed; /* Solenthaler's factor on r, zhu_bridson only */
    int smoothing;         /* passes of ZB05 on the field */
    int lowering;          /* further passes that only decrease it */
    double flatten; /* spacings: bumps shorter than about three times this are taken off planes; 0: none */
    double flatten_unit; /* m: the spacing that `flatten` speaks of, where the particles' own is smaller */
    bool is_clipped;     /* by `clip` */
    WadiBox clip;        /* m, the domain */
    bool is_mirrored; /* particles go on behind the planes of `clip`, so that faces against them are flat */
    const volatile int *stop; /* when not NULL and not 0: end soon with WADI_ERR_STOPPED */
} WadiFieldDef;

/* WADI_ERR_STOPPED once that is wanted; between the stages and the rounds of a frame. */
WadiStatus wadi_field_check_stop(const WadiFieldDef *def, WadiError *error);

typedef struct WadiField {
    double cell; /* m */
    WadiTileMap tiles;
    WadiRows rows;
    float *value;    /* wadi_rows_floats(&rows), m; the null row is 0 and means nothing */
    int64_t sampled; /* nodes whose value was computed from particles: for the bench */
} WadiField;

/* Build, smooth and clip. `bins` are those of the cloud. Memory belongs to the arena: with the samples on the way about 0.4 kB a
 * crossing of the lattice (cells of half a spacing, one pass), 9 kB for a particle alone (cells of a spacing, no pass). WADI_ERR_ARGUMENT when the lattice would
 * need coordinates beyond 2^28; says which cell size would do. */
WadiStatus wadi_field_build(WadiField *field, const WadiCloud *cloud, const WadiBins *bins,
                            const WadiFieldDef *def, WadiArena *arena, WadiError *error);

/* The offset that makes a surface of radius 1 hold its particles' volume, in spacings; never so much that a particle alone is
 * left with less than its volume, or than the radius says. */
double wadi_field_volume_offset(double reach, double radius);
/* How far from there in and out it may be moved for that: from a lone particle's ball to the paper's. */
void wadi_field_volume_slack(double reach, double slack[2]);

/* The method's value at one point, in double and without the band: the definition that tests compare with. */
double wadi_field_reference(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 x);

#endif
