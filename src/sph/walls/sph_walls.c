#include "sph/walls/sph_walls.h"

#include <math.h>

#include "core/parallel.h"

enum { TILE_BLOCK = 1, NEAR_BLOCK = 256 };

typedef struct Finder {
    const WadiSphWallsIn *in;
    WadiSphWalls *walls;
    double reach;      /* m */
    int32_t *particle; /* per near particle */
} Finder;

static WadiVec3 place(const WadiParticles *p, int32_t i)
{
    return (WadiVec3){ p->x[i], p->y[i], p->z[i] };
}

static bool is_near(const Finder *f, WadiVec3 x)
{
    return wadi_solids_clearance(f->in->solids, x, f->in->time, f->reach) < f->reach;
}

/* Marks near particles by 0 and others by -1. Tiles far from all solids cost one distance. */
static void mark_tiles(void *context, int64_t first, int64_t end)
{
    const Finder *f = context;
    const WadiTileSort *sort = f->in->sort;
    const double side = WADI_TILE_SIDE * sort->cell_size, half = 0.5 * side;
    for (int64_t t = first; t < end; ++t) {
        const WadiTile tile = sort->tiles.tiles[t];
        const WadiVec3 middle = { tile.x * side + half, tile.y * side + half, tile.z * side + half };
        const double radius = sqrt(3.0) * half + f->reach;
        const bool is_far = wadi_solids_distance(f->in->solids, middle, f->in->time, radius) >= radius;
        for (int32_t i = sort->tile_start[t]; i < sort->tile_start[t + 1]; ++i) {
            f->walls->of[i - sort->first] = !is_far && is_near(f, place(f->in->particles, i)) ? 0 : -1;
        }
    }
}

/* Adds a contact, or replaces the farthest one when there are too many. */
static void add_contact(const Finder *f, int32_t near, const WadiSurfacePoint *s, double friction, int solid)
{
    const double distance = s->distance / f->in->spacing;
    if (!(distance < WADI_SPH_SUPPORT)) {
        return;
    }
    WadiSphContact *list = f->walls->contact[near];
    int n = f->walls->contact_count[near];
    if (n == WADI_SPH_CONTACT_MAX) {
        n = 0;
        for (int c = 1; c < WADI_SPH_CONTACT_MAX; ++c) {
            n = list[c].normal[3] > list[n].normal[3] ? c : n;
        }
        if ((double)list[n].normal[3] <= distance) {
            return;
        }
    } else {
        f->walls->contact_count[near] += 1;
    }
    list[n].normal = (WadiF4){ (float)s->normal.x, (float)s->normal.y, (float)s->normal.z, (float)distance };
    list[n].velocity = (WadiF4){ (float)s->velocity.x, (float)s->velocity.y, (float)s->velocity.z, 0.0f };
    list[n].friction = (float)friction;
    list[n].solid = solid;
}

static void find_contacts(const Finder *f, int32_t near, WadiVec3 x)
{
    const WadiSolids *solids = f->in->solids;
    const double time = f->in->time;
    f->walls->contact_count[near] = 0;
    for (int side = 0; side < 6; ++side) {
        if ((solids->closed_sides >> side & 1) != 0) {
            const WadiSurfacePoint s = wadi_solids_wall(solids, side, x);
            if (s.distance < f->reach) {
                add_contact(f, near, &s, wadi_curve_value(solids->wall_friction, time), -1);
            }
        }
    }
    for (int i = 0; i < solids->count; ++i) {
        const WadiSolid *solid = &solids->solids[i];
        if (wadi_shape_clearance_from_outside(solid->shape, x, time) < f->reach) {
            const WadiSurfacePoint s = wadi_shape_sample_from_outside(solid->shape, x, time);
            add_contact(f, near, &s, wadi_curve_value(solid->friction, time), i);
        }
    }
}

/* Cover and gradient by the product rule. */
static void join_contacts(const Finder *f, int32_t near)
{
    WadiSphWalls *walls = f->walls;
    WadiSphContact *list = walls->contact[near];
    const int count = walls->contact_count[near];
    double open[WADI_SPH_CONTACT_MAX], all = 1.0;
    WadiF4 gradient = { 0 };
    for (int c = 0; c < count; ++c) {
        double part, slope;
        wadi_sph_kernel_wall(f->in->kernel, (double)list[c].normal[3], &part, &slope);
        open[c] = 1.0 - part;
        all *= open[c];
        list[c].velocity[3] = (float)slope;
    }
    for (int c = 0; c < count; ++c) {
        double others = 1.0;
        for (int o = 0; o < count; ++o) {
            others *= o == c ? 1.0 : open[o];
        }
        const float slope = list[c].velocity[3] * (float)others;
        const WadiF4 n = list[c].normal, v = list[c].velocity;
        list[c].velocity[3] = slope;
        gradient += (WadiF4){ slope * n[0], slope * n[1], slope * n[2],
                              slope * (n[0] * v[0] + n[1] * v[1] + n[2] * v[2]) };
    }
    walls->cover[near] = (float)(1.0 - all);
    walls->gradient[near] = gradient;
}

static void find_block(void *context, int64_t first, int64_t end)
{
    const Finder *f = context;
    for (int64_t near = first; near < end; ++near) {
        find_contacts(f, (int32_t)near, place(f->in->particles, f->particle[near]));
        join_contacts(f, (int32_t)near);
    }
}

WadiStatus wadi_sph_walls_find(WadiSphWalls *walls, const WadiSphWallsIn *in, WadiArena *arena,
                               WadiError *error)
{
    const WadiTileSort *sort = in->sort;
    const int32_t first = sort->first, count = sort->tile_start[sort->tiles.count] - first;
    Finder f = { .in = in, .walls = walls, .reach = WADI_SPH_SUPPORT * in->spacing };
    *walls = (WadiSphWalls){ .has_solids = in->solids->count > 0 };
    WADI_TRY(WADI_ARENA_NEW(arena, &walls->of, (size_t)count, "walls", error));
    wadi_parallel_for(sort->tiles.count, TILE_BLOCK, mark_tiles, &f);
    for (int32_t i = 0; i < count; ++i) {
        walls->of[i] = walls->of[i] < 0 ? -1 : walls->count++;
    }
    const size_t near = (size_t)walls->count;
    WADI_TRY(WADI_ARENA_NEW(arena, &walls->contact_count, near, "walls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &walls->contact, near, "walls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &walls->cover, near, "walls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &walls->gradient, near, "walls", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &f.particle, near, "walls", error));
    for (int32_t i = 0; i < count; ++i) {
        if (walls->of[i] >= 0) {
            f.particle[walls->of[i]] = first + i;
        }
    }
    wadi_parallel_for(walls->count, NEAR_BLOCK, find_block, &f);
    return WADI_OK;
}

bool wadi_sph_walls_hide(const WadiSphWalls *walls, int32_t near, const float offset[3])
{
    const WadiSphContact *list = walls->contact[near];
    for (int c = 0; c < walls->contact_count[near]; ++c) {
        const WadiF4 n = list[c].normal;
        if (list[c].solid >= 0 && n[3] + n[0] * offset[0] + n[1] * offset[1] + n[2] * offset[2] < 0.0f) {
            return true;
        }
    }
    return false;
}
