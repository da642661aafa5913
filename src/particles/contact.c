/* Contacts of one particle at one instant. Impulses follow Coulomb: the normal part of the relative
 * velocity is reversed times restitution, the tangential part loses at most friction times the normal
 * impulse. Surfaces in contact at once are treated one after the other, then by the line or point they
 * leave free. [theory 3.5] */
#include "particles/contact.h"

enum { PLANE_MAX = 12, PASSES = 4 };

typedef struct Plane {
    WadiVec3 normal, velocity;
    double friction, restitution;
} Plane;

typedef struct Planes {
    Plane plane[PLANE_MAX];
    int count;
} Planes;

static void add_plane(Planes *planes, const WadiSolidPoint *point)
{
    for (int i = 0; i < planes->count; ++i) {
        const Plane *old = &planes->plane[i];
        if (wadi_dot(old->normal, point->surface.normal) > 1.0 - 1e-12 &&
            wadi_norm(wadi_sub(old->velocity, point->surface.velocity)) <= 1e-12 * wadi_norm(old->velocity)) {
            return;
        }
    }
    if (planes->count < PLANE_MAX) {
        planes->plane[planes->count++] =
            (Plane){ point->surface.normal, point->surface.velocity, point->friction, point->restitution };
    }
}

double wadi_contact_clearance(const WadiSolids *one, WadiVec3 x, double time, double enough, double skin)
{
    const double d = wadi_solids_clearance(one, x, time, enough);
    const bool is_contact = d >= 0.0 && d <= 2.0 * WADI_CONTACT_BAND * skin;
    WadiVec3 unused;
    /* The edges between parts that move can be faster than the bound on a solid's speed. */
    return is_contact && one->count > 0 && wadi_shape_carry_velocity(one->solids[0].shape, x, time, &unused)
               ? fmax(d, wadi_solids_distance_within(one, x, time, enough))
               : d;
}

/* Every solid and every wall by itself: in a corner of two solids the nearest one is not enough. */
static void gather_planes(const WadiCollideIn *in, WadiVec3 x, double time, double band, Planes *planes)
{
    WadiSolids one = *in->solids;
    for (int i = 0; i < in->solids->count; ++i) {
        one.solids = &in->solids->solids[i];
        one.count = 1;
        one.closed_sides = 0;
        WadiSolidPoint point;
        if (wadi_solids_sample_within(&one, x, time, band, &point)) {
            add_plane(planes, &point);
        }
    }
    one.count = 0;
    one.closed_sides = in->solids->closed_sides;
    bool is_near_wall = wadi_solids_clearance(&one, x, time, 2.0 * band) <= band;
    for (int side = 0; side < 6 && is_near_wall; ++side) {
        one.closed_sides = in->solids->closed_sides & (1 << side);
        WadiSolidPoint point;
        if (one.closed_sides != 0 && wadi_solids_sample_within(&one, x, time, band, &point)) {
            add_plane(planes, &point);
        }
    }
}

/* Speed of approach, positive towards the surface; differences within rounding count as 0. */
static double approach_speed(const Plane *plane, WadiVec3 v)
{
    double speed = -wadi_dot(wadi_sub(v, plane->velocity), plane->normal);
    return speed > 1e-10 * (wadi_norm(v) + wadi_norm(plane->velocity)) ? speed : 0.0;
}

static bool is_approached(const Planes *planes, WadiVec3 v)
{
    for (int i = 0; i < planes->count; ++i) {
        if (approach_speed(&planes->plane[i], v) > 0.0) {
            return true;
        }
    }
    return false;
}

static WadiVec3 respond(const Plane *plane, WadiVec3 v, double rest_speed)
{
    double approach = approach_speed(plane, v);
    if (approach <= 0.0) {
        return v;
    }
    double e = plane->restitution, lost = (1.0 - e) * approach;
    e = e < 1.0 && lost < rest_speed ? 0.0 : e;
    WadiVec3 relative = wadi_sub(v, plane->velocity);
    WadiVec3 tangential = wadi_add_scaled(relative, plane->normal, approach);
    double slip = wadi_norm(tangential), loss = plane->friction * (1.0 + e) * approach;
    tangential = wadi_scale(tangential, loss < slip ? 1.0 - loss / slip : 0.0);
    return wadi_add(plane->velocity, wadi_add_scaled(tangential, plane->normal, e * approach));
}

/* For a velocity that keeps turning from one surface into another: its part along the line where two of
 * them meet, or the velocity of the first surface. */
