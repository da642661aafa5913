/* Pools (sleep/sleep_pools.h) of the grid solver: which water is at rest, and for how long it must have been.
 * Source: own [theory 8.4]. */
#include <math.h>

#include "flip/sleep/flip_sleep.h"
#include "grid/tile_bodies.h"

/* Bounds of the largest and the mean speed in a tile at rest, in sqrt(g dx). */
static const double SLOW = 0.3, SLOW_MEAN = 0.01;
/* sqrt(dx / g): a pool is slow for so long, and for a period of its slowest wave. */
static const double WINDOW = 30.0;
/* Viscosity / density, in sqrt(g dx^3), above which liquids creep: waves in a layer of one cell are damped
 * before they have crossed 100 cells. */
static const double CREEP = 0.01;

static const double PI = 3.14159265358979323846;

/* Flags besides those of sleep_pools.h: DEEP, more than a layer of cells; FAST_ALONE, fast by the mean of its
 * own particles; from FIRST_DENSITY on one for each density of the scene. */
enum { DEEP = 8, FAST_ALONE = 16, FIRST_DENSITY = 32, DENSITIES = 3 };

/* Surface tension counts where the grid resolves the capillary length sqrt(sigma / (rho g)). */
static bool is_at_rest_by_waves(const WadiMaterial *material, double time, double g, double h)
{
    const double viscosity = wadi_curve_value(&material->viscosity, time) / material->density;
    const double tension = wadi_curve_value(&material->surface_tension, time) / material->density;
    return viscosity <= CREEP * sqrt(g * h) * h && tension <= g * h * h;
}

void wadi_flip_pools_begin(WadiFlipPools *pools, const WadiSleepStep *step)
{
    const WadiScene *scene = step->context->world->scene;
    const double g = wadi_norm(wadi_curve_value3(&scene->gravity, step->time));
    const double h = step->context->world->cell_size, unit = wadi_sleep_unit(step);
    pools->slow_square = SLOW * SLOW * unit * unit;
    pools->slow_mean = SLOW_MEAN * unit;
    double density[DENSITIES];
    int densities = 0;
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        uint8_t flags = WADI_POOL_OTHERS;
        if (material->kind != WADI_MATERIAL_SAND) {
            int n = 0;
            while (n < densities && density[n] != material->density) {
                ++n;
            }
            const bool has_flag = n < DENSITIES, may_rest = is_at_rest_by_waves(material, step->time, g, h);
            if (n == densities && has_flag) {
                density[densities++] = material->density;
            }
            flags = WADI_POOL_WATER;
            flags |= has_flag && may_rest ? (uint8_t)(FIRST_DENSITY << n) : WADI_POOL_OTHERS;
        }
        pools->of_material[m] = flags;
    }
}

uint8_t wadi_flip_pools_flags(const WadiFlipPools *pools, const WadiFlipDisplacements *displacements,
                              double count, double layer)
{
    const double sum = displacements->sum;
    const bool is_fast =
        displacements->largest >= pools->slow_square || sum >= pools->slow_mean * fmax(count, 0.5 * layer);
    return (uint8_t)(displacements->flags | (is_fast ? WADI_POOL_FAST : 0) |
                     (sum >= pools->slow_mean * count ? FAST_ALONE : 0) | (count > layer ? DEEP : 0));
}

/* Tiles of a deep body count as half a layer at least: else a few particles above its surface would keep all
 * of it awake. */
static bool is_slow_body(uint8_t flags)
{
    return (flags & WADI_POOL_FAST) == 0 && ((flags & DEEP) != 0 || (flags & FAST_ALONE) == 0);
}

/* Whether a body is water of one density: liquids of nearly the same density part and mix too slowly for the
 * bounds of waves. */
static bool is_pool(uint8_t flags)
{
    const unsigned densities = flags / FIRST_DENSITY;
    return (flags & WADI_POOL_WATER) != 0 && (flags & WADI_POOL_OTHERS) == 0 &&
           (densities & (densities - 1)) == 0;
}

