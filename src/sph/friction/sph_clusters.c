#include "sph/friction/sph_clusters.h"

#include <math.h>
#include <string.h>

static const double REACH = 1.2;            /* spacings: h' */
static const float SLIDING_FRACTION = 0.5f; /* of the stopping stress: more lets the shortest waves grow */

void wadi_sph_clusters_yield(uint8_t *is_rigid, const WadiSphFriction *friction, WadiSphStrain *strain,
                             const WadiF4 *velocity, const WadiSphFrictionIn *in)
{
    /* The strain rate times dx is the stress that stops it, in the unit of the stresses. */
    wadi_sph_friction_strain(strain, velocity, in);
    for (int32_t i = 0; i < in->pairs->count; ++i) {
        const float *t = strain[i].strain;
        const float size = sqrtf(0.5f * wadi_sph_stress_square(t)), bound = in->bound[i];
        is_rigid[i] = in->is_sand[i] && size < bound;
        const float sliding = size > 0.0f ? bound / size : 0.0f;
        const float scale = is_rigid[i] ? 0.0f : sliding < SLIDING_FRACTION ? sliding : SLIDING_FRACTION;
        for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
            friction->stress[c][i] = t[c] * scale;
        }
    }
}

static int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* The smaller number is the root, so that the order of the pairs does not matter. */
static void join_pairs(int32_t *parent, const uint8_t *is_rigid, const WadiSphPairs *pairs)
{
    const float reach = (float)(REACH * WADI_SPH_PLACES);
    for (int32_t i = 0; i < pairs->count; ++i) {
        for (int64_t n = pairs->start[i]; is_rigid[i] && n < pairs->start[i] + pairs->same[i]; ++n) {
            const int32_t j = wadi_sph_other(pairs, n);
            const WadiF4 d = WADI_SPH_OFFSET(pairs->place[i], pairs->place[j]), square = d * d;
            if (j < i && is_rigid[j] && square[0] + square[1] + square[2] <= reach * reach) {
                const int32_t a = find_root(parent, i), b = find_root(parent, j);
                parent[a > b ? a : b] = a > b ? b : a;
            }
        }
    }
}

static WadiVec3 velocity_of(const WadiF4 *velocity, int32_t i)
{
    return (WadiVec3){ (double)velocity[i][0], (double)velocity[i][1], (double)velocity[i][2] };
}

/* From the first particle of the cluster, spacings. Places wrap, differences do not. */
static WadiVec3 offset_in(const WadiSphCluster *cluster, const WadiSphPairs *pairs, int32_t i)
{
    const double unit = 1.0 / WADI_SPH_PLACES;
    const WadiI4 place = pairs->place[i];
    const int32_t x = (int32_t)((uint32_t)place[0] - (uint32_t)(int32_t)cluster->origin_place.x);
    const int32_t y = (int32_t)((uint32_t)place[1] - (uint32_t)(int32_t)cluster->origin_place.y);
    const int32_t z = (int32_t)((uint32_t)place[2] - (uint32_t)(int32_t)cluster->origin_place.z);
    return (WadiVec3){ unit * x, unit * y, unit * z };
}

static void add_turning(WadiSphCluster *c, WadiVec3 r, WadiVec3 v, double mass)
{
    c->spin = wadi_add(c->spin, wadi_scale(wadi_cross(r, v), mass));
    c->inertia.xx += mass * (r.y * r.y + r.z * r.z), c->inertia.xy -= mass * r.x * r.y;
    c->inertia.yy += mass * (r.x * r.x + r.z * r.z), c->inertia.xz -= mass * r.x * r.z;
    c->inertia.zz += mass * (r.x * r.x + r.y * r.y), c->inertia.yz -= mass * r.y * r.z;
}

/* Contacts by their share of the grip. */
static void add_grip(WadiSphCluster *c, const WadiSphFrictionIn *in, int32_t i, WadiVec3 at, WadiVec3 v)
{
    const int32_t near = wadi_sph_near(in->walls, i);
    for (int k = 0; near >= 0 && k < in->walls->contact_count[near]; ++k) {
        const WadiSphContact *contact = &in->walls->contact[near][k];
        const double grip = (double)(contact->friction * in->pressure[i] * -contact->velocity[3]);
        const WadiVec3 n = { (double)contact->normal[0], (double)contact->normal[1],
                             (double)contact->normal[2] };
        const WadiVec3 wall = { (double)contact->velocity[0], (double)contact->velocity[1],
                                (double)contact->velocity[2] };
        const WadiVec3 slip = wadi_sub(v, wall);
        c->grip += grip;
        c->grip_centre = wadi_add_scaled(c->grip_centre, at, grip);
        c->grip_motion = wadi_add_scaled(c->grip_motion, wadi_add_scaled(slip, n, -wadi_dot(slip, n)), grip);
    }
}

