/* The particles of a surface: selection, positions, attributes, and frames that are refused. */
#include <string.h>

#include "core/alloc.h"
#include "expect.h"
#include "failing_alloc.h"
#include "surface/cloud/cloud.h"

enum { COUNT = 6 };

static const double positions[COUNT][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 },
                                            { 3, 0, 0 }, { 4, 0, 0 }, { 5, 0, 0 } };
static const float velocities[COUNT][3] = { { 1, 2, 3 }, { 0, 0, 0 }, { 0, 0, -4 },
                                            { 8, 0, 0 }, { 0, 0, 0 }, { 0, 2, 0 } };
static const float radii[COUNT] = { 0.5f, 0.25f, 0.5f, 0.125f, 0.5f, 0.5f };
static const uint8_t materials[COUNT] = { 0, 1, 0, 1, 1, 0 };
static const uint32_t ids[COUNT] = { 10, 11, 12, 13, 14, 15 };
static const float pressures[COUNT] = { 0, 10, 20, 30, 40, 50 };
static const uint8_t rigid[COUNT] = { 1, 0, 1, 0, 1, 0 };

static WadiState make_frame(size_t count)
{
    WadiState s = { 0 };
    WadiError error = { 0 };
    CHECK_OK(wadi_state_put(&s, "position", WADI_TYPE_F64, 3, count, positions, &error), error);
    CHECK_OK(wadi_state_put(&s, "velocity", WADI_TYPE_F32, 3, count, velocities, &error), error);
    CHECK_OK(wadi_state_put(&s, "id", WADI_TYPE_U32, 1, count, ids, &error), error);
    CHECK_OK(wadi_state_put(&s, "material", WADI_TYPE_U8, 1, count, materials, &error), error);
    CHECK_OK(wadi_state_put(&s, "radius", WADI_TYPE_F32, 1, count, radii, &error), error);
    CHECK_OK(wadi_state_put(&s, "pressure", WADI_TYPE_F32, 1, count, pressures, &error), error);
    CHECK_OK(wadi_state_put(&s, "rigid", WADI_TYPE_U8, 1, count, rigid, &error), error);
    return s;
}

static void test_one_material_in_the_order_of_the_frame(void **state)
{
    (void)state;
    WadiState frame = make_frame(COUNT);
    WadiCloud cloud;
    WadiError error = { 0 };
    CHECK_OK(wadi_cloud_from_frame(&cloud, &frame, 1, 0.0, &error), error);
    assert_int_equal(cloud.count, 3);
    const float sizes[3] = { 0.5f, 0.25f, 1.0f }, from[3] = { 1, 3, 4 };
    const WadiCloudAttribute *pressure = wadi_cloud_find(&cloud, "pressure");
    const WadiCloudAttribute *velocity = wadi_cloud_find(&cloud, "velocity");
    const WadiCloudAttribute *is_rigid = wadi_cloud_find(&cloud, "rigid");
    assert_non_null(pressure);
    assert_non_null(velocity);
    assert_non_null(is_rigid);
    assert_int_equal(velocity->components, 3);
    for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(cloud.position[i].x, (double)from[i], 0.0);
        CHECK_NEAR((double)cloud.spacing[i], (double)sizes[i], 0.0);
        CHECK_NEAR((double)pressure->values[i], 10.0 * (double)from[i], 0.0);
        CHECK_NEAR((double)is_rigid->values[i], i == 2 ? 1.0 : 0.0, 0.0);
    }
    CHECK_NEAR((double)velocity->values[3], 8.0, 0.0);
    CHECK_NEAR(cloud.spacing_min, 0.25, 0.0);
    CHECK_NEAR(cloud.spacing_max, 1.0, 0.0);
    CHECK_NEAR(wadi_cloud_volume(&cloud), 0.125 + 0.015625 + 1.0, 1e-15);
    assert_null(wadi_cloud_find(&cloud, "material"));
    assert_null(wadi_cloud_find(&cloud, "position"));
    wadi_cloud_free(&cloud);
    wadi_state_free(&frame);
}

static void test_all_materials_carry_their_number(void **state)
{
    (void)state;
    WadiState frame = make_frame(COUNT);
    WadiCloud cloud;
    WadiError error = { 0 };
    CHECK_OK(wadi_cloud_from_frame(&cloud, &frame, -1, 0.0, &error), error);
    assert_int_equal(cloud.count, COUNT);
    const WadiCloudAttribute *material = wadi_cloud_find(&cloud, "material");
    assert_non_null(material);
    for (int i = 0; i < COUNT; ++i) {
        CHECK_NEAR((double)material->values[i], (double)materials[i], 0.0);
    }
    wadi_cloud_free(&cloud);
    wadi_state_free(&frame);
}

static void test_advance_moves_along_velocities(void **state)
{
    (void)state;
    WadiState frame = make_frame(COUNT);
    WadiCloud cloud;
    WadiError error = { 0 };
    CHECK_OK(wadi_cloud_from_frame(&cloud, &frame, -1, 0.25, &error), error);
    for (int i = 0; i < COUNT; ++i) {
        CHECK_NEAR(cloud.position[i].x, positions[i][0] + 0.25 * (double)velocities[i][0], 0.0);
        CHECK_NEAR(cloud.position[i].y, 0.25 * (double)velocities[i][1], 0.0);
        CHECK_NEAR(cloud.position[i].z, 0.25 * (double)velocities[i][2], 0.0);
    }
    wadi_cloud_free(&cloud);
    wadi_state_free(&frame);
}

