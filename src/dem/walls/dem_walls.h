/* Contacts of grains with solids and the sides of the domain. A surface is taken for the plane at its nearest
 * point, sampled anew once the grain has moved by a twentieth of a diameter, and in every step where the
 * solid moves. Inner corners have several planes. */
#ifndef WADI_DEM_WALLS_H
#define WADI_DEM_WALLS_H

#include "core/arena.h"
#include "dem/contact/dem_law.h"
#include "dem/contact/dem_pairs.h"
#include "dem/walls/dem_cover.h"
#include "geom/solids.h"
#include "particles/store.h"

enum { WADI_DEM_PLANE_MAX = 8 }; /* of a grain */

typedef struct WadiDemWall {
    WadiF8 spring;     /* as WadiDemPairs.spring */
    WadiF4 normal;     /* away from the solid; w: distance of the sampled position, m */
    WadiF4 sampled;    /* u of that position */
    float velocity[3]; /* of the solid there, m/s */
    float friction;    /* of the solid */
    float damping;     /* as that of the law, by the restitution of the solid */
    int32_t grain;     /* of the list */
    /* Negative: a side of the domain, -1 - its bit number; from the number of solids on: a sphere of the
     * cover, after that number. */
    int32_t solid;
    uint8_t is_flat; /* a side of the domain: exact at every distance */
    uint8_t is_moving;
    uint8_t touches;
} WadiDemWall;

/* Walls of the grains of a list, in their order; zeroed: none. */
typedef struct WadiDemWalls {
    WadiDemWall *wall;
    size_t count, capacity;
    int32_t *chunk; /* per chunk of the list, + 1: its first wall */
    size_t chunk_capacity;
} WadiDemWalls;

typedef struct WadiDemWallsIn {
    const WadiSolids *solids;
    const WadiDemCover *cover; /* of the solids; NULL: they are smooth */
    const WadiParticles *particles;
    int32_t first;              /* grains before it sleep */
    const float *radius;        /* m, per particle: as large as it will be */
    const float *skin;          /* m, per particle */
    double time;                /* s */
    double lifetime;            /* s: of the list, for solids that move */
    const uint32_t *list_index; /* as in wadi_dem_list_take_springs */
    double diameter;            /* m */
} WadiDemWallsIn;

/* Contacts keep the springs that they have in `walls` from the last list. */
WadiStatus wadi_dem_walls_build(WadiDemWalls *walls, const WadiDemWallsIn *in, WadiArena *scratch,
                                WadiError *error);
/* The first wall of each chunk of a list of `count` grains, those before `first` asleep. */
WadiStatus wadi_dem_walls_find_chunks(WadiDemWalls *walls, int32_t first, int32_t count, WadiError *error);
void wadi_dem_walls_free(WadiDemWalls *walls);

typedef struct WadiDemWallForces {
    const WadiSolids *solids;
    const WadiDemCover *cover;      /* as WadiDemWallsIn.cover */
    const WadiParticles *particles; /* positions at the beginning of the step */
    const WadiDemGrains *grains;
    const WadiDemPairs *pairs;
    const float *mass;
    const WadiDemLawConstants *law;
    double time, dt;
    double diameter;
    /* Surfaces resist rolling as they resist sliding: rough ones hold a grain up to tan(slope) = friction,
     * smooth ones let it turn. false, and at spheres of the cover: the grain's own rolling friction. */
    bool has_rough_surfaces;
    const float *damping_of; /* WADI_DEM_DAMPINGS values: of restitutions from 0 to 1 */
    uint8_t *is_deep;        /* per grain, out: its centre is near a surface; not reset. NULL: not needed */
    WadiF8 *wall_load;       /* per wall, out: as grains->load, of those that touch. NULL: not needed */
} WadiDemWallForces;
enum { WADI_DEM_DAMPINGS = 33 };

/* Adds to grains->load; updates the springs. */
void wadi_dem_add_wall_forces(WadiDemWalls *walls, const WadiDemWallForces *in);

#endif
