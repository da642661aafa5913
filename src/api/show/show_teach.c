/* Sums over a simulation and solid cells, for programs that explain it. */
#include <math.h>

#include "api/show/show.h"
#include "core/check.h"
#include "sim/sim.h"
#include "sim/volume.h"
#include "world/water.h"

WadiStatus wadi_sim_totals(const WadiSim *sim, WadiTotals *totals, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    *totals = (WadiTotals){ 0 };
    WADI_TRY(wadi_sim_check_state(sim, error));
    const WadiScene *scene = sim->scene;
    const WadiParticles *p = &sim->particles;
    const double *volume = wadi_volume_column(p);
    const WadiVec3 gravity = wadi_curve_value3(&scene->gravity, sim->time);
    const WadiVec3 low = scene->has_domain ? scene->domain.min : wadi_vec3(0, 0, 0);
    for (int32_t i = 0; i < p->count; ++i) {
        const double cubes = sim->world->particle_volume * (volume != NULL ? volume[i] : 1.0);
        const double mass = scene->materials[p->material[i]].density * cubes;
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        totals->mass += mass;
        totals->kinetic += 0.5 * mass * wadi_dot(v, v);
        totals->potential -= mass * wadi_dot(gravity, wadi_sub(x, low));
        totals->volume += cubes;
    }
    WadiVolumeDrift drift = { 0 };
    WADI_TRY(wadi_volume_measure(sim, &drift, error));
    totals->volume *= isfinite(drift.drift) ? 1.0 + drift.drift : 1.0;
    return wadi_assert_status(WADI_OK, asserts, error);
}

void wadi_sim_watch_stages(WadiSim *sim, WadiStageFunction call, void *user)
{
    sim->watch = (WadiStageWatch){ call, user };
}

bool wadi_stage_velocity(const WadiStageGrid *grid, const double position[3], double velocity[3])
{
    return grid->sample(grid->grid, position, velocity);
}

static bool is_solid(const WadiWorld *world, WadiVec3 x, double time)
{
    const WadiScene *scene = world->scene;
    const double at[3] = { x.x, x.y, x.z };
    const double low[3] = { scene->domain.min.x, scene->domain.min.y, scene->domain.min.z };
    const double high[3] = { scene->domain.max.x, scene->domain.max.y, scene->domain.max.z };
    bool is = false;
    for (int axis = 0; axis < 3 && scene->has_domain; ++axis) {
        is |= at[axis] < low[axis] && (scene->closed_sides >> (2 * axis) & 1) != 0;
        is |= at[axis] > high[axis] && (scene->closed_sides >> (2 * axis + 1) & 1) != 0;
    }
    for (int i = 0; i < scene->collider_count && !is; ++i) {
        is = wadi_shape_contains(world->collider_shapes[i], x, time);
    }
    return is;
}

void wadi_show_solid(const WadiWorld *world, double time, const double *points, size_t count,
                     uint8_t *is_inside)
{
    for (size_t i = 0; i < count; ++i) {
        is_inside[i] = is_solid(world, wadi_vec3(points[3 * i], points[3 * i + 1], points[3 * i + 2]), time);
    }
}

WadiStatus wadi_sim_solid(const WadiSim *sim, const double *points, size_t count, uint8_t *is_inside,
                          WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    WADI_TRY(wadi_sim_check_idle(sim, error));
    if (sim->world == NULL) {
        return wadi_sim_check_state(sim, error);
    }
    wadi_show_solid(sim->world, sim->time, points, count, is_inside);
    return wadi_assert_status(WADI_OK, asserts, error);
}
