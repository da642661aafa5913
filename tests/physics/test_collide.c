/* Contacts have the textbook answers: rest, slide, stick, bounce, corners, moving solids, squeezing. */
#include <string.h>

#include "core/parallel.h"
#include "core/random.h"
#include "core/timer.h"
#include "particles/collide.h"
#include "scene_shapes.h"

static const double G = 9.81, PI = 3.14159265358979323846;

static bool are_equal(WadiVec3 a, WadiVec3 b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static WadiCollideOut fall(const WadiSolids *solids, double time, double dt, double skin, WadiVec3 x,
                           WadiVec3 v)
{
    WadiCollideIn in = { solids, time, time + dt, skin };
    v.z -= G * dt;
    return wadi_collide_move(&in, x, wadi_add_scaled(x, v, dt), v);
}

static void what_rests_stays_to_the_last_bit(void **unused)
{
    (void)unused;
    WadiCurve friction = wadi_curve_constant(0.7), smooth = wadi_curve_constant(0.0);
    /* Flat, tilted with friction enough to hold, and with a paddle moving far away. */
    WadiVec3 normals[2] = { { 0, 0, 1 }, { 0.3, 0.2, 0.933 } };
    WadiShapeDef far_def = def_of_sphere(wadi_vec3(0, 0, 50), 1.0);
    far_def.translate = curve_of(0, wadi_vec3(-10, 0, 0), 100, wadi_vec3(1000, 0, 0));
    WadiShape *far_away = shape_of(far_def);
    for (int c = 0; c < 4; ++c) {
        WadiShape *ground = shape_of(def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(0, 0, 0), normals[c % 2]));
        WadiSolid solid[2] = { { ground, &friction, &smooth }, { far_away, &friction, &smooth } };
        WadiSolids solids = { solid, c < 2 ? 1 : 2, endless_box(), 0, NULL, NULL };
        WadiVec3 x = { 0.1, 0.2, 0.5 }, v = { 0, 0, 0 }, rest = x;
        int rested = 0;
        for (int step = 0; step < 12000; ++step) {
            WadiCollideOut out = fall(&solids, step * 0.001, 0.001, 1e-5, x, v);
            assert_false(out.is_stuck);
            x = out.x, v = out.v;
            if (step == 2000) {
                rest = x;
            }
            rested += step > 2000 && are_equal(x, rest) && wadi_norm(v) == 0.0;
        }
        assert_int_equal(rested, 9999);
        double d = wadi_shape_distance(ground, x, 0.0);
        assert_true(d >= 0.5e-5 && d <= 2.0e-5);
        wadi_shape_destroy(ground);
    }
    wadi_shape_destroy(far_away);
}

static void an_incline_obeys_coulomb(void **unused)
{
    (void)unused;
    double angles[4] = { 20, 30, 40, 60 }, mus[4] = { 0.0, 0.2, 0.5, 0.9 };
    for (int c = 0; c < 16; ++c) {
        double a = angles[c % 4] * PI / 180.0, mu = mus[c / 4];
        WadiCurve friction = wadi_curve_constant(mu), restitution = wadi_curve_constant(0.0);
        WadiShape *slope =
            shape_of(def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(0, 0, 0), wadi_vec3(sin(a), 0, cos(a))));
        WadiSolid solid = { slope, &friction, &restitution };
        WadiSolids solids = { &solid, 1, endless_box(), 0, NULL, NULL };
        WadiVec3 x = { 1.5e-5 * sin(a), 0, 1.5e-5 * cos(a) }, v = { 0, 0, 0 }, start = x;
        for (int step = 0; step < 1000; ++step) {
            WadiCollideOut out = fall(&solids, step * 0.001, 0.001, 1e-5, x, v);
            x = out.x, v = out.v;
            CHECK_NEAR(wadi_shape_distance(slope, x, 0.0), 1.5e-5, 1e-5);
        }
        double acceleration = G * (sin(a) - mu * cos(a));
        if (acceleration < 0.0) {
            assert_true(are_equal(x, start));
        } else {
            CHECK_NEAR(wadi_norm(v) / acceleration, 1.0, 0.01);
            CHECK_NEAR(wadi_norm(wadi_sub(x, start)) / (0.5 * acceleration), 1.0, 0.01);
        }
        wadi_shape_destroy(slope);
    }
}

