/* Choose the particles that take part in a step. Sand at rest sleeps by tiles, pools as a whole; copies of
 * the sleeping particles beside awake ones take part in the step as ghosts: with their pressure and stress,
 * without neighbours of their own, and so without a change. They are removed at the end of the step. [theory
 * 11.8] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "sph/sph.h"
#include "sph/sph_stage.h"

enum { TILE_BLOCK = 2 };

/* Bounds of the largest and the mean speed in a slow tile, in sqrt(g dx). A wave with this mean speed is
 * lower than a tenth of a spacing. */
static const double SLOW = 0.5, SLOW_MEAN = 0.03;
/* rho g dx: change of the pressure beside a sleeping tile that wakes it. */
static const double LOAD_CHANGE = 0.5;

/* Saturation that a particle may gain or lose in a second and sleep: wet sand drains ever more slowly. */
static const float SLOW_SEEP = 0.01f;

/* Whether a particle has water that moves. */
static bool is_seeping(const WadiSphStep *step, int32_t i)
{
    return step->has_pores && (!step->is_sand[i] || step->seep[i] > SLOW_SEEP);
}

static WadiSleepStep sleep_step(const WadiSph *sph, const WadiSphStep *step)
{
    return (WadiSleepStep){ .context = &sph->context, .time = step->time, .dt = step->dt };
}

static WadiPools pools_of(const WadiSph *sph)
{
    return (WadiPools){ .sleep = &sph->sleep,
                        .particles = sph->context.particles,
                        .has_water = sph->materials.has_water,
                        .is_sand = sph->materials.is_sand,
                        .scratch = sph->context.scratch };
}

/* Before the sort. */
static WadiStatus wake_disturbed(WadiSph *sph, const WadiSleepStep *now, WadiError *error)
{
    const WadiPools pools = pools_of(sph);
    uint8_t *wakes = NULL;
    WADI_TRY(wadi_sleep_find_disturbed(&sph->sleep, now, &wakes, error));
    WADI_TRY(wadi_pools_wake(&pools, NULL, &wakes, error));
    return wakes != NULL ? wadi_sleep_wake(&sph->sleep, now, wakes, error) : WADI_OK;
}

/* After the sort. *is_changed: particles changed places, sort again. */
static WadiStatus wake_or_fall_asleep(WadiSph *sph, const WadiSleepStep *now, const WadiTileSort *sort,
                                      bool *is_changed, WadiError *error)
{
    const WadiPools pools = pools_of(sph);
    WadiSleepClasses classes;
    uint8_t *wakes = NULL, *falls = NULL;
    *is_changed = false;
    if (!sph->sleep.is_on) {
        return WADI_OK;
    }
    WADI_TRY(wadi_sleep_classify(&sph->sleep, now, sort, &classes, error));
    WADI_TRY(wadi_sleep_find_reached(&sph->sleep, now, &classes, &wakes, error));
    WADI_TRY(wadi_pools_wake(&pools, &sort->tiles, &wakes, error));
    if (wakes != NULL) {
        *is_changed = true;
        return wadi_sleep_wake(&sph->sleep, now, wakes, error);
    }
    WADI_TRY(wadi_sleep_find_candidates(&sph->sleep, now, &classes, &falls, error));
    WADI_TRY(wadi_pools_hold(&pools, sort, &falls, error));
    *is_changed = falls != NULL;
    return falls != NULL ? wadi_sleep_fall_asleep(&sph->sleep, now, sort, falls, error) : WADI_OK;
}

/* Whether a sleeping particle lies within `reach` cells of the cells of an awake tile, whose box is given. */
static bool is_beside(const WadiParticles *p, int32_t i, double cells_per_metre, int32_t reach,
                      const int32_t low[3], const int32_t high[3])
{
    const double x[3] = { p->x[i], p->y[i], p->z[i] };
    for (int a = 0; a < 3; ++a) {
        const double cell = wadi_cell_at(x[a], cells_per_metre);
        if (cell < low[a] - reach || cell > high[a] + reach) {
            return false;
        }
    }
    return true;
}

