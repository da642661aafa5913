/* Data common to the files of the friction solve: compact rows ("slots") that hold a FLUID cell or one of its
 * faces, numbered in row order from 1. Slot 0 is the null slot: zeros, never written. A slot's data lie
 * together, as vectors of eight lanes. */
#ifndef WADI_FLIP_FRICTION_SLOTS_H
#define WADI_FLIP_FRICTION_SLOTS_H

#include <math.h>

#include "flip/friction/flip_friction.h"
#include "grid/row_vectors.h"

/* 256-bit vectors are passed between static functions only: the ABI note does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

/* Rows of friction lie at multiples of their size: none crosses a cache line. */
#define WADI_FRICTION_ALIGNED _Alignas(32)

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

/* The 14 numbers of a cell: xx and yy (zz is minus their sum), then its copies of the shear on its edges,
 * for each of xy, xz, yz the four edges a + 2 b, a and b the steps along the first and second axis. */
enum { STRESS_XX = 0, STRESS_YY = 1, STRESS_XY = 2, STRESS_XZ = 6, STRESS_YZ = 10, STRESS_COUNT = 14 };

typedef struct WadiFrictionStress {
    WADI_FRICTION_ALIGNED WadiF8 t[STRESS_COUNT];
} WadiFrictionStress;

typedef struct WadiFrictionFaces {
    WADI_FRICTION_ALIGNED WadiF8 c[3]; /* u, v, w */
} WadiFrictionFaces;

/* Tractions of a row of wall facets: first tangential axis low and high face, second tangential axis low and
 * high. */
typedef struct WadiFrictionWall {
    WADI_FRICTION_ALIGNED WadiF8 t[4];
} WadiFrictionWall;

/* Strain rate of the displacement beyond D(u): deviatoric, its trace, twice the shear on the low edges. */
typedef struct WadiFrictionTurn {
    WADI_FRICTION_ALIGNED WadiF8 xx, yy, sum, edge[3]; /* edges: xy, xz, yz */
} WadiFrictionTurn;

typedef struct WadiFrictionSlot {
    int32_t near[NEAR_COUNT];
    int32_t row;
    int32_t cut; /* index of its WadiFrictionCut; 0: every face that the slot's stresses act on has mass 1 */
    uint8_t fluid;
    uint8_t free[3];
    uint8_t aligned[6]; /* of FLUID cells: sides closed by a wall along the grid */
    uint8_t edge[12];   /* of FLUID cells: active edges in the order of the stresses */
    uint8_t is_whole;   /* eight FLUID cells, each with its 12 edges */
    uint8_t cell_walls; /* bits: kinds of wall of its cells */
    uint8_t face_walls; /* bits: kinds of wall that act on its faces */
} WadiFrictionSlot;

/* A slot whose stresses act on faces of other masses than 1 (flip_friction_cut.c). */
typedef struct WadiFrictionCut {
    WadiFrictionFaces inverse_mass;
    WadiF8 step[STRESS_COUNT];   /* gradient step over alpha; 0: no stress */
    WadiF8 weight[STRESS_COUNT]; /* of the squares in the ball */
    uint8_t closed[3]; /* axes of which an oblique wall closes a side: no normal stress along them */
} WadiFrictionCut;

/* Kinds of wall: the six sides, and walls across cells. */
enum { OBLIQUE = 6, WALL_KINDS = 7, ALIGNED_SIDES = 0x3f };

/* Constants of a row of facets during a solve. Copy i acts on its face with weight[i] = 1 / (FLUID cells of
 * the face), or 0. */
typedef struct WadiFrictionFacets {
    int32_t slot;
    int32_t side;                          /* as in WadiRows.neighbour, or OBLIQUE */
    int32_t oblique;                       /* index of WadiFrictionOblique, for OBLIQUE */
    WADI_FRICTION_ALIGNED WadiF8 mu, area; /* area in cell sides; 0: no wall */
    /* Not for OBLIQUE: */
    WadiFrictionWall weight;
    WadiFrictionWall step; /* gradient step over alpha, by the least of the faces' masses */
    WadiF8 inverse[2];     /* per tangent: 1 / (copies that act), weight of the squares in the disc */
    WadiF8 solid[2];       /* tangential velocity of the solid */
    WadiF8 solid_fraction; /* fraction of the cell behind the wall */
} WadiFrictionFacets;

