#include "dem/bodies/dem_bodies.h"

#include "core/alloc.h"
#include "core/array.h"
#include "dem/bodies/dem_shapes.h"

/* Bodies by the ids of their grains, while they are found. */
typedef struct Table {
    uint32_t mask;
    uint32_t *key;
    int32_t *value; /* negative: free */
} Table;

static int32_t *find(const Table *table, uint32_t grain)
{
    uint32_t n = grain * 2654435761u & table->mask;
    while (table->value[n] >= 0 && table->key[n] != grain) {
        n = (n + 1) & table->mask;
    }
    table->key[n] = table->value[n] < 0 ? grain : table->key[n];
    return &table->value[n];
}

static WadiStatus make_table(Table *table, int32_t count, WadiArena *scratch, WadiError *error)
{
    table->mask = 1;
    while (table->mask < 2 * (uint32_t)count) {
        table->mask = 2 * table->mask + 1;
    }
    WADI_TRY(WADI_ARENA_NEW(scratch, &table->key, (size_t)table->mask + 1, "bodies", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &table->value, (size_t)table->mask + 1, "bodies", error));
    for (uint32_t n = 0; n <= table->mask; ++n) {
        table->value[n] = -1;
    }
    return WADI_OK;
}

/* Numbers the bodies and lists their awake spheres; of[]: body of each of these. */
static WadiStatus list_members(WadiDemBodies *bodies, const WadiDemBodiesIn *in, const Table *table,
                               int32_t *of, WadiError *error)
{
    bodies->count = 0;
    for (int32_t i = in->first; i < in->count; ++i) {
        int32_t *number = find(table, in->grain[i]);
        *number = *number < 0 ? bodies->count++ : *number;
        of[i - in->first] = *number;
    }
    WADI_TRY(wadi_array_renew((void **)&bodies->body, &bodies->body_capacity, (size_t)bodies->count,
                              sizeof *bodies->body, "bodies", error));
    WADI_TRY(wadi_array_renew((void **)&bodies->member, &bodies->member_capacity,
                              (size_t)(in->count - in->first), sizeof *bodies->member, "bodies", error));
    for (int32_t b = 0; b < bodies->count; ++b) {
        bodies->body[b] = (WadiDemBody){ .turn = { 1, 0, 0, 0 }, .anchor = -1 };
    }
    for (int32_t i = in->first; i < in->count; ++i) {
        bodies->body[of[i - in->first]].count += 1;
    }
    int32_t at = 0;
    for (int32_t b = 0; b < bodies->count; ++b) {
        bodies->body[b].first = at;
        at += bodies->body[b].count;
        bodies->body[b].count = 0;
    }
    for (int32_t i = in->first; i < in->count; ++i) {
        WadiDemBody *body = &bodies->body[of[i - in->first]];
        bodies->member[body->first + body->count++] = i;
    }
    return WADI_OK;
}

/* Inverse of a symmetric matrix by its cofactors. */
static void invert(const WadiVec3 m[3], WadiVec3 inverse[3])
{
    for (int r = 0; r < 3; ++r) {
        inverse[r] = wadi_cross(m[(r + 1) % 3], m[(r + 2) % 3]);
    }
    const double scale = 1.0 / wadi_dot(m[0], inverse[0]);
    for (int r = 0; r < 3; ++r) {
        inverse[r] = wadi_scale(inverse[r], scale);
    }
}

static WadiVec3 times(const WadiVec3 m[3], WadiVec3 a)
{
    return (WadiVec3){ wadi_dot(m[0], a), wadi_dot(m[1], a), wadi_dot(m[2], a) };
}

