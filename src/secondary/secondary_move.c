/* Motion of foam, spray, bubbles and dust. A particle's kind follows from the part of its surroundings that
 * is water. [IAAT12 section 4]
 * Differs: bubbles approach the speed at which they rise within a fixed time, and foam stays at the surface,
 * so that neither depends on the step; walls count as water does beyond them. [theory 14.2] */
#include <math.h>

#include "core/parallel.h"
#include "particles/collide.h"
#include "secondary/secondary.h"

enum { BLOCK = 1024, STEPS_MAX = 4 };

static const double SUPPORT = 2.0; /* spacings */
/* Filled part of the surroundings. */
static const double AIR = 0.2, WATER = 0.8;
static const double BUBBLE_TIME = 0.05; /* s, to reach the speed of the water and of the rise */
static const double DUST_TIME = 0.1;    /* s, to reach that of the air */
static const double DUST_FALL = 0.05;   /* m/s */
static const double SPRAY_DRAG = 0.3;   /* 1/s */
static const double FOAM_TIME = 0.1;    /* s, to come to the surface */
static const double SPRAY_LIFE = 5.0;   /* lives of foam until spray that lands nowhere ends */

typedef struct Mover {
    WadiSecondaryParticle *list;
    const WadiWorld *world;
    const WadiFlowSample *samples; /* per particle */
    double t0, t1;                 /* s */
    double spacing;
} Mover;

static WadiVec3 from_floats(const float v[3])
{
    return wadi_vec3((double)v[0], (double)v[1], (double)v[2]);
}

/* Part of a ball of radius h that a plane at this distance from its centre leaves. */
static double open_part(double distance, double h)
{
    const double q = distance / h;
    return q >= 1.0 ? 1.0 : q <= 0.0 ? 0.5 : 0.25 * (2.0 + 3.0 * q - q * q * q);
}

static WadiVec3 approach(WadiVec3 from, WadiVec3 to, double dt, double time)
{
    return wadi_lerp(to, from, exp(-dt / time));
}

/* The velocity during the step. Only foam and dust age. *clear: a distance within which there is no solid. */
static WadiVec3 steer(const Mover *m, WadiSecondaryParticle *p, const WadiFlowSample *sample, WadiVec3 v,
                      double *clear)
{
    *clear = 0.0;
    const double dt = m->t1 - m->t0, h = SUPPORT * m->spacing;
    const WadiVec3 g = wadi_world_acceleration(m->world, p->x, v, m->t0, dt);
    const WadiVec3 up = wadi_scale(g, -1.0 / fmax(wadi_norm(g), 1e-9));
    if (p->kind == WADI_SECONDARY_DUST) {
        p->life -= (float)dt;
        return approach(v, wadi_scale(up, -DUST_FALL), dt, DUST_TIME);
    }
    *clear = wadi_solids_distance(&m->world->solids, p->x, m->t0, h);
    const double fill = (double)sample->fill / open_part(*clear, h);
    if (fill < AIR) {
        p->kind = WADI_SECONDARY_SPRAY;
        p->life -= (float)(dt / SPRAY_LIFE);
        return wadi_scale(wadi_add_scaled(v, g, dt), 1.0 / (1.0 + SPRAY_DRAG * dt));
    }
    const WadiVec3 water = from_floats(sample->velocity), gradient = from_floats(sample->gradient);
    if (fill > WATER) {
        p->kind = WADI_SECONDARY_BUBBLE;
        const WadiVec3 rising = wadi_add_scaled(water, up, m->world->scene->secondary.rise);
        return approach(v, rising, dt, BUBBLE_TIME);
    }
    p->kind = WADI_SECONDARY_FOAM;
    p->life -= (float)dt;
    const double steep = wadi_norm(gradient);
    const double depth = steep > 0.0 ? fmin(fmax((fill - 0.5) / steep, -h), h) : 0.0;
    const WadiVec3 outward = wadi_scale(gradient, -1.0 / fmax(steep, 1e-12));
    return wadi_add_scaled(water, outward, depth / fmax(FOAM_TIME, dt));
}

