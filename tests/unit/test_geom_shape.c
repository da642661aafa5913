/* geom: transforms, booleans, motion, refusals, and the solids of a world. */
#include <string.h>

#include "core/alloc.h"
#include "core/random.h"
#include "core/timer.h"
#include "expect.h"
#include "geom/solids.h"
#include "random_values.h"

static const double pi = 3.14159265358979323846;

static WadiShapeDef box_def(WadiVec3 min, WadiVec3 max)
{
    WadiShapeDef def = wadi_shape_def(WADI_SHAPE_BOX);
    def.parameter[0] = wadi_curve_constant3(min.x, min.y, min.z);
    def.parameter[1] = wadi_curve_constant3(max.x, max.y, max.z);
    return def;
}

static WadiShapeDef sphere_def(double x, double y, double z, double radius)
{
    WadiShapeDef def = wadi_shape_def(WADI_SHAPE_SPHERE);
    def.parameter[0] = wadi_curve_constant3(x, y, z);
    def.parameter[1] = wadi_curve_constant(radius);
    return def;
}

static WadiCurve ramp(double t0, WadiVec3 a, double t1, WadiVec3 b, int components)
{
    WadiError error;
    WadiCurve curve;
    WadiKey keys[2] = { { t0, { a.x, a.y, a.z } }, { t1, { b.x, b.y, b.z } } };
    CHECK_OK(wadi_curve_create(&curve, keys, 2, components, WADI_INTERPOLATION_LINEAR, false, &error), error);
    return curve;
}

static WadiShape *make(const WadiShapeDef *def)
{
    WadiError error;
    WadiShape *shape;
    CHECK_OK(wadi_shape_create(&shape, def, NULL, &error), error);
    return shape;
}

/* A boolean over copies of children on the caller's stack: not freed through the def. */
static WadiShape *combine(WadiShapeKind kind, WadiShapeDef *children, int count, double radius)
{
    WadiShapeDef def = wadi_shape_def(kind);
    def.parameter[0] = wadi_curve_constant(radius);
    def.children = children;
    def.child_count = count;
    return make(&def);
}

static void names_are_those_of_the_scene_file(void **unused)
{
    (void)unused;
    assert_string_equal(wadi_shape_kind_name(WADI_SHAPE_HALF_SPACE), "half_space");
    assert_string_equal(wadi_shape_kind_name(WADI_SHAPE_SMOOTH_UNION), "smooth_union");
}

static void a_turned_and_scaled_box_keeps_exact_distances(void **unused)
{
    (void)unused;
    WadiShapeDef def = box_def(wadi_vec3(-1, -1, -1), wadi_vec3(1, 1, 1));
    def.rotate = wadi_curve_constant3(0, 0, 45);
    def.scale = wadi_curve_constant3(2, 2, 2);
    def.translate = wadi_curve_constant3(10, 0, 0);
    WadiShape *shape = make(&def);
    /* The edge along z now points to +x, at 10 + 2 sqrt 2. */
    CHECK_NEAR(wadi_shape_distance(shape, wadi_vec3(14, 0, 0), 0), 4 - 2 * sqrt(2), 1e-12);
    CHECK_NEAR(wadi_shape_distance(shape, wadi_vec3(10, 0, 0), 0), -2.0, 1e-12);
    WadiSurfacePoint point = wadi_shape_sample(shape, wadi_vec3(10 + 3, 3, 0), 0);
    CHECK_NEAR(point.distance, 3 * sqrt(2) - 2, 1e-12);
    CHECK_NEAR(point.normal.x, sqrt(0.5), 1e-12);
    CHECK_NEAR(point.normal.y, sqrt(0.5), 1e-12);
    WadiBox box = wadi_shape_bounds(shape, 0);
    CHECK_NEAR(box.max.x, 10 + 2 * sqrt(2), 1e-12);
    CHECK_NEAR(box.max.z, 2, 1e-12);
    assert_false(wadi_shape_is_moving(shape));
    CHECK_NEAR(wadi_shape_speed_bound(shape, wadi_vec3(0, 0, 0), 1, 0, 1), 0, 0);
    wadi_shape_destroy(shape);
}

