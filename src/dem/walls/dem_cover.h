/* Colliders covered with spheres, as [ZY10] covers its meshes: grains meet these before the smooth surface,
 * which is half a radius deeper, so that nothing falls between them. The spheres are as large as a grain,
 * smaller in thin walls and at edges; they touch the surface from inside, about a radius apart, and move with
 * their collider. */
#ifndef WADI_DEM_COVER_H
#define WADI_DEM_COVER_H

#include "dem/list/dem_search.h"
#include "geom/solids.h"

/* Zeroed: nothing is covered. */
typedef struct WadiDemCover {
    const WadiSolids *solids; /* borrowed; NULL: nothing is covered */
    double radius;            /* m, of the largest spheres */
    WadiParticles spheres;    /* positions at time 0 */
    int solid_column;         /* u32: the collider of each sphere */
    int radius_column;        /* f32, m */
    WadiArena memory;
    WadiCells cells;
} WadiDemCover;

/* `box`: colliders are covered inside it. */
WadiStatus wadi_dem_cover_create(WadiDemCover *cover, const WadiSolids *solids, WadiBox box, double radius,
                                 WadiError *error);
void wadi_dem_cover_free(WadiDemCover *cover);

/* How much deeper the smooth surface is where it is covered, m; NULL: 0. */
static inline double wadi_dem_cover_depth(const WadiDemCover *cover)
{
    return cover != NULL ? 0.5 * cover->radius : 0.0;
}

/* The collider of a sphere. */
int wadi_dem_cover_solid(const WadiDemCover *cover, int32_t sphere);
/* Nearest point of a sphere to x. */
WadiSurfacePoint wadi_dem_cover_sample(const WadiDemCover *cover, int32_t sphere, WadiVec3 x, double time);
/* Spheres of a collider nearer to x than `distance`, the nearest ones first, at most `room`; their number. */
int wadi_dem_cover_find(const WadiDemCover *cover, int solid, WadiVec3 x, double distance, double time,
                        int32_t *sphere, WadiSurfacePoint *point, int room);

#endif
