/* The quick look calls no path free that meets something, and finds nearly all that are free. */
#include "core/random.h"
#include "particles/collide_free.h"
#include "scene_shapes.h"

enum { GROUPS = 4000, PLACES = 50 };

static double random_in(int group, int lane, int number, double low, double high)
{
    uint64_t id = ((uint64_t)group * WADI_COLLIDE_GROUP + (uint64_t)lane) * 16 + (uint64_t)number;
    return low + (high - low) * wadi_random_unit(7, id, WADI_RANDOM_TEST);
}

static void free_paths_meet_nothing(void **unused)
{
    (void)unused;
    WadiCurve zero = wadi_curve_constant(0.0);
    WadiShapeDef paddle = def_of_sphere(wadi_vec3(0, 0, 0), 0.15);
    paddle.translate = curve_of(0, wadi_vec3(0.2, 0.5, 0.5), 1, wadi_vec3(2.2, 0.5, 0.5));
    WadiShape *moving = shape_of(paddle);
    WadiShape *resting = shape_of(def_of_sphere(wadi_vec3(0.7, 0.3, 0.3), 0.1));
    WadiSolid solid[2] = { { resting, &zero, &zero }, { moving, &zero, &zero } };
    WadiBox domain = { { 0, 0, 0 }, { 1, 1, 1 } };
    int counted[3] = { 0 };
    for (int count = 0; count <= 2; ++count) {
        WadiSolids solids = { solid, count, domain, WADI_SIDE_ALL & ~WADI_SIDE_Z_MAX, &zero, &zero };
        WadiCollideIn in = { &solids, 0.1, 0.12, 1e-4 };
        for (int g = 0; g < GROUPS; ++g) {
            double from[3][WADI_COLLIDE_GROUP], to[3][WADI_COLLIDE_GROUP], corner[3];
            for (int a = 0; a < 3; ++a) {
                corner[a] = random_in(g, 0, a, -0.02, 1.0);
                for (int l = 0; l < WADI_COLLIDE_GROUP; ++l) {
                    from[a][l] = corner[a] + random_in(g, l, 3 + a, 0.0, 0.03);
                    to[a][l] = from[a][l] + random_in(g, l, 6 + a, -0.05, 0.05);
                }
            }
            uint8_t is_free[WADI_COLLIDE_GROUP];
            WadiCollideGroup group = { { from[0], from[1], from[2] }, { to[0], to[1], to[2] }, 1 + g % 32 };
            wadi_collide_find_free(&in, &group, is_free);
            for (int l = 0; l < group.count; ++l) {
                for (int n = 0; n <= PLACES && is_free[l] != 0; ++n) {
                    double s = (double)n / PLACES;
                    WadiVec3 x = { from[0][l] + s * (to[0][l] - from[0][l]),
                                   from[1][l] + s * (to[1][l] - from[1][l]),
                                   from[2][l] + s * (to[2][l] - from[2][l]) };
                    assert_true(wadi_solids_distance(&solids, x, 0.1 + 0.02 * s, -1.0) > 1e-4);
                }
                counted[count] += is_free[l];
            }
        }
    }
    /* In the cube without solids: about 0.95^3 of starts and ends; two solids with their surroundings take a tenth. */
    double all = GROUPS * 16.5;
    assert_true(counted[0] > 0.8 * all && counted[1] > 0.7 * all && counted[2] > 0.6 * all);
    assert_true(counted[1] < counted[0] && counted[2] < counted[1]);
    wadi_shape_destroy(moving);
    wadi_shape_destroy(resting);
}

static void what_is_no_number_is_not_free(void **unused)
{
    (void)unused;
    WadiSolids solids = { NULL, 0, endless_box(), 0, NULL, NULL };
    WadiCollideIn in = { &solids, 0.0, 0.1, 1e-4 };
    const double place[3] = { 0.0, NAN, 0.0 }, end[3] = { 1.0, 0.0, INFINITY };
    WadiCollideGroup group = { { place, place, place }, { end, end, end }, 3 };
    uint8_t is_free[WADI_COLLIDE_GROUP];
    wadi_collide_find_free(&in, &group, is_free);
    assert_int_equal(is_free[0], 1);
    assert_int_equal(is_free[1], 0);
    assert_int_equal(is_free[2], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_paths_meet_nothing),
        cmocka_unit_test(what_is_no_number_is_not_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
