/* Make the list of pairs and walls: grains are sorted by cell, those that are new get a radius that fits
 * between their neighbours, and contacts keep their springs. */
#include <math.h>
#include <string.h>

#include "core/array.h"
#include "core/parallel.h"
#include "dem/contact/dem_bonds.h"
#include "dem/contact/dem_near.h"
#include "dem/dem.h"
#include "world/water.h"

enum { BLOCK = 4096 };

static const double SKIN = 0.05;         /* diameters: the smallest skin */
static const double LIFETIME = 26.0;     /* steps that the skin of a fast grain is for */
static const double NEW_WAY = 0.5;       /* diameters that new grains fly before a list is made for them */
static const double USED = 0.9;          /* part of the skin after which the list is made anew */
static const double SMALLEST_PART = 0.2; /* of its radius that a new grain has at least */

#define RENEW(pointer, capacity, count)                                                                      \
    wadi_array_renew((void **)&(pointer), &(capacity), (size_t)(count), sizeof *(pointer), "grains", error)

/* Keeps the content. */
#define FIT(pointer, capacity, count)                                                                        \
    wadi_array_fit((void **)&(pointer), &(capacity), (size_t)(count), sizeof *(pointer), "grains", error)

/* Per grain, in scratch. */
typedef struct Sizes {
    float *radius; /* m: as large as it will be */
    float *skin;   /* m */
    WadiDemSkins skins;
} Sizes;

double wadi_dem_largest_radius(const WadiDem *dem)
{
    return 0.5 * dem->diameter * (1.0 + wadi_dem_def(dem->context.world->scene)->size_spread);
}

static bool needs_list(const WadiDem *dem, const WadiDemStep *step)
{
    const int32_t count = dem->context.particles->count;
    const WadiSolids *solids = &dem->context.world->solids;
    const bool is_old =
        wadi_solids_are_moving(solids) &&
        (dem->steps_since_list >= (int)LIFETIME || step->time + step->dt > dem->listed_at + dem->lifetime ||
         wadi_solids_jump_count(solids, dem->listed_at, step->time) > 0);
    const double flown = dem->fastest_born * (step->time - dem->listed_at);
    const bool has_births = count > dem->grains.count && flown >= NEW_WAY * dem->diameter;
    return dem->is_stale || dem->known != count || is_old || has_births;
}

typedef struct Fill {
    WadiDem *dem;
    const WadiTileSort *sort;
    Sizes sizes;
    double time;
    float *fitted; /* m: radius of new grains; NULL: there are none */
    int32_t from;  /* grains before it are as in the last list */
} Fill;

static void size_block(void *context, int64_t begin, int64_t stop)
{
    const Fill *f = context;
    const int64_t first = begin + f->from, end = stop + f->from;
    for (int64_t i = first; i < end; ++i) {
        f->sizes.radius[i] = (float)wadi_dem_radius_of(f->dem, i);
        f->sizes.skin[i] = 0.0f;
    }
}

/* Radius of a sphere at x, up to `own`, that touches no sleeping grain. */
static double room_among_sleeping(const Fill *f, WadiVec3 x, double own)
{
    const WadiParticles *p = f->dem->context.particles;
    const float *radius = wadi_particles_column(p, f->dem->radius_column);
    WadiDemCellWalk walk;
    double room = own;
    if (f->sort->first > 0) {
        wadi_dem_cell_walk_begin(&walk, &f->dem->asleep.cells, x, own + wadi_dem_largest_radius(f->dem));
        for (int32_t j; (j = wadi_dem_cell_walk_next(&walk)) >= 0;) {
            const WadiVec3 d = wadi_sub((WadiVec3){ p->x[j], p->y[j], p->z[j] }, x);
            room = fmin(room, wadi_norm(d) - (double)radius[j]);
        }
    }
    return room;
}

