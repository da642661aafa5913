/* sleep: tiles fall asleep, wake and are saved, driven by a test instead of a solver. */
#include "sleep/sleep.h"

#include "particles/tile_sort.h"
#include "scene_sim.h"
#include "sim/sim.h"

/* Cells of 1 m: the window is 10 sqrt(1 / 9.81) = 3.19 s. Four particles each in a tile on the floor, one on
 * it, and one apart. */
enum { LOW, HIGH, APART, TILES, EACH = 4 };
static const WadiTile tile_of[TILES] = { { 0, 0, 0 }, { 0, 0, 1 }, { 4, 0, 0 } };

typedef struct Bed {
    WadiScene *scene;
    WadiSim *sim;
    WadiArena arena;
    WadiParticles particles;
    WadiSleep sleep;
    WadiSolverContext context;
    bool is_fast[TILES];
    double time;
} Bed;

static void add(Bed *bed, WadiTile tile, double offset)
{
    WadiError error;
    int32_t i;
    CHECK_OK(wadi_particles_append(&bed->particles, 1, &i, &error), error);
    bed->particles.x[i] = 8.0 * tile.x + offset;
    bed->particles.y[i] = 8.0 * tile.y + offset;
    bed->particles.z[i] = 8.0 * tile.z + offset;
    bed->particles.vx[i] = 0.001f;
}

static void build(Bed *bed)
{
    WadiError error;
    *bed = (Bed){ .scene = load_scene("wadi: 1\nsolver: points\ncell_size: 1\n"
                                      "domain: {min: [0, 0, 0], max: [64, 64, 64]}\n"
                                      "materials: {sand: {kind: sand}}\n"
                                      "bodies: [{material: sand, shape: {sphere: {center: [9, 9, 9], radius: "
                                      "2}}}]\n") };
    bed->sim = start_sim(bed->scene, 1);
    CHECK_OK(wadi_particles_init(&bed->particles, &error), error);
    CHECK_OK(wadi_sleep_init(&bed->sleep, true, 4, &bed->particles, &error), error);
    bed->context =
        (WadiSolverContext){ .world = bed->sim->world, .particles = &bed->particles, .scratch = &bed->arena };
    for (int n = 0; n < EACH; ++n) {
        for (int t = 0; t < TILES; ++t) {
            add(bed, tile_of[t], 1.5 + n);
        }
    }
}

static void destroy(Bed *bed)
{
    wadi_sleep_free(&bed->sleep);
    wadi_particles_free(&bed->particles);
    wadi_arena_free(&bed->arena);
    wadi_sim_destroy(bed->sim);
    wadi_scene_destroy(bed->scene);
}

/* A step of 0.1 s as in a solver; particles move only in tiles that are fast. */
static void take_step(Bed *bed)
{
    WadiError error;
    const WadiSleepStep now = { .context = &bed->context, .time = bed->time, .dt = 0.1 };
    WadiSleep *sleep = &bed->sleep;
    uint8_t *wakes, *falls = NULL, is_slow[8] = { 0 };
    double mean_displacement[8] = { 0 };
    WadiTileSort sort;
    CHECK_OK(wadi_sleep_find_disturbed(sleep, &now, &wakes, &error), error);
    if (wakes != NULL) {
        CHECK_OK(wadi_sleep_wake(sleep, &now, wakes, &error), error);
    }
    do {
        WadiSleepClasses classes;
        falls = NULL;
        CHECK_OK(wadi_tile_sort_from(&sort, &bed->particles, sleep->count, 1.0, &bed->arena, &error), error);
        CHECK_OK(wadi_sleep_classify(sleep, &now, &sort, &classes, &error), error);
        CHECK_OK(wadi_sleep_find_reached(sleep, &now, &classes, &wakes, &error), error);
        if (wakes != NULL) {
            CHECK_OK(wadi_sleep_wake(sleep, &now, wakes, &error), error);
            continue;
        }
        CHECK_OK(wadi_sleep_find_candidates(sleep, &now, &classes, &falls, &error), error);
        if (falls != NULL) {
            CHECK_OK(wadi_sleep_fall_asleep(sleep, &now, &sort, falls, &error), error);
        }
    } while ((wakes != NULL || falls != NULL) && sleep->count < bed->particles.count);
    wadi_sleep_end(sleep, &bed->particles);
    if (sleep->count < bed->particles.count) {
        assert_true(sort.tiles.count <= 8);
        for (int32_t t = 0; t < sort.tiles.count && t < 8; ++t) {
            is_slow[t] = 1;
            for (int n = 0; n < TILES; ++n) {
                is_slow[t] &= !(bed->is_fast[n] && wadi_tile_is_same(tile_of[n], sort.tiles.tiles[t]));
            }
        }
        CHECK_OK(wadi_sleep_watch(sleep, &now, &sort, is_slow, mean_displacement, &error), error);
    }
    CHECK_OK(wadi_arena_reset(&bed->arena, &error), error);
    bed->time += 0.1;
}