static void scale_and_rotation_are_about_the_pivot(void **unused)
{
    (void)unused;
    WadiShapeDef def = sphere_def(3, 0, 0, 1);
    def.pivot = wadi_curve_constant3(1, 0, 0);
    def.rotate = wadi_curve_constant3(0, 0, 90);
    def.scale = wadi_curve_constant3(2, 2, 2);
    WadiShape *shape = make(&def);
    CHECK_NEAR(wadi_shape_distance(shape, wadi_vec3(1, 4, 0), 0), -2.0, 1e-12);
    wadi_shape_destroy(shape);
}

/* A sphere scaled to an ellipsoid must stay below the ellipsoid's true distance, with its sign. */
static void uneven_scale_is_a_safe_bound(void **unused)
{
    (void)unused;
    WadiShapeDef sphere = sphere_def(0, 0, 0, 1), ellipsoid = wadi_shape_def(WADI_SHAPE_ELLIPSOID);
    sphere.scale = wadi_curve_constant3(0.5, 1, -2);
    ellipsoid.parameter[1] = wadi_curve_constant3(0.5, 1, 2);
    WadiShape *a = make(&sphere), *b = make(&ellipsoid);
    for (uint64_t i = 0; i < 5000; ++i) {
        WadiVec3 x = random_point(1, i, 3);
        double bound = wadi_shape_distance(a, x, 0), true_distance = wadi_shape_distance(b, x, 0);
        CHECK_AT_MOST(fabs(bound), fabs(true_distance) + 1e-12);
        assert_true((bound < 0) == (true_distance < 0));
        assert_true(wadi_shape_contains(a, x, 0) == (bound < 0));
    }
    wadi_shape_destroy(a);
    wadi_shape_destroy(b);
}

static void booleans_combine_insides(void **unused)
{
    (void)unused;
    WadiShapeDef parts[3] = { sphere_def(-0.3, 0, 0, 0.7),
                              box_def(wadi_vec3(-0.2, -0.5, -0.5), wadi_vec3(0.9, 0.5, 0.5)),
                              sphere_def(0.2, 0.6, 0, 0.5) };
    WadiShape *part[3];
    for (int i = 0; i < 3; ++i) {
        part[i] = make(&parts[i]);
    }
    WadiShape *all = combine(WADI_SHAPE_UNION, parts, 3, 0),
              *common = combine(WADI_SHAPE_INTERSECTION, parts, 3, 0);
    WadiShape *rest = combine(WADI_SHAPE_DIFFERENCE, parts, 3, 0);
    for (uint64_t i = 0; i < 5000; ++i) {
        WadiVec3 x = random_point(2, i, 1.3);
        bool in[3];
        for (int k = 0; k < 3; ++k) {
            in[k] = wadi_shape_contains(part[k], x, 0);
        }
        assert_true(wadi_shape_contains(all, x, 0) == (in[0] || in[1] || in[2]));
        assert_true(wadi_shape_contains(common, x, 0) == (in[0] && in[1] && in[2]));
        assert_true(wadi_shape_contains(rest, x, 0) == (in[0] && !in[1] && !in[2]));
        const WadiShape *shapes[] = { all, common, rest };
        for (int k = 0; k < 3; ++k) {
            WadiSurfacePoint point = wadi_shape_sample(shapes[k], x, 0);
            CHECK_NEAR(point.distance, wadi_shape_distance(shapes[k], x, 0), 1e-14);
            /* Safe: the whole ball of that radius has one sign. */
            WadiVec3 y = wadi_add_scaled(x, wadi_normalized_or(random_point(3, i, 1), wadi_vec3(1, 0, 0)),
                                         0.999 * fabs(point.distance));
            assert_true((wadi_shape_distance(shapes[k], y, 0) < 0) == (point.distance < 0));
            WadiBox box = wadi_shape_bounds(shapes[k], 0);
            assert_true(point.distance > 0 || wadi_box_contains(box, x));
        }
    }
    for (int i = 0; i < 3; ++i) {
        wadi_shape_destroy(part[i]);
    }
    wadi_shape_destroy(all);
    wadi_shape_destroy(common);
    wadi_shape_destroy(rest);
}