static WadiVec3 clip_to_edge(const Planes *planes, WadiVec3 v)
{
    for (int a = 0; a < planes->count; ++a) {
        for (int b = a + 1; b < planes->count; ++b) {
            WadiVec3 edge = wadi_cross(planes->plane[a].normal, planes->plane[b].normal);
            double length = wadi_norm(edge);
            if (length < 1e-6) {
                continue;
            }
            edge = wadi_scale(edge, 1.0 / length);
            WadiVec3 base = planes->plane[a].velocity;
            WadiVec3 along = wadi_add_scaled(base, edge, wadi_dot(edge, wadi_sub(v, base)));
            if (!is_approached(planes, along)) {
                return along;
            }
        }
    }
    return planes->plane[0].velocity;
}

static WadiVec3 resolve(const Planes *planes, WadiVec3 v, double rest_speed)
{
    for (int pass = 0; pass < PASSES && is_approached(planes, v); ++pass) {
        for (int i = 0; i < planes->count; ++i) {
            v = respond(&planes->plane[i], v, rest_speed);
        }
    }
    return is_approached(planes, v) ? clip_to_edge(planes, v) : v;
}

WadiVec3 wadi_contact_velocity(const WadiCollideIn *in, WadiVec3 x, WadiVec3 v, double time, double band,
                               const WadiSolidPoint *met)
{
    double rest_speed = WADI_COLLIDE_REST_ACCELERATION * (in->t1 - in->t0);
    Planes planes = { .count = 0 };
    gather_planes(in, x, time, band, &planes);
    if (met != NULL) {
        add_plane(&planes, met);
    }
    WadiVec3 out = planes.count > 0 ? resolve(&planes, v, rest_speed) : v;
    /* In a concave corner of one solid only one of its faces is within the band. Probes one skin ahead
     * find the others, so that the particle does not creep between them. */
    for (int probe = 0; probe < 2 && planes.count > 0; ++probe) {
        WadiVec3 relative = wadi_sub(out, planes.plane[0].velocity);
        double speed = wadi_norm(relative);
        if (!(speed > 0.0)) {
            break;
        }
        WadiVec3 ahead = wadi_add_scaled(x, relative, in->skin / speed);
        WadiSolidPoint point = wadi_solids_sample(in->solids, ahead, time);
        Plane plane = { point.surface.normal, point.surface.velocity, point.friction, point.restitution };
        if (point.surface.distance > band || approach_speed(&plane, out) <= 1e-6 * speed) {
            break;
        }
        add_plane(&planes, &point);
        out = resolve(&planes, v, rest_speed);
    }
    return out;
}

WadiVec3 wadi_contact_open_direction(const WadiCollideIn *in, WadiVec3 x, double radius, double time)
{
    Planes planes = { .count = 0 };
    gather_planes(in, x, time, radius, &planes);
    WadiVec3 sum = { 0, 0, 0 };
    for (int i = 0; i < planes.count; ++i) {
        sum = wadi_add(sum, planes.plane[i].normal);
    }
    return wadi_norm(sum) > 0.5 ? wadi_normalized_or(sum, sum) : (WadiVec3){ 0, 0, 0 };
}

bool wadi_contact_push_out(const WadiCollideIn *in, WadiVec3 *x, double time)
{
    WadiVec3 best = *x;
    double best_distance = -INFINITY;
    WadiSolidPoint last = { .index = -2 };
    for (int i = 0; i < 48; ++i) {
        WadiSolidPoint point = wadi_solids_sample(in->solids, *x, time);
        double d = point.surface.distance;
        if (i > 0 && d < 0.0 && point.index != last.index &&
            wadi_dot(point.surface.normal, last.surface.normal) < -0.5) {
            /* Two solids push in opposite directions: beyond either is the wrong side. */
            break;
        }
        last = point;
        if (d > best_distance) {
            best_distance = d;
            best = *x;
        }
        if (d >= in->skin) {
            break;
        }
        /* Inside boolean shapes the distance is only a lower bound: lengthen the steps after a few of
         * them. */
        double stretch = i < 8 ? 1.0 : 1.0 + 0.25 * (i - 8);
        *x = wadi_add_scaled(*x, point.surface.normal, stretch * (1.5 * in->skin - d));
    }
    *x = best;
    return best_distance >= 0.0;
}

void wadi_contact_return_to_domain(const WadiSolids *solids, WadiVec3 *x, WadiVec3 *v)
{
    for (int side = 0; side < 6; ++side) {
        const WadiSurfacePoint wall = wadi_solids_wall(solids, side, *x);
        if ((solids->closed_sides & (1 << side)) != 0 && wall.distance < 0.0) {
            *x = wadi_add_scaled(*x, wall.normal, -wall.distance);
            *v = wadi_add_scaled(*v, wall.normal, fmax(0.0, -wadi_dot(*v, wall.normal)));
        }
    }
}
