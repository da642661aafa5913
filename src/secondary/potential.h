/* How much foam, spray and bubbles each particle of water makes, and dust each of sand. */
#ifndef WADI_SECONDARY_POTENTIAL_H
#define WADI_SECONDARY_POTENTIAL_H

#include "geom/solids.h"
#include "secondary/flow.h"

typedef struct WadiPotentialDef {
    double slow, fast;        /* m/s */
    bool is_sand;             /* dust, where dry sand collides; else air that water draws in */
    const WadiSolids *solids; /* where they are, there is no free surface */
    double time;              /* s */
} WadiPotentialDef;

/* 0: none, 1: as much as there can be; one per particle of the flow. Memory in the arena. */
WadiStatus wadi_secondary_potential(float **potential, const WadiFlow *flow, const WadiPotentialDef *def,
                                    WadiArena *arena, WadiError *error);

#endif
