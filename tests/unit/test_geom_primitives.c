/* geom: distances and normals of the analytic primitives, against closed forms and against brute force. */
#include <string.h>

#include "core/random.h"
#include "expect.h"
#include "geom/primitives.h"
#include "random_values.h"

static const struct {
    WadiShapeKind kind;
    WadiVec3 parameter[4];
} cases[] = {
    { WADI_SHAPE_BOX, { { -0.5, -0.2, -0.7 }, { 0.3, 0.6, 0.1 } } },
    { WADI_SHAPE_SPHERE, { { 0.1, 0.2, -0.1 }, { 0.6, 0, 0 } } },
    { WADI_SHAPE_ELLIPSOID, { { 0.1, -0.1, 0.2 }, { 0.8, 0.3, 0.5 } } },
    { WADI_SHAPE_ELLIPSOID, { { 0, 0, 0 }, { 0.5, 0.5, 0.05 } } },
    { WADI_SHAPE_CYLINDER, { { -0.3, 0.1, -0.4 }, { 0.2, 0.3, 0.5 }, { 0.35, 0, 0 } } },
    { WADI_SHAPE_CONE, { { -0.3, 0.1, -0.4 }, { 0.2, 0.3, 0.5 }, { 0.5, 0, 0 }, { 0.2, 0, 0 } } },
    { WADI_SHAPE_CONE, { { 0, 0, 0 }, { 0, 0, 0.8 }, { 0, 0, 0 }, { 0.4, 0, 0 } } },
    { WADI_SHAPE_CAPSULE, { { -0.3, 0.1, -0.4 }, { 0.2, 0.3, 0.5 }, { 0.3, 0, 0 } } },
    { WADI_SHAPE_TORUS, { { 0.1, 0, 0 }, { 1, 2, 3 }, { 0.5, 0, 0 }, { 0.2, 0, 0 } } },
    { WADI_SHAPE_HALF_SPACE, { { 0.1, 0, 0.2 }, { 1, -2, 2 } } },
};
enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

/* A true distance steps along its normal by exactly its own value: the foot lies on the surface, nothing
 * nearer does. */
static void the_foot_of_the_normal_is_on_the_surface(void **unused)
{
    (void)unused;
    for (int c = 0; c < CASE_COUNT; ++c) {
        WadiPrimitive primitive = wadi_primitive_make(cases[c].kind, cases[c].parameter);
        for (uint64_t i = 0; i < 4000; ++i) {
            WadiVec3 x = random_point((uint64_t)c, i, 1.2), normal, at_foot;
            double d = wadi_primitive_sample(&primitive, x, &normal);
            CHECK_NEAR(wadi_primitive_distance(&primitive, x), d, 1e-14);
            CHECK_NEAR(wadi_norm(normal), 1.0, 1e-12);
            WadiVec3 foot = wadi_add_scaled(x, normal, -d);
            CHECK_NEAR(wadi_primitive_sample(&primitive, foot, &at_foot), 0.0, 1e-9);
        }
    }
}

/* Together with the test above this makes the distance exact: it is 1-Lipschitz, so no surface point is
 * nearer. */
static void distances_never_change_faster_than_the_point_moves(void **unused)
{
    (void)unused;
    for (int c = 0; c < CASE_COUNT; ++c) {
        WadiPrimitive primitive = wadi_primitive_make(cases[c].kind, cases[c].parameter);
        for (uint64_t i = 0; i < 4000; ++i) {
            WadiVec3 x = random_point((uint64_t)c, i, 1.2);
            WadiVec3 y = wadi_add(x, random_point((uint64_t)c + 100, i, i % 2 == 0 ? 1.0 : 1e-3));
            double change = wadi_primitive_distance(&primitive, y) - wadi_primitive_distance(&primitive, x);
            CHECK_AT_MOST(fabs(change), wadi_norm(wadi_sub(y, x)) + 1e-12);
        }
    }
}

static void normals_are_gradients(void **unused)
{
    (void)unused;
    const double h = 1e-6;
    for (int c = 0; c < CASE_COUNT; ++c) {
        WadiPrimitive primitive = wadi_primitive_make(cases[c].kind, cases[c].parameter);
        int agreed = 0;
        for (uint64_t i = 0; i < 2000; ++i) {
            WadiVec3 x = random_point((uint64_t)c, i, 1.2), n;
            wadi_primitive_sample(&primitive, x, &n);
            WadiVec3 g;
            double *component[3] = { &g.x, &g.y, &g.z };
            for (int a = 0; a < 3; ++a) {
                WadiVec3 step = { a == 0 ? h : 0, a == 1 ? h : 0, a == 2 ? h : 0 };
                *component[a] = (wadi_primitive_distance(&primitive, wadi_add(x, step)) -
                                 wadi_primitive_distance(&primitive, wadi_sub(x, step))) /
                                (2 * h);
            }
            agreed += wadi_norm(wadi_sub(g, n)) < 1e-4;
        }
        /* All but the points within h of the medial axis, where the gradient jumps, and next to sharp
         * edges. */
        CHECK_AT_MOST(1990, agreed);
    }
}

