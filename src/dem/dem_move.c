/* Velocities from the loads, and positions from the velocities: leapfrog, of second order also where steps
 * change. Grains that are smaller than they will be grow. Grains that are not in the list yet fall freely. */
#include <math.h>

#include "core/parallel.h"
#include "dem/contact/dem_forces.h"
#include "dem/dem.h"

enum { BLOCK = 2048, BODY_BLOCK = 256 };

/* Of growing radii: speed below NEARLY of the grown radius, in sqrt(g d), and rate above it, in sqrt(g /
 * depth): the top of a body of that depth must not be thrown up. */
static const double GROWTH = 0.1, NEARLY = 0.85, GROWTH_RATE = 0.1;

typedef struct Move {
    WadiDem *dem;
    const WadiDemStep *step;
    WadiF8 gravity; /* times the kick, m/s */
    bool has_forces;
    float growth, growth_factor; /* of radii in the step: m, and a factor */
    /* Per block: largest part of its way that a grain has used since the list was made, and since near pairs
     * were chosen; squares. */
    double *used, *used_near;
} Move;

/* Change of the velocity by gravity and forces. */
static inline void find_push(const Move *m, int64_t i, WadiF8 *push)
{
    *push = m->gravity;
    if (!m->has_forces) {
        return;
    }
    const WadiDem *dem = m->dem;
    const WadiParticles *p = dem->context.particles;
    const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
    const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
    const WadiVec3 a = wadi_world_kick(dem->context.world, x, v, m->step->time, m->step->kick).velocity;
    *push = (WadiF8){ (float)a.x, (float)a.y, (float)a.z };
}

static void grow(const Move *m, int64_t i)
{
    const WadiDem *dem = m->dem;
    const float most = dem->grains.grown_radius[i], now = dem->grains.shift[i][3];
    const float grown = now < (float)NEARLY * most ? now + m->growth : now * m->growth_factor;
    dem->grains.shift[i][3] = grown < most ? grown : most;
}

static bool may_meet_solids(const Move *m, const WadiDemBody *body, const WadiDemBody *before)
{
    const WadiDem *dem = m->dem;
    const int32_t *member = dem->bodies.member + body->first;
    const WadiVec3 moved = wadi_sub(body->shift, before->shift);
    bool may = false;
    for (int32_t k = 0; k < body->count && !may; ++k) {
        const double *base = dem->base[member[k]];
        const WadiVec3 arm = wadi_dem_body_arm(body, base);
        const WadiVec3 since = wadi_sub(wadi_add(body->centre, wadi_add(body->shift, arm)),
                                        (WadiVec3){ base[0], base[1], base[2] });
        const WadiVec3 way = wadi_add(moved, wadi_sub(arm, wadi_dem_body_arm(before, base)));
        may = wadi_dem_guard_is_needed(dem, member[k], wadi_norm(way),
                                       wadi_norm(since) / (double)dem->grains.skin[member[k]]);
    }
    return may;
}