/* Walls across the cells of a slot: a traction vector T in the plane of the wall (t[0..2] of its row of
 * tractions), against the slip sum_f weight_f (u_f - solid). */
typedef struct WadiFrictionOblique {
    WadiF8 normal[3];
    WadiF8 weight[6]; /* per face of the cell, in the order of sides: fraction of T that acts on it */
    WadiF8 solid[3];
    WadiF8 step; /* over alpha; 0: no wall in the cell */
} WadiFrictionOblique;

struct WadiFriction {
    WadiFrictionGrid grid;
    double dt;
    int32_t slot_count; /* the null slot included */
    int32_t wall_count; /* rows of facets, the null one included */
    int32_t cut_count, oblique_count;
    WadiFrictionSlot *slot;
    int32_t (*wall)[WALL_KINDS]; /* per slot and side: row of facets, 0: none */
    WadiFrictionFacets *facets;
    WadiFrictionFaces *open, *mass; /* per slot, 0 where not free; NULL: 1 on every free face */
    WadiFrictionCut *cut;
    WadiFrictionOblique *oblique;
    WadiFrictionTurn *turn;                /* per slot */
    WadiFrictionStress *stress, *previous; /* previous: scratch of the iteration */
    WadiFrictionWall *traction, *traction_previous;
    /* Per slot, during a solve with bonded sand, else NULL: isotropic stress, tension positive. */
    WadiF8 *mean, *mean_previous;
    WadiFrictionFaces *force; /* per slot: div tau of `stress`, on all faces, if has_force */
    bool has_force;
    int32_t *slot_of; /* per row */
};

enum { FRICTION_BLOCK = 512 }; /* slots a block */

/* Tangential axes of a side's facets, and where the copies act. */
static inline int wadi_friction_tangent(int side, int which)
{
    int normal = side >> 1;
    return which == 0 ? (normal == 0) : (normal == 2 ? 1 : 2);
}

static inline WadiF8 wadi_splat(float x)
{
    return (WadiF8){ x, x, x, x, x, x, x, x };
}

/* All bits set in the lanes of `bits`. */
static inline WadiI8 wadi_lanes(uint8_t bits)
{
    WadiI8 mask;
    wadi_row_mask(bits, &mask);
    return mask;
}

/* x in the lanes of `mask`, 0 in the others. */
static inline WadiF8 wadi_masked(WadiF8 x, WadiI8 mask)
{
    return (WadiF8)((WadiI8)x & mask);
}

/* table[n], lane by lane; n in 0..7. */
static inline WadiF8 wadi_look_up(WadiF8 table, WadiI8 n)
{
#ifdef __AVX2__
    return _mm256_permutevar8x32_ps(table, (__m256i)n);
#else
    WadiF8 found;
    for (int lane = 0; lane < 8; ++lane) {
        found[lane] = table[n[lane]];
    }
    return found;
#endif
}

static inline WadiF8 wadi_abs8(WadiF8 a)
{
    const WadiI8 sign = { INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN,
                          INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN };
    return (WadiF8)((WadiI8)a & ~sign);
}

/* min(1, bound / sqrt(square)). */
static inline WadiF8 wadi_ball_factor(WadiF8 square, WadiF8 bound)
{
    WadiF8 root;
    for (int lane = 0; lane < 8; ++lane) {
        root[lane] = sqrtf(square[lane]);
    }
    WadiI8 is_outside = root > bound;
    WadiF8 one = wadi_splat(1.0f);
    return WADI_ROW_SELECT(is_outside, bound / WADI_ROW_SELECT(is_outside, root, one), one);
}

/* Bits of the cells on the -x (+x) side of each lane. */
static inline uint8_t wadi_bits_from_left(uint8_t left, uint8_t bits)
{
    return (uint8_t)(bits << 1 | left >> 7);
}

static inline uint8_t wadi_bits_from_right(uint8_t bits, uint8_t right)
{
    return (uint8_t)(bits >> 1 | right << 7);
}

/* The beginning of a step in the order of the calls: labels, links and edges of slots
 * (flip_friction_setup.c), strains of the displacement (flip_friction_turn.c), masses of faces, then walls
 * (flip_friction_facets.c). */