static void test_empty(void **state)
{
    (void)state;
    WadiError error = { 0 };
    WadiCloud cloud;
    WadiState frame = make_frame(0);
    CHECK_OK(wadi_cloud_from_frame(&cloud, &frame, -1, 0.0, &error), error);
    assert_int_equal(cloud.count, 0);
    assert_non_null(wadi_cloud_find(&cloud, "pressure"));
    CHECK_NEAR(cloud.spacing_max, 0.0, 0.0);
    wadi_cloud_free(&cloud);
    wadi_state_free(&frame);

    frame = make_frame(COUNT);
    CHECK_OK(wadi_cloud_from_frame(&cloud, &frame, 7, 0.0, &error), error);
    assert_int_equal(cloud.count, 0);
    wadi_cloud_free(&cloud);
    wadi_state_free(&frame);
}

/* Overwrites one value of one array and expects the particle to be named. */
static void refuse(const char *array, size_t value, double bad, double advance, const char *expected)
{
    WadiState frame = make_frame(COUNT);
    const WadiStateArray *found = wadi_state_find(&frame, array);
    assert_non_null(found);
    if (found->type == WADI_TYPE_F64) {
        ((double *)found->data)[value] = bad;
    } else {
        ((float *)found->data)[value] = (float)bad;
    }
    WadiCloud cloud;
    WadiError error = { 0 };
    assert_int_equal(wadi_cloud_from_frame(&cloud, &frame, 0, advance, &error), WADI_ERR_NUMERIC);
    assert_non_null(strstr(error.text, "particle 12"));
    assert_non_null(strstr(error.text, expected));
    assert_int_equal(cloud.count, 0);
    assert_null(cloud.position);
    /* Those of another material do not matter. */
    CHECK_OK(wadi_cloud_from_frame(&cloud, &frame, 1, advance, &error), error);
    wadi_cloud_free(&cloud);
    wadi_state_free(&frame);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse("position", 3 * 2 + 1, NAN, 0.0, "position");
    refuse("position", 3 * 2 + 2, -INFINITY, 0.0, "position");
    refuse("velocity", 3 * 2, INFINITY, 0.0, "velocity");
    refuse("position", 3 * 2 + 2, -1.7976931348623157e308, 1e307, "velocity");
    refuse("radius", 2, 0.0, 0.0, "radius");
    refuse("radius", 2, -0.5, 0.0, "radius");
    refuse("radius", 2, NAN, 0.0, "radius");
    refuse("radius", 2, INFINITY, 0.0, "radius");
    refuse("pressure", 2, NAN, 0.0, "pressure");
}

static void test_arrays_that_are_missing(void **state)
{
    (void)state;
    WadiState frame = make_frame(COUNT);
    strcpy(frame.array[4].name, "size");
    WadiCloud cloud;
    WadiError error = { 0 };
    assert_int_equal(wadi_cloud_from_frame(&cloud, &frame, 0, 0.0, &error), WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "radius"));
    wadi_state_free(&frame);
}

static void test_points(void **state)
{
    (void)state;
    const WadiVec3 points[2] = { { 1, 2, 3 }, { 4, 5, 6 } };
    WadiCloud cloud;
    WadiError error = { 0 };
    CHECK_OK(wadi_cloud_from_points(&cloud, points, 2, 0.1, &error), error);
    CHECK_NEAR(cloud.position[1].z, 6.0, 0.0);
    CHECK_NEAR(cloud.spacing_min, 0.1, 1e-8);
    wadi_cloud_free(&cloud);
    assert_int_equal(wadi_cloud_from_points(&cloud, points, 2, 0.0, &error), WADI_ERR_ARGUMENT);
    assert_int_equal(wadi_cloud_from_points(&cloud, points, 2, 1e300, &error), WADI_ERR_ARGUMENT);
    const WadiVec3 bad = { NAN, 0, 0 };
    assert_int_equal(wadi_cloud_from_points(&cloud, &bad, 1, 0.1, &error), WADI_ERR_NUMERIC);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    wadi_set_allocator(&failing_allocator);
    WadiState frame = make_frame(COUNT);
    size_t live = wadi_alloc_live_bytes();
    WadiStatus status = WADI_ERR_MEMORY;
    int calls = 0;
    for (; status != WADI_OK && calls < 100; ++calls) {
        WadiCloud cloud;
        alloc_calls_left = calls;
        status = wadi_cloud_from_frame(&cloud, &frame, -1, 0.0, NULL);
        alloc_calls_left = INT_MAX;
        assert_true(status == WADI_OK || (status == WADI_ERR_MEMORY && cloud.count == 0));
        wadi_cloud_free(&cloud);
        assert_int_equal(wadi_alloc_live_bytes(), live);
    }
    assert_int_equal(status, WADI_OK);
    assert_true(calls > 5);
    wadi_state_free(&frame);
    wadi_set_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_material_in_the_order_of_the_frame),
        cmocka_unit_test(test_all_materials_carry_their_number),
        cmocka_unit_test(test_advance_moves_along_velocities),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_arrays_that_are_missing),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
