/* sph: the extended local feature size of bodies whose medial axis is known. [theory 11.9] */
#include "core/parallel.h"
#include "failing_alloc.h"
#include "flip_box.h"
#include "sph/adapt/sph_feature.h"

/* Signed distance to the surface, positive inside, in cells. */
typedef double (*Depth)(const double x[3]);

typedef struct Body {
    FlipBox box;
    uint8_t *inside, *solid;
    float *depth, *feature;
} Body;

static void make_body(Body *body, int half, Depth depth_of, Depth solid_of)
{
    const int low[3] = { -half, -half, -half }, high[3] = { half, half, half };
    flip_box_make(&body->box, low, high);
    body->inside = flip_box_array(&body->box, sizeof(uint8_t));
    body->solid = flip_box_array(&body->box, sizeof(uint8_t));
    body->depth = flip_box_floats(&body->box, 0.0f);
    body->feature = flip_box_floats(&body->box, 0.0f);
    for (size_t at = 8; at < wadi_rows_floats(&body->box.rows); ++at) {
        int c[3];
        flip_box_cell(&body->box, at, c);
        const double x[3] = { c[0] + 0.5, c[1] + 0.5, c[2] + 0.5 };
        const bool is_solid = solid_of != NULL && solid_of(x) > 0.0;
        const double d = is_solid ? -1.0 : depth_of(x);
        body->solid[at / 8] |= (uint8_t)((unsigned)is_solid << (at % 8));
        body->inside[at / 8] |= (uint8_t)((unsigned)(d > 0.0) << (at % 8));
        body->depth[at] = (float)d;
    }
}

static void measure(Body *body, double largest)
{
    WadiError error;
    const WadiSphFeatureIn in = { .rows = &body->box.rows,
                                  .inside = body->inside,
                                  .solid = body->solid,
                                  .cell_size = 1.0,
                                  .largest = largest };
    CHECK_OK(wadi_sph_feature_size(body->depth, body->feature, &in, &body->box.arena, &error), error);
}

