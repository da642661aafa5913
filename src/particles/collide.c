/* Continuous collision of a particle's path with solids, by conservative advancement in space and time.
 * Where the distance to a solid is d, the particle is v fast and no point of the solid's distance changes
 * faster than b, the next d / (v + b) seconds are free: distances are lower bounds, so this holds for any
 * thickness and speed.
 *
 * Along a wall those steps would be as short as the particle is near. There the particle is lifted within
 * the free ball around it, travels at that height in longer steps, and is let down again at the end, all
 * by the same rule: every place on the way is verified free, so the detour cannot lead through anything
 * either. */
#include "particles/collide.h"

#include <stdatomic.h>

#include "core/check.h"
#include "core/parallel.h"
#include "particles/contact.h"

enum {
    STEPS_MAX = 256, /* of one particle's march; then it stops where it is and goes on in the next step */
    CONTACTS_MAX = 16,
    MOVE_BLOCK = 512,
};
static const double SAG_MAX = 32.0; /* skins: chords that sag more are cut in shorter ones */

typedef struct Mover {
    const WadiCollideIn *in;
    bool has_moving_solids;
    WadiVec3 x, v;
    WadiVec3 path; /* velocity along the path, m/s */
    WadiVec3 lift; /* how far x was lifted off the path */
    double time;
    int contacts;
    bool is_stuck;
    bool has_arrived; /* at the end of the path, every place on the way known to be free */
} Mover;

/* Part i of the solids by itself; i == count: the walls. */
static WadiSolids part_of(const WadiSolids *solids, int i)
{
    WadiSolids one = *solids;
    one.solids = i < solids->count ? &solids->solids[i] : NULL;
    one.count = i < solids->count;
    one.closed_sides = i < solids->count ? 0 : solids->closed_sides;
    return one;
}

static double part_speed(const WadiSolids *solids, int i, WadiVec3 x, double radius, double t0, double t1)
{
    return i < solids->count ? wadi_shape_speed_bound(solids->solids[i].shape, x, radius, t0, t1) : 0.0;
}

/* What lies ahead of a particle. */
typedef struct Ahead {
    double seconds;     /* its path is free; lands a skin off the surface or, from nearer, half as near */
    double distance;    /* to the nearest solid now, or a smaller free one */
    bool is_seen;       /* by a ray: no need to feel the way for these seconds */
    bool is_met;        /* so far, and then it meets a mesh */
    WadiSolidPoint met; /* there */
} Ahead;

/* How long it takes to come down to a skin above a plane that is d away, or half as near from nearer. */
static double time_to_plane(const Mover *m, double d, WadiVec3 normal)
{
    double approach = -wadi_dot(m->path, normal);
    return approach > 0.0 ? fmax(d - m->in->skin, 0.5 * d) / approach : HUGE_VAL;
}

static double time_to_walls(const Mover *m, const WadiSolids *walls)
{
    double least = HUGE_VAL;
    for (int side = 0; side < 6; ++side) {
        if ((walls->closed_sides & (1 << side)) != 0) {
            const WadiSurfacePoint wall = wadi_solids_wall(walls, side, m->x);
            least = fmin(least, time_to_plane(m, wall.distance, wall.normal));
        }
    }
    return least;
}

/* The path during the next `seconds`, seen from a solid that moves as one rigid piece: a chord, in the place where the solid is
 * at the end, and how far the path is from it at most. A solid at rest sees the path itself. */
typedef struct Chord {
    WadiVec3 from, way;
    double seconds, sag;
} Chord;

static Chord chord_from(const Mover *m, const WadiShape *shape, const WadiShapeMotion *motion, double seconds)
{
    const WadiVec3 way = wadi_scale(m->path, seconds);
    Chord chord = { .from = m->x, .way = way, .seconds = seconds };
    if (motion != NULL) {
        const double length = wadi_norm(way);
        chord.from = wadi_shape_carry(shape, m->x, m->time, m->time + seconds);
        chord.way = wadi_sub(wadi_add(m->x, way), chord.from);
        chord.sag = wadi_shape_motion_sag(motion, m->x, length, length, seconds);
    }
    return chord;
}

/* The first part of it, so short that its sag is at most `sag`: sags are as the square of the time. */
static Chord shorter_chord(const Mover *m, const WadiShape *shape, const WadiShapeMotion *motion,
                           const Chord *chord, double sag)
{
    return chord->sag > sag ? chord_from(m, shape, motion, chord->seconds * sqrt(sag / chord->sag)) : *chord;
}