static void run_until(Bed *bed, double time)
{
    while (bed->time < time) {
        take_step(bed);
    }
}

static bool is_asleep(const Bed *bed, int tile)
{
    return wadi_sleep_find(&bed->sleep, tile_of[tile]) >= 0;
}

/* The sleeping particles are the first of the store, those of each tile together, and only they are
 * flagged. */
static void check_store(const Bed *bed)
{
    const WadiParticles *p = &bed->particles;
    const uint8_t *asleep = wadi_particles_column(p, bed->sleep.column);
    int32_t count = 0;
    for (int32_t i = 0; i < p->count; ++i) {
        assert_int_equal(asleep[i], i < bed->sleep.count);
        assert_true(i >= bed->sleep.count || p->vx[i] == 0.0f);
    }
    for (size_t t = 0; t < bed->sleep.tile_count; ++t) {
        const WadiSleepTile *tile = &bed->sleep.tile[t];
        for (int32_t i = tile->first; i < tile->first + tile->count; ++i) {
            assert_true(wadi_tile_is_same(wadi_tile_of_particle(p, i, 1.0), tile->tile));
        }
        count += tile->count;
    }
    assert_int_equal(count, bed->sleep.count);
}

static void tiles_fall_asleep_after_the_window(void **unused)
{
    (void)unused;
    Bed bed;
    build(&bed);
    bed.is_fast[HIGH] = true; /* the tile under it has a fast neighbour */
    run_until(&bed, 3.15);
    assert_int_equal(bed.sleep.count, 0);
    run_until(&bed, 3.35);
    assert_true(is_asleep(&bed, APART) && !is_asleep(&bed, LOW) && !is_asleep(&bed, HIGH));
    check_store(&bed);
    assert_int_equal(bed.particles.id[0] % TILES, APART);
    const WadiSleepTile *tile = &bed.sleep.tile[0];
    for (int a = 0; a < 3; ++a) {
        assert_int_equal(tile->low[a], (a == 0 ? 32 : 0) + 1);
        assert_int_equal(tile->high[a], (a == 0 ? 32 : 0) + 4);
    }
    assert_true(tile->lanes[1 + 8 * 1] == 2 && tile->lanes[4 + 8 * 4] == 16 && tile->lanes[0] == 0);
    bed.is_fast[HIGH] = false;
    run_until(&bed, 6.0);
    assert_int_equal(bed.sleep.count, EACH);
    run_until(&bed, 7.0);
    assert_int_equal(bed.sleep.count, TILES * EACH);
    check_store(&bed);
    assert_true(wadi_sleep_is_undisturbed(&bed.sleep, &bed.context, 7.0, 99.0));
    destroy(&bed);
}

