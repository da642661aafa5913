/* Particles that solids close in on, and particles at rest that solids sweep over. Sides are decided by
 * formulas of the scene. */
#include "core/arena.h"
#include "core/random.h"
#include "particles/collide.h"
#include "scene_shapes.h"

static const double DT = 1.0 / 240.0, SKIN = 1e-5, PI = 3.14159265358979323846;

enum { COUNT = 100 };

typedef struct Crowd {
    WadiVec3 x[COUNT], v[COUNT];
    int64_t stuck; /* in the last step */
    double depth;  /* m: the deepest in a solid after the last step */
} Crowd;

static void make_crowd(Crowd *crowd, WadiBox box)
{
    *crowd = (Crowd){ 0 };
    for (int i = 0; i < COUNT; ++i) {
        double u[3];
        wadi_random_unit3(11, (uint64_t)i, WADI_RANDOM_TEST, u);
        crowd->x[i] = wadi_add(box.min, wadi_mul(wadi_box_size(box), wadi_vec3(u[0], u[1], u[2])));
    }
}

static void step_crowd(Crowd *crowd, const WadiSolids *solids, int step)
{
    WadiCollideIn in = { solids, step * DT, (step + 1) * DT, SKIN };
    crowd->stuck = 0;
    crowd->depth = 0.0;
    for (int i = 0; i < COUNT; ++i) {
        WadiVec3 to = wadi_add_scaled(crowd->x[i], crowd->v[i], DT);
        WadiCollideOut out = wadi_collide_move(&in, crowd->x[i], to, crowd->v[i]);
        crowd->x[i] = out.x;
        crowd->v[i] = out.v;
        crowd->stuck += out.is_stuck;
        assert_true(wadi_is_finite(out.x) && wadi_is_finite(out.v));
        crowd->depth = fmax(crowd->depth, -wadi_solids_distance(solids, out.x, in.t1, 1.0));
    }
}

static WadiCurve there_and_back(WadiVec3 a, WadiVec3 b, double turn, double end)
{
    WadiError error;
    WadiKey keys[3] = { { 0.0, { a.x, a.y, a.z } }, { turn, { b.x, b.y, b.z } }, { end, { a.x, a.y, a.z } } };
    WadiCurve curve;
    CHECK_OK(wadi_curve_create(&curve, keys, 3, 3, WADI_INTERPOLATION_LINEAR, false, &error), error);
    return curve;
}

/* Two plates close to `gap` and open again. Nobody gets past a plate, and all are free afterwards. */
static void close_plates(double thickness, double gap)
{
    WadiCurve friction = wadi_curve_constant(0.5), restitution = wadi_curve_constant(0.3);
    double way = 0.25 - 0.5 * gap;
    WadiShape *shape[2];
    for (int n = 0; n < 2; ++n) {
        double sign = n == 0 ? -1.0 : 1.0;
        WadiShapeDef def =
            n == 0 ? def_of(WADI_SHAPE_BOX, wadi_vec3(-0.25 - thickness, -2, -2), wadi_vec3(-0.25, 2, 2))
                   : def_of(WADI_SHAPE_BOX, wadi_vec3(0.25, -2, -2), wadi_vec3(0.25 + thickness, 2, 2));
        def.translate = there_and_back(wadi_vec3(0, 0, 0), wadi_vec3(-sign * way, 0, 0), 0.5, 1.0);
        shape[n] = shape_of(def);
    }
    WadiSolid solid[2] = { { shape[0], &friction, &restitution }, { shape[1], &friction, &restitution } };
    WadiSolids solids = { solid, 2, endless_box(), 0, NULL, NULL };
    Crowd crowd;
    make_crowd(&crowd, (WadiBox){ { -0.24, -0.5, -0.5 }, { 0.24, 0.5, 0.5 } });
    for (int i = 0; i < COUNT; ++i) {
        crowd.v[i] = wadi_vec3(0.0, 0.1 * (i % 5), 0.0);
    }
    double half = 0.25;
    for (int step = 0; step < 240; ++step) {
        step_crowd(&crowd, &solids, step);
        bool had_room = half > 2.0 * SKIN;
        double time = (step + 1) * DT;
        half = 0.25 - way * (time < 0.5 ? 2.0 * time : 2.0 - 2.0 * time);
        for (int i = 0; i < COUNT; ++i) {
            CHECK_AT_MOST(fabs(crowd.x[i].x), half + thickness * 0.5);
        }
        if (half > 2.0 * SKIN) {
            CHECK_AT_MOST(crowd.depth, 0.0);
            assert_true(crowd.stuck == 0 || !had_room);
        }
    }
    /* Open: every particle goes where it is thrown. */
    WadiVec3 before[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        before[i] = crowd.x[i];
        crowd.v[i] = wadi_vec3(crowd.x[i].x > 0.0 ? -1.0 : 1.0, 0.5, 0.0);
    }
    step_crowd(&crowd, &solids, 240);
    for (int i = 0; i < COUNT; ++i) {
        CHECK_NEAR(wadi_norm(wadi_sub(crowd.x[i], before[i])), DT * sqrt(1.25), 0.05 * DT);
    }
    wadi_shape_destroy(shape[0]);
    wadi_shape_destroy(shape[1]);
}

