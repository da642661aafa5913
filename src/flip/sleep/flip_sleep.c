/* Which tiles of sand fall asleep and which wake: the rules of flip_sleep.h. */
#include "flip/sleep/flip_sleep.h"

#include <math.h>
#include <string.h>

#include "core/array.h"
#include "core/check.h"
#include "core/parallel.h"

static const double SLOW_ON_AVERAGE = 0.0007; /* sqrt(g dx) */
static const double WINDOW = 10.0;            /* sqrt(dx / g) */
/* Part of the window that those who wake have behind them: they wake for a look, and if nothing moves they may sleep soon. */
static const double HEAD_START = 0.75;

enum { TILE_BLOCK = 4, FARTHEST = 4 };

/* Cells from box to box along the axis where they are farthest apart. */
static int32_t box_distance(const int32_t low_a[3], const int32_t high_a[3], const int32_t low_b[3],
                            const int32_t high_b[3])
{
    int32_t distance = 0;
    for (int a = 0; a < 3; ++a) {
        int32_t above = low_a[a] - high_b[a], below = low_b[a] - high_a[a];
        distance = above > distance ? above : distance;
        distance = below > distance ? below : distance;
    }
    return distance;
}

static WadiTile beside(WadiTile tile, int n)
{
    return (WadiTile){ tile.x + n % 3 - 1, tile.y + n / 3 % 3 - 1, tile.z + n / 9 - 1 };
}

/* Numbers of the tiles above a tile, as in WadiTileMap.neighbours: through sides that face upwards within 60 degrees. */
typedef struct Above {
    int number[3];
    int count;
} Above;

static Above find_above(const WadiFlipSleepIn *in)
{
    WadiVec3 g = wadi_curve_value3(&in->context->world->scene->gravity, in->time);
    const double pull[3] = { g.x, g.y, g.z }, size = wadi_norm(g);
    const int step[3] = { 1, 3, 9 };
    Above above = { .count = 0 };
    for (int a = 0; a < 3; ++a) {
        if (fabs(pull[a]) > 0.5 * size) {
            above.number[above.count++] = 13 + (pull[a] < 0.0 ? step[a] : -step[a]);
        }
    }
    return above;
}

int32_t wadi_flip_sleep_find(const WadiFlipSleep *sleep, WadiTile tile)
{
    return (int32_t)wadi_tile_find(sleep->tile, sizeof *sleep->tile, sleep->tile_count, tile);
}

/* Without gravity nothing is ever ripe. */
static double window_of(const WadiFlipSleepIn *in)
{
    const WadiWorld *world = in->context->world;
    return WINDOW * sqrt(world->cell_size / wadi_norm(wadi_curve_value3(&world->scene->gravity, in->time)));
}

/* Wake the flagged tiles and all above them. */
static WadiStatus wake_tiles(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, uint8_t *rises,
                             WadiError *error)
{
    int32_t *stack = NULL;
    size_t depth = 0;
    WADI_TRY(WADI_ARENA_NEW(in->context->scratch, &stack, sleep->tile_count, "sleeping tiles", error));
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        if (rises[t] != 0) {
            stack[depth++] = (int32_t)t;
        }
    }
    const Above above = find_above(in);
    while (depth > 0) {
        int32_t t = stack[--depth];
        for (int n = 0; n < above.count; ++n) {
            int32_t other = wadi_flip_sleep_find(sleep, beside(sleep->tile[t].tile, above.number[n]));
            if (other >= 0 && rises[other] == 0) {
                rises[other] = 1;
                stack[depth++] = other;
            }
        }
    }
    double window = window_of(in);
    double since = isfinite(window) ? in->time - HEAD_START * window : in->time;
    return wadi_flip_sleep_rise(sleep, in, rises, since, error);
}

static bool has_removals(const WadiFlipSleep *sleep, const WadiParticles *particles)
{
    uint32_t born = particles->next_id - sleep->next_id;
    return (int64_t)particles->count < (int64_t)sleep->store_count + born;
}

int32_t wadi_flip_sleep_first(const WadiFlipSleep *sleep, const WadiParticles *particles)
{
    return has_removals(sleep, particles) ? 0 : sleep->count;
}

/* Number of the sleeping tile of a particle. It has one, but in a forged checkpoint. */
static size_t find_tile(const WadiFlipSleep *sleep, const WadiParticles *particles, int32_t i, double h)
{
    const WadiTile tile = wadi_flip_tile_of(particles, i, 1.0 / h);
    const size_t at = wadi_tile_search(sleep->tile, sizeof *sleep->tile, 0, sleep->tile_count, tile);
    return at < sleep->tile_count ? at : sleep->tile_count - 1;
}