/* Counts the particles of a sleeping tile beside awake ones; if `is_fill`, their indices go to `list`. */
static int32_t find_beside(const WadiSph *sph, const WadiTileSort *sort, const WadiSleepTile *tile,
                           bool is_fill, int32_t *list)
{
    const WadiParticles *p = sph->context.particles;
    int32_t low[27][3], high[27][3], count = 0;
    int boxes = 0;
    for (int n = 0; n < 27; ++n) {
        const int32_t t = wadi_tile_map_find(
            &sort->tiles,
            (WadiTile){ tile->tile.x + n % 3 - 1, tile->tile.y + n / 3 % 3 - 1, tile->tile.z + n / 9 - 1 });
        if (t >= 0) {
            wadi_sleep_box(sort, t, low[boxes], high[boxes]);
            ++boxes;
        }
    }
    for (int32_t i = tile->first; boxes > 0 && i < tile->first + tile->count; ++i) {
        bool is_near = false;
        for (int b = 0; b < boxes && !is_near; ++b) {
            is_near = is_beside(p, i, 1.0 / sort->cell_size, sph->sleep.radius, low[b], high[b]);
        }
        if (is_near) {
            if (is_fill) {
                list[count] = i;
            }
            ++count;
        }
    }
    return count;
}

static void copy_particle(const WadiParticles *p, int32_t from, int32_t to)
{
    for (int c = 0; c < p->column_count; ++c) {
        const size_t size = wadi_type_size(p->column[c].type);
        char *data = p->column[c].data;
        memcpy(data + size * (size_t)to, data + size * (size_t)from, size);
    }
}

/* Appends copies of the sleeping particles beside awake ones, and sorts again. */
static WadiStatus add_copies(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    WadiSleep *sleep = &sph->sleep;
    WadiParticles *p = sph->context.particles;
    int32_t *list = NULL, total = 0, first;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        total += find_beside(sph, &step->awake_sort, &sleep->tile[t], false, list);
    }
    if (total == 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &list, (size_t)total, "sleeping particles", error));
    total = 0;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        total += find_beside(sph, &step->awake_sort, &sleep->tile[t], true, list + total);
    }
    step->first_copy_id = p->next_id;
    WADI_TRY(wadi_particles_append(p, total, &first, error));
    step->copies = total;
    uint8_t *asleep = wadi_particles_column(p, sleep->column);
    for (int32_t n = 0; n < total; ++n) {
        copy_particle(p, list[n], first + n);
        p->id[first + n] = step->first_copy_id + (uint32_t)n;
        asleep[first + n] = 0;
    }
    return wadi_tile_sort_from(&step->sort, p, sleep->count, step->awake_sort.cell_size, sph->context.scratch,
                               error);
}

WadiStatus wadi_sph_sort_awake(WadiSph *sph, WadiSphStep *step, WadiError *error)
{
    const WadiSolverContext *context = &sph->context;
    const WadiSleepStep now = sleep_step(sph, step);
    RUN("sleep", wake_disturbed(sph, &now, error));
    for (bool is_changed = true; is_changed && sph->sleep.count < context->particles->count;) {
        RUN("sort", wadi_tile_sort_from(&step->awake_sort, context->particles, sph->sleep.count,
                                        sph->sleep.cell_size, context->scratch, error));
        RUN("sleep", wake_or_fall_asleep(sph, &now, &step->awake_sort, &is_changed, error));
    }
    wadi_sleep_end(&sph->sleep, context->particles);
    step->sort = step->awake_sort;
    if (sph->sleep.count > 0 && sph->sleep.count < context->particles->count) {
        RUN("sleep", add_copies(sph, step, error));
    }
    return WADI_OK;
}

void wadi_sph_find_ghosts(const WadiSph *sph, const WadiSphStep *step)
{
    const uint32_t *id = sph->context.particles->id + step->sort.first;
    for (int32_t i = 0; i < step->count; ++i) {
        const bool is_copy = step->copies > 0 && id[i] >= step->first_copy_id;
        step->role[i] = is_copy ? WADI_SPH_GHOST : WADI_SPH_ACTIVE;
    }
}

/* Sums of the pressure beside a sleeping tile. */
typedef struct Load {
    double weight, pressure;
    bool is_wetted; /* by awake particles beside it */
} Load;

/* The change of the mean pressure of the awake particles beside each sleeping tile, since the set of these
 * last changed. */
