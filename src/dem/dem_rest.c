/* Which grains sleep: the rules of sleep/sleep.h, decided a few times in a fall of half a diameter. A tile is
 * as slow as the speeds of its grains are on average: a loose grain between others keeps nothing awake. A
 * load is the force of awake grains on those of a sleeping tile. [theory 13.4] */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "dem/contact/dem_forces.h"
#include "dem/dem.h"
#include "dem/dem_stage.h"

enum { TILE_BLOCK = 4 };

static const double INTERVAL = 0.3; /* sqrt(d / g) between two decisions */
/* Bounds of the largest and the mean speed in a slow tile, in sqrt(g dx). */
static const double SLOW = 0.5, SLOW_MEAN = 0.03;
/* Tolerance of a load: part of it, and in weights of the grains of a tile. */
static const double LOAD_PART = 0.1, LOAD_LEAST = 0.1;
static const float LOAD_MEAN = 5.0f; /* decisions */

static bool is_due(const WadiDem *dem, const WadiDemStep *step)
{
    const bool has_removals = dem->known != dem->context.particles->count;
    const double interval = INTERVAL * dem->unit_time, since = step->time - dem->checked_at;
    /* Displacements since the list was made tell rest from vibration if they took some time. */
    return dem->sleep.is_on && (has_removals || since >= 2.0 * interval ||
                                (since >= interval && step->time - dem->listed_at >= 0.5 * interval));
}

/* Mean force over some decisions, since neighbours vibrate, against that when the set of contacts last
 * changed. */
static void compare_load(WadiSleepTile *tile, const double force[4], double weight)
{
    const double contacts = force[3];
    float *before = tile->load[0]; /* contacts, force then, decisions since, mean force */
    if (!(fabs(contacts - (double)before[0]) <= 0.1 * (double)before[0])) {
        before[0] = (float)contacts;
        before[4] = 0.0f;
    }
    before[4] += 1.0f;
    double square = 0.0, size = 0.0;
    for (int c = 0; c < 3; ++c) {
        float *mean = &before[5 + c];
        *mean += ((float)force[c] - *mean) / fminf(before[4], LOAD_MEAN);
        before[1 + c] = before[4] > LOAD_MEAN ? before[1 + c] : *mean;
        square += (double)((*mean - before[1 + c]) * (*mean - before[1 + c]));
        size += (double)(before[1 + c] * before[1 + c]);
    }
    tile->change = (float)(sqrt(square) / (LOAD_PART * sqrt(size) + LOAD_LEAST * weight));
}

static void add_load(const WadiF8 *load, double sum[4])
{
    for (int c = 0; c < 4; ++c) {
        sum[c] += (double)(*load)[c];
    }
}

/* Bodies that a sleeping sphere holds: forces on their awake spheres act on its tile. sum: per tile, force
 * and contacts. */
static void add_frozen_bodies(const WadiDem *dem, double (*sum)[4])
{
    for (int32_t b = 0; b < dem->bodies.count; ++b) {
        const WadiDemBody *body = &dem->bodies.body[b];
        size_t low = 0, high = dem->sleep.tile_count;
        while (body->anchor >= 0 && high - low > 1) {
            const size_t middle = (low + high) / 2;
            low = dem->sleep.tile[middle].first <= body->anchor ? middle : low;
            high = dem->sleep.tile[middle].first <= body->anchor ? high : middle;
        }
        for (int32_t k = 0; k < body->count && body->anchor >= 0; ++k) {
            WadiF8 load;
            wadi_dem_load_of(&dem->grains, &dem->list.pairs, dem->bodies.member[body->first + k], &load);
            add_load(&load, sum[low]);
        }
    }
}

bool wadi_dem_has_tile_loads(const WadiDem *dem)
{
    return dem->known == dem->context.particles->count && dem->grains.count > 0 &&
           dem->list.pairs.first == dem->sleep.count;
}

void wadi_dem_tile_loads(const WadiDem *dem, double (*sum)[4])
{
    if (dem->sleep.tile_count == 0) {
        return;
    }
    memset(sum, 0, dem->sleep.tile_count * sizeof(*sum));
    if (dem->has_saved_loads) {
        memcpy(sum, dem->tile_load, dem->sleep.tile_count * sizeof(*sum));
        return;
    }
    const WadiF8 *halo = dem->grains.load + (dem->list.pairs.count - dem->list.pairs.first);
    add_frozen_bodies(dem, sum);
    for (size_t t = 0; t < dem->sleep.tile_count; ++t) {
        const WadiSleepTile *tile = &dem->sleep.tile[t];
        for (int32_t i = tile->first; i < tile->first + tile->count; ++i) {
            for (int32_t s = dem->list.pairs.slot_start[i]; s < dem->list.pairs.slot_start[i + 1]; ++s) {
                add_load(&halo[dem->list.pairs.slot[s]], sum[t]);
            }
        }
    }
}

/* Forces of awake grains on those of each sleeping tile. */
static WadiStatus check_loads(WadiDem *dem, WadiError *error)
{
    double(*sum)[4] = NULL;
    WADI_TRY(WADI_ARENA_NEW(dem->context.scratch, &sum, dem->sleep.tile_count, "loads of tiles", error));
    wadi_dem_tile_loads(dem, sum);
    const double g = dem->diameter / (dem->unit_time * dem->unit_time);
    for (size_t t = 0; t < dem->sleep.tile_count; ++t) {
        WadiSleepTile *tile = &dem->sleep.tile[t];
        double weight = 0.0;
        for (int32_t i = tile->first; i < tile->first + tile->count; ++i) {
            weight += g * (double)dem->mass[i];
        }
        compare_load(tile, sum[t], weight);
    }
    return WADI_OK;
}