/* Count anew after a removal, which keeps the order; tiles that lost particles are flagged. */
static WadiStatus count_left(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, uint8_t *rises,
                             WadiError *error)
{
    const WadiParticles *particles = in->context->particles;
    const uint8_t *asleep = wadi_particles_column(particles, sleep->column);
    int32_t left = 0;
    while (left < particles->count && asleep[left] != 0) {
        ++left;
    }
    if (left == sleep->count) { /* awake ones were taken */
        return WADI_OK;
    }
    int32_t *count = NULL;
    WADI_TRY(WADI_ARENA_NEW(in->context->scratch, &count, sleep->tile_count, "sleeping tiles", error));
    memset(count, 0, sleep->tile_count * sizeof *count);
    for (int32_t i = left - 1; i >= 0; --i) {
        size_t t = find_tile(sleep, particles, i, in->context->world->cell_size);
        sleep->tile[t].first = i;
        count[t] += 1;
    }
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        rises[t] = count[t] != sleep->tile[t].count;
        sleep->tile[t].count = count[t];
    }
    sleep->count = left;
    return WADI_OK;
}

static bool is_disturbed(const WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const int32_t low[3],
                         const int32_t high[3])
{
    const WadiWorld *world = in->context->world;
    double h = world->cell_size;
    WadiVec3 middle = { 0.5 * h * (low[0] + (high[0] + 1)), 0.5 * h * (low[1] + (high[1] + 1)),
                        0.5 * h * (low[2] + (high[2] + 1)) };
    WadiVec3 size = { h * (high[0] + 1 - low[0]), h * (high[1] + 1 - low[1]), h * (high[2] + 1 - low[2]) };
    double radius = 0.5 * wadi_norm(size) + sleep->reach * h;
    return wadi_flip_world_disturbs(world, middle, radius, in->time, in->time + in->dt);
}

/* What is loaded or hit hard passes it on, through many tiles in one step: a tile more for every doubling, up to FARTHEST. */
static int rings_of(double strength)
{
    int rings = strength >= 1.0 ? ilogb(strength) : 0;
    return rings < FARTHEST ? rings : FARTHEST;
}

static void flag_around(const WadiFlipSleep *sleep, WadiTile at, int rings, uint8_t *rises)
{
    for (int z = -rings; z <= rings; ++z) {
        for (int y = -rings; y <= rings; ++y) {
            for (int x = -rings; x <= rings; ++x) {
                int32_t found = wadi_flip_sleep_find(sleep, (WadiTile){ at.x + x, at.y + y, at.z + z });
                if (found >= 0) {
                    rises[found] = 1;
                }
            }
        }
    }
}

WadiStatus wadi_flip_sleep_wake(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, WadiError *error)
{
    if (sleep->count == 0) {
        return WADI_OK;
    }
    const WadiWorld *world = in->context->world;
    uint8_t *rises = NULL;
    WADI_TRY(WADI_ARENA_NEW(in->context->scratch, &rises, sleep->tile_count, "sleeping tiles", error));
    memset(rises, 0, sleep->tile_count);
    if (has_removals(sleep, in->context->particles)) {
        WADI_TRY(count_left(sleep, in, rises, error));
    }
    bool is_steady = wadi_flip_world_is_steady(world, in->time, in->time + in->dt);
    bool has_moving = wadi_solids_are_moving(&world->solids), has_any = false;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        const WadiFlipSleepTile *tile = &sleep->tile[t];
        if (tile->change > 1.0f) {
            flag_around(sleep, tile->tile, rings_of((double)tile->change), rises);
        }
        if (!is_steady || (has_moving && rises[t] == 0 && is_disturbed(sleep, in, tile->low, tile->high))) {
            rises[t] = 1;
        }
        has_any = has_any || rises[t] != 0;
    }
    if (!has_any) {
        return WADI_OK;
    }
    return wake_tiles(sleep, in, rises, error);
}

/* What the rules ask of each tile of awake particles; in the arena. */
typedef struct Awake {
    const WadiFlipSort *sort;
    const WadiParticles *particles;
    uint32_t next_id;
    int32_t (*low)[3], (*high)[3];
    uint8_t *has_newborn; /* nobody has seen them move yet */
    uint8_t *is_slow;
    uint8_t *rings; /* how far what it hits passes it on */
} Awake;

static void look_at_tiles(void *context, int64_t first, int64_t end)
{
    const Awake *awake = context;
    const bool has_births = awake->particles->next_id > awake->next_id;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        wadi_flip_sleep_box(awake->sort, t, awake->low[t], awake->high[t]);
        bool has_newborn = false;
        for (int32_t i = awake->sort->tile_start[t]; has_births && i < awake->sort->tile_start[t + 1]; ++i) {
            has_newborn |= awake->particles->id[i] >= awake->next_id;
        }
        awake->has_newborn[t] = has_newborn;
    }
}

