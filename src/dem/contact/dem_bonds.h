/* Bonds of cohesive grains that are born side by side. */
#ifndef WADI_DEM_BONDS_H
#define WADI_DEM_BONDS_H

#include "dem/contact/dem_law.h"
#include "dem/contact/dem_pairs.h"

typedef struct WadiDemBondsIn {
    WadiDemLaw law;
    double stiffness;           /* of the law */
    double rupture;             /* m: of bridges */
    const uint32_t *list_index; /* per grain: 0 if it was in no list yet */
} WadiDemBondsIn;

/* Largest gap that a bond from birth spans, over the rupture of bridges: with half of it every thirtieth
 * grain of a packing has no bond. */
static const double WADI_DEM_BOND_GAP = 2.0;

/* m: gap within which pairs may have a bridge. */
static inline float wadi_dem_bond_range(double rupture)
{
    return (float)((WADI_DEM_BOND_GAP + 1.0) * rupture);
}

/* Near pairs with a new grain that are no farther apart touch: as if they were larger by the gap, and
 * pressed together so that the pull of their bridge and their elastic force cancel. [theory 13.6] */
void wadi_dem_bonds_form(WadiDemPairs *pairs, const WadiDemGrains *grains, const WadiDemBondsIn *in);

#endif