static void sum_clusters(WadiSphClusters *clusters, const WadiF4 *velocity, const WadiSphFrictionIn *in)
{
    const WadiSphPairs *pairs = in->pairs;
    for (int32_t i = 0; i < pairs->count; ++i) {
        if (clusters->of[i] >= 0) {
            WadiSphCluster *c = &clusters->cluster[clusters->of[i]];
            const double mass = 1.0 / (double)in->inverse_density[i];
            c->mass += mass;
            c->centre = wadi_add_scaled(c->centre, offset_in(c, pairs, i), mass);
            c->momentum = wadi_add_scaled(c->momentum, velocity_of(velocity, i), mass);
        }
    }
    for (int32_t k = 0; k < clusters->count; ++k) {
        WadiSphCluster *c = &clusters->cluster[k];
        c->centre = wadi_scale(c->centre, 1.0 / c->mass);
    }
    for (int32_t i = 0; i < pairs->count; ++i) {
        if (clusters->of[i] >= 0) {
            WadiSphCluster *c = &clusters->cluster[clusters->of[i]];
            const WadiVec3 at = offset_in(c, pairs, i), v = velocity_of(velocity, i);
            add_turning(c, wadi_sub(at, c->centre), v, 1.0 / (double)in->inverse_density[i]);
            add_grip(c, in, i, at, v);
        }
    }
}

WadiStatus wadi_sph_clusters_find(WadiSphClusters *clusters, const uint8_t *is_rigid, const WadiF4 *velocity,
                                  const WadiSphFrictionIn *in, WadiArena *arena, WadiError *error)
{
    const WadiSphPairs *pairs = in->pairs;
    int32_t *parent = NULL;
    *clusters = (WadiSphClusters){ 0 };
    WADI_TRY(WADI_ARENA_NEW(arena, &clusters->of, (size_t)pairs->count, "clusters", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &parent, (size_t)pairs->count, "clusters", error));
    for (int32_t i = 0; i < pairs->count; ++i) {
        parent[i] = i;
    }
    join_pairs(parent, is_rigid, pairs);
    for (int32_t i = 0; i < pairs->count; ++i) {
        const int32_t root = find_root(parent, i);
        clusters->of[i] = !is_rigid[i] ? -1 : root == i ? clusters->count++ : clusters->of[root];
    }
    const size_t count = (size_t)clusters->count;
    WADI_TRY(WADI_ARENA_NEW(arena, &clusters->cluster, count, "clusters", error));
    memset(clusters->cluster, 0, count * sizeof *clusters->cluster);
    for (int32_t i = 0; i < pairs->count; ++i) {
        if (clusters->of[i] < 0) {
            continue;
        }
        WadiSphCluster *c = &clusters->cluster[clusters->of[i]];
        if (c->count++ == 0) {
            const WadiI4 place = pairs->place[i];
            c->origin_place = (WadiVec3){ place[0], place[1], place[2] };
        }
    }
    sum_clusters(clusters, velocity, in);
    return WADI_OK;
}

/* I x = b; a cluster in a line does not turn about it. */
static WadiVec3 solve_inertia(WadiSym3 m, WadiVec3 b)
{
    const double small = 1e-9 * (m.xx + m.yy + m.zz) + 1e-300;
    const WadiVec3 x = { m.xx + small, m.xy, m.xz }, y = { m.xy, m.yy + small, m.yz };
    const WadiVec3 z = { m.xz, m.yz, m.zz + small }, yz = wadi_cross(y, z);
    const double determinant = wadi_dot(x, yz);
    if (!(fabs(determinant) > 0.0)) {
        return (WadiVec3){ 0 };
    }
    return (WadiVec3){ wadi_dot(b, yz) / determinant, wadi_dot(b, wadi_cross(z, x)) / determinant,
                       wadi_dot(b, wadi_cross(x, y)) / determinant };
}

/* The impulse that stops the mean slip of the contacts, or what their grip allows. */
static void apply_wall_friction(WadiSphCluster *c)
{
    if (!(c->grip > 0.0)) {
        return;
    }
    const WadiVec3 slip = wadi_scale(c->grip_motion, 1.0 / c->grip);
    const double needed = c->mass * wadi_norm(slip);
    const double part = needed > c->grip ? c->grip / needed : 1.0;
    const WadiVec3 impulse = wadi_scale(slip, -part * c->mass);
    const WadiVec3 arm = wadi_sub(wadi_scale(c->grip_centre, 1.0 / c->grip), c->centre);
    c->momentum = wadi_add(c->momentum, impulse);
    c->spin = wadi_add(c->spin, wadi_cross(arm, impulse));
}

void wadi_sph_clusters_move(WadiF4 *velocity, WadiSphClusters *clusters, const WadiSphFrictionIn *in)
{
    for (int32_t k = 0; k < clusters->count; ++k) {
        apply_wall_friction(&clusters->cluster[k]);
    }
    for (int32_t i = 0; i < in->pairs->count; ++i) {
        if (clusters->of[i] < 0 || clusters->cluster[clusters->of[i]].count == 1) {
            continue;
        }
        const WadiSphCluster *c = &clusters->cluster[clusters->of[i]];
        const WadiVec3 angular_velocity = solve_inertia(c->inertia, c->spin);
        const WadiVec3 arm = wadi_sub(offset_in(c, in->pairs, i), c->centre);
        const WadiVec3 v =
            wadi_add(wadi_scale(c->momentum, 1.0 / c->mass), wadi_cross(angular_velocity, arm));
        velocity[i] = (WadiF4){ (float)v.x, (float)v.y, (float)v.z, 0.0f };
    }
}