static void smooth_union_is_smooth_and_below_the_union(void **unused)
{
    (void)unused;
    WadiShapeDef parts[2] = { sphere_def(-0.5, 0, 0, 0.5), sphere_def(0.5, 0, 0, 0.5) };
    WadiShape *smooth = combine(WADI_SHAPE_SMOOTH_UNION, parts, 2, 0.4),
              *sharp = combine(WADI_SHAPE_UNION, parts, 2, 0);
    /* Where both distances are equal the blend is lower by k/4. */
    CHECK_NEAR(wadi_shape_distance(smooth, wadi_vec3(0, 0.5, 0), 0), sqrt(0.5) - 0.5 - 0.1, 1e-12);
    for (uint64_t i = 0; i < 4000; ++i) {
        WadiVec3 x = random_point(4, i, 1.5), dx = random_point(5, i, 1e-5);
        double d = wadi_shape_distance(smooth, x, 0);
        CHECK_AT_MOST(d, wadi_shape_distance(sharp, x, 0) + 1e-15);
        assert_true(d > 0 || wadi_box_contains(wadi_shape_bounds(smooth, 0), x));
        /* C1: the normal turns no faster than the curvatures 1/r and 2/k allow, across the seam of the blend
         * too. */
        WadiSurfacePoint a = wadi_shape_sample(smooth, x, 0),
                         b = wadi_shape_sample(smooth, wadi_add(x, dx), 0);
        double clearance =
            fmin(wadi_norm(wadi_sub(x, wadi_vec3(-0.5, 0, 0))), wadi_norm(wadi_sub(x, wadi_vec3(0.5, 0, 0))));
        if (clearance > 0.1) {
            CHECK_AT_MOST(wadi_norm(wadi_sub(a.normal, b.normal)), 40 * wadi_norm(dx));
        }
        /* Safe: 1-Lipschitz. */
        WadiVec3 y = random_point(6, i, 1.5);
        CHECK_AT_MOST(fabs(wadi_shape_distance(smooth, y, 0) - d), wadi_norm(wadi_sub(x, y)) + 1e-12);
    }
    wadi_shape_destroy(smooth);
    wadi_shape_destroy(sharp);
}

static void a_rotating_box_moves_as_omega_cross_r(void **unused)
{
    (void)unused;
    WadiShapeDef def = box_def(wadi_vec3(-1, -0.5, -0.25), wadi_vec3(1, 0.5, 0.25));
    def.pivot = wadi_curve_constant3(0.5, 0.2, 0.1);
    def.translate = ramp(0, wadi_vec3(0, 0, 0), 2, wadi_vec3(2, 4, 6), 3);
    def.rotate = ramp(0, wadi_vec3(0, 0, 0), 1, wadi_vec3(0, 0, 90), 3);
    WadiShape *shape = make(&def);
    assert_true(wadi_shape_is_moving(shape));
    for (uint64_t i = 0; i < 500; ++i) {
        double time = 0.9 * wadi_random_unit(9, i, WADI_RANDOM_TEST);
        WadiVec3 x = wadi_add(random_point(10, i, 3), wadi_vec3(time, 2 * time, 3 * time));
        WadiSurfacePoint point = wadi_shape_sample(shape, x, time);
        WadiVec3 q = wadi_add_scaled(x, point.normal, -point.distance);
        WadiVec3 center = { 0.5 + time, 0.2 + 2 * time, 0.1 + 3 * time };
        WadiVec3 expected =
            wadi_add(wadi_vec3(1, 2, 3), wadi_cross(wadi_vec3(0, 0, pi / 2), wadi_sub(q, center)));
        CHECK_AT_MOST(wadi_norm(wadi_sub(point.velocity, expected)), 1e-10);
        /* The material point that carry follows stays on the surface and moves with that velocity. */
        double dt = 1e-4;
        WadiVec3 moved = wadi_shape_carry(shape, q, time, time + dt);
        CHECK_AT_MOST(wadi_norm(wadi_sub(wadi_scale(wadi_sub(moved, q), 1 / dt), point.velocity)), 1e-3);
        CHECK_NEAR(wadi_shape_distance(shape, moved, time + dt), 0.0, 1e-10);
        double rate = fabs(wadi_shape_distance(shape, x, time + dt) - point.distance) / dt;
        double bound = wadi_shape_speed_bound(shape, x, 0, time, time + dt);
        CHECK_AT_MOST(rate, bound);
        CHECK_AT_MOST(bound, sqrt(14) + pi / 2 * (wadi_norm(wadi_sub(x, center)) + 0.01));
    }
    CHECK_NEAR(wadi_norm(wadi_shape_sample(shape, wadi_vec3(0, 0, 0), 5.0).velocity), 0, 0);
    wadi_curve_free(&def.translate);
    wadi_curve_free(&def.rotate);
    wadi_shape_destroy(shape);
}

