/* Gravity and the forces of a scene: what they do to a particle in a step, and the longest step that they
 * allow. [theory 1.7] */
#include <math.h>

#include "core/parallel.h"
#include "math/exp.h"
#include "world/world.h"

enum { BLOCKS = 64, BLOCK = 4096 };

/* At one position, velocity and time. */
typedef struct Push {
    WadiVec3 acceleration; /* m/s^2, with drag */
    double rate;           /* 1/s, of all drags together */
} Push;

static WadiVec3 point_acceleration(const WadiForceDef *force, WadiVec3 x, double time)
{
    const WadiVec3 to_center = wadi_sub(wadi_curve_value3(&force->center, time), x);
    const double distance = wadi_norm(to_center);
    double strength = wadi_curve_value(&force->strength, time);
    if (distance > force->radius) {
        strength *= (force->radius / distance) * (force->radius / distance);
    }
    return wadi_scale(wadi_normalized_or(to_center, (WadiVec3){ 0, 0, 0 }), strength);
}

static void add_force(Push *push, const WadiForceDef *force, WadiVec3 x, WadiVec3 v, double time)
{
    WadiVec3 a = { 0, 0, 0 };
    switch (force->kind) {
    case WADI_FORCE_UNIFORM: a = wadi_curve_value3(&force->acceleration, time); break;
    case WADI_FORCE_DRAG: {
        const double rate = wadi_curve_value(&force->rate, time);
        a = wadi_scale(wadi_sub(wadi_curve_value3(&force->velocity, time), v), rate);
        push->rate += rate;
        break;
    }
    case WADI_FORCE_POINT: a = point_acceleration(force, x, time); break;
    }
    push->acceleration = wadi_add(push->acceleration, a);
}

static bool is_active(const WadiForce *force, double time)
{
    return time >= force->def->start && time < force->def->end;
}

static Push find_push(const WadiWorld *world, WadiVec3 x, WadiVec3 v, double time)
{
    Push push = { wadi_curve_value3(&world->scene->gravity, time), 0.0 };
    for (int i = 0; i < world->scene->force_count; ++i) {
        const WadiForce *force = &world->forces[i];
        if (is_active(force, time) &&
            (force->region == NULL || wadi_shape_contains(force->region, x, time))) {
            add_force(&push, force->def, x, v, time);
        }
    }
    return push;
}

/* Of dv/dt = a - rate (v - v0) over s = rate dt: mean of a's effect on the velocity, (1 - exp(-s)) / s, and
 * on the position, (s - 1 + exp(-s)) / s^2. */
static void drag_factors(double s, double *velocity, double *position)
{
    if (s == 0.0) {
        *velocity = 1.0, *position = 0.5;
    } else if (s < 0.01) {
        *position = 1.0 / 2 - s * (1.0 / 6 - s * (1.0 / 24 - s * (1.0 / 120 - s * (1.0 / 720 - s / 5040))));
        *velocity = 1.0 - s * *position;
    } else {
        *velocity = (1.0 - wadi_exp(-s)) / s;
        *position = (1.0 - *velocity) / s;
    }
}

WadiKick wadi_world_kick(const WadiWorld *world, WadiVec3 x, WadiVec3 v, double time, double dt)
{
    const Push push = find_push(world, x, v, time);
    double velocity, position;
    drag_factors(push.rate * dt, &velocity, &position);
    return (WadiKick){ wadi_scale(push.acceleration, velocity * dt),
                       wadi_scale(push.acceleration, position * dt * dt) };
}

WadiVec3 wadi_world_acceleration(const WadiWorld *world, WadiVec3 x, WadiVec3 v, double time, double dt)
{
    const Push push = find_push(world, x, v, time);
    double velocity, position;
    drag_factors(push.rate * dt, &velocity, &position);
    return wadi_scale(push.acceleration, velocity);
}

WadiVec3 wadi_world_gravity(const WadiWorld *world, double time)
{
    WadiVec3 a = wadi_curve_value3(&world->scene->gravity, time);
    for (int i = 0; i < world->scene->force_count; ++i) {
        const WadiForce *force = &world->forces[i];
        if (is_active(force, time) && force->region == NULL && force->def->kind == WADI_FORCE_UNIFORM) {
            a = wadi_add(a, wadi_curve_value3(&force->def->acceleration, time));
        }
    }
    return a;
}

/* Bounds of the change of a velocity in a step: `acceleration` dt, and `speed`, where drag limits it. */
typedef struct Bound {
    double acceleration, speed;
} Bound;