/* Sampling the surface densely gives an upper bound on the distance that converges to it. */
static void the_ellipsoid_has_no_nearer_point_than_it_says(void **unused)
{
    (void)unused;
    WadiVec3 radii = { 0.9, 0.4, 0.2 };
    for (uint64_t i = 0; i < 60; ++i) {
        WadiVec3 x = random_point(7, i, 1.0);
        double nearest = INFINITY;
        for (int a = 0; a <= 400; ++a) {
            for (int b = 0; b < 800; ++b) {
                double polar = a * 3.14159265358979 / 400, around = b * 2 * 3.14159265358979 / 800;
                WadiVec3 s = { radii.x * sin(polar) * cos(around), radii.y * sin(polar) * sin(around),
                               radii.z * cos(polar) };
                nearest = fmin(nearest, wadi_norm(wadi_sub(x, s)));
            }
        }
        double d = fabs(wadi_ellipsoid_distance(radii, x, NULL));
        CHECK_AT_MOST(d, nearest + 1e-12);
        /* Grid spacing 0.007; a foot off the grid by half of it adds less than this. */
        CHECK_AT_MOST(nearest - d, 6e-3);
    }
}

static void the_ellipsoid_survives_its_symmetry_planes(void **unused)
{
    (void)unused;
    WadiVec3 radii = { 3.0, 2.0, 1.0 }, n;
    CHECK_NEAR(wadi_ellipsoid_distance(radii, wadi_vec3(0, 0, 0), &n), -1.0, 1e-15);
    CHECK_NEAR(n.z, 1.0, 0);
    CHECK_NEAR(wadi_ellipsoid_distance(radii, wadi_vec3(5, 0, 0), &n), 2.0, 1e-12);
    CHECK_NEAR(n.x, 1.0, 1e-15);
    CHECK_NEAR(wadi_ellipsoid_distance(radii, wadi_vec3(0, -2.5, 0), &n), 0.5, 1e-12);
    CHECK_NEAR(n.y, -1.0, 1e-15);
    CHECK_NEAR(wadi_ellipsoid_distance(radii, wadi_vec3(0, 0, 1e-200), &n), -1.0, 1e-12);
    CHECK_NEAR(wadi_ellipsoid_distance(radii, wadi_vec3(3, 0, 0), &n), 0.0, 1e-12);
    /* On the long axis, inside: x = a^2 x0 / (a^2 - c^2), the 2D ellipse (3, 1). */
    double x0 = 1.0, foot = 9.0 * x0 / 8.0, z = sqrt(1.0 - foot * foot / 9.0);
    CHECK_NEAR(wadi_ellipsoid_distance(radii, wadi_vec3(x0, 0, 0), &n), -hypot(foot - x0, z), 1e-12);
    /* A sphere, and a disc a million times wider than thick. */
    CHECK_NEAR(wadi_ellipsoid_distance(wadi_vec3(2, 2, 2), wadi_vec3(1, 1, 1), &n), sqrt(3) - 2, 1e-12);
    CHECK_NEAR(wadi_ellipsoid_distance(wadi_vec3(1, 1, 1e-6), wadi_vec3(0.1, 0.2, 0.5), &n), 0.5, 1e-5);
    CHECK_NEAR(wadi_ellipsoid_distance(wadi_vec3(1e-6, 1, 1), wadi_vec3(1.5, 0, 0), &n), 1.5, 1e-5);
}