static void closing_plates_let_go(void **unused)
{
    (void)unused;
    close_plates(0.1, 1e-3);
    close_plates(1e-3, 1e-3);
    close_plates(0.1, 0.5 * SKIN); /* less than the skins of two contacts */
    close_plates(0.5, -0.1);       /* they overlap: there is no room at all for a while */
}

/* Two plates on a hinge along y, closing from 30 to 1 degree and opening again. */
static void a_closing_wedge_squeezes_out_or_holds(void **unused)
{
    (void)unused;
    WadiCurve friction = wadi_curve_constant(0.2), restitution = wadi_curve_constant(0.0);
    WadiShape *shape[2];
    for (int n = 0; n < 2; ++n) {
        double sign = n == 0 ? -1.0 : 1.0;
        WadiShapeDef def = n == 0 ? def_of(WADI_SHAPE_BOX, wadi_vec3(0, -2, -0.05), wadi_vec3(2, 2, 0))
                                  : def_of(WADI_SHAPE_BOX, wadi_vec3(0, -2, 0), wadi_vec3(2, 2, 0.05));
        /* Turning about y by a positive angle lowers +x. */
        def.rotate = there_and_back(wadi_vec3(0, -30.0 * sign, 0), wadi_vec3(0, -1.0 * sign, 0), 0.5, 1.0);
        shape[n] = shape_of(def);
    }
    WadiSolid solid[2] = { { shape[0], &friction, &restitution }, { shape[1], &friction, &restitution } };
    WadiSolids solids = { solid, 2, endless_box(), 0, NULL, NULL };
    Crowd crowd;
    make_crowd(&crowd, (WadiBox){ { 0.3, -0.5, -0.1 }, { 1.0, 0.5, 0.1 } });
    for (int step = 0; step < 240; ++step) {
        step_crowd(&crowd, &solids, step);
        double time = (step + 1) * DT;
        double angle = 30.0 - 29.0 * (time < 0.5 ? 2.0 * time : 2.0 - 2.0 * time);
        for (int i = 0; i < COUNT; ++i) {
            /* In the wedge, or squeezed out of its mouth or around the hinge's ends; never behind a plate. */
            if (crowd.x[i].x > 0.0 && crowd.x[i].x < 1.9) {
                CHECK_AT_MOST(fabs(atan2(crowd.x[i].z, crowd.x[i].x)) * 180.0 / PI, angle + 1e-6);
            }
        }
        CHECK_AT_MOST(crowd.depth, 0.0);
        assert_int_equal(crowd.stuck, 0);
    }
    for (int i = 0; i < COUNT; ++i) {
        double out = crowd.x[i].x;
        crowd.v[i] = wadi_vec3(1.0, 0.0, 0.0);
        WadiCollideIn in = { &solids, 1.0, 1.0 + DT, SKIN };
        WadiCollideOut moved =
            wadi_collide_move(&in, crowd.x[i], wadi_add_scaled(crowd.x[i], crowd.v[i], DT), crowd.v[i]);
        CHECK_NEAR(moved.x.x - out, DT, 0.5 * DT);
    }
    wadi_shape_destroy(shape[0]);
    wadi_shape_destroy(shape[1]);
}

/* Three planes that are not at right angles make a funnel; whoever is pushed into it stays in it and comes
 * out again. */
static void a_corner_of_three_planes_lets_go(void **unused)
{
    (void)unused;
    WadiCurve friction = wadi_curve_constant(0.3), restitution = wadi_curve_constant(0.0);
    WadiShape *shape[3];
    WadiSolid solid[3];
    WadiVec3 normal[3];
    for (int n = 0; n < 3; ++n) {
        double angle = 2.0 * PI * n / 3.0 + 0.3;
        normal[n] = wadi_vec3(0.6 * cos(angle), 0.6 * sin(angle), 0.8);
        shape[n] = shape_of(def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(0, 0, 0), normal[n]));
        solid[n] = (WadiSolid){ shape[n], &friction, &restitution };
    }
    WadiSolids solids = { solid, 3, endless_box(), 0, NULL, NULL };
    Crowd crowd;
    make_crowd(&crowd, (WadiBox){ { -0.1, -0.1, 0.3 }, { 0.1, 0.1, 0.5 } });
    for (int step = 0; step < 400; ++step) {
        for (int i = 0; i < COUNT; ++i) {
            double u[3];
            wadi_random_unit3(12, (uint64_t)(step * COUNT + i), WADI_RANDOM_TEST, u);
            crowd.v[i] = wadi_vec3(2.0 * u[0] - 1.0, 2.0 * u[1] - 1.0, -3.0);
        }
        step_crowd(&crowd, &solids, step);
        for (int i = 0; i < COUNT; ++i) {
            for (int n = 0; n < 3; ++n) {
                CHECK_AT_MOST(0.0, wadi_dot(crowd.x[i], normal[n]));
            }
        }
        assert_int_equal(crowd.stuck, 0);
    }
    for (int i = 0; i < COUNT; ++i) {
        WadiVec3 before = crowd.x[i];
        WadiCollideIn in = { &solids, 2.0, 2.0 + DT, SKIN };
        WadiVec3 up = { 0, 0, 1.0 };
        WadiCollideOut out = wadi_collide_move(&in, before, wadi_add_scaled(before, up, DT), up);
        CHECK_NEAR(out.x.z - before.z, DT, 1e-9);
        CHECK_NEAR(out.v.z, 1.0, 1e-12);
    }
    for (int n = 0; n < 3; ++n) {
        wadi_shape_destroy(shape[n]);
    }
}

