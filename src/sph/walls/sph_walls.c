#include "sph/walls/sph_walls.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"

enum { TILE_BLOCK = 1, NEAR_BLOCK = 256 };

static const double SHARED_MAX = 0.4;  /* of the part of a wall */
static const float ON_PLANE = 0.05f;   /* spacings */
static const double SAME_PLANE = 0.9;  /* cosine between normals */
static const float OBTUSE = 0.5f;      /* cosine between normals: walls of 120 degrees and more */
static const double CORNER_STEP = 4.0; /* sizes: the longest; the others are halves */
enum { CORNER_STEPS = 3 };

typedef struct Finder {
    const WadiSphWallsIn *in;
    WadiSphWalls *walls;
    bool is_sand;                                  /* the particle that is looked at */
    double length;                                 /* m: its size */
    double reach;                                  /* m: its support */
    double farthest;                               /* m: the longest one */
    uint8_t *is_near;                              /* per particle */
    int32_t *particle;                             /* per near particle */
    WadiSphContact (*found)[WADI_SPH_CONTACT_MAX]; /* per near particle */
} Finder;

/* The same for one particle of the sort. */
static Finder finder_of(const Finder *all, int32_t i)
{
    Finder f = *all;
    f.is_sand = f.in->is_sand[i];
    f.length = f.in->spacing * (double)f.in->size[i];
    f.reach = (double)f.in->kernel->of[f.is_sand].support * f.length;
    return f;
}

static WadiVec3 place(const WadiParticles *p, int32_t i)
{
    return (WadiVec3){ p->x[i], p->y[i], p->z[i] };
}

static bool is_near(const Finder *all, int32_t i)
{
    const Finder f = finder_of(all, i - all->in->sort->first);
    const WadiVec3 x = place(f.in->particles, i);
    return wadi_solids_clearance(f.in->solids, x, f.in->time, f.reach) < f.reach;
}

/* Whether a solid may be within the longest support of a place in a cube with this middle. */
static bool may_be_near(const Finder *f, WadiVec3 middle, double side)
{
    const double radius = 0.5 * sqrt(3.0) * side + f->farthest;
    return wadi_solids_clearance(f->in->solids, middle, f->in->time, radius) < radius;
}

/* Marks near particles. Tiles far from all solids cost one distance, so do cells. */
static void mark_tiles(void *context, int64_t first, int64_t end)
{
    const Finder *f = context;
    const WadiTileSort *sort = f->in->sort;
    const double h = sort->cell_size, side = WADI_TILE_SIDE * h;
    for (int64_t t = first; t < end; ++t) {
        const WadiTile tile = sort->tiles.tiles[t];
        const WadiVec3 low = { tile.x * side, tile.y * side, tile.z * side };
        const bool is_far =
            !may_be_near(f, wadi_add(low, wadi_vec3(0.5 * side, 0.5 * side, 0.5 * side)), side);
        WadiTileCell cell;
        for (wadi_tile_cells_begin(&cell, sort, (int32_t)t); wadi_tile_cells_next(&cell, sort);) {
            const WadiVec3 to = { cell.lane + 0.5, (cell.row & 7) + 0.5, (cell.row >> 3) + 0.5 };
            const bool may_be = !is_far && may_be_near(f, wadi_add_scaled(low, to, h), h);
            for (int32_t i = cell.first; i < cell.end; ++i) {
                f->is_near[i - sort->first] = may_be && is_near(f, i);
            }
        }
    }
}

/* Whether contact b adds nothing to the nearer one a: its surface continues that of a, or lies behind it. */
static bool is_behind(WadiF4 a, WadiF4 b)
{
    const float along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const float beyond = a[3] - b[3] * along; /* of the nearest point of b, from the plane of a */
    const float across = sqrtf(fmaxf(0.0f, 1.0f - along * along));
    return along > 0.25f && beyond < ON_PLANE - across;
}

/* How much of two walls with this cosine between their normals is one and the same: 0 in corners of a box and
 * sharper ones. */
static float sameness(float along)
{
    const float q = along < 0.0f ? 0.0f : along > OBTUSE ? 1.0f : along / OBTUSE;
    return q * q * (3.0f - 2.0f * q);
}