static void a_bounce_keeps_the_square_of_restitution(void **unused)
{
    (void)unused;
    double es[3] = { 0.9, 0.5, 0.0 };
    for (int c = 0; c < 3; ++c) {
        WadiCurve restitution = wadi_curve_constant(es[c]), friction = wadi_curve_constant(0.5);
        WadiSolids solids = {
            NULL, 0, { { -9, -9, 0 }, { 9, 9, 9 } }, WADI_SIDE_ALL, &friction, &restitution
        };
        WadiVec3 x = { 0, 0, 1 }, v = { 0, 0, 0 };
        double height = 0.0;
        bool has_bounced = false;
        for (int step = 0; step < 200000; ++step) {
            WadiCollideOut out = fall(&solids, step * 1e-4, 1e-4, 1e-6, x, v);
            /* The height after the first bounce only. */
            has_bounced = has_bounced || out.contacts > 0;
            if (has_bounced && out.v.z < 0.0 && height == 0.0) {
                height = x.z;
            }
            x = out.x, v = out.v;
        }
        CHECK_NEAR(height, es[c] * es[c], 0.005);
        /* 20 s later bouncing has ended. */
        CHECK_NEAR(wadi_norm(v), 0.0, 0.0);
    }
}

static void a_billiard_keeps_its_speed(void **unused)
{
    (void)unused;
    WadiCurve one = wadi_curve_constant(1.0), zero = wadi_curve_constant(0.0);
    WadiSolids solids = { NULL, 0, { { 0, 0, 0 }, { 1, 1, 1 } }, WADI_SIDE_ALL, &zero, &one };
    WadiVec3 x = { 0.2, 0.3, 0.4 }, v = { 3.1, -2.3, 1.7 };
    double speed = wadi_norm(v);
    int contacts = 0;
    for (int step = 0; step < 20000; ++step) {
        WadiCollideIn in = { &solids, 0, 0.1, 1e-5 };
        WadiCollideOut out = wadi_collide_move(&in, x, wadi_add_scaled(x, v, 0.1), v);
        x = out.x, v = out.v;
        contacts += out.contacts;
        assert_true(wadi_box_contains(solids.domain, x));
    }
    /* 2000 s at 7.1 crossings a second in the three axes together. */
    assert_true(contacts > 13000 && contacts < 15000);
    CHECK_NEAR(wadi_norm(v), speed, 1e-9 * speed);
    CHECK_NEAR(fabs(v.x), 3.1, 1e-9);
}

static void sliding_without_friction_keeps_speed(void **unused)
{
    (void)unused;
    WadiCurve zero = wadi_curve_constant(0.0);
    WadiSolids solids = { NULL, 0, box_of(-1000, 1000), WADI_SIDE_ALL, &zero, &zero };
    WadiVec3 x = { 0, 0, -1000 + 1.5e-5 }, v = { 30, 0, 0 };
    for (int step = 0; step < 100; ++step) {
        WadiCollideOut out = fall(&solids, 0, 1.0 / 24, 1e-5, x, v);
        x = out.x, v = out.v;
    }
    CHECK_NEAR(v.x, 30.0, 1e-9);
    CHECK_NEAR(x.x, 125.0, 1e-6);
    CHECK_NEAR(x.z, -1000 + 1.5e-5, 1e-5);
}

/* A corner of three walls, made of the domain, of three solids, or inside one solid. */
static void a_corner_holds(void **unused)
{
    (void)unused;
    WadiCurve zero = wadi_curve_constant(0.0);
    WadiShape *three[3] = {
        shape_of(def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(0, 0, 0), wadi_vec3(1, 0, 0))),
        shape_of(def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(0, 0, 0), wadi_vec3(0, 1, 0))),
        shape_of(def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(0, 0, 0), wadi_vec3(-0.3, -0.4, 1))),
    };
    WadiShape *inner = shape_of(def_of_two(WADI_SHAPE_DIFFERENCE,
                                           def_of(WADI_SHAPE_BOX, wadi_vec3(-1, -1, -1), wadi_vec3(1, 1, 1)),
                                           def_of(WADI_SHAPE_BOX, wadi_vec3(0, 0, 0), wadi_vec3(2, 2, 2))));
    WadiSolid solid[3], single = { inner, &zero, &zero };
    for (int i = 0; i < 3; ++i) {
        solid[i] = (WadiSolid){ three[i], &zero, &zero };
    }
    WadiSolids cases[3] = { { NULL, 0, box_of(0, 1), WADI_SIDE_ALL, &zero, &zero },
                            { solid, 3, endless_box(), 0, NULL, NULL },
                            { &single, 1, endless_box(), 0, NULL, NULL } };
    for (int c = 0; c < 3; ++c) {
        WadiVec3 x = { 0.3, 0.2, 0.5 }, v = { 0, 0, 0 }, rest = x;
        int rested = 0;
        for (int step = 0; step < 4000; ++step) {
            WadiCollideIn in = { &cases[c], 0.0, 0.002, 1e-5 };
            v = wadi_add(v, wadi_vec3(-0.01, -0.02, -0.02)); /* pulled into the corner */
            WadiCollideOut out = wadi_collide_move(&in, x, wadi_add_scaled(x, v, 0.002), v);
            assert_false(out.is_stuck);
            x = out.x, v = out.v;
            assert_true(wadi_solids_distance(&cases[c], x, 0.0, 1.0) >= 0.0);
            if (step == 3000) {
                rest = x;
            }
            rested += step > 3000 && are_equal(rest, x);
        }
        assert_int_equal(rested, 999);
        CHECK_AT_MOST(wadi_norm(x), 1e-4);
    }
    wadi_shape_destroy(inner);
    for (int i = 0; i < 3; ++i) {
        wadi_shape_destroy(three[i]);
    }
}

