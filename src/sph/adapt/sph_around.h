/* Which particles lie in the support of those that were split or merged, and their neighbours. Only what is
 * near an event is searched. Positions are places, as in sph_pairs.h. */
#ifndef WADI_SPH_AROUND_H
#define WADI_SPH_AROUND_H

#include "particles/cells.h"
#include "sph/pairs/sph_lanes.h"

typedef struct WadiSphAroundIn {
    const WadiParticles *particles;
    const double *volume; /* per particle, over that of one with the spacing given */
    double spacing;       /* m */
    double support;       /* spacings */
    /* Per particle. Those that changed are listed, and what has one in its support, where it may move. */
    const uint8_t *is_removed, *is_changed, *may_move;
} WadiSphAroundIn;

/* Particles are numbered as in cells.order. */
typedef struct WadiSphAround {
    double scale; /* places a metre */
    WadiCells cells;
    WadiI4 *place; /* x, y, z; the size in spacings, a float; 0 for what is removed */
    int32_t *list;
    int32_t listed;
    /* Neighbours of list[n], as offsets of sph_pairs.h: offset[start[n]] .. offset[start[n + 1]]; eight valid
     * entries follow the last. They lie within the support and a margin, since particles move while the lists
     * stay. */
    int64_t *start;
    uint32_t *offset;
} WadiSphAround;

WadiStatus wadi_sph_around_find(WadiSphAround *around, const WadiSphAroundIn *in, WadiArena *arena,
                                WadiError *error);

/* Sets the place of particle `own` to its position. */
void wadi_sph_around_place(const WadiSphAround *around, const WadiParticles *particles, int32_t own);

static inline float wadi_sph_around_size(const WadiSphAround *around, int32_t own)
{
    return ((const float *)around->place)[4 * (size_t)own + 3];
}

/* Offsets x_own - x_j, sizes and volumes of eight neighbours from entry k on, spacings; volumes are 0 from
 * `end` on. */
static inline __attribute__((always_inline)) void wadi_sph_around_load(const WadiSphAround *around,
                                                                       int32_t own, int64_t k, int64_t end,
                                                                       WadiSphEight *offset, WadiF8 *size,
                                                                       WadiF8 *volume)
{
    const WadiI4 *place = &around->place[own];
    const float unit = (float)(1.0 / WADI_SPH_PLACES);
    const WadiI8 lane = { 0, 1, 2, 3, 4, 5, 6, 7 };
    WadiU8 at[4];
    wadi_sph_load_rows(around->place, around->offset + k, at);
    offset->x = __builtin_convertvector((WadiI8)((uint32_t)(*place)[0] - at[0]), WadiF8) * unit;
    offset->y = __builtin_convertvector((WadiI8)((uint32_t)(*place)[1] - at[1]), WadiF8) * unit;
    offset->z = __builtin_convertvector((WadiI8)((uint32_t)(*place)[2] - at[2]), WadiF8) * unit;
    *size = (WadiF8)at[3];
    const WadiF8 cube = *size * *size * *size;
    *volume = end - k < WADI_SPH_LANES ? (WadiF8)((WadiI8)cube & (lane < (int32_t)(end - k))) : cube;
}

#endif
