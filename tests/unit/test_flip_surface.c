/* flip: position of the free surface. */
#include "core/parallel.h"
#include "core/random.h"
#include "failing_alloc.h"
#include "flip/pressure/flip_surface.h"
#include "flip_box.h"

static const int low[3] = { 0, 0, 0 }, high[3] = { 24, 24, 24 };

typedef struct Pool {
    FlipBox box;
    float *fill, *solid, *distance, *theta[3];
    uint8_t *fluid, *liquid;
} Pool;

static void make_pool(Pool *pool)
{
    flip_box_make(&pool->box, low, high);
    pool->fill = flip_box_floats(&pool->box, 0.0f);
    pool->solid = flip_box_floats(&pool->box, 0.0f);
    pool->distance = flip_box_floats(&pool->box, 0.0f);
    pool->fluid = flip_box_array(&pool->box, sizeof(uint8_t));
    pool->liquid = flip_box_array(&pool->box, sizeof(uint8_t));
    for (int a = 0; a < 3; ++a) {
        pool->theta[a] = flip_box_floats(&pool->box, 0.0f);
    }
}

static void add_particle(Pool *pool, double x, double y, double z)
{
    size_t at = flip_box_at(&pool->box, (int)floor(x), (int)floor(y), (int)floor(z));
    pool->fill[at] += 0.125f;
    pool->fluid[at / 8] |= (uint8_t)(1u << (at % 8));
}

/* Eight particles a cell, one at a random position in each octant [ZB05], in 4 <= x, y < 20 and 4 <= z <
 * top. */
static void fill_jittered(Pool *pool, double top)
{
    uint64_t id = 0;
    for (int k = 8; k < 2 * 24; ++k) {
        for (int j = 8; j < 40; ++j) {
            for (int i = 8; i < 40; ++i) {
                double r[3];
                wadi_random_unit3(5, id++, WADI_RANDOM_TEST, r);
                double z = 0.5 * (k + r[2]);
                if (z < top) {
                    add_particle(pool, 0.5 * (i + r[0]), 0.5 * (j + r[1]), z);
                }
            }
        }
    }
}

static void find(Pool *pool, const float *solid)
{
    WadiError error;
    WadiFlipSurfaceIn in = {
        .rows = &pool->box.rows, .fluid = pool->fluid, .fill = pool->fill, .fraction = solid, .cell_size = 1.0
    };
    CHECK_OK(wadi_flip_surface_distance(&in, pool->distance, pool->liquid, &pool->box.arena, &error), error);
    wadi_flip_surface_theta(&pool->box.rows, pool->liquid, pool->distance, WADI_FLIP_THETA_GHOST,
                            pool->theta);
}

/* Mean height of the surface over the inner columns, from theta between the highest fluid cell and the air.
 */
static double mean_height(const Pool *pool)
{
    double sum = 0.0;
    int count = 0;
    for (int j = 7; j < 17; ++j) {
        for (int i = 7; i < 17; ++i) {
            int k = 23;
            while (k > 0 && (pool->liquid[flip_box_at(&pool->box, i, j, k) / 8] >> (i & 7) & 1) == 0) {
                --k;
            }
            sum += k + 0.5 + (double)pool->theta[2][flip_box_at(&pool->box, i, j, k + 1)];
            ++count;
        }
    }
    return sum / count;
}

static void a_settled_surface_is_at_the_filling_level(void **unused)
{
    (void)unused;
    double worst = 0.0;
    for (int n = 0; n <= 10; ++n) {
        Pool pool;
        make_pool(&pool);
        double top = 12.0 + 0.1 * n;
        fill_jittered(&pool, top);
        find(&pool, NULL);
        double error = mean_height(&pool) - top;
        worst = fmax(worst, fabs(error));
        CHECK_NEAR(error, 0.0, 0.1);
        flip_box_free(&pool.box);
    }
    print_message("surface of jittered particles: off by at most %.3f cells on average\n", worst);
}

static void a_box_of_full_cells_has_its_faces_as_surface(void **unused)
{
    (void)unused;
    Pool pool;
    make_pool(&pool);
    fill_jittered(&pool, 12.0);
    find(&pool, NULL);
    for (int n = 7; n < 17; ++n) {
        CHECK_NEAR((double)pool.theta[0][flip_box_at(&pool.box, 4, n, 8)], 0.5, 1e-6);
        CHECK_NEAR((double)pool.theta[0][flip_box_at(&pool.box, 20, n, 8)], 0.5, 1e-6);
        CHECK_NEAR((double)pool.theta[1][flip_box_at(&pool.box, n, 4, 8)], 0.5, 1e-6);
        CHECK_NEAR((double)pool.theta[2][flip_box_at(&pool.box, n, n, 12)], 0.5, 1e-6);
        CHECK_NEAR((double)pool.theta[2][flip_box_at(&pool.box, n, n, 9)], 1.0, 0.0);
        CHECK_NEAR((double)pool.distance[flip_box_at(&pool.box, n, n, 11)], -0.5, 1e-6);
        CHECK_NEAR((double)pool.distance[flip_box_at(&pool.box, n, n, 12)], 0.5, 1e-6);
        CHECK_NEAR((double)pool.distance[flip_box_at(&pool.box, n, n, 8)], -1.0, 1e-6);
        CHECK_NEAR((double)pool.distance[flip_box_at(&pool.box, n, n, 16)], 1.0, 1e-6);
    }
    flip_box_free(&pool.box);
}