static void a_moving_wall_sweeps_what_rests(void **unused)
{
    (void)unused;
    WadiCurve zero = wadi_curve_constant(0.0);
    WadiShapeDef def = def_of(WADI_SHAPE_BOX, wadi_vec3(-0.001, -1, -1), wadi_vec3(0, 1, 1));
    def.translate = curve_of(0, wadi_vec3(-0.5, 0, 0), 1, wadi_vec3(4.5, 0, 0)); /* 5 m/s */
    WadiShape *wall = shape_of(def);
    WadiSolid solid = { wall, &zero, &zero };
    WadiSolids solids = { &solid, 1, endless_box(), 0, NULL, NULL };
    WadiVec3 x = { 0, 0, 0 }, v = { 0, 0, 0 };
    for (int step = 0; step < 24; ++step) {
        WadiCollideIn in = { &solids, step / 24.0, (step + 1) / 24.0, 1e-5 };
        WadiCollideOut out = wadi_collide_move(&in, x, wadi_add_scaled(x, v, 1 / 24.0), v);
        assert_false(out.is_stuck);
        x = out.x, v = out.v;
        double front = -0.5 + 5.0 * in.t1;
        assert_true(x.x >= front);
        CHECK_NEAR(x.x, fmax(0.0, front), 1e-4);
        CHECK_NEAR(v.x, front > 0.0 ? 5.0 : 0.0, 1e-9);
    }
    wadi_shape_destroy(wall);
}

static void what_begins_inside_comes_out_on_its_side(void **unused)
{
    (void)unused;
    WadiCurve zero = wadi_curve_constant(0.0);
    WadiShape *plate = shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(-1, -1, 0), wadi_vec3(1, 1, 0.001)));
    WadiSolid solid = { plate, &zero, &zero };
    WadiSolids solids = { &solid, 1, endless_box(), 0, NULL, NULL };
    WadiCollideIn in = { &solids, 0, 0.01, 1e-6 };
    for (int below = 0; below < 2; ++below) {
        WadiVec3 x = { 0, 0, below ? 0.0004 : 0.0006 }, v = { 1, 0, below ? 1.0 : -1.0 };
        WadiCollideOut out = wadi_collide_move(&in, x, wadi_add_scaled(x, v, 0.01), v);
        assert_true(below ? out.x.z < 0.0 : out.x.z > 0.001);
        CHECK_NEAR(out.x.x, 0.01, 1e-9);
        CHECK_NEAR(out.v.z, 0.0, 1e-12);
    }
    wadi_shape_destroy(plate);
}

static void closing_walls_squeeze_without_breaking(void **unused)
{
    (void)unused;
    WadiCurve friction = wadi_curve_constant(0.5), restitution = wadi_curve_constant(0.5);
    WadiShapeDef def = def_of(WADI_SHAPE_BOX, wadi_vec3(-1, -1, -1), wadi_vec3(0, 1, 1));
    def.translate = curve_of(0, wadi_vec3(-0.5, 0, 0), 1, wadi_vec3(0.7, 0, 0));
    WadiShapeDef other_def = def_of(WADI_SHAPE_BOX, wadi_vec3(0, -1, -1), wadi_vec3(1, 1, 1));
    other_def.translate = curve_of(0, wadi_vec3(0.5, 0, 0), 1, wadi_vec3(-0.3, 0, 0));
    WadiShape *left = shape_of(def), *right = shape_of(other_def);
    WadiSolid solid[2] = { { left, &friction, &restitution }, { right, &friction, &restitution } };
    WadiSolids solids = { solid, 2, endless_box(), 0, NULL, NULL };
    WadiVec3 x = { 0.1, 0.05, 0 }, v = { 2, 0.1, 0 };
    bool was_stuck = false;
    for (int step = 0; step < 24; ++step) {
        WadiCollideIn in = { &solids, step / 24.0, (step + 1) / 24.0, 1e-5 };
        WadiCollideOut out = wadi_collide_move(&in, x, wadi_add_scaled(x, v, 1 / 24.0), v);
        x = out.x, v = out.v;
        was_stuck = was_stuck || out.is_stuck;
        assert_true(wadi_is_finite(x) && wadi_is_finite(v));
        /* The walls meet at t = 0.5; before that there is room. */
        if (in.t1 < 0.49) {
            assert_false(out.is_stuck);
            assert_true(wadi_solids_distance(&solids, x, in.t1, 1.0) >= 0.0);
        }
    }
    assert_true(was_stuck);
    wadi_shape_destroy(left);
    wadi_shape_destroy(right);
}