/* Bodies: the loads of their spheres added up, then displacements and velocities of the spheres. */
static void move_bodies(void *context, int64_t first, int64_t end)
{
    const Move *m = context;
    WadiDem *dem = m->dem;
    const double dt = m->step->dt;
    for (int64_t b = first; b < end; ++b) {
        WadiDemBody *body = &dem->bodies.body[b];
        const int32_t *member = dem->bodies.member + body->first;
        WadiVec3 force = { 0, 0, 0 }, torque = force, push = force;
        for (int32_t k = 0; k < body->count; ++k) {
            WadiF8 load, fall;
            find_push(m, member[k], &fall);
            wadi_dem_load_of(&dem->grains, &dem->list.pairs, member[k], &load);
            const WadiVec3 f = { (double)load[0], (double)load[1], (double)load[2] };
            const WadiVec3 own = { (double)load[4], (double)load[5], (double)load[6] };
            const WadiVec3 arm = wadi_dem_body_arm(body, dem->base[member[k]]);
            force = wadi_add(force, f);
            torque = wadi_add(torque, wadi_add(own, wadi_cross(arm, f)));
            push = wadi_add_scaled(push, (WadiVec3){ (double)fall[0], (double)fall[1], (double)fall[2] },
                                   (double)dem->mass[member[k]] / body->mass);
        }
        const bool is_frozen = body->anchor >= 0;
        if (!is_frozen) {
            const WadiDemBody before = *body;
            wadi_dem_body_move(body, &(WadiDemBodyKick){ force, torque, push, m->step->kick }, dt);
            if (may_meet_solids(m, body, &before)) {
                wadi_dem_guard_body(dem, m->step, body, &before);
            }
        }
        const WadiVec3 spin = is_frozen ? (WadiVec3){ 0, 0, 0 } : wadi_dem_body_spin(body);
        for (int32_t k = 0; k < body->count; ++k) {
            const int32_t i = member[k];
            const WadiVec3 arm = wadi_dem_body_arm(body, dem->base[i]);
            const WadiVec3 v = is_frozen ? spin : wadi_add(body->velocity, wadi_cross(spin, arm));
            const WadiVec3 from =
                wadi_sub((WadiVec3){ dem->base[i][0], dem->base[i][1], dem->base[i][2] }, body->centre);
            const WadiVec3 u = wadi_add(body->shift, wadi_sub(arm, from));
            WadiF8 *motion = &dem->grains.motion[i];
            *motion = (WadiF8){ (float)v.x,    (float)v.y,    (float)v.z,    (*motion)[3],
                                (float)spin.x, (float)spin.y, (float)spin.z, (*motion)[7] };
            dem->grains.shift[i] = (WadiF4){ (float)u.x, (float)u.y, (float)u.z, dem->grains.shift[i][3] };
        }
    }
}

