/* surface: queries of bins against all particles. */
#include <string.h>

#include "core/parallel.h"
#include "expect.h"
#include "surface_clouds.h"

static void make_cloud(WadiCloud *f, int kind)
{
    for (uint64_t n = 0; n < 3000; ++n) {
        double size[4] = { 0.05, n % 2 == 0 ? 0.05 : 0.011, 0.05 / (double)(1 + n % 40),
                           n == 0 ? 0.05 : 5e-8 };
        cloud_add(f, wadi_scale(cloud_jitter(4, n), kind == 3 ? 0.1 : 1.0), size[kind]);
    }
}

static double distance_to_box(WadiBox box, WadiVec3 x)
{
    WadiVec3 outside = wadi_max(wadi_max(wadi_sub(box.min, x), wadi_sub(x, box.max)), wadi_vec3(0, 0, 0));
    return wadi_norm(outside);
}

/* Each particle whose support meets the box is found once, with its position. */
static void check_walk(const WadiBins *bins, const WadiCloud *cloud, WadiBox box)
{
    uint8_t *seen = calloc((size_t)cloud->count, 1);
    assert_non_null(seen);
    WadiBinWalk walk = wadi_bins_walk(bins, box);
    for (WadiBinSpan span; wadi_bins_next(&walk, &span);) {
        assert_true(span.first < span.end && span.end <= bins->count);
        for (int32_t n = span.first; n < span.end; ++n) {
            int32_t i = bins->order[n];
            const float *place = bins->point[n];
            WadiVec3 at =
                wadi_add(span.corner, wadi_vec3((double)place[0], (double)place[1], (double)place[2]));
            assert_true(wadi_norm(wadi_sub(at, cloud->position[i])) <= 1e-7);
            assert_true(n == span.first || i > bins->order[n - 1]);
            assert_int_equal(seen[i], 0);
            seen[i] = 1;
        }
    }
    for (int32_t i = 0; i < cloud->count; ++i) {
        if (distance_to_box(box, cloud->position[i]) <= 2.0 * (double)cloud->spacing[i]) {
            assert_int_equal(seen[i], 1);
        }
    }
    free(seen);
}

static void queries_find_all_particles_in_support(void **unused)
{
    (void)unused;
    const int levels[4] = { 1, 3, 6, WADI_BINS_LEVEL_MAX };
    for (int kind = 0; kind < 4; ++kind) {
        WadiCloud f = { 0 };
        make_cloud(&f, kind);
        WadiArena arena = { 0 };
        WadiError error = { 0 };
        WadiBins bins;
        CHECK_OK(wadi_bins_build(&bins, &f, 2.0, &arena, &error), error);
        assert_int_equal(bins.count, f.count);
        assert_int_equal(bins.level_count, levels[kind]);
        for (uint64_t n = 0; n < 60; ++n) {
            WadiVec3 at = wadi_scale(cloud_jitter(8, n), 1.3),
                     half = wadi_abs(wadi_scale(cloud_jitter(9, n), 0.1));
            half = n % 10 == 0 ? wadi_scale(half, 40.0) : n % 3 == 0 ? wadi_vec3(0, 0, 0) : half;
            check_walk(&bins, &f, (WadiBox){ wadi_sub(at, half), wadi_add(at, half) });
        }
        wadi_arena_free(&arena);
        cloud_free(&f);
    }
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    WadiCloud f = { 0 };
    make_cloud(&f, 2);
    uint64_t hash[3];
    for (int t = 0; t < 3; ++t) {
        wadi_parallel_set_threads((int[]){ 1, 2, 5 }[t]);
        WadiArena arena = { 0 };
        WadiError error = { 0 };
        WadiBins bins;
        CHECK_OK(wadi_bins_build(&bins, &f, 2.0, &arena, &error), error);
        size_t count = (size_t)bins.count;
        hash[t] = wadi_hash_bytes(wadi_hash_bytes(0, bins.order, count * sizeof *bins.order), bins.point,
                                  count * sizeof *bins.point);
        wadi_arena_free(&arena);
    }
    wadi_parallel_set_threads(0);
    assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
    cloud_free(&f);
}

static void nothing_and_too_far(void **unused)
{
    (void)unused;
    WadiCloud f = { 0 };
    WadiArena arena = { 0 };
    WadiError error = { 0 };
    WadiBins bins;
    CHECK_OK(wadi_bins_build(&bins, &f, 2.0, &arena, &error), error);
    WadiBinWalk walk = wadi_bins_walk(&bins, (WadiBox){ { -1, -1, -1 }, { 1, 1, 1 } });
    WadiBinSpan span;
    assert_false(wadi_bins_next(&walk, &span));
    cloud_add(&f, wadi_vec3(0, 0, 0), 0.01);
    cloud_add(&f, wadi_vec3(0, -1e9, 0), 0.01);
    assert_int_equal(wadi_bins_build(&bins, &f, 2.0, &arena, &error), WADI_ERR_NUMERIC);
    assert_non_null(strstr(error.text, "particle 1 of the cloud is at (0, -1e+09, 0)"));
    assert_int_equal(bins.level_count, 0);
    wadi_arena_free(&arena);
    cloud_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_find_all_particles_in_support),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(nothing_and_too_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