WadiStatus wadi_friction_make_turns(WadiFriction *friction, WadiArena *arena, WadiError *error);
WadiStatus wadi_friction_make_cuts(WadiFriction *friction, WadiArena *arena, WadiError *error);
WadiStatus wadi_friction_make_walls(WadiFriction *friction, WadiArena *arena, WadiError *error);
WadiStatus wadi_friction_zeroed(WadiArena *arena, void **memory, size_t count, size_t size, WadiError *error);
/* Cells of a slot that are cut in fractions: their walls are oblique, those of the others are facets. */
uint8_t wadi_friction_fractional(const WadiFriction *friction, int32_t slot);
/* Open parts of the faces of a slot's cells, in the order of sides. */
void wadi_friction_sides(const WadiFriction *friction, int32_t slot, WadiF8 side[6]);

/* yield, per slot: k P+ + c; wall_bound, per row of facets: mu times the normal force
 * (flip_friction_bounds.c). */
void wadi_friction_find_bounds(const WadiFriction *friction, const WadiFrictionLoad *load, WadiF8 *yield,
                               WadiF8 *wall_bound);

/* Bonded sand in the cells of a slot during a solve [theory 6.13]. */
typedef struct WadiFrictionBonded {
    WADI_FRICTION_ALIGNED WadiF8 room; /* largest isotropic stress, P + T; 0 without bonds */
    WadiF8 slope;                      /* k; the bound of the stress falls by k times the isotropic stress */
    WadiI8 is_bonded;
} WadiFrictionBonded;

/* Gradient step over alpha times the weight of a stress component, scaled to 1 where all masses are 1. */
static inline WadiF8 wadi_friction_step_ratio(const WadiFrictionCut *cut, int n)
{
    return wadi_splat(n < STRESS_XY ? 1.0f : 8.0f) * cut->weight[n] * cut->step[n];
}

/* Of a trial stress in cut cells (flip_friction_cut.c): projection into the yield set, in the metric of the
 * cut cell's gradient steps. */
void wadi_friction_project_cut(const WadiFrictionCut *cut, WadiF8 yield, WadiF8 trial[STRESS_COUNT]);
/* Remove the normal stress along axes that an oblique wall closes: sand slides along it, so a closed side is
 * no strain. */
void wadi_friction_clear_closed_axes(const WadiFrictionCut *cut, WadiF8 trial[STRESS_COUNT]);

/* One iteration's two halves (flip_friction_passes.c). */
typedef struct WadiFrictionIteration {
    const WadiFriction *friction;
    const WadiFrictionFaces *before;  /* u_b per slot */
    const WadiF8 *yield;              /* per slot: k P+ + c */
    const WadiFrictionBonded *bonded; /* per slot; NULL: no bonded sand */
    const WadiF8 *wall_bound;         /* per row of facets: mu P+ */
    WadiFrictionFaces *velocity;      /* u of the extrapolated stress y */
    WadiFrictionFaces *force;         /* div tau of the stress now, on all faces */
    float alpha, beta;                /* y = tau + beta (tau - previous) */
    bool needs_change;                /* compute the largest change and the shear rates in this iteration */
    /* Per block: growth of twice the energy, on the faces; work of the changes of traction on moving walls
     * and of stress on the strain of turning; the largest change of a stress; sum of the squares of the
     * cells' shear rates. */
    double *rise, *work, *change, *rate;
} WadiFrictionIteration;

/* force = div tau, velocity = u_b + div y, rise. */
void wadi_friction_faces_pass(const WadiFrictionIteration *it);
/* velocity = u_b + force: y = tau. */
void wadi_friction_drop_momentum(const WadiFrictionIteration *it);
/* previous = Proj(y + alpha D(velocity)): the new stress, to be swapped with tau by the caller. */
void wadi_friction_cells_pass(const WadiFrictionIteration *it);

/* Work of the changes of traction and stress, largest change and squares of shear rates, lane by lane. */
typedef struct WadiFrictionSums {
    WadiF8 work, change, rate;
} WadiFrictionSums;

/* The walls' part of both halves (flip_friction_walls.c). */
void wadi_friction_add_walls(const WadiFriction *friction, int32_t slot, WadiFrictionFaces *force);
void wadi_friction_update_walls(const WadiFrictionIteration *it, int32_t slot, WadiFrictionSums *sums);

/* WadiFriction.force of the stress, if it is not up to date. */
void wadi_friction_find_force(WadiFriction *friction);

/* Fill stress and traction from memory (flip_friction_memory.c). */
void wadi_friction_recall(WadiFriction *friction, const WadiFrictionMemory *memory);
/* The same for sleeping cells, from grid.sleeping_memory. */
void wadi_friction_recall_sleeping(WadiFriction *friction);

#endif
