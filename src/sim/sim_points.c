/* Particles that a program gives, in a running simulation. */
#include <math.h>

#include "sim/sim.h"

/* Largest coordinate, m, and speed, m/s: cells have numbers there. */
static const double MOST_X = 1e12;
static const float MOST_V = 1e9F;

WadiStatus wadi_sim_check_points(const WadiSim *sim, const WadiPoint *points, size_t count, WadiError *error)
{
    for (size_t i = 0; i < count; ++i) {
        const WadiPoint *at = &points[i];
        for (int c = 0; c < 3; ++c) {
            if (!(fabs(at->x[c]) <= MOST_X) || !(fabsf(at->v[c]) <= MOST_V)) {
                return wadi_fail(
                    error, WADI_ERR_ARGUMENT,
                    "particle %zu has position (%g, %g, %g) m and velocity (%g, %g, %g) m/s; expected "
                    "finite numbers up to %g and %g",
                    i, at->x[0], at->x[1], at->x[2], (double)at->v[0], (double)at->v[1], (double)at->v[2],
                    MOST_X, (double)MOST_V);
            }
        }
        if (at->material >= (uint32_t)sim->scene->material_count) {
            return wadi_fail(error, WADI_ERR_ARGUMENT, "particle %zu is of material %u; the scene has %d", i,
                             (unsigned)at->material, sim->scene->material_count);
        }
    }
    return WADI_OK;
}

/* Removes those from `first` on that lie inside solids or beyond closed walls. */
static WadiStatus drop_enclosed(WadiSim *sim, int32_t first, int64_t *added, WadiError *error)
{
    WadiParticles *p = &sim->particles;
    uint8_t *is_removed = NULL;
    WADI_TRY(WADI_ARENA_NEW(&sim->scratch, &is_removed, (size_t)p->count, "enclosed particles", error));
    for (int32_t i = 0; i < p->count; ++i) {
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        is_removed[i] =
            i >= first && wadi_solids_distance(&sim->world->solids, x, sim->time, sim->world->spacing) < 0.0;
    }
    *added -= wadi_particles_remove(p, is_removed);
    return WADI_OK;
}

static void fill(WadiParticles *p, int32_t first, const WadiPoint *points, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const size_t n = (size_t)first + i;
        p->x[n] = points[i].x[0], p->y[n] = points[i].x[1], p->z[n] = points[i].x[2];
        p->vx[n] = points[i].v[0], p->vy[n] = points[i].v[1], p->vz[n] = points[i].v[2];
        p->material[n] = (uint8_t)points[i].material;
    }
}

WadiStatus wadi_sim_insert_points(WadiSim *sim, const WadiPoint *points, size_t count, int64_t *added,
                                  WadiError *error)
{
    WadiParticles *p = &sim->particles;
    int32_t first = 0;
    *added = 0;
    WADI_TRY(wadi_particles_append(p, (int64_t)count, &first, error));
    fill(p, first, points, count);
    *added = (int64_t)count;
    WadiStatus status = drop_enclosed(sim, first, added, error);
    if (status == WADI_OK) {
        status = wadi_sim_drop_crowded(sim, first, added, error);
    }
    if (status != WADI_OK) {
        wadi_particles_drop_newest(p, *added);
        *added = 0;
        return status;
    }
    return wadi_sim_finish_added(sim, first, 0.0, false, error);
}