static void all_euler_angles_together_move_as_their_differences(void **unused)
{
    (void)unused;
    WadiShapeDef def = sphere_def(0.4, 0.1, -0.2, 0.3);
    def.rotate = ramp(0, wadi_vec3(10, 20, 30), 1, wadi_vec3(130, -70, 200), 3);
    def.scale = ramp(0, wadi_vec3(1, 1, 1), 1, wadi_vec3(1.5, 2, 1.2), 3);
    def.pivot = ramp(0, wadi_vec3(0, 0, 0), 1, wadi_vec3(0.3, 0, 0.1), 3);
    WadiShape *shape = make(&def);
    for (uint64_t i = 0; i < 300; ++i) {
        WadiVec3 x = random_point(20, i, 1);
        double dt = 1e-5, time = 0.5;
        WadiSurfacePoint point = wadi_shape_sample(shape, x, time);
        WadiVec3 ahead = wadi_shape_carry(shape, x, time, time + dt),
                 behind = wadi_shape_carry(shape, x, time, time - dt);
        WadiVec3 v = wadi_scale(wadi_sub(ahead, behind), 0.5 / dt);
        double change = fabs(wadi_shape_distance(shape, x, time + dt) - point.distance) / dt;
        CHECK_AT_MOST(change, wadi_shape_speed_bound(shape, x, 0, time, time + dt));
        if (fabs(point.distance) < 0.01) {
            CHECK_AT_MOST(wadi_norm(wadi_sub(v, point.velocity)), 0.2);
        }
    }
    wadi_curve_free(&def.rotate);
    wadi_curve_free(&def.scale);
    wadi_curve_free(&def.pivot);
    wadi_shape_destroy(shape);
}

/* The material of a shape whose parameters move is stretched: a point keeps its part of the size on every
 * axis. */
static void moving_sizes_stretch_the_material(void **unused)
{
    (void)unused;
    WadiShapeDef def = box_def(wadi_vec3(0, 0, 0), wadi_vec3(1, 1, 1));
    def.parameter[1] = ramp(0, wadi_vec3(1, 1, 1), 1, wadi_vec3(3, 2, 1), 3);
    WadiShape *box = make(&def);
    /* At 0.5 s it is 2 x 1.5 x 1. Near an edge inside, where the side x = 2 is the nearest: z does not grow,
     * y does. */
    WadiSurfacePoint point = wadi_shape_sample(box, wadi_vec3(1.95, 0.75, 0.9), 0.5);
    CHECK_NEAR(point.distance, -0.05, 1e-12);
    CHECK_NEAR(point.velocity.x, 2.0, 1e-12);
    CHECK_NEAR(point.velocity.y, 0.5, 1e-12);
    CHECK_NEAR(point.velocity.z, 0.0, 1e-12);
    /* Outside the edge x = 2, y = 1.5: both sides' motion. */
    point = wadi_shape_sample(box, wadi_vec3(2.3, 1.9, 0.5), 0.5);
    CHECK_NEAR(point.distance, 0.5, 1e-12);
    CHECK_NEAR(point.velocity.x, 2.0, 1e-12);
    CHECK_NEAR(point.velocity.y, 1.0, 1e-12);
    WadiVec3 carried = wadi_shape_carry(box, wadi_vec3(2.1, 0.75, 0.9), 0.5, 1.0);
    CHECK_AT_MOST(wadi_norm(wadi_sub(carried, wadi_vec3(3.1, 1.0, 0.9))), 1e-12);
    wadi_curve_free(&def.parameter[1]);
    wadi_shape_destroy(box);
}

/* Cones and capsules of which everything moves: the material stays on the surface, and moves at the
 * velocity. */
