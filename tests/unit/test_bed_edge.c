/* render/bed_edge: a bed of sand that goes over into the plain around its domain. */
#include <math.h>

#include "core/arena.h"
#include "expect.h"
#include "render/bed_edge.h"

static const double SPACING = 0.1;

/* All particles from `first` on are the plain's: outside of the domain, at its height or a spacing below it, or
 * lower beyond the rim, at rest in columns of a spacing. The ring of 13 spacings around 10 m has 126 x 126 columns,
 * less 100 x 100 in the domain. */
static void check_plain(const WadiCloud *extended, int32_t first, const WadiBed *bed)
{
    for (int32_t i = first; i < extended->count; ++i) {
        const WadiVec3 x = extended->position[i];
        assert_true(x.x < 0.0 || x.x > 10.0 || x.y < 0.0 || x.y > 10.0);
        assert_true(x.z < bed->height + 1e-9 && x.z > bed->height - SPACING * (1.0 + 0.25 * 7.0) - 1e-9);
    }
    const int32_t ring = 2 * (126 * 126 - 100 * 100);
    assert_true(extended->count - first <= ring && extended->count - first >= ring - 2 * 2 * 3 - 2 * 126);
}

/* One particle a spacing inside of the lower side along x, 0.3 m above the plain and wet: its image is a
 * spacing outside, where 5/6 of the height and of the wetness are left. One 8 spacings inside of the upper
 * side, at the height of the plain, has an image beyond the rim, 2 spacings lower by a quarter of that. */
static void images_go_over_into_the_plain(void **unused)
{
    (void)unused;
    const WadiVec3 at[] = { { 0.1, 5.0, 1.3 }, { 9.2, 5.0, 1.0 }, { 5.0, 5.0, 1.0 } };
    WadiCloud cloud, extended;
    WadiArena arena = { 0 };
    float wetness[] = { 0.9f, 0.0f, 0.0f };
    assert_int_equal(wadi_cloud_from_points(&cloud, at, 3, SPACING, NULL), WADI_OK);
    cloud.attribute[0] = (WadiCloudAttribute){ .name = "wetness", .components = 1, .values = wetness };
    cloud.attribute_count = 1;
    const WadiBed bed = { { { 0, 0, 0 }, { 10, 10, 2 } }, 1.0, 0.3 };
    assert_int_equal(wadi_bed_extend(&extended, &cloud, &bed, &arena, NULL), WADI_OK);
    check_plain(&extended, 5, &bed);
    CHECK_NEAR(extended.position[1].x, -0.1, 1e-12);
    CHECK_NEAR(extended.position[1].z, 1.0 + 0.3 * 5.0 / 6.0, 1e-6);
    CHECK_NEAR((double)extended.attribute[0].values[1], 0.3 + 0.6 * 5.0 / 6.0, 1e-6);
    CHECK_NEAR(extended.position[3].x, 10.8, 1e-12);
    CHECK_NEAR(extended.position[3].z, 1.0 - 0.25 * 2.0 * SPACING, 1e-6);
    assert_int_equal(extended.id[1], extended.id[0]);
    cloud.attribute_count = 0;
    wadi_cloud_free(&cloud);
    wadi_arena_free(&arena);
}

/* In a corner there are images in both sides and in their edge; deep sand has none. */
static void corners_have_three_images(void **unused)
{
    (void)unused;
    const WadiVec3 at[] = { { 0.1, 9.9, 1.0 }, { 0.1, 9.9, 0.1 } };
    WadiCloud cloud, extended;
    WadiArena arena = { 0 };
    assert_int_equal(wadi_cloud_from_points(&cloud, at, 2, SPACING, NULL), WADI_OK);
    const WadiBed bed = { { { 0, 0, 0 }, { 10, 10, 2 } }, 1.0, 0.0 };
    assert_int_equal(wadi_bed_extend(&extended, &cloud, &bed, &arena, NULL), WADI_OK);
    check_plain(&extended, 2 + 3, &bed);
    wadi_cloud_free(&cloud);
    wadi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_go_over_into_the_plain),
        cmocka_unit_test(corners_have_three_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