static void strange_input_comes_back(void **unused)
{
    (void)unused;
    WadiSolids none = { NULL, 0, endless_box(), 0, NULL, NULL };
    WadiCollideIn in = { &none, 0, 1, 1e-5 };
    WadiVec3 x = { 1, 2, 3 }, v = { 4, 5, 6 }, bad = { NAN, 0, 0 };
    WadiCollideOut out = wadi_collide_move(&in, x, wadi_add(x, v), v);
    assert_true(are_equal(out.x, wadi_add(x, v)) && out.contacts == 0);
    out = wadi_collide_move(&in, x, bad, v);
    assert_true(isnan(out.x.x) && out.contacts == 0);
    WadiParticles particles;
    WadiError error;
    CHECK_OK(wadi_particles_init(&particles, &error), error);
    WadiCollideReport report = wadi_collide_move_all(&in, &particles, NULL, NULL, NULL);
    assert_int_equal(report.touched + report.stuck, 0);
    wadi_particles_free(&particles);
}

/* Free, resting and sliding particles at a usual step: what a solver pays. Prints; the assertion is on the
 * answers. */
static void the_cost_of_a_step(void **unused)
{
    (void)unused;
    enum { N = 100000 };
    static double to[3][N];
    WadiError error;
    WadiCurve friction = wadi_curve_constant(0.3), zero = wadi_curve_constant(0.0);
    WadiShape *ball = shape_of(def_of_sphere(wadi_vec3(0, 0, -0.5), 0.7));
    WadiSolid solid = { ball, &friction, &zero };
    WadiSolids solids = { &solid, 1, { { -2, -2, 0 }, { 2, 2, 2 } }, WADI_SIDE_ALL, &friction, &zero };
    const char *names[3] = { "free", "resting on the floor", "sliding on the floor, one cell a step" };
    for (int c = 0; c < 3; ++c) {
        WadiParticles p;
        int32_t first;
        CHECK_OK(wadi_particles_init(&p, &error), error);
        CHECK_OK(wadi_particles_append(&p, N, &first, &error), error);
        double h = 0.02, skin = 1e-3 * h, dt = 0.01;
        WadiCollideIn in = { &solids, 0, dt, skin };
        WadiCollideReport report = { 0 };
        double best = INFINITY;
        for (int round = 0; round < 5; ++round) {
            for (int i = 0; i < N; ++i) {
                double u[3];
                wadi_random_unit3(1, (uint64_t)i, WADI_RANDOM_TEST, u);
                p.x[i] = -1.8 + 1.0 * u[0];
                p.y[i] = -1.8 + 1.0 * u[1];
                p.z[i] = c == 0 ? 1.0 + 0.5 * u[2] : 1.5 * skin;
                p.vx[i] = c == 1 ? 0.0f : 2.0f;
                p.vz[i] = (float)(-G * dt);
                to[0][i] = p.x[i] + (double)p.vx[i] * dt;
                to[1][i] = p.y[i];
                to[2][i] = p.z[i] + (double)p.vz[i] * dt;
            }
            double start = wadi_time_now();
            report = wadi_collide_move_all(&in, &p, to[0], to[1], to[2]);
            best = fmin(best, wadi_time_now() - start);
        }
        print_message("%s: %.0f ns a particle on %d threads\n", names[c], 1e9 * best / N,
                      wadi_parallel_threads());
        assert_int_equal(report.touched, c == 0 ? 0 : N);
        assert_int_equal(report.stuck, 0);
        wadi_particles_free(&p);
    }
    wadi_shape_destroy(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rests_stays_to_the_last_bit),
        cmocka_unit_test(an_incline_obeys_coulomb),
        cmocka_unit_test(a_bounce_keeps_the_square_of_restitution),
        cmocka_unit_test(a_billiard_keeps_its_speed),
        cmocka_unit_test(sliding_without_friction_keeps_speed),
        cmocka_unit_test(a_corner_holds),
        cmocka_unit_test(a_moving_wall_sweeps_what_rests),
        cmocka_unit_test(what_begins_inside_comes_out_on_its_side),
        cmocka_unit_test(closing_walls_squeeze_without_breaking),
        cmocka_unit_test(strange_input_comes_back),
        cmocka_unit_test(the_cost_of_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