/* The radius of a new grain: up to those of older grains, and with new ones the gap is shared. */
static void fit_block(void *context, int64_t begin, int64_t stop)
{
    const Fill *f = context;
    const int64_t first = begin + f->from, end = stop + f->from;
    const WadiParticles *p = f->dem->context.particles;
    const uint32_t *list_index = wadi_particles_column(p, f->dem->list_index_column);
    const uint32_t *grain = wadi_dem_grain_ids(f->dem);
    const float *now = wadi_particles_column(p, f->dem->radius_column);
    for (int64_t i = first; i < end; ++i) {
        const double own = (double)f->sizes.radius[i];
        double radius = list_index[i] > 0 ? (double)now[i] : own;
        WadiDemWalk walk;
        const WadiVec3 x = { p->x[i], p->y[i], p->z[i] };
        if (list_index[i] == 0) {
            radius = fmin(radius, room_among_sleeping(f, x, own));
            wadi_dem_walk_begin(&walk, f->sort, x, own + wadi_dem_largest_radius(f->dem));
            for (int32_t from, to; wadi_dem_walk_next(&walk, &from, &to);) {
                for (int32_t j = from; j < to; ++j) {
                    const double distance = wadi_norm(wadi_sub((WadiVec3){ p->x[j], p->y[j], p->z[j] }, x));
                    const double other = (double)f->sizes.radius[j];
                    const double room =
                        list_index[j] > 0 ? distance - (double)now[j] : distance * own / (own + other);
                    radius = grain[j] != grain[i] ? fmin(radius, room) : radius;
                }
            }
            const double wall = wadi_solids_distance_within(&f->dem->context.world->solids, x, f->time, own);
            radius = fmax(fmin(radius, wall), SMALLEST_PART * own);
        }
        f->fitted[i] = (float)radius;
    }
}

static void fill_block(void *context, int64_t begin, int64_t stop)
{
    const Fill *f = context;
    const int64_t first = begin + f->from, end = stop + f->from;
    WadiDem *dem = f->dem;
    const WadiParticles *p = dem->context.particles;
    const float *wetness = wadi_wetness_column(p);
    float *omega[3], *radius = wadi_particles_column(p, dem->radius_column);
    for (int c = 0; c < 3; ++c) {
        omega[c] = wadi_particles_column(p, dem->angular_velocity_column + c);
    }
    for (int64_t i = first; i < end; ++i) {
        const uint8_t m = p->material[i];
        radius[i] = f->fitted != NULL ? f->fitted[i] : radius[i];
        for (int c = 0; c < 3 && i < dem->sleep.count; ++c) {
            omega[c][i] = 0.0f;
        }
        if (dem->base != NULL) {
            dem->base[i][0] = p->x[i], dem->base[i][1] = p->y[i], dem->base[i][2] = p->z[i];
        }
        dem->grains.shift[i] = (WadiF4){ 0, 0, 0, radius[i] };
        dem->grains.motion[i] = (WadiF8){ p->vx[i],    p->vy[i],    p->vz[i],    dem->friction[m],
                                          omega[0][i], omega[1][i], omega[2][i], dem->rolling_friction[m] };
        if (dem->rupture > 0.0) {
            const WadiDemBridge bridge = wadi_dem_bridge_of(dem, m, (double)wetness[i], f->time);
            dem->grains.bridge[i] = (float)bridge.pull;
            dem->grains.grip[i] = (float)bridge.grip;
        }
        dem->grains.skin[i] = (float)USED * f->sizes.skin[i];
        dem->grains.grown_radius[i] = f->sizes.radius[i];
    }
}

