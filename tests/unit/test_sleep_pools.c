/* sleep_pools: bodies of touching tiles, what holds a pool and what wakes it. */
#include "sleep/sleep_pools.h"

#include "expect.h"
#include "grid/tile_map.h"

enum { SAND, WATER };
static const uint8_t is_sand[2] = { 1, 0 };

typedef struct Store {
    WadiArena arena;
    WadiParticles particles;
    WadiSleep sleep;
    WadiPools pools;
} Store;

static void begin(Store *store)
{
    WadiError error;
    *store = (Store){ 0 };
    CHECK_OK(wadi_particles_init(&store->particles, &error), error);
    CHECK_OK(wadi_sleep_init(&store->sleep, true, 4, &store->particles, &error), error);
    store->pools = (WadiPools){ .sleep = &store->sleep,
                                .particles = &store->particles,
                                .has_water = true,
                                .is_sand = is_sand,
                                .scratch = &store->arena };
}

static void end(Store *store)
{
    store->sleep.tile = NULL; /* of the test */
    wadi_sleep_free(&store->sleep);
    wadi_particles_free(&store->particles);
    wadi_arena_free(&store->arena);
}

/* A particle in the middle of a tile; cells of 1 m. */
static void add(Store *store, WadiTile tile, uint8_t material)
{
    WadiError error;
    int32_t i;
    CHECK_OK(wadi_particles_append(&store->particles, 1, &i, &error), error);
    store->particles.x[i] = 8.0 * tile.x + 4.5;
    store->particles.y[i] = 8.0 * tile.y + 4.5;
    store->particles.z[i] = 8.0 * tile.z + 4.5;
    store->particles.material[i] = material;
}

/* In the order of tile maps: two that touch at an edge, one at a corner of the second, one apart. */
static const WadiTile tiles[4] = { { 0, 0, 0 }, { 4, 0, 0 }, { 1, 1, 0 }, { 2, 2, 1 } };

static void flags_are_those_of_the_body(void **unused)
{
    (void)unused;
    WadiError error;
    Store store;
    begin(&store);
    WadiTileMap map;
    CHECK_OK(wadi_tile_map_create_in_arena(&map, tiles, 4, &store.arena, &error), error);
    uint8_t flags[4] = { WADI_POOL_WATER, WADI_POOL_WATER, WADI_POOL_WATER,
                         WADI_POOL_FAST | WADI_POOL_WATER };
    CHECK_OK(wadi_pools_join(&map, flags, &store.arena, &error), error);
    const uint8_t fast = WADI_POOL_FAST | WADI_POOL_WATER;
    assert_true(flags[0] == fast && flags[1] == WADI_POOL_WATER && flags[2] == fast && flags[3] == fast);
    end(&store);
}

/* One tile of the body does not fall asleep; sand decides by itself. */
static void a_pool_falls_asleep_as_a_whole(void **unused)
{
    (void)unused;
    for (int n = 0; n < 3; ++n) {
        WadiError error;
        Store store;
        WadiTileSort sort;
        begin(&store);
        for (int t = 0; t < 4; ++t) {
            add(&store, tiles[t], n == 2 ? SAND : WATER);
        }
        CHECK_OK(wadi_tile_sort_from(&sort, &store.particles, 0, 1.0, &store.arena, &error), error);
        uint8_t flags[4] = { 1, 1, 1, n == 0 }, *falls = flags;
        CHECK_OK(wadi_pools_hold(&store.pools, &sort, &falls, &error), error);
        assert_ptr_equal(falls, flags);
        const bool does_fall = n != 1;
        assert_true(flags[0] == does_fall && flags[1] == 1 && flags[2] == does_fall && flags[3] == (n == 0));
        end(&store);
    }
}

/* The sleeping tiles are those of the list; the awake tile touches a corner of the first alone. */
static void a_pool_that_is_touched_wakes_as_a_whole(void **unused)
{
    (void)unused;
    for (int n = 0; n < 3; ++n) {
        WadiError error;
        Store store;
        begin(&store);
        WadiSleepTile sleeping[4];
        for (int t = 0; t < 4; ++t) {
            add(&store, tiles[t], n == 2 ? SAND : WATER);
            sleeping[t] = (WadiSleepTile){ .tile = tiles[t], .first = t, .count = 1 };
        }
        store.sleep.tile = sleeping;
        store.sleep.tile_count = 4;
        const WadiTile near = { -1, -1, -1 }, far = { -2, -1, -1 };
        WadiTileMap awake;
        CHECK_OK(wadi_tile_map_create_in_arena(&awake, n == 1 ? &far : &near, 1, &store.arena, &error),
                 error);
        uint8_t *wakes = NULL;
        CHECK_OK(wadi_pools_wake(&store.pools, &awake, &wakes, &error), error);
        assert_true((wakes != NULL) == (n == 0));
        assert_true(wakes == NULL || (wakes[0] == 1 && wakes[1] == 0 && wakes[2] == 1 && wakes[3] == 1));
        end(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_are_those_of_the_body),
        cmocka_unit_test(a_pool_falls_asleep_as_a_whole),
        cmocka_unit_test(a_pool_that_is_touched_wakes_as_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
