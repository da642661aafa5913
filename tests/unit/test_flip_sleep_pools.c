/* flip_sleep_pools: which bodies of water are slow, by displacements that the test chooses. */
#include "flip/sleep/flip_sleep.h"

#include "expect.h"

enum { WATER, OIL };
static const double unit = 0.01; /* m: sqrt(g dx) dt */

typedef struct Body {
    WadiTile tile;
    int count;
    double displacement; /* of each particle, unit */
    uint8_t material;
} Body;

/* Whether each tile is slow. Cells of 1 m; a layer of a tile has 512 particles. */
static void watch_bodies(const Body *bodies, int count, uint8_t *is_slow)
{
    WadiError error;
    WadiArena arena = { 0 };
    WadiParticles p;
    WadiTileSort sort;
    WadiScene scene = { .material_count = 2 };
    WadiMaterial materials[2] = { { .kind = WADI_MATERIAL_WATER, .density = 1000.0 },
                                  { .kind = WADI_MATERIAL_WATER, .density = 900.0 } };
    scene.materials = materials;
    CHECK_OK(wadi_particles_init(&p, &error), error);
    for (int b = 0; b < count; ++b) {
        int32_t first;
        CHECK_OK(wadi_particles_append(&p, bodies[b].count, &first, &error), error);
        for (int32_t i = first; i < p.count; ++i) {
            p.x[i] = 8.0 * bodies[b].tile.x + (i - first) % 8 + 0.5;
            p.y[i] = 8.0 * bodies[b].tile.y + (i - first) / 8 % 8 + 0.5;
            p.z[i] = 8.0 * bodies[b].tile.z + (i - first) / 64 % 8 + 0.5;
            p.vx[i] = (float)(unit * bodies[b].displacement);
            p.material[i] = bodies[b].material;
        }
    }
    CHECK_OK(wadi_tile_sort_from(&sort, &p, 0, 1.0, &arena, &error), error);
    double *x = NULL, displacement[8];
    CHECK_OK(WADI_ARENA_NEW(&arena, &x, (size_t)p.count, "paths", &error), error);
    for (int32_t i = 0; i < p.count; ++i) {
        x[i] = p.x[i] + (double)p.vx[i];
    }
    uint8_t flags[8];
    WadiFlipWatch watch = { .sort = &sort,
                            .particles = &p,
                            .scene = &scene,
                            .layer = 512.0,
                            .is_slow = is_slow,
                            .mean_displacement = displacement,
                            .pools = { .slow_square = 0.09 * unit * unit,
                                       .slow_mean = 0.01 * unit,
                                       .of_material = { WADI_POOL_WATER | 32, WADI_POOL_WATER | 64 },
                                       .flags = flags } };
    wadi_flip_watch_paths(&watch, &(WadiFlipPath){ .x = x, .y = p.y, .z = p.z });
    CHECK_OK(wadi_flip_pools_watch(&watch, &arena, &error), error);
    wadi_particles_free(&p);
    wadi_arena_free(&arena);
}

static void a_pool_is_slow_as_a_whole(void **unused)
{
    (void)unused;
    const Body still = { { 0, 0, 0 }, 2000, 0.005, WATER };
    const struct {
        Body top;
        bool is_slow;
    } cases[] = {
        { { { 0, 0, 1 }, 300, 0.005, WATER }, true }, { { { 0, 0, 1 }, 300, 0.05, WATER }, false },
        { { { 0, 0, 1 }, 10, 0.05, WATER }, true }, /* a few particles above the surface */
        { { { 0, 0, 1 }, 1, 0.35, WATER }, false }, /* but not as fast as this */
        { { { 1, 1, 1 }, 300, 0.05, WATER }, false }, { { { 0, 0, 1 }, 300, 0.005, OIL }, false },
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; ++n) {
        uint8_t is_slow[8] = { 0 };
        watch_bodies((const Body[]){ still, cases[n].top }, 2, is_slow);
        const int expected = cases[n].is_slow ? WADI_SLOW_POOL : WADI_SLOW_NOT;
        assert_int_equal(is_slow[0], expected);
        assert_int_equal(is_slow[1], expected);
    }
}

/* A pool apart from another one is slow, whatever that does. Ten particles alone are a body of their own. */
static void bodies_apart_are_slow_by_themselves(void **unused)
{
    (void)unused;
    uint8_t is_slow[8] = { 0 };
    const Body bodies[3] = { { { 0, 0, 0 }, 2000, 0.005, OIL },
                             { { 2, 0, 0 }, 10, 0.05, WATER },
                             { { 4, 0, 0 }, 10, 0.005, WATER } };
    watch_bodies(bodies, 3, is_slow);
    assert_true(is_slow[0] == WADI_SLOW_POOL && is_slow[1] == WADI_SLOW_NOT && is_slow[2] == WADI_SLOW_POOL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_pool_is_slow_as_a_whole),
                                        cmocka_unit_test(bodies_apart_are_slow_by_themselves) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
