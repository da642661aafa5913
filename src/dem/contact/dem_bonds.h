/* Bonds of cohesive grains that are born side by side. */
#ifndef WADI_DEM_BONDS_H
#define WADI_DEM_BONDS_H

#include "dem/contact/dem_law.h"
#include "dem/contact/dem_pairs.h"

typedef struct WadiDemBondsIn {
    WadiDemLaw law;
    double stiffness;       /* of the law */
    double rupture;         /* m: of bridges; bonds from birth span gaps up to it */
    const uint32_t *number; /* per grain: 0 if it was in no list yet */
} WadiDemBondsIn;

/* m: gap within which pairs may have a bridge. */
static inline float wadi_dem_bond_range(double rupture)
{
    return (float)(2.0 * rupture);
}

/* Near pairs with a new grain that are at most the rupture apart touch: as if they were larger by the gap, and
 * pressed together so that the pull of their bridge and their elastic force cancel. [theory 13.6] */
void wadi_dem_bonds_form(WadiDemPairs *pairs, const WadiDemGrains *grains, const WadiDemBondsIn *in);

#endif
