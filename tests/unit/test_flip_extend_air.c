/* flip: air cells with particles at the surface neither gain nor lose volume. */
#include "core/parallel.h"
#include "core/random.h"
#include "failing_alloc.h"
#include "flip/transfer/flip_extend_air.h"
#include "flip_box.h"

static const int low[3] = { 0, 0, 0 }, high[3] = { 24, 16, 16 };

/* Fluid fills 2 <= i < 20, 2 <= j < 12, 2 <= k < 8; the layer on it, k = 8, has particles. Beyond 0 <= i < 24
 * ... are walls. */
typedef struct Pool {
    FlipBox box;
    uint8_t *fluid, *cells, *known[3];
    float *velocity[3], *open[3], *solid[3];
    WadiFlipAirIn in;
    WadiArena scratch;
} Pool;

/* Mark faces next to fluid as known; cells of the pool and of the layer on it that are not fluid are air
 * cells with particles. */
static void mark_known_faces(Pool *pool)
{
    const WadiRows *rows = &pool->box.rows;
    const uint8_t *filled = flip_box_bits(&pool->box, (const int[3]){ 2, 2, 2 }, (const int[3]){ 20, 12, 9 });
    for (int32_t row = 1; row < rows->count; ++row) {
        pool->cells[row] = (uint8_t)(filled[row] & ~pool->fluid[row]);
    }
    for (int axis = 0; axis < 3; ++axis) {
        for (int32_t row = 1; row < rows->count; ++row) {
            pool->known[axis][row] =
                (uint8_t)(pool->fluid[row] | wadi_row_neighbour_bits(rows, pool->fluid, row, 2 * axis));
        }
    }
}

static void make(Pool *pool)
{
    *pool = (Pool){ 0 };
    flip_box_make(&pool->box, low, high);
    pool->fluid = flip_box_bits(&pool->box, (const int[3]){ 2, 2, 2 }, (const int[3]){ 20, 12, 8 });
    pool->in = (WadiFlipAirIn){ .rows = &pool->box.rows, .largest_change = 100.0f, .fast = INFINITY };
    pool->in.cells = pool->cells = flip_box_array(&pool->box, sizeof(uint8_t));
    for (int a = 0; a < 3; ++a) {
        pool->in.known[a] = pool->known[a] = flip_box_array(&pool->box, sizeof(uint8_t));
        pool->in.open[a] = pool->open[a] = flip_box_floats(&pool->box, 1.0f);
        pool->in.solid_velocity[a] = pool->solid[a] = flip_box_floats(&pool->box, 0.0f);
        pool->velocity[a] = flip_box_floats(&pool->box, 0.0f);
    }
    mark_known_faces(pool);
}

static void run(Pool *pool)
{
    WadiError error;
    CHECK_OK(wadi_arena_reset(&pool->scratch, &error), error);
    CHECK_OK(wadi_flip_extend_air(&pool->in, pool->velocity, &pool->scratch, &error), error);
}

static void free_pool(Pool *pool)
{
    wadi_arena_free(&pool->scratch);
    flip_box_free(&pool->box);
}

static double at(const Pool *pool, int axis, int i, int j, int k)
{
    return (double)pool->velocity[axis][flip_box_at(&pool->box, i, j, k)];
}

static void set(const Pool *pool, int axis, int i, int j, int k, float value)
{
    pool->velocity[axis][flip_box_at(&pool->box, i, j, k)] = value;
}

/* u = x, v = 2 y, so that each cell loses 3 sideways; w = 5. */
static void fill_spreading(const Pool *pool)
{
    for (size_t n = 8; n < wadi_rows_floats(&pool->box.rows); ++n) {
        int c[3];
        flip_box_cell(&pool->box, n, c);
        pool->velocity[0][n] = (float)c[0];
        pool->velocity[1][n] = 2.0f * (float)c[1];
        pool->velocity[2][n] = 5.0f;
    }
}

static void a_constant_field_stays_constant_to_the_bit(void **unused)
{
    (void)unused;
    Pool pool;
    make(&pool);
    const float value[3] = { 0.1f, -3.3333333f, 7e-5f };
    for (int a = 0; a < 3; ++a) {
        for (size_t n = 8; n < wadi_rows_floats(&pool.box.rows); ++n) {
            pool.velocity[a][n] = value[a];
        }
    }
    run(&pool);
    for (int a = 0; a < 3; ++a) {
        for (size_t n = 8; n < wadi_rows_floats(&pool.box.rows); ++n) {
            assert_true(pool.velocity[a][n] == value[a]);
        }
    }
    free_pool(&pool);
}

/* Above a flat surface the upper faces of the first layer balance the sideways outflow; nothing else
 * changes, and cells without particles are not affected. */
static void a_layer_above_a_flat_surface_sinks_as_it_spreads(void **unused)
{
    (void)unused;
    Pool pool;
    make(&pool);
    fill_spreading(&pool);
    pool.cells[flip_box_at(&pool.box, 9, 5, 8) / 8] &= (uint8_t)(~(1u << (9 & 7)));
    run(&pool);
    for (int i = 3; i < 19; ++i) {
        for (int k = 3; k < 12; ++k) {
            CHECK_NEAR(at(&pool, 2, i, 5, k), k == 9 && i != 9 ? 2.0 : 5.0, 0.0);
            CHECK_NEAR(at(&pool, 0, i, 5, k), i, 0.0);
            CHECK_NEAR(at(&pool, 1, i, 5, k), 10.0, 0.0);
        }
    }
    free_pool(&pool);
}