/* Near pairs with the springs of the earlier list, whose numbers the grains have until now. */
static WadiStatus make_near(WadiDem *dem, const WadiDemSprings *springs, WadiError *error)
{
    const WadiParticles *p = dem->context.particles;
    uint32_t *list_index = wadi_particles_column(p, dem->list_index_column);
    WADI_TRY(wadi_dem_near_begin(&dem->list.pairs, &dem->grains, wadi_dem_bond_range(dem->rupture), error));
    wadi_dem_list_take_springs(&dem->list, springs, list_index);
    if (dem->rupture > 0.0) {
        const WadiDemBondsIn in = { .law = (WadiDemLaw)wadi_dem_def(dem->context.world->scene)->law,
                                    .stiffness = dem->stiffness,
                                    .rupture = dem->rupture,
                                    .list_index = list_index };
        wadi_dem_bonds_form(&dem->list.pairs, &dem->grains, &in);
    }
    for (int32_t i = 0; i < p->count; ++i) {
        list_index[i] = (uint32_t)i + 1;
    }
    return WADI_OK;
}

static WadiStatus make_walls(WadiDem *dem, const WadiDemStep *step, const Sizes *sizes, int32_t first,
                             WadiError *error)
{
    const WadiDemWallsIn in = { .solids = &dem->context.world->solids,
                                .cover = dem->cover.solids != NULL ? &dem->cover : NULL,
                                .particles = dem->context.particles,
                                .first = first,
                                .radius = sizes->radius,
                                .skin = sizes->skin,
                                .time = step->time,
                                .lifetime = dem->lifetime,
                                .list_index =
                                    wadi_particles_column(dem->context.particles, dem->list_index_column),
                                .diameter = dem->diameter };
    return wadi_dem_walls_build(&dem->walls, &in, dem->context.scratch, error);
}

/* Loads and marks are set anew after it: their memory is lent to the search. */
static WadiStatus make_pairs(WadiDem *dem, const WadiTileSort *sort, const Sizes *sizes, WadiError *error)
{
    const int64_t count = dem->context.particles->count - sort->first;
    WADI_TRY(RENEW(dem->grains.load, dem->load_capacity, count));
    WADI_TRY(RENEW(dem->grains.mark, dem->mark_capacity, count + WADI_DEM_LANES));
    const WadiDemListIn in = { .particles = dem->context.particles,
                               .sort = sort,
                               .asleep = sort->first > 0 ? &dem->asleep : NULL,
                               .radius = sizes->radius,
                               .skin = sizes->skin,
                               .largest_radius = wadi_dem_largest_radius(dem),
                               .smallest_skin =
                                   (double)(float)wadi_dem_skin_of(&sizes->skins, sizes->skins.base),
                               .grain = dem->grain_column >= 0 ? wadi_dem_grain_ids(dem) : NULL,
                               .found_room = (int32_t *)dem->grains.load,
                               .place_room = (int32_t *)dem->grains.mark };
    return wadi_dem_list_build(&dem->list, &in, dem->context.scratch, error);
}

/* Numbers of a list that this solver does not have: it started anew with the grains of another one. */
static void drop_numbers(const WadiDem *dem, int32_t listed)
{
    const WadiParticles *p = dem->context.particles;
    uint32_t *list_index = wadi_particles_column(p, dem->list_index_column);
    for (int32_t i = 0; i < p->count; ++i) {
        list_index[i] = list_index[i] <= (uint32_t)listed ? list_index[i] : 0;
    }
}

/* Contacts of grains that sleep now go to the sleeping store, and the cells of these grains are made. left:
 * springs of the others. */