/* Velocity, displacement and position of a grain that is a sphere. */
static inline void move_sphere(const Move *m, int64_t i)
{
    const WadiDemGrains *g = &m->dem->grains;
    const float dt = (float)m->step->dt, radius = g->shift[i][3];
    const float per_mass = (float)m->step->kick / m->dem->mass[i];
    const float spin = 2.5f * per_mass / (radius * radius);
    WadiF8 load, push;
    find_push(m, i, &push);
    wadi_dem_load_of(g, &m->dem->list.pairs, (int32_t)i, &load);
    const WadiF8 rate = { per_mass, per_mass, per_mass, 0, spin, spin, spin, 0 };
    const WadiF8 motion = g->motion[i] + (load * rate + push);
    g->motion[i] = motion;
    const WadiF4 way = { motion[0] * dt, motion[1] * dt, motion[2] * dt, 0 };
    const WadiF4 u = g->shift[i] + way;
    g->shift[i] = u;
    WadiParticles *p = m->dem->context.particles;
    const WadiVec3 x0 = { p->x[i], p->y[i], p->z[i] };
    p->x[i] += (double)way[0], p->y[i] += (double)way[1], p->z[i] += (double)way[2];
    const float length = sqrtf(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
    const float used = sqrtf(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / g->skin[i];
    if (wadi_dem_guard_is_needed(m->dem, i, (double)length, (double)used)) {
        wadi_dem_guard_sphere(m->dem, m->step, i, x0);
    }
}

static double move_block(void *context, int64_t begin, int64_t stop)
{
    const Move *m = context;
    WadiDem *dem = m->dem;
    const int64_t first = begin + dem->sleep.count, end = stop + dem->sleep.count;
    WadiParticles *p = dem->context.particles;
    const WadiDemGrains *g = &dem->grains;
    float used = 0.0f, used_near = 0.0f, fastest = 0.0f;
    float *omega[3], *radius = wadi_particles_column(p, dem->radius_column);
    for (int c = 0; c < 3; ++c) {
        omega[c] = wadi_particles_column(p, dem->angular_velocity_column + c);
    }
    for (int64_t i = first; i < end; ++i) {
        if (dem->has_growing) {
            grow(m, i);
        }
        if (dem->base == NULL) {
            move_sphere(m, i);
        } else {
            p->x[i] = dem->base[i][0] + (double)g->shift[i][0];
            p->y[i] = dem->base[i][1] + (double)g->shift[i][1];
            p->z[i] = dem->base[i][2] + (double)g->shift[i][2];
        }
        const WadiF8 motion = g->motion[i];
        const WadiF4 shift = g->shift[i];
        p->vx[i] = motion[0], p->vy[i] = motion[1], p->vz[i] = motion[2];
        omega[0][i] = motion[4], omega[1][i] = motion[5], omega[2][i] = motion[6];
        radius[i] = shift[3];
        const float square = shift[0] * shift[0] + shift[1] * shift[1] + shift[2] * shift[2];
        const WadiF4 since = shift - g->mark[i - m->dem->list.pairs.first];
        const float moved = since[0] * since[0] + since[1] * since[1] + since[2] * since[2];
        const float scale = 1.0f / (g->skin[i] * g->skin[i]), part = square * scale, near = moved * scale;
        const float speed = motion[0] * motion[0] + motion[1] * motion[1] + motion[2] * motion[2];
        used = part > used ? part : used;
        used_near = near > used_near ? near : used_near;
        fastest = speed > fastest ? speed : fastest;
    }
    m->used[begin / BLOCK] = (double)used;
    m->used_near[begin / BLOCK] = (double)used_near;
    return (double)fastest;
}

/* Grains that were born since the list was made. Returns whether one has to be in a list for the next step:
 * solids stop single spheres here, but only a body as a whole. */
static bool fly(const Move *m, double *fastest)
{
    const WadiDem *dem = m->dem;
    WadiParticles *p = dem->context.particles;
    const bool are_bodies = dem->spheres_each > 1;
    for (int32_t i = dem->grains.count; i < p->count; ++i) {
        WadiF8 push;
        find_push(m, i, &push);
        /* Forces that differ between the spheres of a grain wait until it is a body. */
        push = are_bodies ? m->gravity : push;
        p->vx[i] += push[0], p->vy[i] += push[1], p->vz[i] += push[2];
        *fastest = fmax(*fastest, (double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]));
    }
    return wadi_dem_guard_flight(dem, m->step);
}

WadiStatus wadi_dem_move(WadiDem *dem, const WadiDemStep *step, WadiError *error)
{
    const WadiScene *scene = dem->context.world->scene;
    const WadiVec3 g = wadi_scale(wadi_curve_value3(&scene->gravity, step->time), step->kick);
    const double pull = dem->diameter / (dem->unit_time * dem->unit_time);
    const int64_t awake = dem->grains.count - dem->sleep.count;
    const int64_t blocks = wadi_parallel_block_count(awake, BLOCK);
    Move m = { .dem = dem,
               .step = step,
               .gravity = { (float)g.x, (float)g.y, (float)g.z },
               .has_forces = scene->force_count > 0,
               .growth = (float)(GROWTH * dem->diameter / dem->unit_time * step->dt),
               .growth_factor = (float)(1.0 + GROWTH_RATE * step->dt * sqrt(pull / dem->depth)) };
    double *partials = NULL, used = 0.0, used_near = 0.0;
    WADI_TRY(WADI_ARENA_NEW(dem->context.scratch, &partials, (size_t)blocks, "speeds", error));
    WADI_TRY(WADI_ARENA_NEW(dem->context.scratch, &m.used, (size_t)blocks, "speeds", error));
    WADI_TRY(WADI_ARENA_NEW(dem->context.scratch, &m.used_near, (size_t)blocks, "speeds", error));
    wadi_parallel_for(dem->bodies.count, BODY_BLOCK, move_bodies, &m);
    double fastest = fmax(0.0, wadi_parallel_max(awake, BLOCK, move_block, &m, partials));
    const bool is_stopped = fly(&m, &fastest);
    for (int64_t b = 0; b < blocks; ++b) {
        used = fmax(used, m.used[b]);
        used_near = fmax(used_near, m.used_near[b]);
    }
    dem->fastest = sqrt(fastest);
    dem->is_stale = used > 1.0 || step->ends_frame || is_stopped;
    dem->is_near_stale = used_near > (double)(WADI_DEM_NEAR_PART * WADI_DEM_NEAR_PART);
    return WADI_OK;
}
