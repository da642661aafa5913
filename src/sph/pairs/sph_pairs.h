/* Neighbours of the sph solver, and the gradient of the kernel for each pair.
 *
 * Positions are whole numbers of 2^-20 spacings, modulo 2^32: differences of neighbours are exact wherever
 * the scene stands, and the terms of a pair are exactly opposite. */
#ifndef WADI_SPH_PAIRS_H
#define WADI_SPH_PAIRS_H

#include "sph/pairs/sph_role.h"
#include "sph/walls/sph_walls.h"

typedef int32_t WadiI4 __attribute__((vector_size(16), aligned(16), may_alias));
typedef uint32_t WadiU4 __attribute__((vector_size(16), aligned(16), may_alias));

#define WADI_SPH_PLACES 1048576.0 /* a spacing */

/* The image of neighbour j, of the same kind. It has the pressure of j, the same velocity along the wall
 * and the opposite one across it. */
typedef struct WadiSphMirror {
    float gradient[3]; /* as that of a pair */
    float back[3]; /* reflected at the wall: gradient . (velocity of the image) = back . (velocity of j) */
    /* j and WADI_SPH_MIRROR_BIT: read as the fourth component of `back`, j alone would be a slow, denormal
     * number. */
    uint32_t tagged;
} WadiSphMirror;

#define WADI_SPH_MIRROR_BIT (UINT32_C(1) << 30)

/* j */
static inline int32_t wadi_sph_mirror_other(const WadiSphMirror *mirror)
{
    return (int32_t)(mirror->tagged - WADI_SPH_MIRROR_BIT);
}

/* Lists in the order of the sort. The neighbours of particle i are start[i] .. start[i + 1]; the first
 * `same[i]` of them are of its own kind (sand or water), the others of the other one. */
typedef struct WadiSphPairs {
    int32_t count; /* particles */
    uint32_t *start;
    int32_t *same;
    /* 16 j, the bytes before the rows of four of j: one instruction less a neighbour in every pass. Eight
     * valid entries follow the last. */
    uint32_t *offset;
    /* Of each pair, in units of `slope_unit`: V_i V_j dx grad_i W_ij is slope (x_j - x_i), a vector of
     * places. Sixteen bits, because passes over the pairs are bound by memory. Both entries of a pair are
     * the same number, whatever the volumes and sizes are, so forces are exactly opposite. */
    uint16_t *slope;
    float slope_unit;
    float steepest;      /* slope at distance 0 of volumes and sizes 1 */
    bool has_sizes;      /* not all sizes are 1 */
    const float *volume; /* per particle */
    const float *size;   /* per particle, spacings */
    float *unit;         /* per particle: `slope_unit` over its volume; 0: it has vanished */
    /* Per particle: slope (x_i - x_j) in units and places over all neighbours, and the slope over those of
     * its own kind. What a particle adds to each of its neighbours' terms is the same for all and counts by
     * these. */
    WadiF4 *sum;
    /* Per particle: x, y, z, and room for a number of a solve that is read together with them. */
    WadiI4 *place;
    /* Images in the walls, of near particle n: mirror_start[n] .. mirror_start[n + 1]. */
    uint32_t *mirror_start;
    WadiSphMirror *mirror;
} WadiSphPairs;

/* The vector alone: the fourth number of a velocity is not defined. */
static inline WadiF4 wadi_sph_xyz(WadiF4 v)
{
    v[3] = 0.0f;
    return v;
}

typedef struct WadiSphPairsIn {
    const WadiTileSort *sort;
    const WadiParticles *particles;
    const WadiSphKernel *kernel;
    const WadiSphWalls *walls;
    double spacing;         /* m */
    const uint8_t *is_sand; /* per particle of the sort, from 0 */
    const float *volume;    /* per particle, over that of one of size 1 */
    bool has_sizes;         /* not all sizes are 1 */
    const float *size;      /* per particle, spacings: kernels have the support size_i + size_j */
    const uint8_t *role;    /* per particle, WadiSphRole: those without a list have the density 1 */
} WadiSphPairsIn;

/* Makes the lists, and the densities over those at rest. Memory in the arena; sums and images, which only
 * forces need, are temporaries of it. */
WadiStatus wadi_sph_pairs_find(WadiSphPairs *pairs, float *density, const WadiSphPairsIn *in,
                               WadiArena *arena, WadiError *error);

/* slope (x_i - x_j) over the neighbours of its own kind alone, of a particle that has others. */
void wadi_sph_pairs_sum_same(const WadiSphPairs *pairs, int32_t i, WadiF4 *sum);

/* Water with less than this has vanished for its neighbours: its slopes are below one unit. */
#define WADI_SPH_LEAST_VOLUME 1e-6f

/* Particles of a list at most: offsets have 32 bits. */
#define WADI_SPH_PARTICLES_MAX (INT32_C(1) << 28)

/* The neighbour j of entry n. */
static inline int32_t wadi_sph_other(const WadiSphPairs *pairs, int64_t n)
{
    return (int32_t)(pairs->offset[n] >> 4);
}

/* Of the sums over the neighbours of i: with it slopes are those of V_j dx grad_i W_ij. */
static inline float wadi_sph_unit(const WadiSphPairs *pairs, int32_t i)
{
    return pairs->unit[i];
}

/* The slope of entry n with both volumes, the same from both sides. */
static inline float wadi_sph_pair_slope(const WadiSphPairs *pairs, int64_t n)
{
    return (float)pairs->slope[n] * pairs->slope_unit;
}

/* The slope of entry n in the list of i, at least 0. */
static inline float wadi_sph_slope(const WadiSphPairs *pairs, int32_t i, int64_t n)
{
    return (float)pairs->slope[n] * wadi_sph_unit(pairs, i);
}

/* The size of a particle, spacings. */
static inline float wadi_sph_size(const WadiSphPairs *pairs, int32_t i)
{
    return pairs->size[i];
}

/* x_i - x_j in places, as integers and as floats; w is not used. Unsigned, because places wrap. */
#define WADI_SPH_PLACES_BETWEEN(place_i, place_j) ((WadiI4)((WadiU4)(place_i) - (WadiU4)(place_j)))
#define WADI_SPH_OFFSET(place_i, place_j)                                                                    \
    __builtin_convertvector(WADI_SPH_PLACES_BETWEEN(place_i, place_j), WadiF4)

#endif