static void set_changes(WadiSph *sph, const WadiSphStep *step, const Load *load)
{
    const WadiTileSort *sort = &step->sort;
    const double largest = LOAD_CHANGE * sph->materials.density * sph->spacing * sph->spacing /
                           (sph->unit_time * sph->unit_time);
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        const bool has_load = load[t].weight > 0.0 || load[t].is_wetted;
        const int32_t s = has_load ? wadi_sleep_find(&sph->sleep, sort->tiles.tiles[t]) : -1;
        if (s < 0) {
            continue;
        }
        WadiSleepTile *tile = &sph->sleep.tile[s];
        if (load[t].is_wetted) {
            tile->change = 2.0f;
            continue;
        }
        float *before = tile->load[0]; /* weight and pressure */
        const double mean = load[t].pressure / load[t].weight;
        if (!(fabs(load[t].weight - (double)before[0]) <= 0.02 * (double)before[0])) {
            before[0] = (float)load[t].weight;
            before[1] = (float)mean;
        }
        tile->change = (float)(fabs(mean - (double)before[1]) / largest);
    }
}

WadiStatus wadi_sph_check_loads(WadiSph *sph, const WadiSphStep *step, WadiError *error)
{
    if (step->copies == 0) {
        return WADI_OK;
    }
    const WadiTileSort *sort = &step->sort;
    const WadiSphPairs *pairs = &step->pairs;
    const double pascal = sph->materials.density * sph->spacing / step->dt;
    int32_t *tile = NULL; /* per particle */
    Load *load = NULL;
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &tile, (size_t)step->count, "loads", error));
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &load, (size_t)sort->tiles.count, "loads", error));
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        load[t] = (Load){ 0 };
        for (int32_t i = sort->tile_start[t]; i < sort->tile_start[t + 1]; ++i) {
            tile[i - sort->first] = t;
        }
    }
    for (int32_t i = 0; i < step->count; ++i) {
        for (int64_t n = pairs->start[i]; n < pairs->start[i] + pairs->same[i]; ++n) {
            const int32_t j = wadi_sph_other(pairs, n);
            if (step->role[j] == WADI_SPH_GHOST) {
                load[tile[j]].weight += (double)wadi_sph_slope(pairs, i, n);
                load[tile[j]].pressure +=
                    (double)wadi_sph_slope(pairs, i, n) * (double)step->pressure[i] * pascal;
            }
        }
        for (int64_t n = pairs->start[i]; is_seeping(step, i) && n < pairs->start[i + 1]; ++n) {
            const int32_t j = wadi_sph_other(pairs, n);
            load[tile[j]].is_wetted |= step->role[j] == WADI_SPH_GHOST;
        }
    }
    set_changes(sph, step, load);
    return WADI_OK;
}

typedef struct Watch {
    const WadiSph *sph;
    const WadiSphStep *step;
    double slow, slow_mean, full; /* m, m, particles in a full tile */
    uint8_t *is_slow;
    double *push;
} Watch;