static void known_distances(void **unused)
{
    (void)unused;
    WadiVec3 box[] = { { 0, 0, 0 }, { 2, 4, 6 } }, n;
    WadiPrimitive p = wadi_primitive_make(WADI_SHAPE_BOX, box);
    CHECK_NEAR(wadi_primitive_sample(&p, wadi_vec3(1, 2, 3), &n), -1.0, 0);
    CHECK_NEAR(wadi_primitive_sample(&p, wadi_vec3(5, 8, 3), &n), 5.0, 1e-15);
    CHECK_NEAR(n.x, 0.6, 1e-15);
    CHECK_NEAR(n.y, 0.8, 1e-15);
    WadiVec3 cylinder[] = { { 0, 0, 0 }, { 0, 0, 2 }, { 1, 0, 0 } };
    p = wadi_primitive_make(WADI_SHAPE_CYLINDER, cylinder);
    CHECK_NEAR(wadi_primitive_distance(&p, wadi_vec3(4, 0, 6)), 5.0, 1e-14);
    CHECK_NEAR(wadi_primitive_distance(&p, wadi_vec3(0.25, 0, 1)), -0.75, 1e-14);
    /* A cone with a 45 degree side: one beside the middle of the slant. */
    WadiVec3 cone[] = { { 0, 0, 0 }, { 0, 0, 1 }, { 1, 0, 0 }, { 0, 0, 0 } };
    p = wadi_primitive_make(WADI_SHAPE_CONE, cone);
    CHECK_NEAR(wadi_primitive_distance(&p, wadi_vec3(1, 0, 1)), sqrt(0.5), 1e-14);
    CHECK_NEAR(wadi_primitive_distance(&p, wadi_vec3(0, 0, 3)), 2.0, 1e-14);
    WadiVec3 torus[] = { { 0, 0, 0 }, { 0, 0, 5 }, { 2, 0, 0 }, { 0.5, 0, 0 } };
    p = wadi_primitive_make(WADI_SHAPE_TORUS, torus);
    CHECK_NEAR(wadi_primitive_distance(&p, wadi_vec3(0, 0, 0)), 1.5, 1e-14);
    CHECK_NEAR(wadi_primitive_distance(&p, wadi_vec3(0, 2, 0)), -0.5, 1e-14);
}

static void normals_are_unit_where_the_distance_has_a_kink(void **unused)
{
    (void)unused;
    WadiVec3 sphere[] = { { 1, 1, 1 }, { 1, 0, 0 } }, n;
    WadiPrimitive p = wadi_primitive_make(WADI_SHAPE_SPHERE, sphere);
    wadi_primitive_sample(&p, wadi_vec3(1, 1, 1), &n);
    CHECK_NEAR(n.z, 1.0, 0);
    for (int c = 0; c < CASE_COUNT; ++c) {
        p = wadi_primitive_make(cases[c].kind, cases[c].parameter);
        WadiVec3 end = wadi_add_scaled(p.a, p.b, p.length);
        WadiVec3 middle = wadi_scale(wadi_add(p.a, end), 0.5);
        const WadiVec3 at[] = { p.a, end, middle, wadi_add_scaled(p.a, p.b, 2.0) };
        for (int i = 0; i < 4; ++i) {
            double d = wadi_primitive_sample(&p, at[i], &n);
            assert_true(isfinite(d));
            CHECK_NEAR(wadi_norm(n), 1.0, 1e-12);
        }
    }
}

static void bounds_hold_the_solid_and_touch_it(void **unused)
{
    (void)unused;
    for (int c = 0; c < CASE_COUNT - 1; ++c) {
        WadiPrimitive p = wadi_primitive_make(cases[c].kind, cases[c].parameter);
        WadiBox box = wadi_primitive_bounds(&p), seen = wadi_box_empty();
        for (uint64_t i = 0; i < 40000; ++i) {
            WadiVec3 x = random_point((uint64_t)c + 50, i, 1.2), n;
            double d = wadi_primitive_sample(&p, x, &n);
            seen = wadi_box_add_point(seen, wadi_add_scaled(x, n, -d));
        }
        assert_true(wadi_box_contains(wadi_box_grown(box, 1e-9), seen.min));
        assert_true(wadi_box_contains(wadi_box_grown(box, 1e-9), seen.max));
        CHECK_AT_MOST(wadi_norm(wadi_sub(seen.min, box.min)), 0.03);
        CHECK_AT_MOST(wadi_norm(wadi_sub(seen.max, box.max)), 0.03);
    }
    WadiVec3 floor[] = { { 0, 0, 2 }, { 0, 0, 3 } };
    WadiPrimitive p = wadi_primitive_make(WADI_SHAPE_HALF_SPACE, floor);
    WadiBox box = wadi_primitive_bounds(&p);
    CHECK_NEAR(box.max.z, 2.0, 0);
    assert_true(isinf(box.min.z) && isinf(box.max.x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_foot_of_the_normal_is_on_the_surface),
        cmocka_unit_test(distances_never_change_faster_than_the_point_moves),
        cmocka_unit_test(normals_are_gradients),
        cmocka_unit_test(the_ellipsoid_has_no_nearer_point_than_it_says),
        cmocka_unit_test(the_ellipsoid_survives_its_symmetry_planes),
        cmocka_unit_test(known_distances),
        cmocka_unit_test(normals_are_unit_where_the_distance_has_a_kink),
        cmocka_unit_test(bounds_hold_the_solid_and_touch_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
