/* The surface of sand as single grains, made where a ray meets them and stored nowhere. Grains lie on a
 * jittered lattice; lengths here are in cells of it. A bed is the half space below a plane: a grain is there
 * if it lies below the plane as a whole. [theory 12.3] */
#ifndef WADI_RENDER_GRAIN_BED_H
#define WADI_RENDER_GRAIN_BED_H

#include "render/bed/grain_shape.h"

/* Cell of the lattice over the mean diameter of the grains. */
#define WADI_BED_CELL 0.95f

typedef struct WadiGrainBed {
    const WadiGrainShape *shapes; /* WADI_GRAIN_SHAPES */
    uint64_t seed;                /* of the lattice */
    WadiVec3f normal;             /* unit, outward, in the frame of the lattice */
    float height;                 /* the plane: normal . x = height */
} WadiGrainBed;

typedef struct WadiGrainHit {
    WadiVec3f position, normal; /* in the frame of the lattice */
    float depth;                /* below the plane */
    uint64_t grain;             /* hash of the grain */
} WadiGrainHit;

/* The first grain on the way of a ray that enters the bed at `origin`, a point of the plane. A ray that finds
 * none within the first layers ends on a floor, so that there is always a hit. */
WadiGrainHit wadi_grain_bed_hit(const WadiGrainBed *bed, WadiVec3f origin, WadiVec3f direction);
/* Whether light from `direction` reaches a hit. */
bool wadi_grain_bed_is_lit(const WadiGrainBed *bed, const WadiGrainHit *hit, WadiVec3f direction);
/* The grain of the cell that contains a point: colours where grains are too small to be seen as shapes. */
uint64_t wadi_grain_bed_cell(uint64_t seed, WadiVec3f position);

/* Of the grains above, white, under a plane: light of the direction `in` that reaches `out` after one
 * reflection, over that of a white Lambertian plane. Both are unit vectors, z along the normal. Measured from
 * the geometry by tests/unit/test_grain_bed.c. */
float wadi_bed_single(WadiVec3f out, WadiVec3f in);
/* The fraction of light towards the cosine that leaves after one reflection, and its mean. */
float wadi_bed_albedo(float cosine);
float wadi_bed_albedo_mean(void);
/* Of a grain seen from the cosine: light that was reflected more than once, which gaps receive less of, over
 * its mean. */
float wadi_bed_depth_factor(float depth, float cosine);

#endif
