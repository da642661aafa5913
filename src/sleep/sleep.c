/* Which tiles fall asleep and which wake: the rules of sleep.h. */
#include "sleep/sleep.h"

#include <math.h>
#include <string.h>

#include "core/array.h"
#include "core/check.h"
#include "core/parallel.h"

static const double SLOW_ON_AVERAGE = 0.0007; /* sqrt(g dx) */

enum { TILE_BLOCK = 4, MAX_RINGS = 4 };

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

static WadiTile neighbour_tile(WadiTile tile, int n)
{
    return (WadiTile){ tile.x + n % 3 - 1, tile.y + n / 3 % 3 - 1, tile.z + n / 9 - 1 };
}

/* Numbers of the tiles above a tile, as in WadiTileMap.neighbours: through sides that face upwards within 60
 * degrees. */
typedef struct Above {
    int number[3];
    int count;
} Above;

static Above find_above(const WadiSleepStep *step)
{
    WadiVec3 g = wadi_curve_value3(&step->context->world->scene->gravity, step->time);
    const double pull[3] = { g.x, g.y, g.z }, size = wadi_norm(g);
    const int stride[3] = { 1, 3, 9 };
    Above above = { .count = 0 };
    for (int a = 0; a < 3; ++a) {
        if (fabs(pull[a]) > 0.5 * size) {
            above.number[above.count++] = 13 + (pull[a] < 0.0 ? stride[a] : -stride[a]);
        }
    }
    return above;
}

int32_t wadi_sleep_find(const WadiSleep *sleep, WadiTile tile)
{
    return (int32_t)wadi_tile_find(sleep->tile, sizeof *sleep->tile, sleep->tile_count, tile);
}

size_t wadi_sleep_find_awake(const WadiSleep *sleep, WadiTile tile, size_t from)
{
    return wadi_tile_search(sleep->awake, sizeof *sleep->awake, from, sleep->awake_count, tile);
}

/* Flag all tiles above the flagged ones. */
static WadiStatus flag_above(const WadiSleep *sleep, const WadiSleepStep *step, uint8_t *wakes,
                             WadiError *error)
{
    int32_t *stack = NULL;
    size_t depth = 0;
    WADI_TRY(WADI_ARENA_NEW(step->context->scratch, &stack, sleep->tile_count, "sleeping tiles", error));
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        if (wakes[t] != 0) {
            stack[depth++] = (int32_t)t;
        }
    }
    const Above above = find_above(step);
    while (depth > 0) {
        int32_t t = stack[--depth];
        for (int n = 0; n < above.count; ++n) {
            int32_t other = wadi_sleep_find(sleep, neighbour_tile(sleep->tile[t].tile, above.number[n]));
            if (other >= 0 && wakes[other] == 0) {
                wakes[other] = 1;
                stack[depth++] = other;
            }
        }
    }
    return WADI_OK;
}

static bool has_removals(const WadiSleep *sleep, const WadiParticles *particles)
{
    uint32_t born = particles->next_id - sleep->next_id;
    return (int64_t)particles->count < (int64_t)sleep->store_count + born;
}

int32_t wadi_sleep_first(const WadiSleep *sleep, const WadiParticles *particles)
{
    return has_removals(sleep, particles) ? 0 : sleep->count;
}

static double cell_size_of(const WadiSleep *sleep, const WadiWorld *world)
{
    return sleep->cell_size > 0.0 ? sleep->cell_size : world->cell_size;
}

/* Number of the sleeping tile of a particle; an arbitrary one in a damaged checkpoint. */
static size_t find_tile(const WadiSleep *sleep, const WadiParticles *particles, int32_t i, double h)
{
    const WadiTile tile = wadi_tile_of_particle(particles, i, 1.0 / h);
    const size_t at = wadi_tile_search(sleep->tile, sizeof *sleep->tile, 0, sleep->tile_count, tile);
    return at < sleep->tile_count ? at : sleep->tile_count - 1;
}

