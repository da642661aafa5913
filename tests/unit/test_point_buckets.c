/* render/points/point_buckets: what lies near a position, against all points. */
#include "core/random.h"
#include "picture.h"
#include "render/points/point_buckets.h"

enum { POINTS = 20000, QUERIES = 400 };
static const float RADIUS = 0.06f;

/* Points in the box from -1 to 1, so that cells have both signs. */
static WadiVec3f point_of(uint64_t seed, int i)
{
    double u[3];
    wadi_random_unit3(seed, (uint64_t)i, WADI_RANDOM_GRAIN, u);
    return wadi_vec3f(2.0f * (float)u[0] - 1.0f, 2.0f * (float)u[1] - 1.0f, 2.0f * (float)u[2] - 1.0f);
}

static float distance(WadiVec3f a, WadiVec3f b)
{
    return wadi_normf(wadi_subf(a, b));
}

/* 20,000 points in about 4,900 cells fall into 8192 buckets: some buckets hold several cells. */
static void spans_hold_all_that_is_near_once(void **unused)
{
    (void)unused;
    static WadiVec3f points[POINTS], stored[POINTS];
    WadiPointBuckets buckets;
    assert_int_equal(wadi_point_buckets_create(&buckets, POINTS, RADIUS, NULL), WADI_OK);
    for (int i = 0; i < POINTS; ++i) {
        points[i] = point_of(3, i);
        wadi_point_buckets_add(&buckets, points[i]);
    }
    wadi_point_buckets_sum(&buckets);
    for (int i = 0; i < POINTS; ++i) {
        stored[wadi_point_buckets_place(&buckets, points[i])] = points[i];
    }
    for (int q = 0; q < QUERIES; ++q) {
        WadiVec3f x = point_of(4, q);
        int near = 0, found = 0;
        for (int i = 0; i < POINTS; ++i) {
            near += distance(points[i], x) < RADIUS;
        }
        WadiPointSpan spans[WADI_POINT_BUCKETS_NEAR];
        int count = wadi_point_buckets_near(&buckets, x, spans);
        for (int s = 0; s < count; ++s) {
            for (uint32_t i = spans[s].first; i < spans[s].end; ++i) {
                found += distance(stored[i], x) < RADIUS;
            }
        }
        assert_int_equal(found, near);
    }
    wadi_point_buckets_free(&buckets);
}

static void an_empty_table_has_nothing_near(void **unused)
{
    (void)unused;
    WadiPointBuckets none = { 0 };
    WadiPointSpan spans[WADI_POINT_BUCKETS_NEAR];
    assert_int_equal(wadi_point_buckets_near(&none, wadi_vec3f(1, 2, 3), spans), 0);
    wadi_point_buckets_free(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_hold_all_that_is_near_once),
        cmocka_unit_test(an_empty_table_has_nothing_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
