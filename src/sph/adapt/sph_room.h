/* Where the halves of a split have most room: in the gaps between the neighbours. */
#ifndef WADI_SPH_ROOM_H
#define WADI_SPH_ROOM_H

#include "geom/solids.h"
#include "particles/cells.h"

typedef struct WadiSphRoom {
    const WadiParticles *particles;
    const double *volume; /* per particle, over that of one with the spacing given */
    double spacing;       /* m */
    const WadiSolids *solids;
    double time; /* s: of the solids */
    WadiCells cells;
    double reach; /* m: within it neighbours count */
} WadiSphRoom;

/* Prepares a search among the particles of a list; `largest` is the largest size that is split, spacings. */
WadiStatus wadi_sph_room_begin(WadiSphRoom *room, const int32_t *list, int32_t listed, double largest,
                               WadiArena *arena, WadiError *error);
/* Of some random directions, by `id`, that in which two halves of the size given, `distance` from the centre
 * of particle i, have most room; both in spacings. */
WadiVec3 wadi_sph_room_direction(const WadiSphRoom *room, int32_t i, uint32_t id, double size,
                                 double distance);

#endif