/* The surface of a solid that the path meets `seconds` from now; `normal` is as the solid is at the end of the chord. */
static WadiSolidPoint meet(const Mover *m, const WadiSolid *solid, const Chord *chord, WadiVec3 normal,
                           double seconds)
{
    const double end = m->time + chord->seconds, time = m->time + seconds;
    const WadiVec3 x = wadi_add_scaled(m->x, m->path, seconds);
    WadiSolidPoint met = { .surface = { m->in->skin, normal, { 0, 0, 0 } },
                           .friction = wadi_curve_value_or_zero(solid->friction, m->time),
                           .restitution = wadi_curve_value_or_zero(solid->restitution, m->time) };
    if (wadi_shape_is_moving(solid->shape)) {
        WadiVec3 turned = wadi_sub(wadi_shape_carry(solid->shape, wadi_add(x, normal), end, time),
                                   wadi_shape_carry(solid->shape, x, end, time));
        met.surface.normal = wadi_normalized_or(turned, normal);
        wadi_shape_carry_velocity(solid->shape, x, time, &met.surface.velocity);
    }
    return met;
}

/* Rays tell how long the path is free of a mesh. The ends of a path are those of its chord, so that a chord without a hit leads
 * to the same side of every wall; long ones may cut a corner, hits need sags below the skin. */
static void look_along_rays(const Mover *m, const WadiSolid *solid, const WadiShapeMotion *motion,
                            Chord chord, Ahead *part)
{
    const double skin = m->in->skin;
    WadiVec3 normal;
    const double all = chord.seconds;
    chord = shorter_chord(m, solid->shape, motion, &chord, SAG_MAX * skin);
    double free =
        wadi_shape_free_fraction(solid->shape, chord.from, chord.way, m->time + chord.seconds, skin, &normal);
    if (free >= 0.0 && free < 1.0 && chord.sag > skin) {
        chord = shorter_chord(m, solid->shape, motion, &chord, skin);
        free = wadi_shape_free_fraction(solid->shape, chord.from, chord.way, m->time + chord.seconds,
                                        skin + chord.sag, &normal);
    }
    const double seconds = fmax(free, 0.0) * chord.seconds;
    if (free < 0.0 || seconds < part->seconds) {
        return;
    }
    part->is_met = free < 1.0;
    part->is_seen = true;
    part->seconds = free >= 1.0 && chord.seconds >= all ? HUGE_VAL : seconds;
    if (part->is_met) {
        part->met = meet(m, solid, &chord, normal, seconds);
    }
}

/* How long the path is free of one part of the solids. Distances tell for every kind of solid, but along a surface they allow
 * steps of the height above it only. The plane that touches a convex solid at the point next to the particle tells more, for the
 * solid is behind it; so do rays against a mesh. */
static void look_at_part(const Mover *m, const WadiSolids *part, double bound, const WadiShapeMotion *motion,
                         const Chord *chord, Ahead *ahead)
{
    double skin = m->in->skin, seconds = chord->seconds;
    double d = wadi_solids_clearance(part, m->x, m->time, bound * seconds + 2.0 * WADI_CONTACT_BAND * skin);
    ahead->distance = fmin(ahead->distance, d);
    Ahead own = { .seconds = bound > 0.0 ? fmax(d - skin, 0.5 * d) / bound : HUGE_VAL };
    if (own.seconds < seconds && d > 0.0 && (motion != NULL || wadi_norm(m->path) > 0.0)) {
        if (part->count == 0) {
            own.seconds = time_to_walls(m, part);
        } else if (wadi_shape_is_convex(part->solids[0].shape)) {
            WadiSurfacePoint near = wadi_solids_sample(part, m->x, m->time).surface;
            own.seconds = fmax(own.seconds, time_to_plane(m, near.distance, near.normal));
        } else if (motion != NULL || !wadi_shape_is_moving(part->solids[0].shape)) {
            look_along_rays(m, &part->solids[0], motion, *chord, &own);
        }
    }
    if (own.seconds < ahead->seconds) {
        own.distance = ahead->distance;
        *ahead = own;
    }
}

