/* Sand at rest on a roof, level on one side and of 45 degrees on the other: what is steep is weak after the
 * window, whichever way gravity points, and weak sand holds no slope above its friction angle. */
#include "core/arena.h"
#include "flip/sleep/flip_sleep.h"
#include "scene_sim.h"
#include "sim/sim.h"

static const double degree = 0.017453292519943295;

/* 24 cells a side, filled up to the roof: level at 14 up to cell 11 along the axis after that of gravity,
 * falling from there on. */
typedef struct Roof {
    WadiScene *scene;
    WadiSim *sim;
    WadiArena arena;
    WadiTileSort sort;
    WadiSolverContext context;
} Roof;

static void build(Roof *roof, int up, double friction_angle)
{
    char text[1000];
    WadiError error = { 0 };
    double gravity[3] = { 0 }, ridge[3] = { 14, 14, 14 }, steep[3] = { 0 };
    gravity[up] = -9.81;
    ridge[(up + 1) % 3] = 11.0;
    steep[up] = steep[(up + 1) % 3] = sqrt(0.5);
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: flip\ncell_size: 1\ngravity: [%g, %g, %g]\n"
             "domain: {min: [0, 0, 0], max: [24, 24, 24]}\n"
             "materials: {sand: {kind: sand, friction_angle: %g}}\n"
             "bodies: [{material: sand, shape: {intersection: [{box: {min: [0, 0, 0], max: [24, 24, 24]}}, "
             "{half_space: {point: [%g, %g, %g], normal: [%.9f, %.9f, %.9f]}}, "
             "{half_space: {point: [14, 14, 14], normal: [%g, %g, %g]}}]}}]\n",
             gravity[0], gravity[1], gravity[2], friction_angle, ridge[0], ridge[1], ridge[2], steep[0],
             steep[1], steep[2], up == 0 ? 1.0 : 0.0, up == 1 ? 1.0 : 0.0, up == 2 ? 1.0 : 0.0);
    *roof = (Roof){ .scene = load_scene(text) };
    roof->sim = start_sim(roof->scene, 1);
    roof->context = (WadiSolverContext){ .world = roof->sim->world,
                                         .particles = &roof->sim->particles,
                                         .scratch = &roof->arena };
    CHECK_OK(wadi_tile_sort(&roof->sort, &roof->sim->particles, 1.0, &roof->arena, &error), error);
}

static void destroy(Roof *roof)
{
    wadi_arena_free(&roof->arena);
    wadi_sim_destroy(roof->sim);
    wadi_scene_destroy(roof->scene);
}

/* Updates the tile in the middle at t = 5 s; the window is 3 s. */
static void update(Roof *roof, WadiAwakeTile *tile)
{
    WadiSleep sleep = { .awake = tile, .awake_count = 1 };
    WadiSleepStep step = { .context = &roof->context, .time = 5.0, .dt = 0.01 };
    tile->tile = (WadiTile){ 1, 1, 1 };
    wadi_flip_sleep_find_weak(&sleep, &step, &roof->sort, 3.0);
}

static void steep_columns_are_weak_after_the_window(void **unused)
{
    (void)unused;
    for (int up = 0; up < 3; ++up) {
        Roof roof;
        build(&roof, up, 35.0);
        WadiAwakeTile early = { .since = 2.5 }, ripe = { .since = 1.0 }, moving = { .since = INFINITY },
                      weak = { .since = 4.0, .is_weak = true };
        update(&roof, &early);
        update(&roof, &ripe);
        update(&roof, &moving);
        update(&roof, &weak);
        assert_false(early.is_weak || moving.is_weak);
        assert_true(ripe.is_weak && weak.is_weak);
        /* A tile that becomes weak starts a new window; one that was weak does not. */
        CHECK_NEAR(ripe.since, 5.0, 0.0);
        CHECK_NEAR(weak.since, 4.0, 0.0);
        for (int b = 0; b < 8; ++b) {
            for (int a = 0; a < 8; ++a) {
                if (a < 2 || a > 5) { /* the planes through 5 columns that meet no edge of the roof */
                    assert_int_equal(ripe.steep >> (a + 8 * b) & 1, a > 5);
                }
            }
        }
        destroy(&roof);
    }
}

static void gentle_sand_has_its_strength_back(void **unused)
{
    (void)unused;
    Roof roof;
    build(&roof, 2, 44.0);
    WadiAwakeTile tile = { .since = 1.0, .is_weak = true, .steep = 1 };
    update(&roof, &tile);
    assert_false(tile.is_weak);
    CHECK_NEAR(tile.since, 1.0, 0.0);
    destroy(&roof);
}

/* Mohr's circle in plane strain: the steepest slope that any stress of |shear| <= k p holds, by trying
 * them. */
static double steepest(double k)
{
    double most = 0.0;
    for (int n = 0; n < 10000; ++n) {
        double s = 1e-4 * n * k; /* part of p that the pressure across the slope has less */
        most = fmax(most, sqrt(k * k - s * s) / (1.0 - s));
    }
    return atan(most) / degree;
}

static void weak_sand_holds_no_slope_above_its_angle(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiArena arena = { 0 };
    WadiTile tiles[2] = { { 0, 0, 0 }, { 1, 0, 0 } };
    const uint64_t mask[2] = { UINT64_MAX, UINT64_MAX };
    WadiTileMap map;
    WadiRows rows;
    CHECK_OK(wadi_tile_map_create_in_arena(&map, tiles, 2, &arena, &error), error);
    CHECK_OK(wadi_rows_build(&rows, &map, mask, &arena, &error), error);
    for (int up = 0; up < 3; ++up) {
        const WadiVec3 gravity = { up == 0 ? 5.0 : 1.0, up == 1 ? -5.0 : 1.0, up == 2 ? -5.0 : 1.0 };
        WadiAwakeTile awake[2] = {
            { .tile = tiles[0], .steep = UINT64_MAX },
            { .tile = tiles[1], .is_weak = true, .steep = UINT64_C(1) << (3 + 8 * 6) }
        };
        WadiSleep sleep = { .awake = awake, .awake_count = 2 };
        float k[8 * 129];
        const float strong = tanf(40.0f * (float)degree);
        for (int c = 0; c < 8 * 129; ++c) {
            k[c] = strong;
        }
        wadi_flip_sleep_weaken(&sleep, gravity, &rows, k);
        int weak = 0;
        for (int32_t r = 1; r < rows.count; ++r) {
            for (int lane = 0; lane < 8; ++lane) {
                const int at[3] = { lane, rows.index_in_tile[r] & 7, rows.index_in_tile[r] >> 3 };
                const bool is_weak = rows.tile[r] == wadi_tile_map_find(&map, tiles[1]) &&
                                     at[(up + 1) % 3] == 3 && at[(up + 2) % 3] == 6;
                weak += is_weak;
                CHECK_NEAR(steepest((double)k[8 * r + lane]), is_weak ? 40.0 : asin((double)strong) / degree,
                           0.01);
            }
        }
        assert_int_equal(weak, 8);
    }
    wadi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steep_columns_are_weak_after_the_window),
        cmocka_unit_test(gentle_sand_has_its_strength_back),
        cmocka_unit_test(weak_sand_holds_no_slope_above_its_angle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