static double depth_in_ball(const double x[3])
{
    return 11.3 - sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static double depth_in_slab(const double x[3])
{
    return 5.2 - fabs(x[2]);
}

static double depth_in_half_space(const double x[3])
{
    return 3.4 - x[2];
}

static double depth_in_block(const double x[3])
{
    return fmin(fmin(15.0 - fabs(x[0]), 15.0 - fabs(x[1])), 15.0 - fabs(x[2]));
}

static double depth_in_floor(const double x[3])
{
    return -4.0 - x[2];
}

/* The largest error of elfs - depth, the lfs of the nearest surface point, against `wanted`. */
static double worst_lfs(const Body *body, double wanted, double deepest)
{
    double worst = 0.0;
    int cells = 0;
    for (size_t at = 8; at < wadi_rows_floats(&body->box.rows); ++at) {
        if ((body->inside[at / 8] >> (at % 8) & 1) != 0 && (double)body->depth[at] < deepest) {
            worst = fmax(worst, fabs((double)body->feature[at] - (double)body->depth[at] - wanted));
            ++cells;
        }
    }
    assert_true(cells > 100);
    return worst;
}

static void a_ball_is_as_thin_as_its_radius(void **unused)
{
    (void)unused;
    Body body;
    make_body(&body, 16, depth_in_ball, NULL);
    measure(&body, 100.0);
    print_message("lfs of a ball of 11.3 cells: error %.2f cells\n", worst_lfs(&body, 11.3, 10.0));
    CHECK_AT_MOST(worst_lfs(&body, 11.3, 10.0), 1.0);
    flip_box_free(&body.box);
}

/* The box cuts the slab: what lies beyond it is solid. */
static double beyond(const double x[3])
{
    return fmax(fabs(x[0]), fabs(x[1])) - 14.0;
}

static void a_slab_is_as_thin_as_half_its_thickness(void **unused)
{
    (void)unused;
    Body body;
    make_body(&body, 16, depth_in_slab, beyond);
    measure(&body, 100.0);
    print_message("lfs of a slab of 10.4 cells: error %.2f cells\n", worst_lfs(&body, 5.2, 4.5));
    CHECK_AT_MOST(worst_lfs(&body, 5.2, 4.5), 1.0);
    flip_box_free(&body.box);
}

static double floor_or_beyond(const double x[3])
{
    return fmax(depth_in_floor(x), beyond(x));
}

/* 7.4 deep on a floor that mirrors it. */
static void a_pool_is_as_thin_as_it_is_deep(void **unused)
{
    (void)unused;
    Body body;
    make_body(&body, 16, depth_in_half_space, floor_or_beyond);
    measure(&body, 100.0);
    print_message("lfs of a pool of 7.4 cells: error %.2f cells\n", worst_lfs(&body, 7.4, 7.0));
    CHECK_AT_MOST(worst_lfs(&body, 7.4, 7.0), 1.0);
    flip_box_free(&body.box);
}

/* Edges of 90 degrees do not make a block thin: beside the middle of an edge lfs is not 0. */
static void edges_of_a_block_are_not_thin(void **unused)
{
    (void)unused;
    Body body;
    make_body(&body, 17, depth_in_block, NULL);
    measure(&body, 100.0);
    const size_t edge = flip_box_at(&body.box, 14, 14, 0);
    print_message("elfs at an edge of a block of 30 cells: %.2f cells\n", (double)body.feature[edge]);
    assert_true(body.feature[edge] > 10.0f);
    flip_box_free(&body.box);
}

static void large_sizes_are_cut(void **unused)
{
    (void)unused;
    Body body;
    make_body(&body, 16, depth_in_ball, NULL);
    measure(&body, 6.0);
    float least = 100.0f, most = 0.0f;
    for (size_t at = 8; at < wadi_rows_floats(&body.box.rows); ++at) {
        if ((body.inside[at / 8] >> (at % 8) & 1) != 0) {
            least = fminf(least, body.feature[at]), most = fmaxf(most, body.feature[at]);
        }
    }
    CHECK_NEAR((double)most, 6.0, 1e-6);
    assert_true(least > 5.0f); /* no thinner than what is known of it */
    flip_box_free(&body.box);
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    Body body[3];
    for (int n = 0; n < 3; ++n) {
        wadi_parallel_set_threads(n == 2 ? 5 : n + 1);
        make_body(&body[n], 16, depth_in_ball, floor_or_beyond);
        measure(&body[n], 100.0);
    }
    wadi_parallel_set_threads(0);
    const size_t bytes = wadi_rows_floats(&body[0].box.rows) * sizeof(float);
    for (int n = 1; n < 3; ++n) {
        assert_memory_equal(body[0].feature, body[n].feature, bytes);
        assert_memory_equal(body[0].depth, body[n].depth, bytes);
    }
    for (int n = 0; n < 3; ++n) {
        flip_box_free(&body[n].box);
    }
}

static void every_failing_allocation_is_reported(void **unused)
{
    (void)unused;
    wadi_set_allocator(&failing_allocator);
    bool has_failed = false;
    for (int n = 0, is_done = 0; !is_done; ++n) {
        Body body;
        alloc_calls_left = INT_MAX;
        make_body(&body, 8, depth_in_slab, NULL);
        WadiArena scratch = { 0 };
        WadiError error;
        const WadiSphFeatureIn in = { .rows = &body.box.rows,
                                      .inside = body.inside,
                                      .solid = body.solid,
                                      .cell_size = 1.0,
                                      .largest = 9.0 };
        alloc_calls_left = n;
        is_done = wadi_sph_feature_size(body.depth, body.feature, &in, &scratch, &error) == WADI_OK;
        has_failed = has_failed || !is_done;
        alloc_calls_left = INT_MAX;
        wadi_arena_free(&scratch);
        flip_box_free(&body.box);
        assert_int_equal(wadi_alloc_live_bytes(), 0);
    }
    wadi_set_allocator(NULL);
    assert_true(has_failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_is_as_thin_as_its_radius),
        cmocka_unit_test(a_slab_is_as_thin_as_half_its_thickness),
        cmocka_unit_test(a_pool_is_as_thin_as_it_is_deep),
        cmocka_unit_test(edges_of_a_block_are_not_thin),
        cmocka_unit_test(large_sizes_are_cut),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
