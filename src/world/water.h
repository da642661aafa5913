/* Mass of water that particles carry, in a column `water` of doubles that a solver may have: of a particle of
 * water its own mass, of one of sand that in its pores. The unit is the mass of a full particle of the
 * scene's densest water.
 *
 * Masses are whole numbers of 2^-36: sums and differences are exact, so that no water is lost to rounding. */
#ifndef WADI_WORLD_WATER_H
#define WADI_WORLD_WATER_H

#include "particles/store.h"
#include "world/scene.h"

#define WADI_WATER_QUANTA 0x1p36

/* Density of that water, kg/m^3; 1000 without any. */
double wadi_water_density(const WadiScene *scene);
/* Mass of water at birth of a particle of a material; `saturation` counts for sand only. */
double wadi_water_at_birth(const WadiScene *scene, int material, double saturation);
/* The columns `water`, `film` (double, water on sand outside its pores) and `wetness` (float, the saturation
 * of sand) of a store, or NULL. */
double *wadi_water_column(const WadiParticles *particles);
double *wadi_film_column(const WadiParticles *particles);
float *wadi_wetness_column(const WadiParticles *particles);
/* The column `volume` (double, over that of a particle of the scene's spacing) of a solver whose particles
 * have different sizes, or NULL. */
double *wadi_volume_column(const WadiParticles *particles);
/* Whether there is that column; it has no memory before the first particle. */
bool wadi_has_volumes(const WadiParticles *particles);
/* Sum over the particles from `first` on, in quanta: exact. 0 without the column. */
int64_t wadi_water_sum(const WadiParticles *particles, int32_t first);

#endif
