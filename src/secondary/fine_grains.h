/* Fine grains on coarse particles of sand: seeded in the volume of each and carried by the particles around
 * them, so that pictures show grains that slide past each other. LD09 sec. 5 proposes it; as the water of
 * IAAT12, they do not act on the sand. [theory 14.5] */
#ifndef WADI_SECONDARY_FINE_GRAINS_H
#define WADI_SECONDARY_FINE_GRAINS_H

#include "core/array.h"
#include "secondary/secondary.h"

typedef struct WadiFineGrain {
    WadiVec3 x;    /* m */
    float v[3];    /* m/s, mean since the frame before */
    float radius;  /* m, of a grain of mean size */
    float wetness; /* 0..1 */
    uint32_t id;
    uint8_t material;
} WadiFineGrain;

/* In rising order of ids. A zeroed list is valid. */
typedef struct WadiFineGrains {
    WADI_ARRAY(WadiFineGrain) list;
} WadiFineGrains;

void wadi_fine_grains_free(WadiFineGrains *grains);

/* Whether runs of the scene have them. */
bool wadi_fine_grains_apply(const WadiScene *scene);

/* The grains of frame `step->after` from those of `step->before`, which is NULL for the first frame. */
WadiStatus wadi_fine_grains_step(WadiFineGrains *grains, const WadiWorld *world,
                                 const WadiSecondaryStep *step, WadiArena *arena, WadiError *error);

/* As the arrays of a frame: position, velocity, id, material, radius, wetness. */
WadiStatus wadi_fine_grains_save(const WadiFineGrains *grains, WadiState *state, WadiError *error);
WadiStatus wadi_fine_grains_load(WadiFineGrains *grains, const WadiState *state, WadiError *error);

/* The displacement of a point that moves with the weighted particles around it: the affine map that fits
 * theirs best, so that bodies which move rigidly carry it exactly; where they lie on a plane or a line, or
 * are few, their mean. */
typedef struct WadiCarry {
    double weight, r[3], rr[6], d[3], dr[9]; /* sums; r: m from the point, d: m; rr: xx yy zz xy xz yz */
} WadiCarry;

void wadi_carry_add(WadiCarry *carry, double weight, const double r[3], const double d[3]);
/* `support` is the radius of the weights, m. */
void wadi_carry_displacement(const WadiCarry *carry, double support, double d[3]);

#endif
