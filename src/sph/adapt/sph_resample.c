#include "sph/adapt/sph_resample.h"

#include <math.h>
#include <string.h>

#include "core/random.h"
#include "math/cbrt.h"
#include "sph/adapt/sph_partners.h"
#include "sph/adapt/sph_room.h"
#include "world/water.h"

/* Distances between partners of a merge, and of the halves of a split, over the edge of the cube that both
 * fill. */
static const double MERGE_DISTANCE = 1.1, SPLIT_DISTANCE = 0.8;
/* Ratio of the volumes of partners, that of an event: a large one must not grow alone. */
static const double EVENT = 2.0;
static const double LEAST_VOLUME = 0.75; /* of the halves of a split */
/* Neighbours of volumes that differ by more than an event share until they differ by this. */
static const double ALIKE = 1.5;
static const double EVEN_DISTANCE = 1.3; /* over their mean size: of neighbours that share */

typedef struct Events {
    const WadiSphResampleIn *in;
    WadiSphLedger *ledger;
    double *volume;
    double *sum[WADI_SPH_SUMS_MAX];
    float *mean[WADI_SPH_MEANS_MAX];
    uint8_t *is_done;    /* took part in an event, or was removed */
    uint8_t *is_removed; /* with room for the halves of splits */
    int32_t removed;
} Events;

static void take_columns(Events *e)
{
    const WadiSphResampleIn *in = e->in;
    e->volume = wadi_particles_column(in->particles, in->volume_column);
    for (int c = 0; c < in->sum_count; ++c) {
        e->sum[c] = wadi_particles_column(in->particles, in->sums[c]);
    }
    for (int c = 0; c < in->mean_count; ++c) {
        e->mean[c] = wadi_particles_column(in->particles, in->means[c]);
    }
}

static double mass_of(const Events *e, int32_t i)
{
    double mass = e->in->own_mass[e->in->particles->material[i]] * e->volume[i];
    for (int c = 0; c < e->in->sum_count; ++c) {
        mass += e->sum[c][i];
    }
    return mass;
}

static double whole(double x)
{
    return floor(x * WADI_WATER_QUANTA) / WADI_WATER_QUANTA;
}

static WadiVec3 position_of(const WadiParticles *p, int32_t i)
{
    return wadi_vec3(p->x[i], p->y[i], p->z[i]);
}