/* What enters a tile comes from one beside it. */
static bool has_slow_neighbours(const WadiFlipSleep *sleep, WadiTile tile)
{
    for (int n = 0; n < 27; ++n) {
        WadiTile other = beside(tile, n);
        size_t at = wadi_flip_sleep_find_awake(sleep, other, 0);
        if (at < sleep->awake_count && wadi_tile_is_same(sleep->awake[at].tile, other) &&
            !sleep->awake[at].is_slow) {
            return false;
        }
    }
    return true;
}

static WadiStatus look_at_awake(Awake *awake, const WadiFlipSleep *sleep, const WadiFlipSleepIn *in,
                                WadiError *error)
{
    WadiArena *arena = in->context->scratch;
    size_t tiles = (size_t)awake->sort->tiles.count;
    WADI_TRY(WADI_ARENA_NEW(arena, &awake->low, tiles, "tiles at rest", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &awake->high, tiles, "tiles at rest", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &awake->has_newborn, tiles, "tiles at rest", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &awake->is_slow, tiles, "tiles at rest", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &awake->rings, tiles, "tiles at rest", error));
    wadi_parallel_for(awake->sort->tiles.count, TILE_BLOCK, look_at_tiles, awake);
    size_t at = 0;
    for (size_t t = 0; t < tiles; ++t) {
        WadiTile tile = awake->sort->tiles.tiles[t];
        at = wadi_flip_sleep_find_awake(sleep, tile, at);
        bool was_there = at < sleep->awake_count && wadi_tile_is_same(sleep->awake[at].tile, tile);
        awake->is_slow[t] = awake->has_newborn[t] == 0 &&
                            (was_there ? sleep->awake[at].is_slow : has_slow_neighbours(sleep, tile));
        awake->rings[t] = (uint8_t)(was_there ? rings_of(2.0 * sleep->awake[at].push) : 0);
    }
    return WADI_OK;
}

/* Flag the sleeping tiles that awake particles enter, or come near and are not slow. */
static bool flag_reached(const WadiFlipSleep *sleep, const Awake *awake, uint8_t *rises)
{
    bool has_any = false;
    memset(rises, 0, sleep->tile_count);
    for (int32_t t = 0; t < awake->sort->tiles.count; ++t) {
        for (int n = 0; n < 27; ++n) {
            if (n != 13 && awake->is_slow[t] != 0) {
                continue;
            }
            int32_t s = wadi_flip_sleep_find(sleep, beside(awake->sort->tiles.tiles[t], n));
            if (s >= 0 && box_distance(sleep->tile[s].low, sleep->tile[s].high, awake->low[t],
                                       awake->high[t]) <= (n == 13 ? WADI_TILE_SIDE : sleep->reach)) {
                flag_around(sleep, sleep->tile[s].tile, awake->rings[t], rises);
                has_any = true;
            }
        }
    }
    return has_any;
}

/* Flag the tiles that may fall asleep: those that are ripe, slow for a window and on average, as are all that they rest on. */
static WadiStatus flag_ripe(const WadiFlipSleep *sleep, const Awake *awake, const WadiFlipSleepIn *in,
                            double window, uint8_t **falls, bool *has_any, WadiError *error)
{
    const WadiTileMap *tiles = &awake->sort->tiles;
    int32_t *stack = NULL;
    size_t q = 0, depth = 0;
    WADI_TRY(WADI_ARENA_NEW(in->context->scratch, &stack, (size_t)tiles->count, "tiles at rest", error));
    WADI_TRY(WADI_ARENA_NEW(in->context->scratch, falls, (size_t)tiles->count, "tiles at rest", error));
    for (int32_t t = 0; t < tiles->count; ++t) {
        q = wadi_flip_sleep_find_awake(sleep, tiles->tiles[t], q);
        (*falls)[t] = awake->is_slow[t] != 0 && q < sleep->awake_count &&
                      wadi_tile_is_same(sleep->awake[q].tile, tiles->tiles[t]) &&
                      in->time - sleep->awake[q].since >= window && sleep->awake[q].speed < SLOW_ON_AVERAGE &&
                      !is_disturbed(sleep, in, awake->low[t], awake->high[t]);
        if ((*falls)[t] == 0) {
            stack[depth++] = t;
        }
    }
    const Above above = find_above(in);
    while (depth > 0) {
        int32_t t = stack[--depth];
        for (int n = 0; n < above.count; ++n) {
            int32_t other = tiles->neighbours[t][above.number[n]];
            if (other >= 0 && (*falls)[other] != 0) {
                (*falls)[other] = 0;
                stack[depth++] = other;
            }
        }
    }
    *has_any = false;
    for (int32_t t = 0; t < tiles->count; ++t) {
        *has_any = *has_any || (*falls)[t] != 0;
    }
    return WADI_OK;
}