/* Part of wall a in front of wall b: both end where they meet, and the nearest point of a lies so far, in
 * spacings, before that line. */
static float visible_part(WadiF4 a, WadiF4 b)
{
    const float along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const float same = sameness(along);
    if (!(same > 0.0f)) {
        return 1.0f;
    }
    const float across = sqrtf(fmaxf(1e-4f, 1.0f - along * along));
    const float before = (b[3] - a[3] * along) / across;
    const float q = before < -1.0f ? -1.0f : before > 1.0f ? 1.0f : before;
    const float hidden = 0.5f - 0.75f * q + 0.25f * q * q * q;
    return 1.0f - same * hidden;
}

/* Adds a contact of another solid than those before it, unless one of the two adds nothing to the other. */
static void add_contact(const Finder *f, int32_t near, const WadiSphContact *contact)
{
    WadiSphContact *list = f->found[near];
    int count = f->walls->contact_count[near];
    for (int c = 0; c < count; ++c) {
        if (list[c].solid == contact->solid) {
            continue;
        }
        /* A solid that lies flush with a side of the domain is what is touched. */
        const float flush = list[c].solid < 0 && contact->solid >= 0 ? ON_PLANE : 0.0f;
        const bool is_nearer = contact->normal[3] < list[c].normal[3] + flush;
        if (!is_nearer && is_behind(list[c].normal, contact->normal)) {
            return;
        }
        if (is_nearer && is_behind(contact->normal, list[c].normal)) {
            list[c--] = list[--count];
        }
    }
    int to = count;
    if (count == WADI_SPH_CONTACT_MAX) {
        to = 0;
        for (int c = 1; c < WADI_SPH_CONTACT_MAX; ++c) {
            to = list[c].normal[3] > list[to].normal[3] ? c : to;
        }
        if (list[to].normal[3] <= contact->normal[3]) {
            return;
        }
    } else {
        count += 1;
    }
    list[to] = *contact;
    f->walls->contact_count[near] = (uint8_t)count;
}

static WadiSphContact contact_of(const Finder *f, const WadiSurfacePoint *s, const WadiCurve *friction,
                                 int solid)
{
    return (WadiSphContact){
        .normal = { (float)s->normal.x, (float)s->normal.y, (float)s->normal.z,
                    (float)(s->distance / f->in->spacing) },
        .velocity = { (float)s->velocity.x, (float)s->velocity.y, (float)s->velocity.z, 0.0f },
        .friction = (float)wadi_curve_value_or_zero(friction, f->in->time),
        .solid = solid,
    };
}

/* The next plane of a shape that has `count` known ones at x. Away from these, distances grow by as much as
 * the planes go back; where the distance is less, there is another plane. */
static bool find_plane(const Finder *f, const WadiShape *shape, WadiVec3 x, const WadiSurfacePoint *known,
                       int count, WadiSurfacePoint *out)
{
    WadiVec3 away = { 0, 0, 0 };
    for (int c = 0; c < count; ++c) {
        away = wadi_add(away, known[c].normal);
    }
    away = wadi_normalized_or(away, known[0].normal);
    for (int halvings = 0; halvings < CORNER_STEPS; ++halvings) {
        const double length = ldexp(CORNER_STEP, -halvings) * f->length;
        const WadiVec3 y = wadi_add_scaled(x, away, length);
        double expected = INFINITY;
        for (int c = 0; c < count; ++c) {
            expected = fmin(expected, known[c].distance + length * wadi_dot(away, known[c].normal));
        }
        expected -= 0.02 * length;
        if (wadi_shape_clearance(shape, y, f->in->time) >= expected) {
            return false;
        }
        *out = wadi_shape_sample_within(shape, y, f->in->time, expected);
        if (out->distance >= expected) {
            return false;
        }
        out->distance -= length * wadi_dot(away, out->normal);
        bool is_new = out->distance < f->reach && out->distance > known[0].distance - 0.05 * f->length;
        for (int c = 0; c < count; ++c) {
            is_new = is_new && wadi_dot(out->normal, known[c].normal) < SAME_PLANE;
        }
        if (is_new) {
            return true;
        }
    }
    return false;
}