static WadiStatus store_asleep(WadiDem *dem, WadiDemSprings *left, WadiError *error)
{
    const WadiParticles *p = dem->context.particles;
    const uint32_t *list_index = wadi_particles_column(p, dem->list_index_column);
    const int32_t asleep = dem->sleep.count, earlier = dem->list.pairs.count;
    WadiArena *scratch = dem->context.scratch;
    const WadiArenaMark mark = wadi_arena_mark(scratch);
    int32_t *new_list_index = NULL;
    WADI_TRY(WADI_ARENA_NEW_TEMPORARY(scratch, &new_list_index, (size_t)earlier, "grains", error));
    for (int32_t i = 0; i < earlier; ++i) {
        new_list_index[i] = -1;
    }
    for (int32_t i = 0; i < p->count; ++i) {
        if (list_index[i] > 0) {
            new_list_index[list_index[i] - 1] = i;
        }
    }
    WADI_TRY(wadi_dem_sleeping_keep(&dem->sleeping, left, &dem->list.pairs, &dem->walls, new_list_index,
                                    asleep, scratch, error));
    wadi_arena_release_temporaries(scratch, mark);
    dem->is_sleeping_load_known = false;
    const float *radius = wadi_particles_column(p, dem->radius_column);
    return wadi_dem_asleep_build(&dem->asleep, p, asleep, radius, wadi_dem_largest_radius(dem),
                                 &dem->asleep_memory, error);
}

WadiStatus wadi_dem_renew_grains(WadiDem *dem, int32_t count, int32_t slots, WadiError *error)
{
    WADI_TRY(RENEW(dem->grains.load, dem->load_capacity, (int64_t)count - dem->list.pairs.first + slots));
    WADI_TRY(FIT(dem->mass, dem->mass_capacity, count));
    WADI_TRY(FIT(dem->grains.shift, dem->shift_capacity, count));
    WADI_TRY(FIT(dem->grains.motion, dem->motion_capacity, count));
    if (dem->rupture > 0.0) {
        WADI_TRY(FIT(dem->grains.bridge, dem->bridge_capacity, count));
        WADI_TRY(FIT(dem->grains.grip, dem->grip_capacity, count));
    }
    if (dem->grain_column >= 0) {
        WADI_TRY(FIT(dem->base, dem->base_capacity, count));
    }
    dem->grains.mass = dem->mass;
    WADI_TRY(FIT(dem->grains.grown_radius, dem->grown_radius_capacity, count));
    return FIT(dem->grains.skin, dem->skin_capacity, count);
}

static void find_growing(WadiDem *dem)
{
    const float *radius = wadi_particles_column(dem->context.particles, dem->radius_column);
    dem->has_growing = false;
    for (int32_t i = dem->sleep.count; i < dem->context.particles->count; ++i) {
        dem->has_growing = dem->has_growing || radius[i] < dem->grains.grown_radius[i];
    }
}

/* Whether some grains were in no list yet. */
static bool has_new(const WadiDem *dem)
{
    const WadiParticles *p = dem->context.particles;
    const uint32_t *list_index = wadi_particles_column(p, dem->list_index_column);
    bool has = false;
    for (int32_t i = 0; i < p->count; ++i) {
        has = has || list_index[i] == 0;
    }
    return has;
}

static WadiStatus make_sizes(Fill *f, size_t count, WadiError *error)
{
    WadiDem *dem = f->dem;
    const WadiParticles *p = dem->context.particles;
    WadiArena *scratch = dem->context.scratch;
    /* Lists are made from vectors: some are read beyond the last grain. */
    const size_t padded = count + WADI_DEM_LANES;
    WADI_TRY(WADI_ARENA_NEW(scratch, &f->sizes.radius, padded, "grains", error));
    WADI_TRY(WADI_ARENA_NEW(scratch, &f->sizes.skin, padded, "grains", error));
    memset(f->sizes.radius + count, 0, WADI_DEM_LANES * sizeof(*f->sizes.radius));
    memset(f->sizes.skin + count, 0, WADI_DEM_LANES * sizeof(*f->sizes.skin));
    if (has_new(dem)) {
        WADI_TRY(WADI_ARENA_NEW(scratch, &f->fitted, count, "grains", error));
    }
    WADI_TRY(FIT(dem->mass, dem->mass_capacity, count));
    for (int32_t i = f->from; i < p->count; ++i) {
        dem->mass[i] = (float)wadi_dem_mass_of(dem, i);
    }
    const float *radius = wadi_particles_column(p, dem->radius_column);
    for (int32_t i = 0; i < f->from; ++i) {
        f->sizes.radius[i] = radius[i];
        f->sizes.skin[i] = 0.0f;
    }
    wadi_parallel_for(p->count - f->from, BLOCK, size_block, f);
    WADI_TRY(wadi_dem_skins_find(&f->sizes.skins, p, f->sort, f->sizes.skin, scratch, error));
    if (f->fitted != NULL) {
        wadi_parallel_for(p->count - f->from, BLOCK, fit_block, f);
    }
    return WADI_OK;
}