/* A piston through a box of particles at rest: all are ahead of it, as fast as it or at rest. */
static void a_piston_drives_what_rests(void **unused)
{
    (void)unused;
    WadiCurve friction = wadi_curve_constant(0.5), restitution = wadi_curve_constant(0.0);
    WadiShapeDef def = def_of(WADI_SHAPE_BOX, wadi_vec3(-0.3, -1, -1), wadi_vec3(0.0, 2, 2));
    def.translate = curve_of(0.0, wadi_vec3(0, 0, 0), 1.0, wadi_vec3(0.95, 0, 0));
    WadiShape *piston = shape_of(def);
    WadiSolid solid = { piston, &friction, &restitution };
    WadiSolids solids = {
        &solid, 1, { { 0, 0, 0 }, { 1, 1, 1 } }, WADI_SIDE_ALL & ~WADI_SIDE_X_MIN, &friction, &restitution
    };
    Crowd crowd;
    make_crowd(&crowd, (WadiBox){ { 0.01, 0.0001, 0.0001 }, { 0.999, 0.9999, 0.9999 } });
    WadiVec3 start[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        start[i] = crowd.x[i];
    }
    for (int step = 0; step < 240; ++step) {
        step_crowd(&crowd, &solids, step);
        double front = 0.95 * (step + 1) * DT;
        CHECK_AT_MOST(crowd.depth, 1e-6);
        assert_int_equal(crowd.stuck, 0);
        for (int i = 0; i < COUNT; ++i) {
            CHECK_AT_MOST(front, crowd.x[i].x);
            CHECK_AT_MOST(wadi_norm(crowd.v[i]), 0.95 * (1.0 + 1e-9));
            /* Who has not been reached has not moved. */
            assert_true(start[i].x < front + 4.0 * SKIN || crowd.x[i].x == start[i].x);
            CHECK_NEAR(crowd.x[i].y, start[i].y, 1e-3);
        }
    }
    wadi_shape_destroy(piston);
}

/* A paddle through particles at rest, above a floor. */
static void a_paddle_sweeps_what_rests(void **unused)
{
    (void)unused;
    WadiCurve friction = wadi_curve_constant(0.5), restitution = wadi_curve_constant(0.0);
    WadiShapeDef def = def_of(WADI_SHAPE_BOX, wadi_vec3(-0.5, -0.01, 0.0), wadi_vec3(0.5, 0.01, 0.3));
    def.rotate = curve_of(0.0, wadi_vec3(0, 0, 0), 1.0, wadi_vec3(0, 0, 360));
    WadiShape *paddle = shape_of(def);
    WadiSolid solid = { paddle, &friction, &restitution };
    WadiSolids solids = { &solid, 1, { { -2, -2, 0 }, { 2, 2, 2 } }, WADI_SIDE_ALL, &friction, &restitution };
    Crowd crowd;
    make_crowd(&crowd, (WadiBox){ { -0.4, 0.02, 0.0001 }, { 0.4, 0.4, 0.25 } });
    int swept = 0;
    for (int step = 0; step < 240; ++step) {
        step_crowd(&crowd, &solids, step);
        CHECK_AT_MOST(crowd.depth, 1e-6);
        assert_int_equal(crowd.stuck, 0);
        for (int i = 0; i < COUNT; ++i) {
            /* The tip's speed; a particle that slides outward gains no more than the same again. */
            CHECK_AT_MOST(wadi_norm(crowd.v[i]), 2.0 * 2.0 * PI * 0.51);
        }
    }
    for (int i = 0; i < COUNT; ++i) {
        swept += wadi_norm(crowd.v[i]) > 0.0;
    }
    assert_true(swept > COUNT / 2);
    wadi_shape_destroy(paddle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closing_plates_let_go),
        cmocka_unit_test(a_closing_wedge_squeezes_out_or_holds),
        cmocka_unit_test(a_corner_of_three_planes_lets_go),
        cmocka_unit_test(a_piston_drives_what_rests),
        cmocka_unit_test(a_paddle_sweeps_what_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