WadiStatus wadi_flip_pools_watch(const WadiFlipWatch *watch, WadiArena *scratch, WadiError *error)
{
    const WadiTileMap *tiles = &watch->sort->tiles;
    uint8_t *flags = watch->pools.flags;
    WADI_TRY(wadi_pools_join(tiles, flags, scratch, error));
    for (int32_t t = 0; t < tiles->count; ++t) {
        if (is_pool(flags[t])) {
            const bool is_slow = is_slow_body(flags[t]);
            watch->is_slow[t] = is_slow ? WADI_SLOW_POOL : WADI_SLOW_NOT;
            watch->mean_displacement[t] = is_slow ? 0.0 : watch->mean_displacement[t];
        }
    }
    return WADI_OK;
}

typedef struct Body {
    int32_t low[3], high[3]; /* cells */
    double count;            /* particles */
} Body;

/* s: time for which all of a body must have been slow. A wave is slow at its turning points, twice in a
 * period: that of the slowest wave, twice as long as the body, on its mean depth. */
static double window_of(const Body *body, const WadiSleepStep *step, int up)
{
    const WadiScene *scene = step->context->world->scene;
    const double per_cell = pow(scene->particles_per_axis, 3.0);
    const double a = body->high[(up + 1) % 3] - body->low[(up + 1) % 3] + 1.0;
    const double b = body->high[(up + 2) % 3] - body->low[(up + 2) % 3] + 1.0;
    const double k = PI / fmax(a, b), depth = body->count / (per_cell * a * b);
    return wadi_sleep_unit_time(step) * fmax(WINDOW, 2.0 * PI / sqrt(k * tanh(k * depth)));
}

static void find_bodies(const WadiTileSort *sort, const int32_t *body_of, Body *body)
{
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        Body *whole = &body[body_of[t]];
        Body tile = { .count = sort->tile_start[t + 1] - sort->tile_start[t] };
        wadi_sleep_box(sort, t, tile.low, tile.high);
        for (int a = 0; a < 3 && body_of[t] != t; ++a) {
            tile.low[a] = whole->low[a] < tile.low[a] ? whole->low[a] : tile.low[a];
            tile.high[a] = whole->high[a] > tile.high[a] ? whole->high[a] : tile.high[a];
        }
        tile.count += body_of[t] != t ? whole->count : 0.0;
        *whole = tile;
    }
}

WadiStatus wadi_flip_pools_hold(const WadiPools *pools, const WadiSleepStep *step, const WadiTileSort *sort,
                                uint8_t **falls, WadiError *error)
{
    const size_t count = (size_t)sort->tiles.count;
    const uint8_t *material = pools->particles->material;
    int32_t *body_of = NULL;
    Body *body = NULL;
    size_t at = 0;
    if (*falls == NULL || !pools->has_water) {
        return WADI_OK;
    }
    const int up = wadi_flip_sleep_up(wadi_curve_value3(&step->context->world->scene->gravity, step->time));
    WADI_TRY(WADI_ARENA_NEW(pools->scratch, &body_of, count, "pools", error));
    WADI_TRY(WADI_ARENA_NEW(pools->scratch, &body, count, "pools", error));
    wadi_tile_bodies_find_touching(&sort->tiles, body_of);
    find_bodies(sort, body_of, body);
    for (int32_t t = 0; t < sort->tiles.count; ++t) {
        at = wadi_sleep_find_awake(pools->sleep, sort->tiles.tiles[t], at);
        /* A tile that may fall asleep was there, and holds sand alone or water alone. */
        if ((*falls)[t] != 0 && !pools->is_sand[material[sort->tile_start[t]]]) {
            const double since = pools->sleep->awake[at].since;
            (*falls)[t] = step->time - since >= window_of(&body[body_of[t]], step, up);
        }
    }
    return wadi_pools_hold(pools, sort, falls, error);
}
