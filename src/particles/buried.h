/* Particles hidden by others all around them. */
#ifndef WADI_PARTICLES_BURIED_H
#define WADI_PARTICLES_BURIED_H

#include "core/arena.h"
#include "particles/store.h"

/* *is_buried, in the arena: 1 for particles that lie two spacings or more under others on every side, also
 * towards solids, which may be glass. spacing: cubic root of the volume of a particle, m. */
WadiStatus wadi_find_buried(const WadiParticles *particles, double spacing, WadiArena *arena,
                            uint8_t **is_buried, WadiError *error);

#endif
