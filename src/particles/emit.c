/* Emitters and drains. Births follow the integral of the rate exactly, one after the other in time.
 * Positions are the points of an additive recurrence of low discrepancy that are inside the shape: they
 * keep the spacing of bulk material, where random ones would cluster. A new particle has already moved for
 * the remainder of the step, and collided with solids as any other. */
#include "particles/emit.h"

#include "core/check.h"
#include "core/parallel.h"
#include "core/random.h"
#include "particles/collide.h"

enum { TRIES_MAX = 65536, DRAIN_BLOCK = 4096 };

/* A curve over time: a rate, which counts where it is above 0, or a component of a vector. */
typedef struct Integrand {
    const WadiCurve *curve;
    int axis; /* -1: a rate */
} Integrand;

static double value_of(const Integrand *f, double time)
{
    return f->axis < 0 ? wadi_curve_value(f->curve, time)
                       : wadi_component(wadi_curve_value3(f->curve, time), f->axis);
}

/* Two-point Gauss quadrature over a piece without keys: exact for cubics. */
static double gauss(const Integrand *f, double t0, double t1)
{
    double middle = 0.5 * (t0 + t1), offset = 0.5 * (t1 - t0) * 0.57735026918962576;
    double sum = value_of(f, middle - offset) + value_of(f, middle + offset);
    return 0.5 * (t1 - t0) * (f->axis < 0 ? fmax(0.0, sum) : sum);
}

/* Integral from t0 to t1, which spans the end of a repeating curve at most once. */
static double integrate_once(const Integrand *f, double t0, double t1)
{
    const WadiCurve *curve = f->curve;
    double sum = 0.0, at = t0;
    double span = curve->keys[curve->key_count - 1].time - curve->keys[0].time;
    double shift = curve->does_repeat ? span * floor((t0 - curve->keys[0].time) / span) : 0.0;
    for (int turn = 0; turn < (curve->does_repeat ? 3 : 1); ++turn) {
        for (int k = 0; k < curve->key_count; ++k) {
            double key = curve->keys[k].time + shift + turn * span;
            if (key > at && key < t1) {
                sum += gauss(f, at, key);
                at = key;
            }
        }
    }
    return sum + gauss(f, at, t1);
}

static double integrate(const Integrand *f, double t0, double t1)
{
    const WadiCurve *curve = f->curve;
    if (!(t1 > t0)) {
        return 0.0;
    }
    if (wadi_curve_is_constant(curve)) {
        const double value = value_of(f, t0);
        return (f->axis < 0 ? fmax(0.0, value) : value) * (t1 - t0);
    }
    double whole = 0.0;
    if (curve->does_repeat) {
        double span = curve->keys[curve->key_count - 1].time - curve->keys[0].time;
        double turns = floor((t1 - t0) / span);
        if (turns > 0.0) {
            whole = turns * integrate_once(f, curve->keys[0].time, curve->keys[0].time + span);
            t0 = fmin(t0 + turns * span, t1);
        }
    }
    return whole + integrate_once(f, t0, t1);
}

double wadi_emit_poured(const WadiEmitIn *in, double t0, double t1)
{
    const Integrand rate = { in->rate, -1 };
    return integrate(&rate, fmax(t0, in->start), fmin(t1, in->end));
}

WadiVec3 wadi_emit_travel(const WadiEmitIn *in, double time)
{
    const Integrand v[3] = { { in->velocity, 0 }, { in->velocity, 1 }, { in->velocity, 2 } };
    return (WadiVec3){ integrate(&v[0], 0.0, time), integrate(&v[1], 0.0, time),
                       integrate(&v[2], 0.0, time) };
}

double wadi_emit_due(double volume, double particle_volume)
{
    return floor(volume / particle_volume + 1e-9);
}

double wadi_emit_expected(const WadiEmitIn *in, double duration)
{
    double volume = wadi_emit_poured(in, 0.0, duration);
    return fmin(wadi_emit_due(volume, in->particle_volume), (double)in->max_particles);
}

/* The k-th point of the recurrence in three dimensions (thin < 0), or in the two across a thin axis with a
 * hash as the third. Steps are powers of the root of x^4 = x + 1, or of x^3 = x + 1. The points form a
 * visible lattice, so each is moved by up to half of `jitter`, periodically in the box. */
