/* Walls as the density that they add to sand, that of mirror images [theory 11.3]: no particles lie on
 * them. Of water the images themselves follow (pairs/sph_mirrors.h). A particle has a contact with every
 * closed side of the domain and every solid within its support; each is taken for the half space behind the
 * plane at its nearest point. cover = 1 - prod (1 - part_w) where the parts are small: inner corners are
 * counted once. */
#ifndef WADI_SPH_WALLS_H
#define WADI_SPH_WALLS_H

#include "core/arena.h"
#include "geom/solids.h"
#include "grid/row_vectors.h"
#include "particles/tile_sort.h"
#include "sph/walls/sph_kernel.h"

enum { WADI_SPH_CONTACT_MAX = 4 }; /* of a particle: three in a corner of a box, and one more */

typedef struct WadiSphContact {
    WadiF4 normal;   /* away from the solid; w: distance, spacings */
    WadiF4 velocity; /* of the wall, m/s; w: its share of `gradient`, at most 0 */
    float friction;
    int32_t solid; /* negative: a side of the domain, -1 - its bit number */
    float weight;  /* 0 to 1: part of the wall that others at an obtuse angle leave to it */
} WadiSphContact;

/* Of 64 particles, which are near to a wall, and the number of the first of these. */
typedef struct WadiSphNearBits {
    uint64_t bits;
    int32_t first;
} WadiSphNearBits;

/* Particles within their support of a wall are `near`; they have numbers of their own. */
typedef struct WadiSphWalls {
    WadiSphNearBits *of; /* see wadi_sph_near */
    int32_t count;
    uint8_t *contact_count; /* per near particle */
    /* Of near particle n: contact[n][0 .. contact_count[n] - 1]. One list follows the other. */
    WadiSphContact **contact;
    float *cover; /* density of a wall in front of a full half space, at least 0 */
    /* That of the cover, 1/spacing; w: its product with the velocity of the walls, m/s. */
    WadiF4 *gradient;
    bool has_solids; /* other contacts than sides of the domain */
} WadiSphWalls;

typedef struct WadiSphWallsIn {
    const WadiSolids *solids;
    const WadiParticles *particles;
    const WadiTileSort *sort;
    const WadiSphKernel *kernel;
    double spacing;    /* m */
    bool has_sizes;    /* not all sizes are 1 */
    const float *size; /* per particle of the sort, spacings */
    const uint8_t *is_sand;
    double time; /* s */
} WadiSphWallsIn;

/* The number of a particle among the near ones, or -1. */
static inline int32_t wadi_sph_near(const WadiSphWalls *walls, int64_t i)
{
    const WadiSphNearBits *near = &walls->of[i >> 6];
    const uint64_t bit = UINT64_C(1) << (i & 63);
    return (near->bits & bit) != 0 ? near->first + __builtin_popcountll(near->bits & (bit - 1)) : -1;
}

/* Whether the normals of two walls point against each other: a cosine below -1/2. */
static inline bool wadi_sph_face_each_other(WadiF4 a, WadiF4 b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] < -0.5f;
}

/* Whether the wall of a contact moves. */
static inline bool wadi_sph_contact_moves(const WadiSphContact *contact)
{
    const WadiF4 v = contact->velocity;
    return v[0] != 0.0f || v[1] != 0.0f || v[2] != 0.0f;
}

/* The contacts of all near particles, one list after the other: the number of the first one of a particle,
 * and how many there are. */
static inline size_t wadi_sph_first_contact(const WadiSphWalls *walls, int32_t near)
{
    return (size_t)(walls->contact[near] - walls->contact[0]);
}

static inline size_t wadi_sph_contacts(const WadiSphWalls *walls)
{
    const int32_t last = walls->count - 1;
    return last < 0 ? 0 : wadi_sph_first_contact(walls, last) + walls->contact_count[last];
}

/* For the particles of the sort, numbered from 0; memory in the arena. */
WadiStatus wadi_sph_walls_find(WadiSphWalls *walls, const WadiSphWallsIn *in, WadiArena *arena,
                               WadiError *error);

/* Whether a solid stands between two near particles, the second `offset` (spacings) from the first: each is
 * behind a plane of the other, and the planes face away from each other. */
bool wadi_sph_walls_hide(const WadiSphWalls *walls, int32_t a, int32_t b, const float offset[3]);

#endif
