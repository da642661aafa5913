/* Clusters of rigid sand. [LD09 sec. 2; T10 eqs. 12 to 18]
 * How a cluster rubs on a wall is printed nowhere: Coulomb's friction of all its contacts. */
#include <math.h>
#include <string.h>

#include "sph/published/sph_printed.h"

static int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* The smaller number is the root, so that the order of the pairs does not matter. */
static void join_pairs(int32_t *parent, const WadiSphPrinted *p, const uint8_t *is_rigid, double range)
{
    for (int32_t i = 0; i < p->count; ++i) {
        for (int64_t n = p->near.start[i]; is_rigid[i] && n < p->near.start[i + 1]; ++n) {
            const int32_t j = p->near.index[n];
            if (j < i && is_rigid[j] && wadi_norm(wadi_sph_printed_between(p, i, j)) <= range) {
                const int32_t a = find_root(parent, i), b = find_root(parent, j);
                parent[a > b ? a : b] = a > b ? b : a;
            }
        }
    }
}

static WadiVec3 place_of(const WadiSphPrinted *p, int32_t i)
{
    return (WadiVec3){ p->x[i], p->y[i], p->z[i] };
}

static void add_inertia(WadiSym3 *inertia, WadiVec3 r, double mass)
{
    inertia->xx += mass * (r.y * r.y + r.z * r.z), inertia->xy -= mass * r.x * r.y;
    inertia->yy += mass * (r.x * r.x + r.z * r.z), inertia->xz -= mass * r.x * r.z;
    inertia->zz += mass * (r.x * r.x + r.y * r.y), inertia->yz -= mass * r.y * r.z;
}

/* Contacts by their share of the grip, with the velocities after the forces. */
static void add_grip(WadiSphPrintedCluster *cluster, const WadiSphPrinted *p, int32_t i)
{
    const int32_t near = wadi_sph_near(p->walls, i);
    const WadiVec3 v = wadi_add_scaled(p->velocity[i], p->force[i], p->dt / p->mass[i]);
    for (int c = 0; near >= 0 && c < p->walls->contact_count[near]; ++c) {
        const WadiSphContact *contact = &p->walls->contact[near][c];
        const double grip = (double)contact->friction * wadi_sph_printed_wall_force(p, i, contact) * p->dt;
        const WadiVec3 n = { (double)contact->normal[0], (double)contact->normal[1],
                             (double)contact->normal[2] };
        const WadiVec3 wall = { (double)contact->velocity[0], (double)contact->velocity[1],
                                (double)contact->velocity[2] };
        const WadiVec3 slip = wadi_sub(v, wall);
        cluster->grip += grip;
        cluster->grip_centre = wadi_add_scaled(cluster->grip_centre, place_of(p, i), grip);
        cluster->grip_motion =
            wadi_add_scaled(cluster->grip_motion, wadi_add_scaled(slip, n, -wadi_dot(slip, n)), grip);
    }
}

static void sum_clusters(const WadiSphPrintedClusters *clusters, const WadiSphPrinted *p)
{
    for (int32_t i = 0; i < p->count; ++i) {
        if (clusters->of[i] >= 0) {
            WadiSphPrintedCluster *c = &clusters->cluster[clusters->of[i]];
            c->count += 1;
            c->mass += p->mass[i];
            c->centre = wadi_add_scaled(c->centre, place_of(p, i), p->mass[i]);
            c->momentum = wadi_add_scaled(c->momentum, p->velocity[i], p->mass[i]);
            c->force = wadi_add(c->force, p->force[i]);
        }
    }
    for (int32_t k = 0; k < clusters->count; ++k) {
        WadiSphPrintedCluster *c = &clusters->cluster[k];
        c->centre = wadi_scale(c->centre, 1.0 / c->mass);
    }
    for (int32_t i = 0; i < p->count; ++i) {
        if (clusters->of[i] >= 0) {
            WadiSphPrintedCluster *c = &clusters->cluster[clusters->of[i]];
            const WadiVec3 r = wadi_sub(place_of(p, i), c->centre);
            c->spin = wadi_add_scaled(c->spin, wadi_cross(r, p->velocity[i]), p->mass[i]);
            c->torque = wadi_add(c->torque, wadi_cross(r, p->force[i]));
            add_inertia(&c->inertia, r, p->mass[i]);
            add_grip(c, p, i);
        }
    }
}

WadiStatus wadi_sph_printed_clusters_find(WadiSphPrintedClusters *clusters, const WadiSphPrinted *p,
                                          const uint8_t *is_rigid, double range, WadiArena *arena,
                                          WadiError *error)
{
    int32_t *parent = NULL;
    *clusters = (WadiSphPrintedClusters){ 0 };
    WADI_TRY(WADI_ARENA_NEW(arena, &clusters->of, (size_t)p->count, "clusters", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &parent, (size_t)p->count, "clusters", error));
    for (int32_t i = 0; i < p->count; ++i) {
        parent[i] = i;
    }
    join_pairs(parent, p, is_rigid, range);
    for (int32_t i = 0; i < p->count; ++i) {
        const int32_t root = find_root(parent, i);
        clusters->of[i] = !is_rigid[i] ? -1 : root == i ? clusters->count++ : clusters->of[root];
    }
    const size_t count = (size_t)clusters->count;
    WADI_TRY(WADI_ARENA_NEW(arena, &clusters->cluster, count, "clusters", error));
    memset(clusters->cluster, 0, count * sizeof *clusters->cluster);
    sum_clusters(clusters, p);
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
static void rub_on_walls(WadiSphPrintedCluster *c)
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

void wadi_sph_printed_clusters_move(const WadiSphPrinted *p, WadiSphPrintedClusters *clusters,
                                    WadiVec3 *velocity)
{
    for (int32_t k = 0; k < clusters->count; ++k) {
        WadiSphPrintedCluster *c = &clusters->cluster[k];
        c->momentum = wadi_add_scaled(c->momentum, c->force, p->dt);
        c->spin = wadi_add_scaled(c->spin, c->torque, p->dt);
        rub_on_walls(c);
        c->spin = c->count > 1 ? solve_inertia(c->inertia, c->spin) : (WadiVec3){ 0 };
    }
    for (int32_t i = 0; i < p->count; ++i) {
        if (clusters->of[i] >= 0) {
            const WadiSphPrintedCluster *c = &clusters->cluster[clusters->of[i]];
            const WadiVec3 r = wadi_sub(place_of(p, i), c->centre);
            velocity[i] = wadi_add(wadi_scale(c->momentum, 1.0 / c->mass), wadi_cross(c->spin, r));
        }
    }
}

void wadi_sph_printed_clusters_push(const WadiSphPrinted *p, const WadiSphPrintedClusters *clusters,
                                    WadiVec3 *velocity)
{
    for (int32_t i = 0; i < p->count; ++i) {
        if (clusters->of[i] < 0) {
            continue;
        }
        const WadiSphPrintedCluster *c = &clusters->cluster[clusters->of[i]];
        const WadiVec3 r = wadi_sub(place_of(p, i), c->centre);
        WadiSym3 printed = c->inertia; /* eq. 17 has the sum of y^2 + z^2 at yy, too */
        printed.yy = c->inertia.xx;
        const WadiVec3 rate = c->count > 1 ? solve_inertia(printed, c->torque) : (WadiVec3){ 0 };
        velocity[i] = wadi_add_scaled(p->velocity[i], c->force, p->dt / c->mass);
        velocity[i] = wadi_add_scaled(velocity[i], wadi_cross(rate, r), p->dt);
    }
}