static Ahead look_ahead(const Mover *m, double seconds)
{
    const WadiSolids *solids = m->in->solids;
    double speed = wadi_norm(m->path);
    Ahead ahead = { .seconds = INFINITY, .distance = INFINITY };
    for (int i = 0; i <= solids->count; ++i) {
        WadiSolids part = part_of(solids, i);
        const WadiShape *shape = i < solids->count ? solids->solids[i].shape : NULL;
        WadiShapeMotion motion;
        bool is_rigid = m->has_moving_solids && shape != NULL && wadi_shape_is_mesh(shape) &&
                        wadi_shape_rigid_motion(shape, m->in->t0, m->in->t1, &motion);
        Chord chord = chord_from(m, shape, is_rigid ? &motion : NULL, seconds);
        double bound = speed;
        if (is_rigid) {
            /* No point of the path is faster than its mean by more than half of what its speed changes by. */
            bound = (wadi_norm(chord.way) + 4.0 * chord.sag) / seconds;
        } else if (m->has_moving_solids) {
            /* Over the whole step: no less than over the rest of it, and known from other particles. */
            bound += part_speed(solids, i, m->x, speed * seconds, m->in->t0, m->in->t1);
        }
        look_at_part(m, &part, bound, is_rigid ? &motion : NULL, &chord, &ahead);
    }
    return ahead;
}

/* Undo the lift as far as the solids allow. */
static void let_down(Mover *m)
{
    double left = wadi_norm(m->lift);
    WadiVec3 down = wadi_normalized_or(wadi_scale(m->lift, -1.0), (WadiVec3){ 0, 0, 0 });
    for (int i = 0; i < 64 && left > 0.0; ++i) {
        double d =
            wadi_solids_clearance(m->in->solids, m->x, m->time, left + WADI_CONTACT_BAND * m->in->skin);
        if (d <= WADI_CONTACT_BAND * m->in->skin) {
            break;
        }
        double step = fmin(left, d - m->in->skin);
        m->x = wadi_add_scaled(m->x, down, step);
        left -= step;
    }
}

/* The distance to all solids but one, and a bound on its rate of change. */
static double distance_to_others(const Mover *m, int except, WadiVec3 x, double radius, double seconds,
                                 double *speed)
{
    const WadiSolids *solids = m->in->solids;
    double distance = INFINITY;
    *speed = 0.0;
    for (int i = 0; i <= solids->count; ++i) {
        if (i != except) {
            WadiSolids part = part_of(solids, i);
            distance = fmin(distance, wadi_solids_clearance(&part, x, m->time, INFINITY));
            *speed = fmax(*speed, part_speed(solids, i, x, radius, m->time, m->time + seconds));
        }
    }
    return distance;
}

/* The solid that gets to the particle first if it stays where it is; -1: none does in this step. */
static int solid_to_ride(const Mover *m)
{
    const WadiSolids *solids = m->in->solids;
    double t1 = m->in->t1, earliest = t1 - m->time;
    int with = -1;
    for (int i = 0; i < solids->count; ++i) {
        double speed = wadi_shape_speed_bound(solids->solids[i].shape, m->x, 0.0, m->time, t1);
        double seconds = wadi_shape_distance(solids->solids[i].shape, m->x, m->time) / speed;
        if (speed > 0.0 && seconds < earliest) {
            earliest = seconds;
            with = i;
        }
    }
    return with;
}

/* The march came to no end: hold on to the solid that comes nearest for the rest of the step. Squeezed
 * when another is in the way. */
static void ride(Mover *m)
{
    double t1 = m->in->t1;
    if (!m->has_moving_solids) {
        m->time = t1;
        return;
    }
    int with = solid_to_ride(m);
    double smallest = 1e-4 * (t1 - m->in->t0);
    while (m->time < t1) {
        double seconds = fmin(t1 - m->time, (t1 - m->in->t0) / 16.0);
        for (;; seconds *= 0.5) {
            if (seconds < smallest && m->time + seconds < t1) {
                m->is_stuck = true;
                m->time = t1;
                return;
            }
            WadiVec3 to = wadi_solids_carry(m->in->solids, with, m->x, m->time, m->time + seconds);
            /* Half as much again as the chord, for the arc. */
            double way = 1.5 * wadi_norm(wadi_sub(to, m->x)), speed;
            double free = distance_to_others(m, with, m->x, way, seconds, &speed);
            if (free > way + speed * seconds) {
                m->x = to;
                m->time += seconds;
                break;
            }
        }
    }
}

/* Respond to what is within `band` metres, and to `met`. false: nothing there is approached. */
static bool touch(Mover *m, double band, const WadiSolidPoint *met)
{
    WadiVec3 v = wadi_contact_velocity(m->in, m->x, m->v, m->time, band, met);
    bool is_same = v.x == m->v.x && v.y == m->v.y && v.z == m->v.z;
    if (is_same && m->contacts == 0) {
        /* The path may approach where the velocity does not: then it follows the velocity from here. */
        WadiVec3 path = wadi_contact_velocity(m->in, m->x, m->path, m->time, band, met);
        is_same = path.x == m->path.x && path.y == m->path.y && path.z == m->path.z;
    }
    if (is_same) {
        return false;
    }
    m->v = m->path = v;
    m->contacts += 1;
    return true;
}