/* Count again after a removal, which does not change the order; tiles that lost particles are flagged. */
static WadiStatus recount(WadiSleep *sleep, const WadiSleepStep *step, uint8_t *wakes, WadiError *error)
{
    const WadiParticles *particles = step->context->particles;
    const uint8_t *asleep = wadi_particles_column(particles, sleep->column);
    int32_t remaining = 0;
    while (remaining < particles->count && asleep[remaining] != 0) {
        ++remaining;
    }
    if (remaining == sleep->count) { /* only awake particles were removed */
        return WADI_OK;
    }
    int32_t *count = NULL;
    WADI_TRY(WADI_ARENA_NEW(step->context->scratch, &count, sleep->tile_count, "sleeping tiles", error));
    memset(count, 0, sleep->tile_count * sizeof *count);
    for (int32_t i = remaining - 1; i >= 0; --i) {
        size_t t = find_tile(sleep, particles, i, cell_size_of(sleep, step->context->world));
        sleep->tile[t].first = i;
        count[t] += 1;
    }
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        wakes[t] = count[t] != sleep->tile[t].count;
        sleep->tile[t].count = count[t];
    }
    sleep->count = remaining;
    return WADI_OK;
}

/* The end of the time for which a decision holds. */
static double decided_until(const WadiSleepStep *step)
{
    return step->time + fmax(step->dt, step->ahead);
}

static bool is_disturbed(const WadiSleep *sleep, const WadiSleepStep *step, const int32_t low[3],
                         const int32_t high[3])
{
    const WadiWorld *world = step->context->world;
    double h = cell_size_of(sleep, world);
    WadiVec3 middle = { 0.5 * h * (low[0] + (high[0] + 1)), 0.5 * h * (low[1] + (high[1] + 1)),
                        0.5 * h * (low[2] + (high[2] + 1)) };
    WadiVec3 size = { h * (high[0] + 1 - low[0]), h * (high[1] + 1 - low[1]), h * (high[2] + 1 - low[2]) };
    double radius = 0.5 * wadi_norm(size) + sleep->radius * h;
    return wadi_world_disturbs(world, middle, radius, step->time, decided_until(step));
}

/* Strong loads and impacts act through many tiles in one step: one tile more for every doubling [theory
 * 8.2]. */
static int rings_of(double strength)
{
    int rings = strength >= 1.0 ? ilogb(strength) : 0;
    return rings < MAX_RINGS ? rings : MAX_RINGS;
}

static void flag_around(const WadiSleep *sleep, WadiTile at, int rings, uint8_t *wakes)
{
    for (int z = -rings; z <= rings; ++z) {
        for (int y = -rings; y <= rings; ++y) {
            for (int x = -rings; x <= rings; ++x) {
                int32_t found = wadi_sleep_find(sleep, (WadiTile){ at.x + x, at.y + y, at.z + z });
                if (found >= 0) {
                    wakes[found] = 1;
                }
            }
        }
    }
}

WadiStatus wadi_sleep_find_disturbed(WadiSleep *sleep, const WadiSleepStep *step, uint8_t **wakes,
                                     WadiError *error)
{
    const WadiWorld *world = step->context->world;
    uint8_t *flags = NULL;
    *wakes = NULL;
    if (sleep->count == 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(step->context->scratch, &flags, sleep->tile_count, "sleeping tiles", error));
    memset(flags, 0, sleep->tile_count);
    if (has_removals(sleep, step->context->particles)) {
        WADI_TRY(recount(sleep, step, flags, error));
    }
    bool is_steady = wadi_world_is_steady(world, step->time, decided_until(step));
    bool has_moving = wadi_solids_are_moving(&world->solids), has_any = false;
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        const WadiSleepTile *tile = &sleep->tile[t];
        if (tile->change > 1.0f) {
            flag_around(sleep, tile->tile, rings_of((double)tile->change), flags);
        }
        if (!is_steady || (has_moving && flags[t] == 0 && is_disturbed(sleep, step, tile->low, tile->high))) {
            flags[t] = 1;
        }
        has_any = has_any || flags[t] != 0;
    }
    *wakes = has_any ? flags : NULL;
    return has_any ? flag_above(sleep, step, flags, error) : WADI_OK;
}