static void no_face_changes_by_more_than_is_allowed(void **unused)
{
    (void)unused;
    Pool pool;
    make(&pool);
    fill_spreading(&pool);
    pool.in.largest_change = 1.25f;
    run(&pool);
    CHECK_NEAR(at(&pool, 2, 8, 5, 9), 5.0 - 1.25, 0.0);
    free_pool(&pool);
}

/* Cell (2, 5, 8) moves by (2.5, 11, 5), whose square is 152.25: no more than half of 25 m/s, more than half
 * of 20, more than 12. */
static void fast_flow_is_not_changed(void **unused)
{
    (void)unused;
    const double fast[3] = { 25.0, 20.0, 12.0 };
    const double share[3] = { 1.0, 4.0 / 3.0 * (1.0 - 152.25 / 400.0), 0.0 };
    for (int n = 0; n < 3; ++n) {
        Pool pool;
        make(&pool);
        fill_spreading(&pool);
        pool.in.largest_change = 1.25f;
        pool.in.fast = (float)fast[n];
        run(&pool);
        CHECK_NEAR(at(&pool, 2, 2, 5, 9), 5.0 - 1.25 * share[n], 1e-6);
        free_pool(&pool);
    }
}

/* A pit in the surface, across the border of a row: inflow through five known faces leaves through the
 * sixth. */
static void a_pit_has_as_much_outflow_as_inflow(void **unused)
{
    (void)unused;
    Pool pool;
    make(&pool);
    pool.fluid[flip_box_at(&pool.box, 8, 5, 7) / 8] &= (uint8_t)(~(1u << (8 & 7)));
    mark_known_faces(&pool);
    set(&pool, 0, 8, 5, 7, 1.0f);
    set(&pool, 0, 9, 5, 7, -2.0f);
    set(&pool, 1, 8, 5, 7, 3.0f);
    set(&pool, 1, 8, 6, 7, -4.0f);
    set(&pool, 2, 8, 5, 7, 0.5f);
    run(&pool);
    CHECK_NEAR(at(&pool, 2, 8, 5, 8), 10.5, 0.0);
    free_pool(&pool);
}

/* A cell at the rim has two exits; with one side closed by a moving wall it has one, and a half open exit
 * counts half. */
static void walls_push_and_are_no_exits(void **unused)
{
    (void)unused;
    Pool pool;
    make(&pool);
    pool.fluid[flip_box_at(&pool.box, 19, 5, 7) / 8] &=
        (uint8_t)(~(1u << (19 & 7))); /* known below, and at -x */
    mark_known_faces(&pool);
    set(&pool, 2, 19, 5, 7, 3.0f);
    run(&pool);
    CHECK_NEAR(at(&pool, 2, 19, 5, 8), 1.5, 1e-6); /* +x and +z; on both y sides are cells of the rim */
    CHECK_NEAR(at(&pool, 0, 20, 5, 7), 1.5, 1e-6);

    set(&pool, 2, 19, 5, 8, 0.0f);
    set(&pool, 0, 20, 5, 7, 99.0f);
    size_t wall = flip_box_at(&pool.box, 20, 5, 7);
    pool.open[0][wall] = 0.0f;
    pool.solid[0][wall] = -1.0f;
    run(&pool);
    CHECK_NEAR(at(&pool, 2, 19, 5, 8), 4.0, 1e-6);
    CHECK_NEAR(at(&pool, 0, 20, 5, 7), 99.0, 0.0);

    set(&pool, 2, 19, 5, 8, 0.0f);
    pool.open[2][flip_box_at(&pool.box, 19, 5, 8)] = 0.5f;
    run(&pool);
    CHECK_NEAR(at(&pool, 2, 19, 5, 8), 8.0, 1e-6);
    free_pool(&pool);
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    Pool pool[3];
    for (int n = 0; n < 3; ++n) {
        wadi_parallel_set_threads(2 * n + 1);
        make(&pool[n]);
        for (size_t c = 8; c < wadi_rows_floats(&pool[n].box.rows); ++c) {
            for (int a = 0; a < 3; ++a) {
                pool[n].velocity[a][c] = (float)wadi_random_unit(3 + (uint64_t)a, c, WADI_RANDOM_TEST);
            }
            bool is_gone = wadi_random_unit(9, c, WADI_RANDOM_TEST) < 0.3;
            pool[n].fluid[c / 8] &= (uint8_t)(~((unsigned)is_gone << (c % 8)));
        }
        mark_known_faces(&pool[n]);
        run(&pool[n]);
    }
    wadi_parallel_set_threads(0);
    size_t bytes = wadi_rows_floats(&pool[0].box.rows) * sizeof(float);
    for (int n = 1; n < 3; ++n) {
        for (int a = 0; a < 3; ++a) {
            assert_memory_equal(pool[0].velocity[a], pool[n].velocity[a], bytes);
        }
        free_pool(&pool[n]);
    }
    free_pool(&pool[0]);
}

static WadiStatus extend_with(int calls)
{
    Pool pool;
    WadiError error;
    make(&pool);
    alloc_calls_left = calls;
    WadiStatus status = wadi_flip_extend_air(&pool.in, pool.velocity, &pool.scratch, &error);
    alloc_calls_left = INT_MAX;
    free_pool(&pool);
    return status;
}

static void every_failing_allocation_is_reported(void **unused)
{
    (void)unused;
    assert_true(failures_until_it_works(extend_with) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_field_stays_constant_to_the_bit),
        cmocka_unit_test(a_layer_above_a_flat_surface_sinks_as_it_spreads),
        cmocka_unit_test(no_face_changes_by_more_than_is_allowed),
        cmocka_unit_test(fast_flow_is_not_changed),
        cmocka_unit_test(a_pit_has_as_much_outflow_as_inflow),
        cmocka_unit_test(walls_push_and_are_no_exits),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