static WadiVec3 velocity_of(const WadiParticles *p, int32_t i)
{
    return wadi_vec3((double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
}

static double size_of(const Events *e, int32_t i)
{
    return wadi_cbrt(e->volume[i]);
}

static bool is_splittable(const Events *e, int32_t i)
{
    return (e->in->may[i] & WADI_SPH_MAY_SPLIT) != 0 && e->volume[i] > (double)e->in->split_above[i] &&
           e->volume[i] >= 2.0 * LEAST_VOLUME;
}

static bool is_mergeable(const Events *e, int32_t i)
{
    return (e->in->may[i] & WADI_SPH_MAY_MERGE) != 0 && e->volume[i] <= (double)e->in->merge_below[i];
}

/* A parcel at x with the mass and velocity given joins particle i. */
static void join(Events *e, int32_t i, double mass_before, double parcel, WadiVec3 x, WadiVec3 v)
{
    WadiParticles *p = e->in->particles;
    WadiSphLedger *ledger = e->ledger;
    const WadiVec3 x_i = position_of(p, i), v_i = velocity_of(p, i);
    const double mass = mass_before + parcel;
    const WadiVec3 momentum = wadi_add(wadi_scale(v_i, mass_before), wadi_scale(v, parcel));
    const WadiVec3 exact = wadi_scale(wadi_add(momentum, ledger->carried), 1.0 / mass);
    const WadiVec3 to = wadi_add_scaled(x_i, wadi_sub(x, x_i), parcel / mass);
    p->x[i] = to.x, p->y[i] = to.y, p->z[i] = to.z;
    p->vx[i] = (float)exact.x, p->vy[i] = (float)exact.y, p->vz[i] = (float)exact.z;
    const WadiVec3 now = velocity_of(p, i), after = wadi_scale(now, mass);
    ledger->carried = wadi_sub(wadi_add(momentum, ledger->carried), after);
    const WadiVec3 spin = wadi_sub(
        wadi_add(wadi_cross(x_i, wadi_scale(v_i, mass_before)), wadi_cross(x, wadi_scale(v, parcel))),
        wadi_cross(to, after));
    ledger->spin = wadi_add(ledger->spin, spin);
    ledger->energy +=
        0.5 * (mass_before * wadi_dot(v_i, v_i) + parcel * wadi_dot(v, v) - mass * wadi_dot(now, now));
}

static void mix_means(const Events *e, int32_t to, double volume_to, int32_t from, double volume_from)
{
    const double part = volume_from / (volume_to + volume_from);
    for (int c = 0; c < e->in->mean_count; ++c) {
        e->mean[c][to] += (float)part * (e->mean[c][from] - e->mean[c][to]);
    }
}

/* b joins a. */
static void merge(Events *e, int32_t a, int32_t b)
{
    const WadiParticles *p = e->in->particles;
    join(e, a, mass_of(e, a), mass_of(e, b), position_of(p, b), velocity_of(p, b));
    mix_means(e, a, e->volume[a], b, e->volume[b]);
    e->volume[a] += e->volume[b];
    for (int c = 0; c < e->in->sum_count; ++c) {
        e->sum[c][a] += e->sum[c][b];
    }
    e->is_done[a] = e->is_done[b] = 1;
    e->is_removed[b] = 1;
    e->removed += 1;
    e->ledger->merges += 1;
}

/* A part of the giver's volume, with the water in it, goes over to the receiver; false: there is none. */
static bool move_part(Events *e, int32_t giver, int32_t receiver, double volume)
{
    const WadiSphResampleIn *in = e->in;
    const double part = whole(volume);
    const double mass_before = mass_of(e, receiver), all = e->volume[giver];
    double parcel = in->own_mass[in->particles->material[giver]] * part;
    if (!(part > 0.0)) {
        return false;
    }
    double moved[WADI_SPH_SUMS_MAX];
    for (int c = 0; c < in->sum_count; ++c) {
        moved[c] = whole(e->sum[c][giver] * (part / all));
        parcel += moved[c];
    }
    join(e, receiver, mass_before, parcel, position_of(in->particles, giver),
         velocity_of(in->particles, giver));
    mix_means(e, receiver, e->volume[receiver], giver, part);
    e->volume[receiver] += part;
    e->volume[giver] -= part;
    for (int c = 0; c < in->sum_count; ++c) {
        e->sum[c][receiver] += moved[c];
        e->sum[c][giver] -= moved[c];
    }
    e->is_done[giver] = e->is_done[receiver] = 1;
    e->ledger->shares += 1;
    return true;
}

/* The giver is larger than the receiver by more than an event: it gives so much that they differ less, and at
 * most as much as the receiver has. Both stay on the line through them and their centre of mass, as far apart
 * as their sizes ask. */
static void equalise(Events *e, int32_t giver, int32_t receiver)
{
    const WadiSphResampleIn *in = e->in;
    WadiParticles *p = in->particles;
    WadiSphLedger *ledger = e->ledger;
    const double large = e->volume[giver], small = e->volume[receiver];
    const double room = (double)in->split_above[receiver] - small; /* none: both will be split */
    const double sizes = size_of(e, giver) + size_of(e, receiver);
    const WadiVec3 x = position_of(p, giver), between = wadi_sub(position_of(p, receiver), x);
    const double before = mass_of(e, receiver), all = before + mass_of(e, giver);
    if (!move_part(e, giver, receiver,
                   fmin((large - ALIKE * small) / (1.0 + ALIKE), room > 0.0 ? fmin(small, room) : small))) {
        return;
    }
    const WadiVec3 centre = wadi_add_scaled(x, between, before / all);
    const double apart = (size_of(e, giver) + size_of(e, receiver)) / sizes;
    const double parts[2] = { -apart * mass_of(e, receiver) / all, apart * mass_of(e, giver) / all };
    const int32_t both[2] = { giver, receiver };
    for (int n = 0; n < 2; ++n) {
        const int32_t i = both[n];
        WadiVec3 to = wadi_add_scaled(centre, between, parts[n]);
        const double least = in->nearest * size_of(e, i) * in->spacing;
        if (wadi_solids_distance_within(in->solids, to, in->time, least) < least) {
            to = n == 0 ? x : wadi_add(x, between);
        }
        const WadiVec3 momentum = wadi_scale(velocity_of(p, i), mass_of(e, i));
        ledger->spin = wadi_add(ledger->spin, wadi_cross(wadi_sub(position_of(p, i), to), momentum));
        p->x[i] = to.x, p->y[i] = to.y, p->z[i] = to.z;
    }
}

static bool may_merge(const void *context, int32_t a, int32_t b)
{
    const Events *e = context;
    const WadiParticles *p = e->in->particles;
    const double both = e->volume[a] + e->volume[b];
    const double most = fmin((double)e->in->split_above[a], (double)e->in->split_above[b]);
    const bool are_alike = fmax(e->volume[a], e->volume[b]) <= EVENT * fmin(e->volume[a], e->volume[b]);
    return p->id[a] < p->id[b] && are_alike && is_mergeable(e, a) && is_mergeable(e, b) &&
           both <= fmin(most, e->in->largest);
}

static bool may_equalise(const void *context, int32_t a, int32_t b)
{
    const Events *e = context;
    return e->volume[a] > EVENT * e->volume[b];
}

/* Kinds of events of pairs: which particles may have part, which pairs, and the event. */
typedef struct Kind {
    double farthest; /* distance over the mean size */
    double ratio;    /* of the volumes, at least */
    int rounds;      /* in each a particle has part in one event */
    int32_t part;    /* events at a time over `most` */
    bool (*is_in)(const Events *e, int32_t i);
    bool (*may_pair)(const void *context, int32_t a, int32_t b);
    void (*join)(Events *e, int32_t a, int32_t b);
} Kind;

static bool is_inside(const Events *e, int32_t i)
{
    return (e->in->may[i] & WADI_SPH_MAY_SHARE) != 0;
}

/* Whether two may be partners changes from round to round. */
static bool always(const void *context, int32_t a, int32_t b)
{
    (void)context, (void)a, (void)b;
    return true;
}

/* The events of a kind, in the order of distances. */
static WadiStatus join_pairs(Events *e, const Kind *kind, WadiArena *arena, WadiError *error)
{
    const WadiSphResampleIn *in = e->in;
    const int32_t all = in->particles->count;
    int32_t *list = NULL, listed = 0, events = 0;
    WADI_TRY(WADI_ARENA_NEW(arena, &list, (size_t)all, "particles to merge", error));
    for (int32_t i = in->first; i < all; ++i) {
        if (e->is_done[i] == 0 && kind->is_in(e, i)) {
            list[listed++] = i;
        }
    }
    if (listed < 2) {
        return WADI_OK;
    }
    WadiSphPartners *pairs = NULL;
    int64_t count;
    const WadiSphPartnersIn partners = { .particles = in->particles,
                                         .volume = e->volume,
                                         .spacing = in->spacing,
                                         .farthest = kind->farthest,
                                         .list = list,
                                         .listed = listed,
                                         .ratio = kind->ratio,
                                         .may_pair = kind->rounds == 1 ? kind->may_pair : always,
                                         .context = e };
    WADI_TRY(wadi_sph_partners_find(&pairs, &count, &partners, arena, error));
    for (int round = 0; round < kind->rounds; ++round) {
        for (int64_t n = 0; n < count && events / kind->part < in->most; ++n) {
            const int32_t a = pairs[n].a, b = pairs[n].b;
            if (e->is_done[a] == 0 && e->is_done[b] == 0 && kind->may_pair(e, a, b)) {
                kind->join(e, a, b);
                ++events;
            }
        }
        if (kind->rounds > 1) {
            memcpy(e->is_done, e->is_removed, (size_t)all);
        }
    }
    return WADI_OK;
}

static void copy_particle(const WadiParticles *p, int32_t from, int32_t to)
{
    const uint32_t id = p->id[to];
    for (int c = 0; c < p->column_count; ++c) {
        const size_t size = wadi_type_size(p->column[c].type);
        char *data = p->column[c].data;
        memcpy(data + size * (size_t)to, data + size * (size_t)from, size);
    }
    p->id[to] = id;
}

/* Half of a particle goes to the new one, to both sides of the centre of mass. */
static void split(Events *e, int32_t from, int32_t to, WadiVec3 along)
{
    const WadiSphResampleIn *in = e->in;
    WadiParticles *p = in->particles;
    copy_particle(p, from, to);
    const double before = mass_of(e, from);
    e->volume[to] = whole(0.5 * e->volume[from]);
    e->volume[from] -= e->volume[to];
    for (int c = 0; c < in->sum_count; ++c) {
        e->sum[c][to] = whole(0.5 * e->sum[c][from]);
        e->sum[c][from] -= e->sum[c][to];
    }
    const double distance = SPLIT_DISTANCE * size_of(e, to) * in->spacing;
    const WadiVec3 centre = position_of(p, from);
    const WadiVec3 a = wadi_add_scaled(centre, along, -distance * (mass_of(e, to) / before));
    const WadiVec3 b = wadi_add_scaled(centre, along, distance * (mass_of(e, from) / before));
    p->x[from] = a.x, p->y[from] = a.y, p->z[from] = a.z;
    p->x[to] = b.x, p->y[to] = b.y, p->z[to] = b.z;
    e->ledger->splits += 1;
}

static bool is_split_now(const Events *e, int32_t i)
{
    return i >= e->in->first && e->is_done[i] == 0 && is_splittable(e, i);
}

/* Where more ask for a split than there may be, those that are split lie all over the body: many at one place
 * would disturb the pressure there. */
static double split_part(const Events *e)
{
    int32_t requested = 0;
    for (int32_t i = e->in->first; i < e->in->particles->count; ++i) {
        requested += is_split_now(e, i);
    }
    return requested > e->in->most ? (double)e->in->most / requested : 1.0;
}

static WadiStatus split_all(Events *e, WadiArena *arena, WadiError *error)
{
    const WadiSphResampleIn *in = e->in;
    WadiParticles *p = in->particles;
    int32_t *list = NULL, *all = NULL, count = 0, kept = 0, first;
    double largest = 0.0;
    const double part = split_part(e);
    const uint64_t seed = (uint64_t)(e->ledger->splits + e->ledger->merges);
    WADI_TRY(WADI_ARENA_NEW(arena, &list, (size_t)p->count, "particles to split", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &all, (size_t)p->count, "particles to split", error));
    for (int32_t i = 0; i < p->count; ++i) {
        all[kept] = i;
        kept += e->is_removed[i] == 0;
        if (is_split_now(e, i) && wadi_random_unit(seed, p->id[i], WADI_RANDOM_SPLIT) < part &&
            count < in->most) {
            list[count++] = i;
            largest = fmax(largest, size_of(e, i));
        }
    }
    if (count == 0) {
        return WADI_OK;
    }
    WadiSphRoom room = { .particles = p, .spacing = in->spacing, .solids = in->solids, .time = in->time };
    WADI_TRY(wadi_sph_room_begin(&room, all, kept, largest, arena, error));
    WADI_TRY(wadi_particles_append(p, count, &first, error));
    take_columns(e);
    room.volume = e->volume;
    for (int32_t n = 0; n < count; ++n) {
        const double size = wadi_cbrt(0.5 * e->volume[list[n]]);
        split(e, list[n], first + n,
              wadi_sph_room_direction(&room, list[n], p->id[first + n], size, 0.5 * SPLIT_DISTANCE * size));
    }
    return WADI_OK;
}

WadiStatus wadi_sph_resample(const WadiSphResampleIn *in, WadiSphLedger *ledger, WadiArena *arena,
                             WadiError *error)
{
    const WadiArenaMark mark = wadi_arena_mark(arena);
    const size_t count = (size_t)in->particles->count;
    Events e = { .in = in, .ledger = ledger };
    WADI_TRY(WADI_ARENA_NEW(arena, &e.is_done, count, "events", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &e.is_removed, 2 * count, "events", error));
    memset(e.is_done, 0, count);
    memset(e.is_removed, 0, 2 * count);
    take_columns(&e);
    const Kind merges = { MERGE_DISTANCE, 0.0, 1, 1, is_mergeable, may_merge, merge };
    /* With those that differ less and will differ more when others have shared. */
    const Kind evens = { EVEN_DISTANCE, ALIKE, 3, 4, is_inside, may_equalise, equalise };
    WADI_TRY(join_pairs(&e, &merges, arena, error));
    memcpy(e.is_done, e.is_removed, count); /* what was merged may share */
    WADI_TRY(join_pairs(&e, &evens, arena, error));
    WADI_TRY(split_all(&e, arena, error));
    if (e.removed > 0) {
        wadi_particles_remove(in->particles, e.is_removed);
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}