static void round_shapes_carry_their_surface(void **unused)
{
    (void)unused;
    const WadiShapeKind kinds[] = { WADI_SHAPE_CYLINDER, WADI_SHAPE_CONE, WADI_SHAPE_CAPSULE };
    for (int k = 0; k < 3; ++k) {
        WadiShapeDef def = wadi_shape_def(kinds[k]);
        def.parameter[0] = ramp(0, wadi_vec3(0, 0, 0), 1, wadi_vec3(0.2, 0.1, -0.3), 3);
        def.parameter[1] = ramp(0, wadi_vec3(0, 0, 1), 1, wadi_vec3(0.5, -0.4, 1.5), 3);
        def.parameter[2] = ramp(0, wadi_vec3(0.3, 0, 0), 1, wadi_vec3(0.6, 0, 0), 1);
        if (kinds[k] == WADI_SHAPE_CONE) {
            def.parameter[3] = ramp(0, wadi_vec3(0.2, 0, 0), 1, wadi_vec3(0.1, 0, 0), 1);
        }
        WadiShape *shape = make(&def);
        for (uint64_t i = 0; i < 300; ++i) {
            const double dt = 1e-5, time = 0.5;
            const WadiVec3 x = random_point(30, i, 2);
            const WadiSurfacePoint point = wadi_shape_sample(shape, x, time);
            const WadiVec3 q = wadi_add_scaled(x, point.normal, -point.distance);
            const WadiVec3 next = wadi_add_scaled(q, point.velocity, dt);
            CHECK_AT_MOST(fabs(wadi_shape_distance(shape, q, time)), 1e-12);
            CHECK_AT_MOST(fabs(wadi_shape_distance(shape, next, time + dt)), 10 * dt * dt);
            const WadiVec3 carried = wadi_shape_carry(shape, q, time, time + dt);
            CHECK_AT_MOST(wadi_norm(wadi_sub(carried, next)), 10 * dt * dt);
        }
        for (int n = 0; n < 4; ++n) {
            wadi_curve_free(&def.parameter[n]);
        }
        wadi_shape_destroy(shape);
    }
}

static void moving_parameters_move_the_surface(void **unused)
{
    (void)unused;
    /* A sphere that grows by 2 m/s while its centre moves with (1, 0, 0). */
    WadiShapeDef def = sphere_def(0, 0, 0, 1);
    def.parameter[0] = ramp(0, wadi_vec3(0, 0, 0), 1, wadi_vec3(1, 0, 0), 3);
    def.parameter[1] = ramp(0, wadi_vec3(1, 0, 0), 1, wadi_vec3(3, 0, 0), 1);
    WadiShape *shape = make(&def);
    WadiSurfacePoint point = wadi_shape_sample(shape, wadi_vec3(0.5, 5, 0), 0.5);
    CHECK_NEAR(point.distance, 3.0, 1e-12);
    CHECK_NEAR(point.velocity.x, 1.0, 1e-8);
    CHECK_NEAR(point.velocity.y, 2.0, 1e-8);
    WadiVec3 carried = wadi_shape_carry(shape, wadi_vec3(0.5, 2, 0), 0.5, 1.0);
    CHECK_NEAR(carried.x, 1.0, 1e-12);
    CHECK_NEAR(carried.y, 3.0, 1e-12);
    CHECK_NEAR(wadi_shape_speed_bound(shape, wadi_vec3(0, 0, 0), 1, 0.2, 0.3), 3.0, 1e-12);
    CHECK_NEAR(wadi_shape_speed_bound(shape, wadi_vec3(0, 0, 0), 1, 2.0, 3.0), 0.0, 0);
    CHECK_NEAR(wadi_shape_bounds(shape, 1.0).max.x, 4.0, 1e-12);
    wadi_curve_free(&def.parameter[0]);
    wadi_curve_free(&def.parameter[1]);
    wadi_shape_destroy(shape);
}

static void nonsense_is_refused_by_name(void **unused)
{
    (void)unused;
    WadiShapeDef bad[6] = { sphere_def(0, 0, 0, 0),           box_def(wadi_vec3(0, 0, 0), wadi_vec3(1, 0, 1)),
                            wadi_shape_def(WADI_SHAPE_TORUS), wadi_shape_def(WADI_SHAPE_UNION),
                            sphere_def(0, 0, 0, 1),           sphere_def(0, (double)NAN, 0, 1) };
    const char *expected[6] = { "radius", "max", "axis", "at least one", "scale", "finite" };
    bad[4].scale = wadi_curve_constant3(1, 0, 1);
    size_t live = wadi_alloc_live_bytes();
    for (int i = 0; i < 6; ++i) {
        WadiError error = { 0 };
        WadiShape *shape = NULL;
        snprintf(bad[i].where, sizeof bad[i].where, "scene.yaml:%d:5", i);
        assert_int_equal(wadi_shape_create(&shape, &bad[i], NULL, &error), WADI_ERR_ARGUMENT);
        assert_null(shape);
        assert_non_null(strstr(error.text, expected[i]));
        assert_non_null(strstr(error.text, bad[i].where));
    }
    assert_int_equal(wadi_alloc_live_bytes(), live);
}

