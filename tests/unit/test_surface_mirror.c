/* Mirror images of particles behind the walls of a box. */
#include "surface/cloud/cloud_mirror.h"
#include "surface_rows.h"

static void images_are_where_mirrors_show_them(void **unused)
{
    (void)unused;
    WadiCloud cloud = { 0 }, mirrored;
    cloud_add(&cloud, wadi_vec3(0.5, 0.5, 0.5), 0.1);    /* far from all walls */
    cloud_add(&cloud, wadi_vec3(0.05, 0.5, 0.5), 0.1);   /* by a face: one image */
    cloud_add(&cloud, wadi_vec3(0.05, 0.5, 0.95), 0.1);  /* by an edge: three */
    cloud_add(&cloud, wadi_vec3(0.05, 0.05, 0.95), 0.1); /* by a corner: seven */
    cloud_add(&cloud, wadi_vec3(-0.05, 0.5, 0.5), 0.1);  /* outside: none */
    cloud_add(&cloud, wadi_vec3(0.15, 0.5, 0.5), 0.05);  /* by a face, but small */
    WadiArena arena = { 0 };
    WadiError error = { 0 };
    WadiBox box = { { 0, 0, 0 }, { 1, 1, 1 } };
    CHECK_OK(wadi_cloud_mirror(&mirrored, &cloud, box, 2.0, &arena, &error), error);
    assert_int_equal(mirrored.count, 6 + 1 + 3 + 7);
    const WadiVec3 images[] = {
        { -0.05, 0.5, 0.5 }, { -0.05, 0.5, 0.95 }, { 0.05, 0.5, 1.05 }, { -0.05, 0.5, 1.05 }
    };
    for (int i = 0; i < 4; ++i) {
        CHECK_NEAR(wadi_norm(wadi_sub(mirrored.position[6 + i], images[i])), 0.0, 1e-15);
    }
    for (int32_t i = 6; i < mirrored.count; ++i) {
        assert_false(wadi_box_contains(box, mirrored.position[i]));
        assert_true(mirrored.spacing[i] == 0.1f);
    }

    /* A side without a wall has no images, and without images the cloud is unchanged. */
    box.min.x = -INFINITY;
    CHECK_OK(wadi_cloud_mirror(&mirrored, &cloud, box, 2.0, &arena, &error), error);
    assert_int_equal(mirrored.count, 6 + 1 + 3);
    box.min = wadi_vec3(-9, -9, -9);
    box.max = wadi_vec3(9, 9, 9);
    CHECK_OK(wadi_cloud_mirror(&mirrored, &cloud, box, 2.0, &arena, &error), error);
    assert_int_equal(mirrored.count, 6);
    assert_ptr_equal(mirrored.position, cloud.position);
    wadi_arena_free(&arena);
    cloud_free(&cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_where_mirrors_show_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