static void find_contacts_of(const Finder *f, int32_t near, WadiVec3 x, int index)
{
    const WadiSolid *solid = &f->in->solids->solids[index];
    WadiSurfacePoint known[WADI_SPH_CONTACT_MAX];
    known[0] = wadi_shape_sample_within(solid->shape, x, f->in->time, f->reach);
    if (!(known[0].distance < f->reach)) {
        return;
    }
    int count = 1;
    while (count < 3 && wadi_shape_may_have_corners(solid->shape) &&
           find_plane(f, solid->shape, x, known, count, &known[count])) {
        count += 1;
    }
    for (int c = 0; c < count; ++c) {
        /* What turns with a solid does not slip on it: its velocity at x, not at the surface. */
        wadi_shape_carry_velocity(solid->shape, x, f->in->time, &known[c].velocity);
        const WadiSphContact contact = contact_of(f, &known[c], solid->friction, index);
        add_contact(f, near, &contact);
    }
}

static void find_contacts(const Finder *f, int32_t near, WadiVec3 x)
{
    const WadiSolids *solids = f->in->solids;
    /* Water, and coarse particles beside fine ones, see all images within their support. */
    const bool is_even = f->is_sand && !f->in->has_sizes;
    const double reach = is_even ? WADI_SPH_WALL_REACH * f->length : f->reach;
    f->walls->contact_count[near] = 0;
    for (int side = 0; side < 6; ++side) {
        if ((solids->closed_sides >> side & 1) != 0) {
            const WadiSurfacePoint s = wadi_solids_wall(solids, side, x);
            if (s.distance < reach) {
                const WadiSphContact contact = contact_of(f, &s, solids->wall_friction, -1 - side);
                add_contact(f, near, &contact);
            }
        }
    }
    for (int i = 0; i < solids->count; ++i) {
        if (wadi_shape_clearance_from_outside(solids->solids[i].shape, x, f->in->time) < f->reach) {
            find_contacts_of(f, near, x, i);
        }
    }
}

/* What of a wall's part another one may count too: all where parts are small, and no more of what is
 * larger. */
static double shared_part(double part)
{
    const double q = part / SHARED_MAX;
    return part / sqrt(sqrt(1.0 + q * q * q * q));
}

/* Density: sum part - what they share, 1 - prod (1 - shared) = sum shared - ... Of the gradient other walls
 * take nothing off, for mirror images stand for what is behind them (pairs/sph_mirrors.h). */
static void join_contacts(const Finder *f, int32_t near)
{
    WadiSphWalls *walls = f->walls;
    WadiSphContact *list = f->found[near];
    double open = 1.0, cover = 1.0;
    const double sizes = f->in->spacing / f->length; /* a spacing */
    WadiF4 gradient = { 0 };
    for (int c = 0; c < walls->contact_count[near]; ++c) {
        double part, slope;
        wadi_sph_kernel_wall(&f->in->kernel->of[f->is_sand], (double)list[c].normal[3] * sizes, &part,
                             &slope);
        list[c].weight = 1.0f;
        for (int o = 0; o < walls->contact_count[near]; ++o) {
            list[c].weight *= o == c ? 1.0f : visible_part(list[c].normal, list[o].normal);
        }
        part *= (double)list[c].weight;
        slope *= (double)list[c].weight;
        const double shared = shared_part(part);
        open *= 1.0 - shared;
        cover += part - shared;
        const float pull = (float)(slope * sizes);
        const WadiF4 n = list[c].normal, v = list[c].velocity;
        list[c].velocity[3] = pull;
        gradient += (WadiF4){ pull * n[0], pull * n[1], pull * n[2],
                              pull * (n[0] * v[0] + n[1] * v[1] + n[2] * v[2]) };
    }
    walls->cover[near] = (float)(cover - open);
    walls->gradient[near] = gradient;
}

static void find_block(void *context, int64_t first, int64_t end)
{
    const Finder *f = context;
    for (int64_t near = first; near < end; ++near) {
        const Finder own = finder_of(f, f->particle[near] - f->in->sort->first);
        find_contacts(&own, (int32_t)near, place(f->in->particles, f->particle[near]));
        join_contacts(&own, (int32_t)near);
    }
}