/* Tiles without particles after the copies were sorted in cannot be: copies lie in tiles of their own. */
static void watch_tiles(void *context, int64_t first, int64_t end)
{
    const Watch *w = context;
    const WadiSphStep *step = w->step;
    for (int64_t t = first; t < end; ++t) {
        const int32_t at = wadi_tile_map_find(&step->sort.tiles, step->awake_sort.tiles.tiles[t]);
        double largest = 0.0, sum = 0.0;
        bool has_others = false;
        const int32_t from = step->sort.tile_start[at], to = step->sort.tile_start[at + 1];
        for (int32_t i = from - step->sort.first; i < to - step->sort.first; ++i) {
            const WadiF4 v = step->velocity[i];
            const double moved = step->dt * sqrt((double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
            largest = fmax(largest, moved);
            sum += moved;
            has_others = has_others || !step->is_sand[i] || is_seeping(step, i);
        }
        w->is_slow[t] = !has_others && largest < w->slow &&
                        sum < w->slow_mean * fmax(to - from, w->full / WADI_TILE_SIDE);
        w->push[t] = sum / w->full;
    }
}

typedef struct Pools {
    const WadiSphStep *step;
    double largest, mean; /* m/s */
    uint8_t *flags;       /* per tile of the awake */
} Pools;

static void classify_pool_tiles(void *context, int64_t first, int64_t end)
{
    const Pools *pools = context;
    const WadiSphStep *step = pools->step;
    for (int64_t t = first; t < end; ++t) {
        const int32_t at = wadi_tile_map_find(&step->sort.tiles, step->awake_sort.tiles.tiles[t]);
        const int32_t from = step->sort.tile_start[at], to = step->sort.tile_start[at + 1];
        double largest = 0.0, sum = 0.0;
        uint8_t flags = 0;
        for (int32_t i = from - step->sort.first; i < to - step->sort.first; ++i) {
            const WadiF4 v = step->velocity[i];
            const double speed = sqrt((double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
            largest = fmax(largest, speed);
            sum += speed;
            flags |= step->is_sand[i] ? WADI_POOL_OTHERS : WADI_POOL_WATER;
        }
        const bool is_fast = largest > pools->largest || sum > pools->mean * (to - from);
        pools->flags[t] = (uint8_t)(flags | (is_fast ? WADI_POOL_FAST : 0));
    }
}

/* Tiles of bodies with water are slow where the whole body is water and slow; then they count as still. */
static WadiStatus watch_pools(const WadiSph *sph, const WadiSphStep *step, uint8_t *is_slow, double *push,
                              WadiError *error)
{
    const WadiTileMap *tiles = &step->awake_sort.tiles;
    WadiArena *arena = sph->context.scratch;
    const double unit = sph->spacing / sph->unit_time;
    const WadiArenaMark mark = wadi_arena_mark(arena);
    Pools pools = { .step = step, .largest = SLOW * unit, .mean = SLOW_MEAN * unit };
    if (!sph->materials.has_water) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &pools.flags, (size_t)tiles->count, "pools", error));
    wadi_parallel_for(tiles->count, TILE_BLOCK, classify_pool_tiles, &pools);
    WADI_TRY(wadi_pools_join(tiles, pools.flags, arena, error));
    for (int32_t t = 0; t < tiles->count; ++t) {
        const uint8_t flags = pools.flags[t];
        if ((flags & WADI_POOL_WATER) != 0) {
            is_slow[t] = flags == WADI_POOL_WATER;
            push[t] = flags == WADI_POOL_WATER ? 0.0 : push[t];
        }
    }
    wadi_arena_release(arena, mark);
    return WADI_OK;
}

WadiStatus wadi_sph_watch(WadiSph *sph, const WadiSphStep *step, WadiError *error)
{
    if (!sph->sleep.is_on) {
        return WADI_OK;
    }
    const WadiSleepStep now = sleep_step(sph, step);
    const WadiTileSort *sort = &step->awake_sort;
    const double side = WADI_TILE_SIDE * sph->sleep.cell_size / sph->spacing, unit = wadi_sleep_unit(&now);
    const size_t tiles = (size_t)sort->tiles.count;
    Watch watch = { .sph = sph,
                    .step = step,
                    .slow = SLOW * unit,
                    .slow_mean = SLOW_MEAN * unit,
                    .full = side * side * side };
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &watch.is_slow, tiles, "awake tiles", error));
    WADI_TRY(WADI_ARENA_NEW(sph->context.scratch, &watch.push, tiles, "awake tiles", error));
    wadi_parallel_for(sort->tiles.count, TILE_BLOCK, watch_tiles, &watch);
    WADI_TRY(watch_pools(sph, step, watch.is_slow, watch.push, error));
    return wadi_sleep_watch(&sph->sleep, &now, sort, watch.is_slow, watch.push, error);
}

WadiStatus wadi_sph_remove_copies(const WadiSph *sph, const WadiSphStep *step, WadiError *error)
{
    WadiParticles *p = sph->context.particles;
    if (step->copies == 0) {
        return WADI_OK;
    }
    uint8_t *is_removed = NULL;
    const uint32_t copies = (uint32_t)step->copies;
    WADI_TRY(
        WADI_ARENA_NEW(sph->context.scratch, &is_removed, (size_t)p->count, "sleeping particles", error));
    memset(is_removed, 0, (size_t)sph->sleep.count);
    for (int32_t i = sph->sleep.count; i < p->count; ++i) {
        is_removed[i] = p->id[i] >= step->first_copy_id && p->id[i] - step->first_copy_id < copies;
    }
    wadi_particles_remove(p, is_removed);
    /* Particles that appeared during the step have the ids behind those of the copies. */
    for (int32_t i = sph->sleep.count; i < p->count; ++i) {
        p->id[i] -= p->id[i] >= step->first_copy_id ? copies : 0;
    }
    p->next_id -= copies;
    return WADI_OK;
}