typedef struct Search {
    const WadiWorld *world;
    const WadiParticles *particles;
    int32_t first;
    int64_t block;
    double time;
    Bound of[BLOCKS];
} Search;

static void add_push(Bound *bound, const Push *push)
{
    const double a = wadi_norm(push->acceleration);
    bound->acceleration = fmax(bound->acceleration, a);
    bound->speed = fmax(bound->speed, a > 0.0 ? a / push->rate : 0.0);
}

static void search_block(void *context, int64_t first, int64_t end)
{
    Search *search = context;
    const WadiParticles *p = search->particles;
    Bound bound = { 0.0, 0.0 };
    for (int64_t i = first + search->first; i < end + search->first; ++i) {
        const WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        const Push push = find_push(search->world, (WadiVec3){ p->x[i], p->y[i], p->z[i] }, v, search->time);
        add_push(&bound, &push);
    }
    search->of[first / search->block] = bound;
}

static bool depends_on_particles(const WadiWorld *world)
{
    bool depends = false;
    for (int i = 0; i < world->scene->force_count; ++i) {
        const WadiForce *force = &world->forces[i];
        depends = depends || force->def->kind != WADI_FORCE_UNIFORM || force->region != NULL;
    }
    return depends;
}

static Bound find_bound(const WadiWorld *world, const WadiParticles *particles, int32_t first, double time)
{
    Bound bound = { 0.0, 0.0 };
    if (!depends_on_particles(world)) {
        add_push(&bound, &(Push){ wadi_world_gravity(world, time), 0.0 });
        return bound;
    }
    const int64_t count = particles->count - first;
    const int64_t block = count > (int64_t)BLOCKS * BLOCK ? (count + BLOCKS - 1) / BLOCKS : BLOCK;
    Search search = { .world = world, .particles = particles, .first = first, .block = block, .time = time };
    wadi_parallel_for(count, block, search_block, &search);
    for (int64_t b = 0; b < wadi_parallel_block_count(count, block); ++b) {
        bound.acceleration = fmax(bound.acceleration, search.of[b].acceleration);
        bound.speed = fmax(bound.speed, search.of[b].speed);
    }
    return bound;
}

/* The longest step with (v + change of v) dt <= distance. */
static double step_within(double distance, double v, const Bound *bound)
{
    const double a = bound->acceleration;
    const double by_acceleration = 2.0 * distance / (v + sqrt(v * v + 4.0 * a * distance));
    return fmax(by_acceleration, distance / (v + bound->speed));
}

/* The first key of a curve after `time`, or when it begins again. */
static double next_key(const WadiCurve *curve, double time)
{
    double next = INFINITY;
    const int last = curve->key_count - 1;
    double shift = 0.0;
    if (last > 0 && curve->does_repeat) {
        const double begin = curve->keys[0].time, length = curve->keys[last].time - begin;
        shift = length * floor((time - begin) / length);
    }
    for (int k = 0; k <= last; ++k) {
        const double key = curve->keys[k].time + shift;
        next = key > time ? fmin(next, key) : next;
    }
    return next;
}

static double next_change(const WadiWorld *world, double time)
{
    double next = next_key(&world->scene->gravity, time);
    for (int i = 0; i < world->scene->force_count; ++i) {
        const WadiForceDef *def = world->forces[i].def;
        const WadiCurve *const curve[5] = { &def->acceleration, &def->velocity, &def->rate, &def->center,
                                            &def->strength };
        next = def->start > time ? fmin(next, def->start) : next;
        for (int c = 0; c < 5; ++c) {
            next = fmin(next, next_key(curve[c], time));
        }
    }
    return next;
}

double wadi_world_force_step(const WadiWorld *world, const WadiParticles *particles, const WadiForceStep *in)
{
    const double longest = fmin(in->dt, 1.0 / world->scene->fps);
    double dt = longest;
    /* A step may end where a stronger force begins. */
    for (double at = in->time; at < in->time + dt; at = next_change(world, at)) {
        const Bound bound = find_bound(world, particles, in->first, at);
        dt = fmin(dt, fmax(step_within(in->distance, in->speed, &bound), at - in->time));
    }
    if (!wadi_world_forces_are_steady(world, in->time, in->time + dt)) {
        const Bound bound = find_bound(world, particles, in->first, in->time + dt);
        dt = fmin(dt, step_within(in->distance, in->speed, &bound));
    }
    return dt < longest ? dt : in->dt;
}