static void copy_block(void *context, int64_t first, int64_t end)
{
    const Finder *f = context;
    for (int64_t near = first; near < end; ++near) {
        memcpy(f->walls->contact[near], f->found[near],
               f->walls->contact_count[near] * sizeof(WadiSphContact));
    }
}

/* The contacts that were found, without gaps: most particles have one, and some none. */
static WadiStatus pack_contacts(Finder *f, WadiArena *arena, WadiError *error)
{
    WadiSphWalls *walls = f->walls;
    size_t total = 0;
    for (int32_t near = 0; near < walls->count; ++near) {
        total += walls->contact_count[near];
    }
    WadiSphContact *list = NULL;
    WADI_TRY(WADI_ARENA_NEW(arena, &list, total, "walls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &walls->contact, (size_t)walls->count, "walls", error));
    for (int32_t near = 0; near < walls->count; ++near) {
        walls->contact[near] = list;
        list += walls->contact_count[near];
    }
    wadi_parallel_for(walls->count, NEAR_BLOCK, copy_block, f);
    return WADI_OK;
}

static void number_near(const Finder *f, int32_t count)
{
    WadiSphWalls *walls = f->walls;
    for (int32_t first = 0; first < count; first += 64) {
        WadiSphNearBits near = { .first = walls->count };
        for (int32_t i = first; i < count && i < first + 64; ++i) {
            near.bits |= (uint64_t)f->is_near[i] << (i - first);
        }
        walls->of[first / 64] = near;
        walls->count += __builtin_popcountll(near.bits);
    }
}

WadiStatus wadi_sph_walls_find(WadiSphWalls *walls, const WadiSphWallsIn *in, WadiArena *arena,
                               WadiError *error)
{
    const WadiTileSort *sort = in->sort;
    const int32_t first = sort->first, count = sort->tile_start[sort->tiles.count] - first;
    Finder f = { .in = in, .walls = walls };
    for (int32_t i = 0; i < count; ++i) {
        f.farthest = fmax(f.farthest,
                          (double)in->kernel->of[in->is_sand[i]].support * in->spacing * (double)in->size[i]);
    }
    *walls = (WadiSphWalls){ .has_solids = in->solids->count > 0 };
    WADI_TRY(WADI_ARENA_NEW(arena, &walls->of, ((size_t)count + 63) / 64, "walls", error));
    const WadiArenaMark mark = wadi_arena_mark(arena);
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &f.is_near, (size_t)count, "walls", error));
    wadi_parallel_for(sort->tiles.count, TILE_BLOCK, mark_tiles, &f);
    number_near(&f, count);
    const size_t near = (size_t)walls->count;
    WADI_TRY(WADI_ARENA_NEW(arena, &walls->contact_count, near, "walls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &walls->cover, near, "walls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &walls->gradient, near, "walls", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &f.particle, near, "walls", error));
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(arena, &f.found, near, "walls", error));
    for (int32_t i = 0; i < count; ++i) {
        if (f.is_near[i] != 0) {
            f.particle[wadi_sph_near(walls, i)] = first + i;
        }
    }
    wadi_parallel_for(walls->count, NEAR_BLOCK, find_block, &f);
    WADI_TRY(pack_contacts(&f, arena, error));
    wadi_arena_release_temporaries(arena, mark);
    return WADI_OK;
}

static bool is_behind_plane(WadiF4 n, const float offset[3])
{
    return n[3] + n[0] * offset[0] + n[1] * offset[1] + n[2] * offset[2] < 0.0f;
}

bool wadi_sph_walls_hide(const WadiSphWalls *walls, int32_t a, int32_t b, const float offset[3])
{
    const float back[3] = { -offset[0], -offset[1], -offset[2] };
    for (int i = 0; i < walls->contact_count[a]; ++i) {
        const WadiSphContact *of_a = &walls->contact[a][i];
        if (of_a->solid < 0 || !is_behind_plane(of_a->normal, offset)) {
            continue;
        }
        for (int j = 0; j < walls->contact_count[b]; ++j) {
            const WadiSphContact *of_b = &walls->contact[b][j];
            if (of_b->solid >= 0 && wadi_sph_face_each_other(of_a->normal, of_b->normal) &&
                is_behind_plane(of_b->normal, back)) {
                return true;
            }
        }
    }
    return false;
}
