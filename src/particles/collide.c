/* Continuous collision of a particle's path with solids, by conservative advancement. [theory 3.4] At
 * distance d from a solid, with the particle at speed v and the distance changing by at most b a second, the
 * next d / (v + b) seconds are free. Distances are lower bounds, so this holds for any thickness and speed.
 *
 * Along a wall such steps are as short as the particle is near. There the particle is lifted within the free
 * ball around it, moves at that height in longer steps, and is lowered at the end; every position is verified
 * free. */
#include "particles/collide.h"

#include <stdatomic.h>

#include "core/check.h"
#include "core/parallel.h"
#include "particles/contact.h"

enum {
    STEPS_MAX = 256, /* of one particle; then it stops and continues in the next step */
    CONTACTS_MAX = 16,
    MOVE_BLOCK = 512,
};
static const double SAG_MAX = 32.0; /* skins: chords with a larger sag are shortened */

typedef struct Mover {
    const WadiCollideIn *in;
    bool has_moving_solids;
    WadiVec3 x, v;
    WadiVec3 path; /* velocity along the path, m/s */
    WadiVec3 lift; /* displacement of x off the path */
    double time;
    int contacts;
    bool is_stuck;
    bool has_arrived; /* at the end of the path, all of it verified free */
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

/* The first part of the remaining path, free of solids. */
typedef struct FreePath {
    double seconds;  /* ends a skin from the surface or, from nearer, at half the distance */
    double distance; /* to the nearest solid now, or a lower bound */
    bool is_by_ray;  /* known by a ray: no grazing detour is needed */
    bool ends_at_mesh;
    WadiSolidPoint met; /* surface at that end */
} FreePath;

/* Time until a skin above a plane at distance d is reached, or half the distance from nearer. */
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

/* The path of the next `seconds` in the frame of a solid in rigid motion: a chord, relative to the
 * position of the solid at its end, and a bound on the distance of the path from it. For a solid at rest
 * it is the path itself. */
typedef struct Chord {
    WadiVec3 from, displacement;
    double seconds, sag;
} Chord;

static Chord chord_from(const Mover *m, const WadiShape *shape, const WadiShapeMotion *motion, double seconds)
{
    const WadiVec3 displacement = wadi_scale(m->path, seconds);
    Chord chord = { .from = m->x, .displacement = displacement, .seconds = seconds };
    if (motion != NULL) {
        const double length = wadi_norm(displacement);
        chord.from = wadi_shape_carry(shape, m->x, m->time, m->time + seconds);
        chord.displacement = wadi_sub(wadi_add(m->x, displacement), chord.from);
        chord.sag = wadi_shape_motion_sag(motion, m->x, length, length, seconds);
    }
    return chord;
}

/* The first part of it with a sag of at most `sag`, which grows with the square of the time. */
static Chord shorter_chord(const Mover *m, const WadiShape *shape, const WadiShapeMotion *motion,
                           const Chord *chord, double sag)
{
    return chord->sag > sag ? chord_from(m, shape, motion, chord->seconds * sqrt(sag / chord->sag)) : *chord;
}

/* The surface of a solid that the path meets after `seconds`; `normal` is that at the end of the chord. */
static WadiSolidPoint surface_on_chord(const Mover *m, const WadiSolid *solid, const Chord *chord,
                                       WadiVec3 normal, double seconds)
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

/* Free time against a mesh by rays. A chord without a hit has both ends, those of the path, on the same
 * side of every wall, so that long chords may cut a corner; hits need a sag below the skin. */
static void extend_by_rays(const Mover *m, const WadiSolid *solid, const WadiShapeMotion *motion, Chord chord,
                           FreePath *part)
{
    const double skin = m->in->skin;
    WadiVec3 normal;
    const double all = chord.seconds;
    chord = shorter_chord(m, solid->shape, motion, &chord, SAG_MAX * skin);
    double fraction = wadi_shape_free_fraction(solid->shape, chord.from, chord.displacement,
                                               m->time + chord.seconds, skin, &normal);
    if (fraction >= 0.0 && fraction < 1.0 && chord.sag > skin) {
        chord = shorter_chord(m, solid->shape, motion, &chord, skin);
        fraction = wadi_shape_free_fraction(solid->shape, chord.from, chord.displacement,
                                            m->time + chord.seconds, skin + chord.sag, &normal);
    }
    const double seconds = fmax(fraction, 0.0) * chord.seconds;
    if (fraction < 0.0 || seconds < part->seconds) {
        return;
    }
    part->ends_at_mesh = fraction < 1.0;
    part->is_by_ray = true;
    part->seconds = fraction >= 1.0 && chord.seconds >= all ? HUGE_VAL : seconds;
    if (part->ends_at_mesh) {
        part->met = surface_on_chord(m, solid, &chord, normal, seconds);
    }
}

/* Free time against one part of the solids. Distances serve every kind of solid, but along a surface their
 * steps are as short as the height above it. Longer ones follow from the tangent plane of a convex solid,
 * which the solid is behind, and from rays against a mesh. */
static void find_free_path_of_part(const Mover *m, const WadiSolids *part, double bound,
                                   const WadiShapeMotion *motion, const Chord *chord, FreePath *free_path)
{
    double skin = m->in->skin, seconds = chord->seconds;
    double enough = bound * seconds + 2.0 * WADI_CONTACT_BAND * skin;
    double d = wadi_contact_clearance(part, m->x, m->time, enough, skin);
    free_path->distance = fmin(free_path->distance, d);
    FreePath candidate = { .seconds = bound > 0.0 ? fmax(d - skin, 0.5 * d) / bound : HUGE_VAL };
    if (candidate.seconds < seconds && d > 0.0 && (motion != NULL || wadi_norm(m->path) > 0.0)) {
        if (part->count == 0) {
            candidate.seconds = time_to_walls(m, part);
        } else if (wadi_shape_is_convex(part->solids[0].shape)) {
            WadiSurfacePoint near = wadi_solids_sample(part, m->x, m->time).surface;
            candidate.seconds = fmax(candidate.seconds, time_to_plane(m, near.distance, near.normal));
        } else if (motion != NULL || !wadi_shape_is_moving(part->solids[0].shape)) {
            extend_by_rays(m, &part->solids[0], motion, *chord, &candidate);
        }
    }
    if (candidate.seconds < free_path->seconds) {
        candidate.distance = free_path->distance;
        *free_path = candidate;
    }
}

static FreePath find_free_path(const Mover *m, double seconds)
{
    const WadiSolids *solids = m->in->solids;
    double speed = wadi_norm(m->path);
    FreePath free_path = { .seconds = INFINITY, .distance = INFINITY };
    for (int i = 0; i <= solids->count; ++i) {
        WadiSolids part = part_of(solids, i);
        const WadiShape *shape = i < solids->count ? solids->solids[i].shape : NULL;
        WadiShapeMotion motion;
        bool is_rigid = m->has_moving_solids && shape != NULL && wadi_shape_is_mesh(shape) &&
                        wadi_shape_rigid_motion(shape, m->in->t0, m->in->t1, &motion);
        Chord chord = chord_from(m, shape, is_rigid ? &motion : NULL, seconds);
        double bound = speed;
        if (is_rigid) {
            /* The speed exceeds its mean by at most half of its change. */
            bound = (wadi_norm(chord.displacement) + 4.0 * chord.sag) / seconds;
        } else if (m->has_moving_solids) {
            /* Over the whole step: no less than over the remainder, and cached for other particles. */
            bound += part_speed(solids, i, m->x, speed * seconds, m->in->t0, m->in->t1);
        }
        find_free_path_of_part(m, &part, bound, is_rigid ? &motion : NULL, &chord, &free_path);
    }
    return free_path;
}

/* Undo the lift as far as the solids allow. */
static void lower_to_path(Mover *m)
{
    double remaining = wadi_norm(m->lift);
    WadiVec3 down = wadi_normalized_or(wadi_scale(m->lift, -1.0), (WadiVec3){ 0, 0, 0 });
    for (int i = 0; i < 64 && remaining > 0.0; ++i) {
        double d =
            wadi_solids_clearance(m->in->solids, m->x, m->time, remaining + WADI_CONTACT_BAND * m->in->skin);
        if (d <= WADI_CONTACT_BAND * m->in->skin) {
            break;
        }
        double step = fmin(remaining, d - m->in->skin);
        m->x = wadi_add_scaled(m->x, down, step);
        remaining -= step;
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

/* The solid that would reach the particle first if it stayed at rest; -1: none in this step. */
static int first_solid_to_arrive(const Mover *m)
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

/* The march did not end: the particle moves with the nearest solid for the remainder of the step. Stuck
 * when another solid is in the way. */
static void move_with_solid(Mover *m)
{
    double t1 = m->in->t1;
    if (!m->has_moving_solids) {
        m->time = t1;
        return;
    }
    int with = first_solid_to_arrive(m);
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
            /* 1.5 times the chord, for the arc. */
            double length = 1.5 * wadi_norm(wadi_sub(to, m->x)), speed;
            double clearance = distance_to_others(m, with, m->x, length, seconds, &speed);
            if (clearance > length + speed * seconds) {
                m->x = to;
                m->time += seconds;
                break;
            }
        }
    }
}

/* Respond to the surfaces within `band` metres and to `met`. false: none of them is approached. */
static bool resolve_contacts(Mover *m, double band, const WadiSolidPoint *met)
{
    WadiVec3 v = wadi_contact_velocity(m->in, m->x, m->v, m->time, band, met);
    bool is_same = v.x == m->v.x && v.y == m->v.y && v.z == m->v.z;
    if (is_same && m->contacts == 0) {
        /* The path may approach a surface that the velocity does not: then it follows the velocity from
         * here. */
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

/* Move x within the free ball of radius d away from the near surfaces, repeatedly, up to `height`. */
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

/* At distance 0, where solids that closed in left the particle, advancement has no step. Leave along the
 * normal in steps about as long as the distance: where the distance grows as fast, nothing was in between. */
static double leave_surface(Mover *m, double d)
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

/* Shortcuts for slow cases: paths along a surface are lifted off it, and paths at a grazing angle
 * resolve_contacts it early. `length` is the remainder of the path and of the motion of the solids, m. */
static bool graze(Mover *m, double d, double bound, double length)
{
    double skin = m->in->skin, height = fmax(32.0 * skin, length / 16.0);
    if (!(d > 0.0) || d > height) {
        return false;
    }
    WadiSolidPoint near = wadi_solids_sample(m->in->solids, m->x, m->time);
    double slope = -wadi_dot(wadi_sub(m->path, near.surface.velocity), near.surface.normal) / bound;
    if (slope > 0.3) {
        return false;
    }
    return slope > 0.05 ? d < fmax(32.0 * skin, length / 256.0) && resolve_contacts(m, 1.01 * d, NULL)
                        : lift_off(m, d, 1.5 * height);
}

/* March to the end of the step from the free path known now. */
static void march(Mover *m, FreePath free_path)
{
    double t1 = m->in->t1, skin = m->in->skin, band = WADI_CONTACT_BAND * skin;
    bool is_settled = false; /* no surface is approached at this position and time */
    bool is_meeting = false; /* the path meets free_path.met here */
    for (int step = 0; step < STEPS_MAX && m->contacts <= CONTACTS_MAX; ++step) {
        double seconds = t1 - m->time, speed = wadi_norm(m->path);
        const WadiSolidPoint met = free_path.met;
        if (step > 0) {
            free_path = find_free_path(m, seconds);
        }
        double d = free_path.distance;
        if (d < 0.0) {
            /* A solid that jumps, or moves faster than its bound. */
            m->contacts += 1;
            is_meeting = false;
            if (!wadi_contact_push_out(m->in, &m->x, m->time)) {
                break;
            }
            continue;
        }
        bool is_touched =
            (d <= band || is_meeting) && !is_settled && resolve_contacts(m, band, is_meeting ? &met : NULL);
        is_meeting = false;
        if (is_touched) {
            /* A squeezed particle still approaches something; it repeats this until CONTACTS_MAX. */
            is_settled = wadi_norm(m->path) < speed;
            continue;
        }
        if (free_path.seconds >= seconds) {
            m->x = wadi_add_scaled(m->x, m->path, seconds);
            m->time = t1;
            m->has_arrived = true;
            return;
        }
        is_settled = false;
        double bound = fmax(d - skin, 0.5 * d) / free_path.seconds;
        if (free_path.is_by_ray || !graze(m, d, bound, bound * seconds)) {
            m->x = wadi_add_scaled(m->x, m->path, free_path.seconds);
            m->time += free_path.seconds;
            is_meeting = free_path.ends_at_mesh;
        }
    }
    move_with_solid(m);
}

static WadiCollideOut finish(Mover *m)
{
    m->time = m->in->t1;
    if (m->has_arrived && wadi_dot(m->lift, m->lift) == 0.0) {
        return (WadiCollideOut){ m->x, m->v, m->contacts, false };
    }
    lower_to_path(m);
    if (wadi_solids_clearance(m->in->solids, m->x, m->time, m->in->skin) < 0.0 || m->is_stuck) {
        m->contacts += 1;
        m->is_stuck = !wadi_contact_push_out(m->in, &m->x, m->time) || m->is_stuck;
        m->v = wadi_contact_velocity(m->in, m->x, m->v, m->time, WADI_CONTACT_BAND * m->in->skin, NULL);
        wadi_contact_return_to_domain(m->in->solids, &m->x, &m->v);
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
    FreePath free_path = find_free_path(&m, seconds);
    if (free_path.seconds >= seconds && free_path.distance > WADI_CONTACT_BAND * in->skin) {
        return (WadiCollideOut){ x1, v, 0, false };
    }
    if (free_path.distance < 0.0) {
        m.contacts = 1;
        m.is_stuck = !wadi_contact_push_out(in, &m.x, m.time);
        m.v = wadi_contact_velocity(in, m.x, v, m.time, WADI_CONTACT_BAND * in->skin, NULL);
        if (m.is_stuck) {
            return finish(&m);
        }
        m.path = m.v;
        free_path = find_free_path(&m, seconds);
    } else if (free_path.distance < 0.1 * in->skin &&
               leave_surface(&m, free_path.distance) > free_path.distance) {
        free_path = find_free_path(&m, seconds);
    }
    march(&m, free_path);
    return finish(&m);
}

typedef struct MoveAll {
    const WadiCollideIn *in;
    WadiParticles *particles;
    const double *x1, *y1, *z1;
    atomic_llong touched, stuck; /* integer sums: independent of order */
} MoveAll;

void wadi_collide_move_one(const WadiCollideIn *in, WadiParticles *p, int32_t i, WadiVec3 x1,
                           WadiCollideReport *report)
{
    WadiVec3 v = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
    WadiCollideOut out = wadi_collide_move(in, wadi_vec3(p->x[i], p->y[i], p->z[i]), x1, v);
    p->x[i] = out.x.x;
    p->y[i] = out.x.y;
    p->z[i] = out.x.z;
    report->tested += 1;
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