static void a_changed_load_wakes_the_tile_and_those_above(void **unused)
{
    (void)unused;
    Bed bed;
    build(&bed);
    run_until(&bed, 4.0);
    assert_int_equal(bed.sleep.count, TILES * EACH);
    bed.sleep.tile[wadi_sleep_find(&bed.sleep, tile_of[HIGH])].change = 0.9f;
    take_step(&bed);
    assert_int_equal(bed.sleep.count, TILES * EACH);
    bed.sleep.tile[wadi_sleep_find(&bed.sleep, tile_of[LOW])].change = 1.5f;
    take_step(&bed);
    assert_true(!is_asleep(&bed, LOW) && !is_asleep(&bed, HIGH) && is_asleep(&bed, APART));
    check_store(&bed);
    /* Woken tiles start at 75 % of the window. */
    run_until(&bed, bed.time + 0.5);
    assert_int_equal(bed.sleep.count, EACH);
    run_until(&bed, bed.time + 0.5);
    assert_int_equal(bed.sleep.count, TILES * EACH);
    destroy(&bed);
}

static void a_removal_wakes_its_tile(void **unused)
{
    (void)unused;
    Bed bed;
    build(&bed);
    run_until(&bed, 4.0);
    uint8_t is_removed[TILES * EACH] = { 0 };
    for (int32_t i = 0; i < TILES * EACH; ++i) {
        is_removed[i] = bed.particles.id[i] == APART;
    }
    assert_int_equal(wadi_particles_remove(&bed.particles, is_removed), 1);
    assert_int_equal(wadi_sleep_first(&bed.sleep, &bed.particles), 0);
    assert_false(wadi_sleep_is_undisturbed(&bed.sleep, &bed.context, 4.0, 5.0));
    take_step(&bed);
    assert_true(is_asleep(&bed, LOW) && is_asleep(&bed, HIGH) && !is_asleep(&bed, APART));
    assert_int_equal(bed.sleep.count, 2 * EACH);
    check_store(&bed);
    destroy(&bed);
}

static void a_new_particle_wakes_what_it_reaches(void **unused)
{
    (void)unused;
    for (int is_near = 0; is_near < 2; ++is_near) {
        Bed bed;
        build(&bed);
        run_until(&bed, 4.0);
        /* Cells 33 .. 36 of the tile are occupied, and the radius is four cells. */
        add(&bed, (WadiTile){ 5, 0, 0 }, is_near ? 0.5 : 1.5);
        take_step(&bed);
        assert_int_equal(is_asleep(&bed, APART), !is_near);
        assert_true(is_asleep(&bed, LOW) && is_asleep(&bed, HIGH));
        check_store(&bed);
        destroy(&bed);
    }
}

static void a_checkpoint_holds_the_tiles(void **unused)
{
    (void)unused;
    WadiError error;
    Bed bed;
    build(&bed);
    bed.is_fast[HIGH] = true;
    run_until(&bed, 4.0);
    bed.sleep.tile[0].load[2][63] = 7.0f;
    WadiSleep loaded = { .is_on = true, .column = bed.sleep.column };
    WadiState state = { 0 };
    CHECK_OK(wadi_sleep_save(&bed.sleep, &state, &error), error);
    CHECK_OK(wadi_sleep_load(&loaded, &bed.particles, 1.0, &state, &error), error);
    assert_true(loaded.count == EACH && loaded.tile_count == 1 && loaded.awake_count == 2);
    assert_memory_equal(loaded.tile, bed.sleep.tile, sizeof *loaded.tile);
    assert_true(loaded.awake[1].since == (double)INFINITY && !loaded.awake[1].is_slow);
    assert_true(loaded.next_id == TILES * EACH && loaded.store_count == TILES * EACH);
    int32_t *numbers = wadi_state_find(&state, "sleep_tile")->data;
    numbers[3] = 1; /* its particles would be 1 .. 5 */
    assert_int_equal(wadi_sleep_load(&loaded, &bed.particles, 1.0, &state, &error), WADI_ERR_FORMAT);
    assert_true(loaded.count == 0 && loaded.tile_count == 0);
    wadi_state_free(&state);
    wadi_sleep_free(&loaded);
    destroy(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_fall_asleep_after_the_window),
        cmocka_unit_test(a_changed_load_wakes_the_tile_and_those_above),
        cmocka_unit_test(a_removal_wakes_its_tile),
        cmocka_unit_test(a_new_particle_wakes_what_it_reaches),
        cmocka_unit_test(a_checkpoint_holds_the_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