typedef struct Watch {
    const WadiDem *dem;
    const WadiParticles *particles;
    const WadiTileSort *sort;
    double dt, slow, slow_mean, full; /* s, m, m, grains in a full tile */
    double part;                      /* dt over the time since the list was made */
    uint8_t *is_slow;
    double *moved;
} Watch;

/* Net displacement in dt, m: of grains of the list that since it was made, which vibrations leave out. */
static double displacement_of(const Watch *w, int32_t i)
{
    const WadiParticles *p = w->particles;
    const uint32_t *number = wadi_particles_column(p, w->dem->list_index_column);
    if (number[i] == 0 || w->dem->grains.count == 0) {
        return w->dt * sqrt((double)(p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i]));
    }
    const WadiF4 u = w->dem->grains.shift[number[i] - 1];
    return w->part * sqrt((double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]));
}

static void watch_tiles(void *context, int64_t first, int64_t end)
{
    const Watch *w = context;
    for (int64_t t = first; t < end; ++t) {
        double largest = 0.0, sum = 0.0;
        const int32_t from = w->sort->tile_start[t], to = w->sort->tile_start[t + 1];
        for (int32_t i = from; i < to; ++i) {
            const double moved = displacement_of(w, i);
            largest = fmax(largest, moved);
            sum += moved;
        }
        w->is_slow[t] = largest < w->slow && sum < w->slow_mean * fmax(to - from, w->full / WADI_TILE_SIDE);
        w->moved[t] = sum / w->full;
    }
}

static WadiStatus watch(WadiDem *dem, const WadiSleepStep *now, const WadiTileSort *sort, WadiError *error)
{
    const size_t tiles = (size_t)sort->tiles.count;
    const double side = WADI_TILE_SIDE * sort->cell_size, spacing = dem->spacing;
    const double unit = wadi_sleep_unit(now);
    Watch w = { .dem = dem,
                .particles = dem->context.particles,
                .part = now->dt / fmax(now->time - dem->listed_at, 1e-30),
                .sort = sort,
                .dt = now->dt,
                .slow = SLOW * unit,
                .slow_mean = SLOW_MEAN * unit,
                .full = side * side * side / (spacing * spacing * spacing) };
    WADI_TRY(WADI_ARENA_NEW(dem->context.scratch, &w.is_slow, tiles, "awake tiles", error));
    WADI_TRY(WADI_ARENA_NEW(dem->context.scratch, &w.moved, tiles, "awake tiles", error));
    wadi_parallel_for(sort->tiles.count, TILE_BLOCK, watch_tiles, &w);
    return wadi_sleep_watch(&dem->sleep, now, sort, w.is_slow, w.moved, error);
}

/* *is_changed: grains moved in the store, sort again. */
static WadiStatus wake_or_fall_asleep(WadiDem *dem, const WadiSleepStep *now, const WadiTileSort *sort,
                                      bool *is_changed, WadiError *error)
{
    WadiSleepClasses classes;
    uint8_t *wakes = NULL, *falls = NULL;
    *is_changed = false;
    WADI_TRY(wadi_sleep_classify(&dem->sleep, now, sort, &classes, error));
    WADI_TRY(wadi_sleep_find_reached(&dem->sleep, now, &classes, &wakes, error));
    if (wakes != NULL) {
        *is_changed = true;
        return wadi_sleep_wake(&dem->sleep, now, wakes, error);
    }
    WADI_TRY(wadi_sleep_find_candidates(&dem->sleep, now, &classes, &falls, error));
    *is_changed = falls != NULL;
    return falls != NULL ? wadi_sleep_fall_asleep(&dem->sleep, now, sort, falls, error) : WADI_OK;
}

WadiStatus wadi_dem_rest(WadiDem *dem, const WadiDemStep *step, WadiError *error)
{
    WadiParticles *p = dem->context.particles;
    WadiArena *scratch = dem->context.scratch;
    uint8_t *wakes = NULL;
    if (!is_due(dem, step)) {
        return WADI_OK;
    }
    const WadiSleepStep now = { .context = &dem->context,
                                .time = step->time,
                                .dt = fmax(step->time - dem->checked_at, step->dt),
                                .ahead =
                                    2.0 * INTERVAL * dem->unit_time + 2.0 * wadi_dem_contact_step(dem, 0.0) };
    if (wadi_dem_has_tile_loads(dem)) {
        WADI_TRY(check_loads(dem, error));
    }
    const int32_t asleep = dem->sleep.count;
    WADI_TRY(wadi_sleep_find_disturbed(&dem->sleep, &now, &wakes, error));
    bool is_changed = dem->sleep.count != asleep || wakes != NULL;
    if (wakes != NULL) {
        WADI_TRY(wadi_sleep_wake(&dem->sleep, &now, wakes, error));
    }
    dem->is_set_changed = dem->is_set_changed || is_changed;
    bool is_first = true;
    for (bool repeats = true; repeats && dem->sleep.count < p->count; is_first = false) {
        WadiTileSort sort;
        WADI_TRY(wadi_tile_sort_from(&sort, p, dem->sleep.count, dem->sleep.cell_size, scratch, error));
        if (is_first) {
            WADI_TRY(watch(dem, &now, &sort, error));
        }
        WADI_TRY(wake_or_fall_asleep(dem, &now, &sort, &repeats, error));
        dem->is_set_changed = dem->is_set_changed || repeats;
    }
    wadi_sleep_end(&dem->sleep, p);
    dem->checked_at = step->time;
    dem->is_stale = true;
    return WADI_OK;
}
