/* Grains and the list of those that may touch, laid out for the force between them.
 *
 * Positions are X + u: X (double) is where the grain was when the list was made, u (float) the displacement
 * since. A pair holds X_j - X_i, so that a step is arithmetic of small floats wherever the scene lies. The
 * springs of a contact are kept by its pair: there is no search for them between two lists [theory 13.2]. */
#ifndef WADI_DEM_PAIRS_H
#define WADI_DEM_PAIRS_H

#include <string.h>

#include "core/status.h"
#include "dem/contact/dem_vectors.h"

enum { WADI_DEM_CHUNK = 512 }; /* grains whose pairs one thread computes */

/* Grains in the order of the list. */
typedef struct WadiDemGrains {
    int32_t count;
    WadiF4 *shift;       /* u, m; w: radius, m */
    WadiF4 *mark;        /* of those in rows, from the first on: shift when the near pairs were chosen */
    float *grown_radius; /* m */
    float *skin;         /* m: displacement at which the list is made anew */
    WadiF8 *motion;      /* velocity (m/s), friction; angular velocity (1/s), rolling friction */
    const float *mass;   /* kg */
    float *bridge;       /* N: largest pull of the water between two such grains; NULL: all are dry */
    float *grip;         /* N: added to the normal force that friction counts, where there is a bridge */
    /* Of those in rows, from the first on: force (N), contacts; torque (N m), 0: sums of the step; then
     * those of the halo slots. */
    WadiF8 *load;
} WadiDemGrains;

/* A pair of the list that may touch soon, from the first of its chunk, times WADI_DEM_CHUNK, and its owner,
 * from the first of the chunk. */
typedef uint32_t WadiDemNear;

/* Springs of a contact, m, and the gap by which its grains are larger for each other: 0, or for a bond from
 * birth the gap that it spans. */
typedef struct WadiDemSpring {
    float value[6]; /* tangential, rolling */
    float bond;
} WadiDemSpring;

/* Tangential spring, _, rolling spring, _: the fourth components are not used. */
static inline __attribute__((always_inline)) void wadi_dem_spring_load(const WadiDemSpring *spring,
                                                                       WadiF8 *out)
{
    WadiF4 head, tail;
    memcpy(&head, spring->value, sizeof head);
    memcpy(&tail, spring->value + 2, sizeof tail);
    *out = __builtin_shufflevector(head, tail, 0, 1, 2, 3, 5, 6, 7, 7);
}

static inline __attribute__((always_inline)) void wadi_dem_spring_store(const WadiF8 *from,
                                                                        WadiDemSpring *spring)
{
    const WadiF4 head = __builtin_shufflevector(*from, *from, 0, 1, 2, 4);
    const WadiF4 tail = __builtin_shufflevector(*from, *from, 2, 4, 5, 6);
    memcpy(spring->value, &head, sizeof head);
    memcpy(spring->value + 2, &tail, sizeof tail);
}

enum { WADI_DEM_CHUNK_PAIRS = 1 << 23 }; /* at most */

/* Near pairs are chosen again when a grain has moved this part of its way since the last time. */
static const float WADI_DEM_NEAR_PART = 0.2f;

/* Each pair once, in the row of its owner. Rows of a chunk are computed by one thread, in order. A chunk
 * adds to the loads of its own grains, and for each foreign grain that it touches to a halo slot that nobody
 * else writes: load[count - first + slot]. A grain then adds its slots in their order. Pairs that are not
 * near have no contact, and a step does without them. */
typedef struct WadiDemPairs {
    int32_t first;       /* grains before it sleep: they have empty rows, but may be j */
    int32_t count;       /* grains */
    int32_t *start;      /* count + 1: pairs of each owner */
    int32_t *other;      /* j */
    int32_t *target;     /* index of the load to which the force on j is added */
    float *offset;       /* three a pair, and one more: X_j - X_i, m */
    uint8_t *touches;    /* 1: in contact, or joined by a bridge, in the last step; it is near */
    WadiDemNear *near;   /* those of a chunk from its first pair on, in order */
    int32_t *near_count; /* per chunk */
    /* Of the near pairs of a chunk, in order, from spring_start of the chunk on, where there is room for some
     * more. */
    WadiDemSpring *spring;
    int32_t *spring_start; /* per chunk, + 1 */
    size_t spring_capacity;
    int32_t *chunk_slot; /* per chunk of grains from `first` on, + 1: its first slot */
    int32_t *slot_start; /* count + 1: slots of each grain */
    int32_t *slot;       /* in rising order */
} WadiDemPairs;

static inline int32_t wadi_dem_chunk_count(const WadiDemPairs *pairs)
{
    return (pairs->count - pairs->first + WADI_DEM_CHUNK - 1) / WADI_DEM_CHUNK;
}

/* Three components, and one that is not used. */
static inline __attribute__((always_inline)) void wadi_dem_offset_load(const WadiDemPairs *pairs, int32_t p,
                                                                       WadiF4 *offset)
{
    memcpy(offset, pairs->offset + 3 * (size_t)p, sizeof *offset);
}

/* The pair and the owner of a near pair of a chunk that begins with the grain `from`. */
static inline int32_t wadi_dem_near_pair(const WadiDemPairs *pairs, int32_t from, WadiDemNear near)
{
    return pairs->start[from] + (int32_t)(near / WADI_DEM_CHUNK);
}

static inline int32_t wadi_dem_near_owner(int32_t from, WadiDemNear near)
{
    return from + (int32_t)(near % WADI_DEM_CHUNK);
}

static inline int32_t wadi_dem_slot_count(const WadiDemPairs *pairs)
{
    return pairs->chunk_slot[wadi_dem_chunk_count(pairs)];
}

#endif
