/* New grains: their sizes, and the spheres of each placed around its seed. */
#include <math.h>

#include "core/random.h"
#include "dem/dem.h"

static const double CLEAR = 0.5; /* radii between the centres of new spheres and solids */

/* Moves a grain that reaches into solids out of them, as far as a few moves do. */
static WadiVec3 clear_solids(const WadiDem *dem, WadiVec3 seed, const WadiVec3 *arm, double radius)
{
    const WadiSolids *solids = &dem->context.world->solids;
    for (int n = 0; n < 2 * dem->spheres_each; ++n) {
        const WadiVec3 x = wadi_add(seed, arm[n % dem->spheres_each]);
        WadiSolidPoint point;
        if (wadi_solids_sample_within(solids, x, dem->now, CLEAR * radius, &point)) {
            seed = wadi_add_scaled(seed, point.surface.normal, CLEAR * radius - point.surface.distance);
        }
    }
    return seed;
}

/* Spheres of `count` grains, whose seeds are the particles from `first` on: in a random direction. */
static void place_spheres(const WadiDem *dem, int32_t first, int32_t count)
{
    const WadiParticles *p = dem->context.particles;
    const WadiScene *scene = dem->context.world->scene;
    const WadiDemShape shape = (WadiDemShape)wadi_dem_def(scene)->shape;
    uint32_t *grain = wadi_particles_column(p, dem->grain_column);
    for (int32_t s = first; s < first + count; ++s) {
        double random[3], turn[4];
        WadiVec3 arm[WADI_DEM_MEMBERS_MAX];
        wadi_random_unit3((uint64_t)scene->seed, p->id[s], WADI_RANDOM_TURN, random);
        wadi_dem_random_turn(random, turn);
        grain[s] = p->id[s];
        const double radius = wadi_dem_radius_of(dem, s);
        for (int k = 0; k < dem->spheres_each; ++k) {
            arm[k] = wadi_dem_turned(turn, wadi_scale(wadi_dem_member_centre(shape, k), radius));
        }
        const WadiVec3 seed = clear_solids(dem, (WadiVec3){ p->x[s], p->y[s], p->z[s] }, arm, radius);
        for (int k = 0; k < dem->spheres_each; ++k) {
            const int32_t i = s + k * count;
            grain[i] = p->id[s];
            p->x[i] = seed.x + arm[k].x, p->y[i] = seed.y + arm[k].y, p->z[i] = seed.z + arm[k].z;
        }
    }
}

void wadi_dem_born(void *solver, int32_t first)
{
    WadiDem *dem = solver;
    const WadiParticles *p = dem->context.particles;
    float *radius = wadi_particles_column(p, dem->radius_column);
    if (dem->spheres_each > 1) {
        place_spheres(dem, first, (p->count - first) / dem->spheres_each);
    }
    for (int32_t i = first; i < p->count; ++i) {
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        radius[i] = (float)wadi_dem_radius_of(dem, i);
        dem->fastest_born = fmax(dem->fastest_born, wadi_norm(v));
        dem->fastest = fmax(dem->fastest, wadi_norm(v));
    }
    /* They fall: none is so slow that it waits long for its list. */
    dem->fastest_born = fmax(dem->fastest_born, dem->diameter / dem->unit_time);
    dem->known += p->count - first;
}