/* Those who sleep begin anew when they wake. */
static void forget_awake(WadiFlipSleep *sleep, const WadiFlipSort *sort, const uint8_t *falls)
{
    size_t kept = 0;
    for (size_t q = 0; q < sleep->awake_count; ++q) {
        int32_t t = wadi_tile_map_find(&sort->tiles, sleep->awake[q].tile);
        if (t < 0 || falls[t] == 0) {
            sleep->awake[kept++] = sleep->awake[q];
        }
    }
    sleep->awake_count = kept;
}

WadiStatus wadi_flip_sleep_update(WadiFlipSleep *sleep, const WadiFlipSleepIn *in, const WadiFlipSort *sort,
                                  bool *is_changed, WadiError *error)
{
    *is_changed = false;
    if (!sleep->is_on) {
        return WADI_OK;
    }
    const WadiWorld *world = in->context->world;
    double window = window_of(in);
    Awake awake = { .sort = sort, .particles = in->context->particles, .next_id = sleep->next_id };
    WADI_TRY(look_at_awake(&awake, sleep, in, error));
    if (sleep->tile_count > 0) {
        uint8_t *rises = NULL;
        WADI_TRY(WADI_ARENA_NEW(in->context->scratch, &rises, sleep->tile_count, "sleeping tiles", error));
        if (flag_reached(sleep, &awake, rises)) {
            *is_changed = true;
            return wake_tiles(sleep, in, rises, error);
        }
    }
    wadi_flip_sleep_find_weak(sleep, in, sort, window);
    bool has_ripe = false;
    for (size_t q = 0; q < sleep->awake_count && !has_ripe; ++q) {
        has_ripe = in->time - sleep->awake[q].since >= window;
    }
    if (!has_ripe || !wadi_flip_world_is_steady(world, in->time, in->time + in->dt)) {
        return WADI_OK;
    }
    uint8_t *falls = NULL;
    WADI_TRY(flag_ripe(sleep, &awake, in, window, &falls, is_changed, error));
    if (*is_changed) {
        WADI_TRY(wadi_flip_sleep_fall(sleep, in, sort, falls, error));
        forget_awake(sleep, sort, falls);
    }
    return WADI_OK;
}

/* A tile falls asleep by what is seen of it in the step before, and with particles that came in that step from the tiles beside
 * it. A step more than the next one, for times are rounded. */
void wadi_flip_sleep_flag_candidates(const WadiFlipSleep *sleep, const WadiFlipSleepIn *in,
                                     const WadiFlipSort *sort, uint8_t *may_fall, bool *has_any)
{
    const double ripe = in->time + 2.0 * in->dt - window_of(in);
    size_t at = 0;
    *has_any = false;
    memset(may_fall, 0, (size_t)sort->tiles.count);
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        at = wadi_flip_sleep_find_awake(sleep, sort->tiles.tiles[t], at);
        bool was_there =
            at < sleep->awake_count && wadi_tile_is_same(sleep->awake[at].tile, sort->tiles.tiles[t]);
        double since = was_there ? fmin(sleep->awake[at].since, in->time) : in->time;
        for (int n = 0; n < 27 && since <= ripe; ++n) {
            int32_t other = sort->tiles.neighbours[t][n];
            if (other >= 0) {
                may_fall[other] = 1;
                *has_any = true;
            }
        }
    }
}

void wadi_flip_sleep_end(WadiFlipSleep *sleep, const WadiParticles *particles)
{
    sleep->store_count = particles->count;
    sleep->next_id = particles->next_id;
}

bool wadi_flip_sleep_is_sound(const WadiFlipSleep *sleep, const WadiSolverContext *context, double t0,
                              double t1)
{
    const WadiParticles *particles = context->particles;
    if (sleep->count == 0 || sleep->count != particles->count || has_removals(sleep, particles) ||
        !wadi_flip_world_is_steady(context->world, t0, t1) ||
        !wadi_flip_world_is_closed(context->world, t0, t1)) {
        return false;
    }
    WadiFlipSleepIn in = { .context = context, .time = t0, .dt = t1 - t0 };
    for (size_t t = 0; t < sleep->tile_count && wadi_solids_are_moving(&context->world->solids); ++t) {
        if (is_disturbed(sleep, &in, sleep->tile[t].low, sleep->tile[t].high)) {
            return false;
        }
    }
    return true;
}