/* Boxes; tiles with new particles are not slow, because their motion is not measured yet. */
static void classify_tiles(void *context, int64_t first, int64_t end)
{
    const WadiSleepClasses *classes = context;
    const bool has_births = classes->particles->next_id > classes->next_id;
    for (int32_t t = (int32_t)first; t < end; ++t) {
        wadi_sleep_box(classes->sort, t, classes->low[t], classes->high[t]);
        bool has_new = false;
        for (int32_t i = classes->sort->tile_start[t]; has_births && i < classes->sort->tile_start[t + 1];
             ++i) {
            has_new |= classes->particles->id[i] >= classes->next_id;
        }
        classes->is_slow[t] = !has_new;
    }
}

/* For a tile that was empty: its particles come from a neighbouring tile. */
static bool has_slow_neighbours(const WadiSleep *sleep, WadiTile tile)
{
    for (int n = 0; n < 27; ++n) {
        WadiTile other = neighbour_tile(tile, n);
        size_t at = wadi_sleep_find_awake(sleep, other, 0);
        if (at < sleep->awake_count && wadi_tile_is_same(sleep->awake[at].tile, other) &&
            !sleep->awake[at].is_slow) {
            return false;
        }
    }
    return true;
}

WadiStatus wadi_sleep_classify(const WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                               WadiSleepClasses *classes, WadiError *error)
{
    WadiArena *arena = step->context->scratch;
    const size_t tiles = (size_t)sort->tiles.count;
    *classes =
        (WadiSleepClasses){ .sort = sort, .particles = step->context->particles, .next_id = sleep->next_id };
    WADI_TRY(WADI_ARENA_NEW(arena, &classes->low, tiles, "awake tiles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &classes->high, tiles, "awake tiles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &classes->is_slow, tiles, "awake tiles", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &classes->rings, tiles, "awake tiles", error));
    wadi_parallel_for(sort->tiles.count, TILE_BLOCK, classify_tiles, classes);
    size_t at = 0;
    for (size_t t = 0; t < tiles; ++t) {
        WadiTile tile = sort->tiles.tiles[t];
        at = wadi_sleep_find_awake(sleep, tile, at);
        bool was_there = at < sleep->awake_count && wadi_tile_is_same(sleep->awake[at].tile, tile);
        classes->is_slow[t] = classes->is_slow[t] != 0 &&
                              (was_there ? sleep->awake[at].is_slow : has_slow_neighbours(sleep, tile));
        classes->rings[t] = (uint8_t)(was_there ? rings_of(2.0 * sleep->awake[at].current_speed) : 0);
    }
    return WADI_OK;
}

WadiStatus wadi_sleep_find_reached(const WadiSleep *sleep, const WadiSleepStep *step,
                                   const WadiSleepClasses *classes, uint8_t **wakes, WadiError *error)
{
    const WadiTileMap *tiles = &classes->sort->tiles;
    uint8_t *flags = NULL;
    *wakes = NULL;
    if (sleep->tile_count == 0) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(step->context->scratch, &flags, sleep->tile_count, "sleeping tiles", error));
    memset(flags, 0, sleep->tile_count);
    for (int32_t t = 0; t < tiles->count; ++t) {
        for (int n = 0; n < 27; ++n) {
            if (n != 13 && classes->is_slow[t] != 0) {
                continue;
            }
            int32_t s = wadi_sleep_find(sleep, neighbour_tile(tiles->tiles[t], n));
            if (s >= 0 && box_distance(sleep->tile[s].low, sleep->tile[s].high, classes->low[t],
                                       classes->high[t]) <= (n == 13 ? WADI_TILE_SIDE : sleep->radius)) {
                flag_around(sleep, sleep->tile[s].tile, classes->rings[t], flags);
                *wakes = flags;
            }
        }
    }
    return *wakes != NULL ? flag_above(sleep, step, flags, error) : WADI_OK;
}

/* Whether an awake tile of the list is tile t of the sort and has been slow for a window and on average. */
static bool is_candidate(const WadiSleep *sleep, const WadiSleepStep *step, const WadiSleepClasses *classes,
                         size_t q, int32_t t)
{
    return classes->is_slow[t] != 0 && q < sleep->awake_count &&
           wadi_tile_is_same(sleep->awake[q].tile, classes->sort->tiles.tiles[t]) &&
           step->time - sleep->awake[q].since >= wadi_sleep_window(step) &&
           sleep->awake[q].speed < SLOW_ON_AVERAGE &&
           !is_disturbed(sleep, step, classes->low[t], classes->high[t]);
}

