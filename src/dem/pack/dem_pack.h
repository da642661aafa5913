/* Random packings: grains that overlap are moved apart before they act on each other. */
#ifndef WADI_DEM_PACK_H
#define WADI_DEM_PACK_H

#include "dem/bodies/dem_shapes.h"
#include "geom/solids.h"
#include "particles/store.h"

/* Grains are rigid bodies of spheres; those of index below `fixed` do not move. */
typedef struct WadiDemPack {
    WadiDemShape shape;
    const WadiSolids *solids; /* grains stay out of them and inside the domain */
    double time;              /* s, of the solids */
    double period;            /* m: space repeats along all three axes; INFINITY: it does not */
    double diameter;          /* m, mean of the spheres */
    int32_t count;            /* grains that move */
    WadiVec3 *centre;         /* m */
    double (*turn)[4];        /* orientation: a quaternion */
    double *radius;           /* m, of the spheres of a grain */
    /* Bodies that grains are of, and which of them; -1: none. Their centres stay inside while there is
     * room. */
    const WadiShape *const *body;
    int32_t *body_of;
    /* Spheres that do not move. */
    int32_t fixed_count;
    const WadiVec3 *fixed;
    const double *fixed_radius;
} WadiDemPack;

typedef struct WadiDemPackReport {
    int rounds;
    double overlap; /* the largest one, over the mean diameter */
    int32_t jammed; /* grains that overlap by more than WADI_DEM_JAMMED */
} WadiDemPackReport;

/* The part of their bulk volume that grains of a shape fill when they are packed at random. */
double wadi_dem_packed_fraction(WadiDemShape shape);
/* Bonds of a sphere in such a packing, over gaps of up to a tenth of a diameter, times the distance between
 * the centres of the grains over the diameter of a sphere. */
double wadi_dem_packed_bonds(WadiDemShape shape);
/* The largest overlap that a packing is left with, over the mean diameter. */
extern const double WADI_DEM_PACKED_OVERLAP;
/* The same of grains that count as jammed. */
extern const double WADI_DEM_JAMMED;

/* Moves and turns the grains until none overlap by more than WADI_DEM_PACKED_OVERLAP, or as far as a bounded
 * number of rounds does. The same bytes for any number of threads. */
WadiStatus wadi_dem_pack(WadiDemPack *pack, WadiDemPackReport *report, WadiError *error);

#endif