/* Move x within the free ball of radius d, away from what is near, and so on until `height` is reached. */
static bool lift_off(Mover *m, double d, double height)
{
    WadiVec3 away = wadi_contact_open_direction(m->in, m->x, 1.6 * d, m->time);
    bool is_lifted = false;
    while (d < height) {
        WadiVec3 step = wadi_scale(away, 0.9 * d), lifted = wadi_add(m->x, step);
        double higher = wadi_solids_clearance(m->in->solids, lifted, m->time, 2.0 * d);
        if (higher < 1.4 * d) {
            break;
        }
        m->x = lifted;
        m->lift = wadi_add(m->lift, step);
        d = higher;
        is_lifted = true;
    }
    return is_lifted;
}

/* Distances allow no step at all from a place on a surface, where solids that closed in on the particle left it. Leave it by
 * steps away from it, each about as long as the distance so far: where the distance grows as fast, nothing lay between. */
static double peel_off(Mover *m, double d)
{
    WadiVec3 away = wadi_solids_sample(m->in->solids, m->x, m->time).surface.normal;
    double step = fmax(d, 1e-3 * m->in->skin);
    while (d < m->in->skin) {
        WadiVec3 lifted = wadi_add_scaled(m->x, away, step);
        double higher = wadi_solids_clearance(m->in->solids, lifted, m->time, 2.0 * m->in->skin);
        if (higher < 0.9 * step) {
            break;
        }
        m->x = lifted;
        d = step = higher;
    }
    return d;
}

/* Shorten what plain advancement does badly: paths along a surface are lifted off it, and paths that come
 * in at a grazing angle touch it a little early. `way` is what is left of the path and of the solids'
 * motion, in metres. */
static bool graze(Mover *m, double d, double bound, double way)
{
    double skin = m->in->skin, height = fmax(32.0 * skin, way / 16.0);
    if (!(d > 0.0) || d > height) {
        return false;
    }
    WadiSolidPoint near = wadi_solids_sample(m->in->solids, m->x, m->time);
    double slope = -wadi_dot(wadi_sub(m->path, near.surface.velocity), near.surface.normal) / bound;
    if (slope > 0.3) {
        return false;
    }
    return slope > 0.05 ? d < fmax(32.0 * skin, way / 256.0) && touch(m, 1.01 * d, NULL)
                        : lift_off(m, d, 1.5 * height);
}

/* March to the end of the step. `ahead` is what lies ahead now. */
static void march(Mover *m, Ahead ahead)
{
    double t1 = m->in->t1, skin = m->in->skin, band = WADI_CONTACT_BAND * skin;
    bool is_settled = false; /* nothing is approached at this place and time */
    bool is_meeting = false; /* the path meets ahead.met here */
    for (int step = 0; step < STEPS_MAX && m->contacts <= CONTACTS_MAX; ++step) {
        double seconds = t1 - m->time, speed = wadi_norm(m->path);
        const WadiSolidPoint met = ahead.met;
        if (step > 0) {
            ahead = look_ahead(m, seconds);
        }
        double d = ahead.distance;
        if (d < 0.0) {
            /* A solid that jumps, or one that moves faster than it says. */
            m->contacts += 1;
            is_meeting = false;
            if (!wadi_contact_push_out(m->in, &m->x, m->time)) {
                break;
            }
            continue;
        }
        bool is_touched =
            (d <= band || is_meeting) && !is_settled && touch(m, band, is_meeting ? &met : NULL);
        is_meeting = false;
        if (is_touched) {
            /* A squeezed particle approaches something still; it goes round here until its contacts are
             * used up. */
            is_settled = wadi_norm(m->path) < speed;
            continue;
        }
        if (ahead.seconds >= seconds) {
            m->x = wadi_add_scaled(m->x, m->path, seconds);
            m->time = t1;
            m->has_arrived = true;
            return;
        }
        is_settled = false;
        double bound = fmax(d - skin, 0.5 * d) / ahead.seconds;
        if (ahead.is_seen || !graze(m, d, bound, bound * seconds)) {
            m->x = wadi_add_scaled(m->x, m->path, ahead.seconds);
            m->time += ahead.seconds;
            is_meeting = ahead.is_met;
        }
    }
    ride(m);
}