static void walls_do_not_bend_the_surface(void **unused)
{
    (void)unused;
    Pool pool;
    make_pool(&pool);
    fill_jittered(&pool, 12.0);
    for (size_t at = 8; at < wadi_rows_floats(&pool.box.rows); ++at) {
        int c[3];
        flip_box_cell(&pool.box, at, c);
        bool is_in = c[0] >= 4 && c[0] < 20 && c[1] >= 4 && c[1] < 20 && c[2] >= 4;
        pool.solid[at] = is_in ? 0.0f : 1.0f;
    }
    find(&pool, pool.solid);
    for (int n = 4; n < 20; ++n) {
        CHECK_NEAR((double)pool.theta[2][flip_box_at(&pool.box, 4, n, 12)], 0.5, 1e-6);
        CHECK_NEAR((double)pool.distance[flip_box_at(&pool.box, n, 4, 5)], -1.0, 1e-3);
    }
    flip_box_free(&pool.box);
}

static void the_sign_follows_the_labels(void **unused)
{
    (void)unused;
    Pool pool;
    make_pool(&pool);
    add_particle(&pool, 12.3, 11.4, 9.9);
    fill_jittered(&pool, 7.0);
    find(&pool, NULL);
    for (size_t at = 8; at < wadi_rows_floats(&pool.box.rows); ++at) {
        assert_int_equal(pool.distance[at] < 0.0f, pool.liquid[at / 8] >> (at % 8) & 1);
        for (int a = 0; a < 3; ++a) {
            assert_true(pool.theta[a][at] >= 0.01f && pool.theta[a][at] <= 1.0f);
        }
    }
    /* Full cells and drops are liquid; with labels alone the sign is theirs. */
    size_t drop = flip_box_at(&pool.box, 12, 11, 9);
    assert_true(pool.liquid[drop / 8] >> (drop % 8) & 1);
    WadiError error;
    WadiFlipSurfaceIn in = {
        .rows = &pool.box.rows, .fluid = pool.fluid, .fill = pool.fill, .fraction = NULL, .cell_size = 1.0
    };
    CHECK_OK(wadi_flip_surface_distance(&in, pool.distance, NULL, &pool.box.arena, &error), error);
    for (size_t at = 8; at < wadi_rows_floats(&pool.box.rows); ++at) {
        assert_int_equal(pool.distance[at] < 0.0f, pool.fluid[at / 8] >> (at % 8) & 1);
    }
    const float plain[2] = { 1.0f, 0.5f };
    for (int kind = WADI_FLIP_THETA_ONE; kind <= WADI_FLIP_THETA_HALF; ++kind) {
        wadi_flip_surface_theta(&pool.box.rows, pool.fluid, NULL, (WadiFlipTheta)kind, pool.theta);
        assert_true(pool.theta[2][flip_box_at(&pool.box, 10, 10, 7)] == plain[kind]);
        assert_true(pool.theta[2][flip_box_at(&pool.box, 10, 10, 6)] == 1.0f);
    }
    flip_box_free(&pool.box);
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    Pool pool[3];
    for (int n = 0; n < 3; ++n) {
        wadi_parallel_set_threads(n + 1);
        make_pool(&pool[n]);
        fill_jittered(&pool[n], 11.7);
        find(&pool[n], pool[n].solid);
    }
    wadi_parallel_set_threads(0);
    size_t bytes = wadi_rows_floats(&pool[0].box.rows) * sizeof(float);
    for (int n = 1; n < 3; ++n) {
        assert_memory_equal(pool[0].distance, pool[n].distance, bytes);
        assert_memory_equal(pool[0].theta[1], pool[n].theta[1], bytes);
        flip_box_free(&pool[n].box);
    }
    flip_box_free(&pool[0].box);
}

static WadiStatus find_distance_with(int calls)
{
    Pool pool;
    WadiArena scratch = { 0 };
    WadiError error;
    make_pool(&pool);
    WadiFlipSurfaceIn in = { .rows = &pool.box.rows,
                             .fluid = pool.fluid,
                             .fill = pool.fill,
                             .fraction = pool.solid,
                             .cell_size = 1.0 };
    alloc_calls_left = calls;
    WadiStatus status = wadi_flip_surface_distance(&in, pool.distance, NULL, &scratch, &error);
    alloc_calls_left = INT_MAX;
    wadi_arena_free(&scratch);
    flip_box_free(&pool.box);
    return status;
}

static void every_failing_allocation_is_reported(void **unused)
{
    (void)unused;
    assert_int_equal(failures_until_it_works(find_distance_with), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_settled_surface_is_at_the_filling_level),
        cmocka_unit_test(a_box_of_full_cells_has_its_faces_as_surface),
        cmocka_unit_test(walls_do_not_bend_the_surface),
        cmocka_unit_test(the_sign_follows_the_labels),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