/* Mass, centre, inertia and motion from the spheres. */
static void assemble(WadiDemBody *body, const WadiDemBodiesIn *in, const int32_t *member)
{
    WadiVec3 inertia[3] = { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }, spin = { 0, 0, 0 };
    for (int32_t k = 0; k < body->count; ++k) {
        const int32_t i = member[k];
        const double m = (double)in->mass[i];
        const WadiF8 v = in->motion[i];
        body->mass += m;
        body->centre =
            wadi_add_scaled(body->centre, (WadiVec3){ in->base[i][0], in->base[i][1], in->base[i][2] }, m);
        body->velocity =
            wadi_add_scaled(body->velocity, (WadiVec3){ (double)v[0], (double)v[1], (double)v[2] }, m);
        spin = wadi_add_scaled(spin, (WadiVec3){ (double)v[4], (double)v[5], (double)v[6] }, m);
    }
    body->centre = wadi_scale(body->centre, 1.0 / body->mass);
    body->velocity = wadi_scale(body->velocity, 1.0 / body->mass);
    spin = wadi_scale(spin, 1.0 / body->mass);
    for (int32_t k = 0; k < body->count; ++k) {
        const int32_t i = member[k];
        const double m = (double)in->mass[i], r = (double)in->radius[i];
        const WadiVec3 a = wadi_dem_body_arm(body, in->base[i]);
        const double own = m * (0.4 * r * r + wadi_dot(a, a));
        inertia[0] = wadi_add(inertia[0], (WadiVec3){ own - m * a.x * a.x, -m * a.x * a.y, -m * a.x * a.z });
        inertia[1] = wadi_add(inertia[1], (WadiVec3){ -m * a.x * a.y, own - m * a.y * a.y, -m * a.y * a.z });
        inertia[2] = wadi_add(inertia[2], (WadiVec3){ -m * a.x * a.z, -m * a.y * a.z, own - m * a.z * a.z });
    }
    body->momentum = times(inertia, spin);
    invert(inertia, body->inverse);
}

WadiStatus wadi_dem_bodies_build(WadiDemBodies *bodies, const WadiDemBodiesIn *in, WadiArena *scratch,
                                 WadiError *error)
{
    Table table;
    int32_t *of = NULL;
    WADI_TRY(make_table(&table, in->count - in->first, scratch, error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &of, (size_t)(in->count - in->first), "bodies", error));
    WADI_TRY(list_members(bodies, in, &table, of, error));
    for (int32_t b = 0; b < bodies->count; ++b) {
        assemble(&bodies->body[b], in, bodies->member + bodies->body[b].first);
    }
    /* Sleeping spheres are looked up and never entered. */
    for (int32_t i = 0; i < in->first; ++i) {
        const int32_t b = *find(&table, in->grain[i]);
        if (b >= 0) {
            bodies->body[b].anchor = i;
        }
    }
    return WADI_OK;
}

void wadi_dem_bodies_free(WadiDemBodies *bodies)
{
    WADI_DELETE(bodies->body, bodies->body_capacity);
    WADI_DELETE(bodies->member, bodies->member_capacity);
    *bodies = (WadiDemBodies){ 0 };
}

WadiVec3 wadi_dem_body_arm(const WadiDemBody *body, const double base[3])
{
    return wadi_dem_turned(body->turn, wadi_sub((WadiVec3){ base[0], base[1], base[2] }, body->centre));
}

/* I^-1 L, the tensor turned as `turn`. */
static WadiVec3 spin_at(const WadiDemBody *body, const double turn[4])
{
    const double back[4] = { turn[0], -turn[1], -turn[2], -turn[3] };
    return wadi_dem_turned(turn, times(body->inverse, wadi_dem_turned(back, body->momentum)));
}

WadiVec3 wadi_dem_body_spin(const WadiDemBody *body)
{
    return spin_at(body, body->turn);
}

/* from, turned for a time dt with an angular velocity. */
static void turn_by(const double from[4], WadiVec3 spin, double dt, double to[4])
{
    const WadiVec3 h = wadi_scale(spin, 0.5 * dt), u = { from[1], from[2], from[3] };
    const WadiVec3 v = wadi_add(wadi_add_scaled(u, h, from[0]), wadi_cross(h, u));
    const double w = from[0] - wadi_dot(h, u), scale = 1.0 / sqrt(w * w + wadi_dot(v, v));
    to[0] = w * scale, to[1] = v.x * scale, to[2] = v.y * scale, to[3] = v.z * scale;
}

void wadi_dem_body_move(WadiDemBody *body, const WadiDemBodyKick *kick, double dt)
{
    double middle[4];
    body->velocity =
        wadi_add(wadi_add_scaled(body->velocity, kick->force, kick->time / body->mass), kick->push);
    body->momentum = wadi_add_scaled(body->momentum, kick->torque, kick->time);
    body->shift = wadi_add_scaled(body->shift, body->velocity, dt);
    /* Midpoint rule: the energy of a free rotation stays. */
    turn_by(body->turn, wadi_dem_body_spin(body), 0.5 * dt, middle);
    turn_by(body->turn, spin_at(body, middle), dt, body->turn);
}