static WadiCollideOut finish(Mover *m)
{
    m->time = m->in->t1;
    if (m->has_arrived && wadi_dot(m->lift, m->lift) == 0.0) {
        return (WadiCollideOut){ m->x, m->v, m->contacts, false };
    }
    let_down(m);
    if (wadi_solids_clearance(m->in->solids, m->x, m->time, m->in->skin) < 0.0 || m->is_stuck) {
        m->contacts += 1;
        m->is_stuck = !wadi_contact_push_out(m->in, &m->x, m->time) || m->is_stuck;
        m->v = wadi_contact_velocity(m->in, m->x, m->v, m->time, WADI_CONTACT_BAND * m->in->skin, NULL);
    }
    return (WadiCollideOut){ m->x, m->v, m->contacts, m->is_stuck };
}

WadiCollideOut wadi_collide_move(const WadiCollideIn *in, WadiVec3 x0, WadiVec3 x1, WadiVec3 v)
{
    double seconds = in->t1 - in->t0;
    WADI_ASSERT(seconds > 0.0 && in->skin > 0.0);
    if (!wadi_is_finite(x0) || !wadi_is_finite(x1) || !wadi_is_finite(v)) {
        return (WadiCollideOut){ x1, v, 0, false };
    }
    Mover m = { .in = in,
                .has_moving_solids = wadi_solids_are_moving(in->solids),
                .x = x0,
                .v = v,
                .path = wadi_scale(wadi_sub(x1, x0), 1.0 / seconds),
                .time = in->t0 };
    Ahead ahead = look_ahead(&m, seconds);
    if (ahead.seconds >= seconds && ahead.distance > WADI_CONTACT_BAND * in->skin) {
        return (WadiCollideOut){ x1, v, 0, false };
    }
    if (ahead.distance < 0.0) {
        m.contacts = 1;
        if (!wadi_contact_push_out(in, &m.x, m.time)) {
            m.v = wadi_contact_velocity(in, m.x, v, m.time, WADI_CONTACT_BAND * in->skin, NULL);
            m.is_stuck = true;
            return finish(&m);
        }
        m.v = wadi_contact_velocity(in, m.x, v, m.time, WADI_CONTACT_BAND * in->skin, NULL);
        m.path = m.v;
        ahead = look_ahead(&m, seconds);
    } else if (ahead.distance < 0.1 * in->skin && peel_off(&m, ahead.distance) > ahead.distance) {
        ahead = look_ahead(&m, seconds);
    }
    march(&m, ahead);
    return finish(&m);
}

typedef struct MoveAll {
    const WadiCollideIn *in;
    WadiParticles *particles;
    const double *x1, *y1, *z1;
    atomic_llong touched, stuck; /* sums of integers: the order does not matter */
} MoveAll;

void wadi_collide_move_one(const WadiCollideIn *in, WadiParticles *p, int32_t i, WadiVec3 x1,
                           WadiCollideReport *report)
{
    WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
    WadiCollideOut out = wadi_collide_move(in, wadi_vec3(p->x[i], p->y[i], p->z[i]), x1, v);
    p->x[i] = out.x.x;
    p->y[i] = out.x.y;
    p->z[i] = out.x.z;
    report->asked += 1;
    if (out.contacts > 0) {
        p->vx[i] = (float)out.v.x;
        p->vy[i] = (float)out.v.y;
        p->vz[i] = (float)out.v.z;
        report->touched += 1;
        report->stuck += out.is_stuck;
    }
}

static void move_block(void *context, int64_t first, int64_t end)
{
    MoveAll *all = context;
    WadiCollideReport report = { 0 };
    for (int64_t i = first; i < end; ++i) {
        wadi_collide_move_one(all->in, all->particles, (int32_t)i,
                              wadi_vec3(all->x1[i], all->y1[i], all->z1[i]), &report);
    }
    atomic_fetch_add(&all->touched, report.touched);
    atomic_fetch_add(&all->stuck, report.stuck);
}

WadiCollideReport wadi_collide_move_all(const WadiCollideIn *in, WadiParticles *particles, const double *x1,
                                        const double *y1, const double *z1)
{
    MoveAll all = { .in = in, .particles = particles, .x1 = x1, .y1 = y1, .z1 = z1 };
    wadi_parallel_for(particles->count, MOVE_BLOCK, move_block, &all);
    return (WadiCollideReport){ particles->count, all.touched, all.stuck };
}
