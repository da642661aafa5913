/* What the files of the friction solve share: compact rows ("slots") that hold a FLUID cell or one of its
 * faces, numbered in row order from 1. Slot 0 is the null slot: zeros, never written. A slot's data lie
 * together, as vectors of eight lanes. */
#ifndef WADI_FLIP_FRICTION_SLOTS_H
#define WADI_FLIP_FRICTION_SLOTS_H

#include "flip/flip_friction.h"

/* 256-bit vectors are passed between static functions only: the ABI note does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef float WadiVec8 __attribute__((vector_size(32)));
typedef int32_t WadiInt8 __attribute__((vector_size(32)));

/* Order of WadiFrictionSlot.near; the first six as in WadiRows. M: minus, P: plus. */
enum {
    NEAR_XM,
    NEAR_XP,
    NEAR_YM,
    NEAR_YP,
    NEAR_ZM,
    NEAR_ZP,
    NEAR_XM_YM,
    NEAR_XM_YP,
    NEAR_XP_YM,
    NEAR_XP_YP,
    NEAR_XM_ZM,
    NEAR_XM_ZP,
    NEAR_XP_ZM,
    NEAR_XP_ZP,
    NEAR_YM_ZM,
    NEAR_YM_ZP,
    NEAR_YP_ZM,
    NEAR_YP_ZP,
    NEAR_COUNT,
};

/* The 14 numbers of a cell: xx and yy (zz is minus their sum), then its own copies of the shear on its edges,
 * for each of xy, xz, yz the four edges a + 2 b, a and b the steps along the first and second axis. */
enum { STRESS_XX, STRESS_YY, STRESS_XY, STRESS_XZ = 6, STRESS_YZ = 10, STRESS_COUNT = 14 };

typedef struct WadiFrictionStress {
    WadiVec8 t[STRESS_COUNT];
} WadiFrictionStress;

typedef struct WadiFrictionFaces {
    WadiVec8 c[3]; /* u, v, w */
} WadiFrictionFaces;

/* Tractions of a row of wall facets: first tangential axis low and high face, second tangential axis low and
 * high. */
typedef struct WadiFrictionWall {
    WadiVec8 t[4];
} WadiFrictionWall;

typedef struct WadiFrictionSlot {
    int32_t near[NEAR_COUNT];
    int32_t row;
    uint8_t fluid;
    uint8_t free[3];
    uint8_t edge[12];   /* of FLUID cells: active edges in the order of the stresses */
    uint8_t is_full;    /* every FLUID cell has its 12 edges */
    uint8_t has_walls;  /* a cell of the slot has a facet */
    uint8_t feels_wall; /* a facet acts on a face of the slot */
} WadiFrictionSlot;

/* What does not change over a row of facets. Copy i acts on its face with weight[i] = 1 / (FLUID cells of the
 * face), or 0. */
typedef struct WadiFrictionFacets {
    int32_t slot;
    int32_t side; /* as in WadiRows.neighbour */
    WadiInt8 mask;
    WadiFrictionWall weight;
    WadiFrictionWall solid; /* velocity of the solid beside the face */
} WadiFrictionFacets;

struct WadiFriction {
    WadiFrictionGrid grid;
    double dt;
    int32_t slot_count; /* the null slot included */
    int32_t wall_count; /* rows of facets, the null one included */
    WadiFrictionSlot *slot;
    int32_t (*wall)[6]; /* per slot and side: row of facets, 0: none */
    WadiFrictionFacets *facets;
    WadiFrictionStress *stress, *previous; /* previous: scratch of the iteration */
    WadiFrictionWall *traction, *traction_previous;
    int32_t *slot_of; /* per row */
};

enum { FRICTION_BLOCK = 512 }; /* slots a block */

/* Tangential axes of a side's facets, and where the copies act. */
static inline int wadi_friction_tangent(int side, int which)
{
    int normal = side >> 1;
    return which == 0 ? (normal == 0) : (normal == 2 ? 1 : 2);
}

static inline WadiVec8 wadi_splat(float x)
{
    return (WadiVec8){ x, x, x, x, x, x, x, x };
}

/* All bits set in the lanes of `bits`. */
static inline WadiInt8 wadi_lanes(uint8_t bits)
{
    const WadiInt8 lane = { 1, 2, 4, 8, 16, 32, 64, 128 };
    int32_t b = bits;
    WadiInt8 all = { b, b, b, b, b, b, b, b };
    return (all & lane) == lane;
}

static inline WadiVec8 wadi_keep(WadiVec8 x, WadiInt8 mask)
{
    return (WadiVec8)((WadiInt8)x & mask);
}

static inline WadiVec8 wadi_select(WadiInt8 mask, WadiVec8 yes, WadiVec8 no)
{
    return (WadiVec8)(((WadiInt8)yes & mask) | ((WadiInt8)no & ~mask));
}

/* Value of the cell on the -x side of each lane; `left` is the row before. */
static inline WadiVec8 wadi_from_left(WadiVec8 left, WadiVec8 x)
{
    return __builtin_shufflevector(left, x, 7, 8, 9, 10, 11, 12, 13, 14);
}

static inline WadiVec8 wadi_from_right(WadiVec8 x, WadiVec8 right)
{
    return __builtin_shufflevector(x, right, 1, 2, 3, 4, 5, 6, 7, 8);
}

/* One iteration's two halves (flip_friction_passes.c). */
typedef struct WadiFrictionIteration {
    const WadiFriction *friction;
    const WadiFrictionFaces *before; /* u_b per slot */
    const WadiVec8 *yield;           /* per slot: k P+ + c */
    const WadiVec8 *wall_bound;      /* per row of facets: mu P+ */
    WadiFrictionFaces *velocity;     /* u of the extrapolated stress y */
    WadiFrictionFaces *force;        /* div tau of the stress now */
    float alpha, beta;               /* y = tau + beta (tau - previous) */
    double *turn, *change;           /* per block: restart product, largest change */
} WadiFrictionIteration;

/* force = div tau, velocity = u_b + div y. */
void wadi_friction_faces_pass(const WadiFrictionIteration *it);
/* previous = Proj(y + alpha D(velocity)): the new stress, to be swapped with tau by the caller. */
void wadi_friction_cells_pass(const WadiFrictionIteration *it);

/* div tau on the faces of one slot, free or not. */
void wadi_friction_divergence(const WadiFriction *friction, int32_t slot, WadiFrictionFaces *force);

/* Fill stress and traction from memory (flip_friction_memory.c). */
void wadi_friction_recall(WadiFriction *friction, const WadiFrictionMemory *memory);

#endif