WadiStatus wadi_dem_make_bodies(WadiDem *dem, int32_t count, WadiError *error)
{
    if (dem->grain_column < 0) {
        return WADI_OK;
    }
    const WadiDemBodiesIn in = { .first = dem->sleep.count,
                                 .count = count,
                                 .grain = wadi_dem_grain_ids(dem),
                                 .base = (const double(*)[3])dem->base,
                                 .mass = dem->mass,
                                 .radius = dem->grains.grown_radius,
                                 .motion = dem->grains.motion };
    return wadi_dem_bodies_build(&dem->bodies, &in, dem->context.scratch, error);
}

WadiStatus wadi_dem_rebuild_list(WadiDem *dem, const WadiDemStep *step, WadiError *error)
{
    WadiParticles *p = dem->context.particles;
    WadiArena *scratch = dem->context.scratch;
    if (!needs_list(dem, step)) {
        return WADI_OK;
    }
    WadiTileSort sort;
    WadiDemSprings springs;
    const bool is_new = dem->is_set_changed || dem->grains.count == 0;
    Fill f = { .dem = dem,
               .sort = &sort,
               /* Bonds over gaps are listed: the skins of both grains reach as far as these. */
               .sizes.skins = { .least = fmax(SKIN * dem->diameter,
                                              0.5 * (double)wadi_dem_bond_range(dem->rupture)),
                                .seconds = LIFETIME * step->dt },
               .time = step->time,
               .from = is_new ? 0 : dem->sleep.count };
    WadiDemSkins *skins = &f.sizes.skins;
    dem->lifetime = 2.0 * LIFETIME * step->dt;
    wadi_dem_set_friction(dem, step->time);
    skins->base = wadi_dem_skins_base(skins, p, dem->sleep.count);
    const double cell = 2.0 * (wadi_dem_largest_radius(dem) + 1.0001 * wadi_dem_skin_of(skins, skins->base));
    WADI_TRY(wadi_tile_sort_from(&sort, p, dem->sleep.count, cell, scratch, error));
    if (is_new) {
        drop_numbers(dem, dem->list.pairs.count);
        WADI_TRY(wadi_dem_sleeping_join_walls(&dem->walls, &dem->sleeping, scratch, error));
        WADI_TRY(store_asleep(dem, &springs, error));
    } else {
        WADI_TRY(wadi_dem_springs_of(&springs, &dem->list.pairs, scratch, error));
    }
    WADI_TRY(make_sizes(&f, (size_t)p->count, error));
    WADI_TRY(make_pairs(dem, &sort, &f.sizes, error));
    WADI_TRY(make_walls(dem, step, &f.sizes, sort.first, error));
    WADI_TRY(wadi_dem_renew_grains(dem, p->count, wadi_dem_slot_count(&dem->list.pairs), error));
    wadi_parallel_for(p->count - f.from, BLOCK, fill_block, &f);
    WADI_TRY(make_near(dem, &springs, error));
    find_growing(dem);
    WADI_TRY(wadi_dem_make_bodies(dem, p->count, error));
    dem->grains.count = dem->known = p->count;
    dem->is_stale = dem->is_set_changed = false;
    dem->is_near_stale = false;
    dem->steps_since_list = 0;
    dem->fastest_born = 0.0;
    dem->listed_at = step->time;
    return WADI_OK;
}
