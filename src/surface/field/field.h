/* A function of space whose zero is the surface, sampled at the nodes of a lattice in a narrow band around
 * that zero.
 *
 * Node (i, j, k) lies at cell * (i, j, k). Nodes are stored by rows of eight along x (grid/rows.h; its
 * "cells" are nodes here). Values are negative inside and approximate distances in metres, for every method
 * and every pass.
 *
 * Invariant (closedness): when two neighbouring nodes differ in sign, or one is exactly 0, all nodes of the
 * four cells that share their edge are in the band. A node outside the band has the sign of its
 * neighbours. */
#ifndef WADI_SURFACE_FIELD_H
#define WADI_SURFACE_FIELD_H

#include "core/arena.h"
#include "grid/rows.h"
#include "surface/cloud/bins.h"
#include "surface/cloud/cloud.h"

/* In the order of the scene key `surface.method`. */
typedef enum WadiSurfaceMethod {
    WADI_SURFACE_ZHU_BRIDSON,
    WADI_SURFACE_ANISOTROPIC,
    WADI_SURFACE_BLOBBY,
    WADI_SURFACE_COLOR_FIELD,
    WADI_SURFACE_MLS,
    WADI_SURFACE_METHOD_COUNT
} WadiSurfaceMethod;

/* Lengths in spacings are multiples of each particle's own spacing, so that mixed sizes need no settings. */
typedef struct WadiFieldDef {
    WadiSurfaceMethod method;
    double cell;    /* m */
    double support; /* spacings: support radius, R of ZB05; the scene key `surface.reach`. 2 */
    double radius;  /* spacings: r of ZB05. 1 */
    double offset;  /* spacings: inward offset of the surface, zhu_bridson only; 0: the paper's surface */
    /* spacings: largest displacement inwards and outwards to match the particles' volume */
    double volume_slack[2];
    bool is_concave_fixed; /* the factor of [SSP07] on r, zhu_bridson only */
    int smoothing;         /* smoothing passes of ZB05 */
    int lowering;          /* further passes that only lower the field */
    double flatten; /* spacings: removes bumps shorter than about three times this from planes; 0: none */
    double flatten_unit; /* m: lower bound of the spacing that `flatten` is a multiple of */
    bool is_clipped;     /* by `clip` */
    WadiBox clip;        /* m, the domain */
    /* particles are mirrored at the planes of `clip`, so that faces against them are flat */
    bool is_mirrored;
    double sunk; /* m: they are mirrored this far above the lowest plane of `clip` instead of at it */
    WadiStop stop;
} WadiFieldDef;

/* WADI_ERR_STOPPED once a stop is requested. Called between the stages and rounds of a frame. */
WadiStatus wadi_field_check_stop(const WadiFieldDef *def, WadiError *error);

typedef struct WadiField {
    double cell; /* m */
    WadiTileMap tiles;
    WadiRows rows;
    float *value;    /* wadi_rows_floats(&rows), m; the null row is 0 and has no meaning */
    int64_t sampled; /* nodes whose value was computed from particles, for the benchmark */
} WadiField;

/* Builds, smooths and clips the field. `bins` are those of the cloud. Memory belongs to the arena: with
 * scratch about 0.4 kB per crossed lattice edge (cells of half a spacing, one pass), 9 kB for a lone particle
 * (cells of a spacing, no pass). WADI_ERR_ARGUMENT when the lattice would need coordinates beyond 2^28; names
 * a cell size that fits. */
WadiStatus wadi_field_build(WadiField *field, const WadiCloud *cloud, const WadiBins *bins,
                            const WadiFieldDef *def, WadiArena *arena, WadiError *error);

/* The offset, in spacings, with which a surface of radius 1 encloses the volume of its particles. A lone
 * particle never gets less than its volume, or than `radius` gives. */
double wadi_field_volume_offset(double support, double radius);
/* Largest displacements from there: inwards to the ball of a lone particle, outwards to the paper's
 * surface. */
void wadi_field_volume_slack(double support, double slack[2]);

/* The method's value at one point, in double and without the band: the definition, for tests. */
double wadi_field_reference(const WadiCloud *cloud, const WadiFieldDef *def, WadiVec3 x);

#endif