static WadiVec3 point_in_box(uint64_t seed, uint64_t k, WadiBox box, int thin, double jitter)
{
    static const double step3[3] = { 0.81917251339616440, 0.67104360670378920, 0.54970047790197026 };
    static const double step2[2] = { 0.75487766624669276, 0.56984029099805327 };
    double offset[3] = { 0 }, s[3] = { 0 }, u[3] = { 0 };
    WadiVec3 size = wadi_box_size(box);
    wadi_random_unit3(seed, 0, WADI_RANDOM_EMIT, offset);
    wadi_random_unit3(seed, k, WADI_RANDOM_JITTER, u);
    for (int a = 0, across = 0; a < 3; ++a) {
        if (a == thin) {
            s[a] = wadi_random_unit(seed, k + 1, WADI_RANDOM_EMIT);
        } else {
            double step = thin < 0 ? step3[a] : step2[across++ % 2];
            /* 32 bits of k, so that the fraction has 20 good bits. */
            double moved = jitter * (u[a] - 0.5) / wadi_component(size, a);
            s[a] = offset[a] + step * (double)(k & 0xffffffff) + moved;
            s[a] -= floor(s[a]);
        }
    }
    return wadi_add(box.min, wadi_mul(size, wadi_vec3(s[0], s[1], s[2])));
}

/* The axis along which the box is thinner than two spacings and a quarter of the others, or -1. */
static int thin_axis(WadiBox box, double spacing)
{
    WadiVec3 size = wadi_box_size(box);
    for (int a = 0; a < 3; ++a) {
        double own = wadi_component(size, a);
        double others = fmin(wadi_component(size, (a + 1) % 3), wadi_component(size, (a + 2) % 3));
        if (own < 2.0 * spacing && own < 0.25 * others) {
            return a;
        }
    }
    return -1;
}

/* The next point of the sequence inside the shape and outside solids; false: none of TRIES_MAX, the
 * emitter is blocked. */
static bool find_position(const WadiEmitIn *in, double time, uint64_t *tried, WadiVec3 *x)
{
    WadiBox box = wadi_shape_bounds(in->shape, time);
    if (wadi_box_is_empty(box) || !wadi_is_finite(box.min) || !wadi_is_finite(box.max)) {
        return false;
    }
    int thin = thin_axis(box, in->spacing);
    for (int i = 0; i < TRIES_MAX; ++i) {
        *x = point_in_box(in->seed, (*tried)++, box, thin, 0.5 * in->spacing);
        if (wadi_shape_contains(in->shape, *x, time) &&
            (in->solids == NULL || wadi_solids_distance(in->solids, *x, time, in->spacing) >= 0.0)) {
            return true;
        }
    }
    return false;
}

/* As the solver would have moved it: without gravity here, steps would show as bands in the jet. */
static void fly(const WadiEmitIn *in, double birth, double until, WadiVec3 *x, WadiVec3 *v)
{
    double seconds = until - birth;
    WadiVec3 none = { 0, 0, 0 };
    WadiVec3 g = in->gravity != NULL ? wadi_curve_value3(in->gravity, 0.5 * (birth + until)) : none;
    WadiVec3 to = wadi_add_scaled(wadi_add_scaled(*x, *v, seconds), g, 0.5 * seconds * seconds);
    *v = wadi_add_scaled(*v, g, seconds);
    if (in->solids != NULL && until > birth) {
        WadiCollideIn collide = { in->solids, birth, until, 1e-3 * in->spacing };
        WadiCollideOut out = wadi_collide_move(&collide, *x, to, *v);
        *x = out.x;
        *v = out.v;
    } else {
        *x = to;
    }
}

void wadi_emit_record_open_sides(const WadiEmitIn *in, WadiVec3 x, WadiParticles *particles, int64_t i)
{
    if (in->outside_column != 0 && in->solids != NULL) {
        WadiBox open = wadi_box_closed_sides(in->solids->domain, ~in->solids->closed_sides);
        uint8_t *outside = wadi_particles_column(particles, in->outside_column);
        outside[i] = (uint8_t)wadi_box_sides_beyond(open, x);
    }
}

static const WadiOverfullRegion *overfull_at(const WadiEmitIn *in, WadiVec3 x)
{
    for (int32_t n = 0; in->overfull != NULL && n < in->overfull->count; ++n) {
        if (in->overfull->region[n].is_closed && wadi_box_contains(in->overfull->region[n].box, x)) {
            return &in->overfull->region[n];
        }
    }
    return NULL;
}