static bool has_candidate(const WadiSleep *sleep, const WadiSleepStep *step)
{
    const double window = wadi_sleep_window(step);
    for (size_t q = 0; q < sleep->awake_count; ++q) {
        if (step->time - sleep->awake[q].since >= window) {
            return wadi_world_is_steady(step->context->world, step->time, decided_until(step));
        }
    }
    return false;
}

WadiStatus wadi_sleep_find_candidates(const WadiSleep *sleep, const WadiSleepStep *step,
                                      const WadiSleepClasses *classes, uint8_t **falls, WadiError *error)
{
    const WadiTileMap *tiles = &classes->sort->tiles;
    WadiArena *arena = step->context->scratch;
    int32_t *stack = NULL;
    uint8_t *flags = NULL;
    size_t q = 0, depth = 0;
    *falls = NULL;
    if (!has_candidate(sleep, step)) {
        return WADI_OK;
    }
    WADI_TRY(WADI_ARENA_NEW(arena, &stack, (size_t)tiles->count, "candidates", error));
    WADI_TRY(WADI_ARENA_NEW(arena, &flags, (size_t)tiles->count, "candidates", error));
    for (int32_t t = 0; t < tiles->count; ++t) {
        q = wadi_sleep_find_awake(sleep, tiles->tiles[t], q);
        flags[t] = is_candidate(sleep, step, classes, q, t);
        if (flags[t] == 0) {
            stack[depth++] = t;
        }
    }
    const Above above = find_above(step);
    while (depth > 0) {
        int32_t t = stack[--depth];
        for (int n = 0; n < above.count; ++n) {
            int32_t other = tiles->neighbours[t][above.number[n]];
            if (other >= 0 && flags[other] != 0) {
                flags[other] = 0;
                stack[depth++] = other;
            }
        }
    }
    for (int32_t t = 0; t < tiles->count && *falls == NULL; ++t) {
        *falls = flags[t] != 0 ? flags : NULL;
    }
    return WADI_OK;
}

/* A tile that falls asleep in the next step may contain particles of its neighbours, so these are flagged
 * too. Two steps ahead, because times are rounded. */
void wadi_sleep_flag_next(const WadiSleep *sleep, const WadiSleepStep *step, const WadiTileSort *sort,
                          uint8_t *may_fall, bool *has_any)
{
    const double latest_start = step->time + 2.0 * step->dt - wadi_sleep_window(step);
    size_t at = 0;
    *has_any = false;
    memset(may_fall, 0, (size_t)sort->tiles.count);
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        at = wadi_sleep_find_awake(sleep, sort->tiles.tiles[t], at);
        bool was_there =
            at < sleep->awake_count && wadi_tile_is_same(sleep->awake[at].tile, sort->tiles.tiles[t]);
        double since = was_there ? fmin(sleep->awake[at].since, step->time) : step->time;
        for (int n = 0; n < 27 && since <= latest_start; ++n) {
            int32_t other = sort->tiles.neighbours[t][n];
            if (other >= 0) {
                may_fall[other] = 1;
                *has_any = true;
            }
        }
    }
}

void wadi_sleep_end(WadiSleep *sleep, const WadiParticles *particles)
{
    sleep->store_count = particles->count;
    sleep->next_id = particles->next_id;
}

void wadi_sleep_wake_all(WadiSleep *sleep)
{
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        sleep->tile[t].change = 1.5f; /* above 1 it wakes */
    }
}

bool wadi_sleep_is_undisturbed(const WadiSleep *sleep, const WadiSolverContext *context, double t0, double t1)
{
    const WadiParticles *particles = context->particles;
    if (sleep->count == 0 || sleep->count != particles->count || has_removals(sleep, particles) ||
        !wadi_world_is_steady(context->world, t0, t1) || !wadi_world_is_closed(context->world, t0, t1)) {
        return false;
    }
    WadiSleepStep step = { .context = context, .time = t0, .dt = t1 - t0 };
    const bool has_moving = wadi_solids_are_moving(&context->world->solids);
    for (size_t t = 0; t < sleep->tile_count; ++t) {
        const WadiSleepTile *tile = &sleep->tile[t];
        if (tile->change > 1.0f || (has_moving && is_disturbed(sleep, &step, tile->low, tile->high))) {
            return false;
        }
    }
    return true;
}