static void move_particles(void *context, int64_t first, int64_t end)
{
    const Mover *m = context;
    const double dt = m->t1 - m->t0;
    const bool are_moving = wadi_solids_are_moving(&m->world->solids);
    const WadiCollideIn in = { &m->world->solids, m->t0, m->t1, 1e-3 * m->world->cell_size };
    for (int64_t i = first; i < end; ++i) {
        WadiSecondaryParticle *p = &m->list[i];
        if (!(p->life > 0.0f)) {
            continue;
        }
        double clear;
        WadiVec3 v = steer(m, p, &m->samples[i], from_floats(p->v), &clear);
        WadiCollideOut out = { wadi_add_scaled(p->x, v, dt), v, 0, false };
        const double reach = dt * wadi_norm(v) + 2e-3 * m->world->cell_size;
        if (are_moving || (clear < 2.0 * reach && wadi_solids_clearance(&m->world->solids, p->x, m->t0,
                                                                        2.0 * reach) < 2.0 * reach)) {
            out = wadi_collide_move(&in, p->x, out.x, v);
        }
        /* A drop that hits a solid wets it. */
        if (out.is_stuck || (out.contacts > 0 && p->kind == WADI_SECONDARY_SPRAY) || !wadi_is_finite(out.x) ||
            (m->world->scene->has_domain && wadi_box_sides_beyond(m->world->scene->domain, out.x) != 0)) {
            p->life = 0.0f;
            continue;
        }
        p->x = out.x;
        p->v[0] = (float)out.v.x;
        p->v[1] = (float)out.v.y;
        p->v[2] = (float)out.v.z;
    }
}

static void remove_gone(WadiSecondary *secondary)
{
    size_t kept = 0;
    for (size_t i = 0; i < secondary->list.count; ++i) {
        if (secondary->list.data[i].life > 0.0f) {
            secondary->list.data[kept++] = secondary->list.data[i];
        }
    }
    secondary->list.count = kept;
}

/* So many that nothing in the water moves farther than a kernel in one, where possible. */
static int count_steps(const WadiSecondary *secondary, double spacing, double frame_time)
{
    double fastest = 0.0;
    for (size_t i = 0; i < secondary->list.count; ++i) {
        const WadiSecondaryParticle *p = &secondary->list.data[i];
        const float *v = p->v;
        fastest = p->kind != WADI_SECONDARY_FOAM && p->kind != WADI_SECONDARY_BUBBLE
                      ? fastest
                      : fmax(fastest, (double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
    const double steps = ceil(sqrt(fastest) * frame_time / (SUPPORT * spacing));
    return (int)fmin(fmax(steps, 1.0), STEPS_MAX);
}

typedef struct Positions {
    const WadiSecondaryParticle *list;
    WadiVec3 *x;
} Positions;

static void copy_positions(void *context, int64_t first, int64_t end)
{
    const Positions *positions = context;
    for (int64_t i = first; i < end; ++i) {
        positions->x[i] = positions->list[i].x;
    }
}

/* The s-th of `steps` steps. */
static WadiStatus take_step(WadiSecondary *secondary, const WadiWorld *world, const WadiSecondaryStep *step,
                            const WadiFlowPlaces *places, int s, int steps, WadiArena *arena,
                            WadiError *error)
{
    bool picks[256];
    wadi_secondary_pick(world->scene, step->time, false, picks);
    const size_t count = secondary->list.count;
    WadiFlow flow;
    WadiFlowSample *samples;
    Positions positions = { .list = secondary->list.data };
    WADI_TRY(WADI_ARENA_NEW(arena, &positions.x, count, "positions of foam", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &samples, count, "water around foam", error));
    wadi_parallel_for((int64_t)count, BLOCK, copy_positions, &positions);
    const WadiFlowDef def = { .before = step->before,
                              .after = step->after,
                              .frame_time = step->frame_time,
                              .part = (s + 0.5) / steps,
                              .support = SUPPORT,
                              .picks = picks,
                              .places = places,
                              .near = positions.x,
                              .near_count = (int32_t)count };
    WADI_TRY(wadi_flow_build(&flow, &def, arena, error));
    WADI_TRY(wadi_flow_sample(&flow, positions.x, (int32_t)count, samples, arena, error));
    Mover mover = { .list = secondary->list.data,
                    .world = world,
                    .samples = samples,
                    .t0 = step->time - step->frame_time * (steps - s) / steps,
                    .t1 = step->time - step->frame_time * (steps - s - 1) / steps,
                    .spacing = world->spacing };
    wadi_parallel_for((int64_t)count, BLOCK, move_particles, &mover);
    return WADI_OK;
}

WadiStatus wadi_secondary_move(WadiSecondary *secondary, const WadiWorld *world,
                               const WadiSecondaryStep *step, WadiArena *arena, WadiError *error)
{
    const int steps = count_steps(secondary, world->spacing, step->frame_time);
    if (secondary->list.count == 0) {
        return WADI_OK;
    }
    WadiFlowPlaces places;
    WADI_TRY(wadi_arena_reset(arena, error));
    WADI_TRY(wadi_flow_places_find(&places, step->before, arena, error));
    for (int s = 0; s < steps && secondary->list.count > 0; ++s) {
        WadiArenaMark mark = wadi_arena_mark(arena);
        WADI_TRY(take_step(secondary, world, step, &places, s, steps, arena, error));
        wadi_arena_release(arena, mark);
        remove_gone(secondary);
    }
    return WADI_OK;
}