WadiStatus wadi_emit_step(const WadiEmitIn *in, double time, double dt, WadiEmitState *state,
                          WadiParticles *particles, int64_t *count, const WadiOverfullRegion **region,
                          WadiError *error)
{
    *region = NULL;
    WADI_ASSERT(in->particle_volume > 0.0 && in->spacing > 0.0);
    *count = 0;
    double begin = fmax(time, in->start), end = fmin(time + dt, in->end);
    double poured = wadi_emit_poured(in, time, time + dt);
    double due = wadi_emit_due(state->owed + poured, in->particle_volume);
    int64_t remaining = in->max_particles - (int64_t)state->emitted;
    if (!(due >= 1.0) || remaining <= 0) {
        state->owed = remaining > 0 ? state->owed + poured : 0.0;
        return WADI_OK;
    }
    int64_t wanted = due < (double)remaining ? (int64_t)due : remaining;
    int32_t first;
    WADI_TRY(wadi_particles_append(particles, wanted, &first, error));
    int64_t made = 0;
    for (int64_t n = 0; n < wanted; ++n) {
        /* Time when the integral of the rate reaches the particle's volume, with a constant rate over the
         * step. */
        double fraction = ((double)(n + 1) * in->particle_volume - state->owed) / poured;
        double birth = begin + (end - begin) * fmin(fmax(fraction, 0.0), 1.0);
        WadiVec3 x, v = wadi_curve_value3(in->velocity, birth);
        if (!find_position(in, birth, &state->tried, &x)) {
            break;
        }
        const WadiOverfullRegion *full = overfull_at(in, x);
        if (full != NULL) {
            *region = full;
            continue;
        }
        int64_t i = first + made++;
        wadi_emit_record_open_sides(in, x, particles, i);
        fly(in, birth, time + dt, &x, &v);
        particles->x[i] = x.x;
        particles->y[i] = x.y;
        particles->z[i] = x.z;
        particles->vx[i] = (float)v.x;
        particles->vy[i] = (float)v.y;
        particles->vz[i] = (float)v.z;
        particles->material[i] = in->material;
    }
    /* An emitter that is blocked or in an overfull body emits nothing, now or later. */
    wadi_particles_drop_newest(particles, wanted - made);
    state->owed += poured - due * in->particle_volume;
    state->emitted += (uint64_t)made;
    *count = made;
    return WADI_OK;
}

typedef struct DrainMarks {
    const WadiDrainIn *drains;
    int drain_count;
    double time;
    const WadiParticles *particles;
    uint8_t *is_inside;
} DrainMarks;

static double mark_block(void *context, int64_t first, int64_t end)
{
    const DrainMarks *marks = context;
    double count = 0.0;
    for (int64_t i = first; i < end; ++i) {
        marks->is_inside[i] = 0;
    }
    for (int d = 0; d < marks->drain_count; ++d) {
        const WadiDrainIn *drain = &marks->drains[d];
        if (marks->time < drain->start || marks->time > drain->end) {
            continue;
        }
        WadiBox box = wadi_shape_bounds(drain->shape, marks->time);
        for (int64_t i = first; i < end; ++i) {
            WadiVec3 x = { marks->particles->x[i], marks->particles->y[i], marks->particles->z[i] };
            if (wadi_box_contains(box, x) && wadi_shape_contains(drain->shape, x, marks->time)) {
                marks->is_inside[i] = 1;
                count += 1.0;
            }
        }
    }
    return count;
}

WadiStatus wadi_drain_mark(const WadiDrainIn *drains, int drain_count, double time,
                           const WadiParticles *particles, uint8_t **is_inside, WadiArena *arena,
                           WadiError *error)
{
    *is_inside = NULL;
    if (drain_count == 0 || particles->count == 0) {
        return WADI_OK;
    }
    double *counts = NULL;
    DrainMarks marks = { drains, drain_count, time, particles, NULL };
    WADI_TRY(WADI_ARENA_NEW(arena, &marks.is_inside, (size_t)particles->count, "drain marks", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &counts, (size_t)wadi_parallel_block_count(particles->count, DRAIN_BLOCK),
                            "drain marks", error));
    const double count = wadi_parallel_sum(particles->count, DRAIN_BLOCK, mark_block, &marks, counts);
    *is_inside = count > 0.0 ? marks.is_inside : NULL;
    return WADI_OK;
}