static void a_resting_box_answers_in_nanoseconds(void **unused)
{
    (void)unused;
    WadiShapeDef def = box_def(wadi_vec3(-1, -1, -1), wadi_vec3(1, 1, 1));
    def.rotate = wadi_curve_constant3(10, 20, 30);
    WadiShape *shape = make(&def);
    double sum = 0, start = wadi_time_now();
    enum { COUNT = 200000 };
    for (int i = 0; i < COUNT; ++i) {
        sum += wadi_shape_distance(shape, wadi_vec3(1e-5 * i, 0.5, 0.7), 0);
    }
    double each = (wadi_time_now() - start) / COUNT;
    print_message("a turned box at rest: %.1f ns a distance\n", 1e9 * each);
    assert_true(isfinite(sum));
    CHECK_BENCH(each, 5e-6);
    wadi_shape_destroy(shape);
}

static void solids_tell_the_nearest_and_walls_are_outside(void **unused)
{
    (void)unused;
    WadiShapeDef ball = sphere_def(2, 2, 2, 1);
    WadiShape *shape = make(&ball);
    WadiCurve friction = wadi_curve_constant(0.3), bounce = wadi_curve_constant(0.5),
              rough = wadi_curve_constant(0.9);
    WadiSolid solid = { shape, &friction, &bounce };
    WadiSolids solids = { &solid, 1,   { { 0, 0, 0 }, { 10, 10, 10 } }, WADI_SIDE_ALL & ~WADI_SIDE_Z_MAX,
                          &rough, NULL };
    WadiSolidPoint point = wadi_solids_sample(&solids, wadi_vec3(4, 2, 2), 0);
    assert_int_equal(point.index, 0);
    CHECK_NEAR(point.surface.distance, 1.0, 1e-15);
    CHECK_NEAR(point.friction, 0.3, 0);
    CHECK_NEAR(point.restitution, 0.5, 0);
    point = wadi_solids_sample(&solids, wadi_vec3(9.5, 5, 9.9), 0);
    assert_int_equal(point.index, -1);
    CHECK_NEAR(point.surface.distance, 0.5, 1e-15);
    CHECK_NEAR(point.surface.normal.x, -1.0, 0);
    CHECK_NEAR(point.friction, 0.9, 0);
    CHECK_NEAR(wadi_solids_sample(&solids, wadi_vec3(5, 5, -1), 0).surface.distance, -1.0, 0);
    CHECK_NEAR(wadi_solids_distance(&solids, wadi_vec3(4, 2, 2), 0, 100), 1.0, 1e-15);
    double d = wadi_solids_distance(&solids, wadi_vec3(9, 5, 5), 0, 0.5);
    assert_true(d >= 0.5 && d <= 1.0);
    solids.closed_sides = 0;
    solids.count = 0;
    point = wadi_solids_sample(&solids, wadi_vec3(5, 5, 5), 0);
    assert_int_equal(point.index, -2);
    assert_true(isinf(point.surface.distance));
    assert_false(wadi_solids_are_moving(&solids));
    wadi_shape_destroy(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_scene_file),
        cmocka_unit_test(a_turned_and_scaled_box_keeps_exact_distances),
        cmocka_unit_test(scale_and_rotation_are_about_the_pivot),
        cmocka_unit_test(uneven_scale_is_a_safe_bound),
        cmocka_unit_test(booleans_combine_insides),
        cmocka_unit_test(smooth_union_is_smooth_and_below_the_union),
        cmocka_unit_test(a_rotating_box_moves_as_omega_cross_r),
        cmocka_unit_test(all_euler_angles_together_move_as_their_differences),
        cmocka_unit_test(moving_sizes_stretch_the_material),
        cmocka_unit_test(round_shapes_carry_their_surface),
        cmocka_unit_test(moving_parameters_move_the_surface),
        cmocka_unit_test(nonsense_is_refused_by_name),
        cmocka_unit_test(a_resting_box_answers_in_nanoseconds),
        cmocka_unit_test(solids_tell_the_nearest_and_walls_are_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
