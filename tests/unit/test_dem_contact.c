/* dem: two spheres, a sphere on a plane, and a cluster, against mechanics. */
#include "core/random.h"
#include "dem_bench.h"

static const double RADIUS = 0.005, STIFFNESS = 1e7, PI = 3.14159265358979324;

static WadiDemImpact impact_of(double speed)
{
    const double mass = 2500.0 * 4.0 / 3.0 * PI * RADIUS * RADIUS * RADIUS;
    return (WadiDemImpact){ .radius = 0.5 * RADIUS, .mass = 0.5 * mass, .speed = speed };
}

static double stiffness_of(WadiDemLaw law)
{
    return law == WADI_DEM_LINEAR ? 1e4 : STIFFNESS;
}

/* Speed after over speed before, and how long two spheres touched; phase: steps until they touch. */
static double collide_at(WadiDemLaw law, double damping, double speed, double steps, double phase,
                         double *seconds)
{
    static Bench b;
    const WadiDemImpact impact = impact_of(speed);
    const double duration = wadi_dem_contact_time(law, stiffness_of(law), &impact), dt = duration / steps;
    b = (Bench){ .law = { .law = law, .stiffness = (float)stiffness_of(law), .damping = (float)damping } };
    bench_add(&b, RADIUS, (WadiVec3){ 0, 0, 0 }, (WadiVec3){ 0.5 * speed, 0, 0 }, 0, 0);
    bench_add(&b, RADIUS, (WadiVec3){ 2.0 * RADIUS + phase * speed * dt, 0, 0 },
              (WadiVec3){ -0.5 * speed, 0, 0 }, 0, 0);
    bench_begin(&b, -1.0);
    *seconds = 0.0;
    for (int n = 0; n < 20 * steps; ++n) {
        bench_step(&b, dt);
        *seconds += b.touches[0] != 0 ? dt : 0.0;
    }
    const double after = (double)(b.motion[1][0] - b.motion[0][0]);
    bench_free(&b);
    return after / speed;
}

static double collide(WadiDemLaw law, double damping, double speed, double steps, double *seconds)
{
    return collide_at(law, damping, speed, steps, 0.0, seconds);
}

/* With the default of 15 steps a contact, whatever the speed and wherever in a step the contact begins. */
static void restitution_does_not_depend_on_the_speed(void **unused)
{
    (void)unused;
    for (double e = 0.2; e < 0.96; e += 0.15) {
        const WadiDemImpact usual = impact_of(0.3);
        const double damping = wadi_dem_damping(WADI_DEM_HERTZ, STIFFNESS, e, &usual);
        for (double speed = 0.02; speed < 10.0; speed *= 10.0) {
            double sum = 0.0, seconds;
            for (double phase = 0.05; phase < 1.0; phase += 0.1) {
                const double is = collide_at(WADI_DEM_HERTZ, damping, speed, 15.0, phase, &seconds);
                CHECK_NEAR(is, e, 0.02);
                sum += 0.1 * is;
            }
            CHECK_NEAR(sum, e, 0.004);
        }
    }
}

static void restitution_is_as_asked(void **unused)
{
    (void)unused;
    for (int law = WADI_DEM_HERTZ; law <= WADI_DEM_LINEAR; ++law) {
        for (double e = 0.2; e < 0.96; e += 0.15) {
            const WadiDemImpact impact = impact_of(0.5);
            const double damping = wadi_dem_damping(law, stiffness_of(law), e, &impact);
            double seconds;
            /* The force of the linear law jumps at the first touch: one order less. */
            const double tolerance = law == WADI_DEM_LINEAR ? 0.012 : 0.005;
            CHECK_NEAR(collide(law, damping, impact.speed, 50, &seconds), e, tolerance);
            /* Only viscoelastic restitution depends on the speed. */
            const double fast = collide(law, damping, 3.0, 50, &seconds);
            if (law == WADI_DEM_VISCOELASTIC) {
                assert_true(fast < e - 0.01);
            } else {
                CHECK_NEAR(fast, e, tolerance);
            }
        }
    }
}

/* Numbers of the viscoelastic law with a force that never pulls, by integration elsewhere. */
static void the_viscoelastic_law_has_its_restitution(void **unused)
{
    (void)unused;
    static const double table[][2] = { { 0.05, 0.9444 }, { 0.1, 0.8929 }, { 0.2, 0.8010 },
                                       { 0.4, 0.6541 },  { 0.6, 0.5440 }, { 0.8, 0.4597 },
                                       { 1.0, 0.3939 },  { 1.5, 0.2811 }, { 2.0, 0.2117 } };
    for (size_t n = 0; n < sizeof table / sizeof table[0]; ++n) {
        CHECK_NEAR(wadi_dem_restitution_at(WADI_DEM_VISCOELASTIC, table[n][0]), table[n][1], 2e-4);
    }
    /* A spring and dashpot that never pull [SP07]: exp(-b/w (pi - atan2(2 b w, w^2 - b^2))), G = 2 b. */
    for (double g = 0.2; g < 1.2; g += 0.3) {
        const double b = 0.5 * g, w = sqrt(1.0 - b * b);
        const double e = exp(-b / w * (PI - atan2(2.0 * b * w, w * w - b * b)));
        CHECK_NEAR(wadi_dem_restitution_at(WADI_DEM_LINEAR, g), e, 1e-3);
    }
}

static void contacts_last_as_long_as_hertz_says(void **unused)
{
    (void)unused;
    double seconds;
    for (double speed = 0.1; speed < 5.0; speed *= 3.0) {
        const WadiDemImpact impact = impact_of(speed);
        const double k = STIFFNESS * sqrt(impact.radius);
        const double expected = 3.2181 * pow(impact.mass * impact.mass / (k * k * speed), 0.2);
        CHECK_NEAR(collide(WADI_DEM_HERTZ, 0.0, speed, 400, &seconds), 1.0, 1e-3);
        CHECK_NEAR(seconds / expected, 1.0, 0.005);
    }
}

/* A sphere on a plane; the axes are turned by the slope. */
static void put_on_plane_with(Bench *b, double friction, double slope, double speed, double rolling)
{
    const WadiDemImpact impact = impact_of(0.3);
    *b = (Bench){ .law = { .law = WADI_DEM_HERTZ,
                           .stiffness = (float)STIFFNESS,
                           .damping = (float)wadi_dem_damping(WADI_DEM_HERTZ, STIFFNESS, 0.3, &impact) },
                  .gravity = { 9.81 * sin(slope), 0.0, -9.81 * cos(slope) } };
    bench_add(b, RADIUS, (WadiVec3){ 0, 0, RADIUS - 1e-6 }, (WadiVec3){ speed, 0, 0 }, 10, rolling);
    bench_begin(b, friction);
}

static void put_on_plane(Bench *b, double friction, double slope, double speed)
{
    put_on_plane_with(b, friction, slope, speed, 0.0);
}

static void a_thrown_sphere_slides_then_rolls(void **unused)
{
    (void)unused;
    static Bench b;
    const double speed = 1.0, friction = 0.3, rolls_at = 2.0 * speed / (7.0 * friction * 9.81), dt = 2e-5;
    put_on_plane(&b, friction, 0.0, speed);
    const double slow = 0.02; /* the bottom slows down evenly; the spring takes up what is left */
    double began = 0.0;
    for (double t = 0.0; t < 2.0 * rolls_at; t += dt) {
        bench_step(&b, dt);
        /* It slides as long as the bottom moves. */
        const double bottom = (double)b.motion[0][0] - RADIUS * (double)b.motion[0][5];
        began = bottom > slow * speed ? t : began;
    }
    CHECK_NEAR((double)b.motion[0][0], 5.0 / 7.0 * speed, 0.01 * speed);
    CHECK_NEAR((double)b.motion[0][5] * RADIUS, 5.0 / 7.0 * speed, 0.01 * speed);
    CHECK_NEAR(began / ((1.0 - slow) * rolls_at), 1.0, 0.01);
    bench_free(&b);
}

/* Friction without springs slows sliding down as well, so that a thrown sphere ends with 5/7 of its speed;
 * but it bears no load at rest: a sphere that springs hold on a slope creeps down it at a constant speed. */
static void viscous_friction_bears_no_load_at_rest(void **unused)
{
    (void)unused;
    static Bench b;
    put_on_plane(&b, 0.3, 0.0, 1.0);
    b.law.has_viscous_friction = true;
    for (double t = 0.0; t < 0.3; t += 2e-5) {
        bench_step(&b, 2e-5);
    }
    CHECK_NEAR((double)b.motion[0][0], 5.0 / 7.0, 0.01);
    bench_free(&b);
    for (int viscous = 0; viscous < 2; ++viscous) {
        double speed[2];
        put_on_plane_with(&b, 10.0, 0.1, 0.0, 10.0);
        b.law.has_viscous_friction = viscous == 1;
        for (int half = 0; half < 2; ++half) {
            for (double t = 0.0; t < 0.2; t += 2e-5) {
                bench_step(&b, 2e-5);
            }
            speed[half] = (double)b.motion[0][0];
        }
        print_message("creeps at %.3g m/s, then %.3g m/s\n", speed[0], speed[1]);
        if (viscous == 0) {
            CHECK_AT_MOST(fabs(speed[1]), 1e-5);
        } else {
            assert_true(speed[0] > 1e-4);
            CHECK_NEAR(speed[1] / speed[0], 1.0, 0.01);
        }
        bench_free(&b);
    }
}

static void a_sphere_on_a_slope_rolls_or_slides(void **unused)
{
    (void)unused;
    const double slope = 0.5, seconds = 0.2, dt = 2e-5;
    /* It rolls while tan(slope) < 3.5 mu. */
    for (double friction = 0.05; friction < 0.5; friction += 0.1) {
        static Bench b;
        const double rolls = 5.0 / 7.0 * 9.81 * sin(slope);
        const double slides = 9.81 * (sin(slope) - friction * cos(slope));
        put_on_plane(&b, friction, slope, 0.0);
        for (double t = 0.0; t < seconds - 0.5 * dt; t += dt) {
            bench_step(&b, dt);
        }
        const double expected = tan(slope) < 3.5 * friction ? rolls : slides;
        CHECK_NEAR((double)b.motion[0][0] / (expected * seconds), 1.0, 0.01);
        bench_free(&b);
    }
}

/* Resistance to rolling holds a sphere up to a slope of mu_r, and lets it go above. */
static void rolling_friction_holds_a_sphere(void **unused)
{
    (void)unused;
    for (int is_steep = 0; is_steep < 2; ++is_steep) {
        static Bench b;
        const double resistance = 0.2, slope = atan(is_steep ? 1.2 * resistance : 0.8 * resistance);
        put_on_plane(&b, 0.6, slope, 0.0);
        b.motion[0][7] = (float)resistance;
        double half = 0.0;
        for (int n = 0; n < 20000; ++n) {
            bench_step(&b, 2e-5);
            half = n < 10000 ? (double)b.motion[0][0] : half;
        }
        if (is_steep) {
            /* The rest of the slope's pull turns and moves it. */
            const double a = 5.0 / 7.0 * 9.81 * (sin(slope) - resistance * cos(slope));
            CHECK_NEAR(((double)b.motion[0][0] - half) / (0.2 * a), 1.0, 0.01);
        } else {
            CHECK_AT_MOST(fabs((double)b.shift[0][0]), 1e-2 * RADIUS);
            CHECK_AT_MOST(fabs((double)b.motion[0][0]), 1e-5);
        }
        bench_free(&b);
    }
}

/* A ball that bounces without loss comes back to its height. */
static void without_damping_energy_stays(void **unused)
{
    (void)unused;
    static Bench b;
    const double height = 0.01;
    const WadiDemImpact impact = { RADIUS, 2.0 * impact_of(1.0).mass, sqrt(2.0 * 9.81 * height) };
    const double dt = wadi_dem_contact_time(WADI_DEM_HERTZ, STIFFNESS, &impact) / 50.0;
    b = (Bench){ .law = { .law = WADI_DEM_HERTZ, .stiffness = (float)STIFFNESS },
                 .gravity = { 0, 0, -9.81 } };
    bench_add(&b, RADIUS, (WadiVec3){ 0, 0, RADIUS + height }, (WadiVec3){ 0, 0, 0 }, 0, 0);
    bench_begin(&b, 0.0);
    double top = -1.0;
    for (int n = 0; n < 50000; ++n) { /* 1000 contact times */
        bench_step(&b, dt);
        top = n < 40000 ? top : fmax(top, (double)b.shift[0][2]);
    }
    CHECK_NEAR(top / height, 0.0, 1e-3);
    bench_free(&b);
}

/* Momentum and angular momentum of a cluster that collides; with loss, energy only falls. */
static void a_cluster_keeps_its_momentum(void **unused)
{
    (void)unused;
    static Bench b;
    const WadiDemImpact impact = impact_of(1.0);
    b = (Bench){ .law = { .law = WADI_DEM_HERTZ,
                          .stiffness = (float)STIFFNESS,
                          .damping = (float)wadi_dem_damping(WADI_DEM_HERTZ, STIFFNESS, 0.4, &impact) } };
    for (int i = 0; i < 48; ++i) {
        double u[3], x[3] = { i % 4 - 1.5, i / 4 % 4 - 1.5, i / 16 - 1.0 };
        wadi_random_unit3(5, (uint64_t)i, WADI_RANDOM_TEST, u);
        const double s = 2.2 * RADIUS;
        bench_add(&b, RADIUS * (0.8 + 0.2 * u[0]), (WadiVec3){ s * x[0], s * x[1], s * x[2] },
                  (WadiVec3){ -x[0] + u[1], -x[1] + u[2], -x[2] }, 0.5, 0.1);
    }
    bench_begin(&b, -1.0);
    double before[3] = { 0 }, scale = 0.0, energy[2] = { 0 };
    for (int turn = 0; turn < 2; ++turn) {
        double sum[3] = { 0 };
        for (int32_t i = 0; i < b.grains.count; ++i) {
            const double m = (double)b.mass[i], r = (double)b.radius[i];
            for (int c = 0; c < 3; ++c) {
                const double v = (double)b.motion[i][c], w = (double)b.motion[i][4 + c];
                sum[c] += m * v;
                scale += turn == 0 ? m * fabs(v) : 0.0;
                energy[turn] += 0.5 * m * (v * v + 0.4 * r * r * w * w);
            }
        }
        for (int c = 0; c < 3 && turn == 1; ++c) {
            /* Forces are exactly opposite; velocities are floats. */
            CHECK_NEAR(sum[c], before[c], 2e-6 * scale);
        }
        for (int c = 0; c < 3; ++c) {
            before[c] = sum[c];
        }
        for (int n = 0; n < 2000 && turn == 0; ++n) {
            bench_step(&b, 1e-5);
            for (int c = 0; c < 3; ++c) {
                double force = 0.0, size = 0.0;
                for (int32_t i = 0; i < b.grains.count; ++i) {
                    force += (double)b.load[i][c];
                    size += fabs((double)b.load[i][c]);
                }
                CHECK_AT_MOST(fabs(force), 1e-6 * size);
            }
        }
    }
    assert_true(energy[1] < 0.5 * energy[0]);
    bench_free(&b);
}

/* Two grains that just touch and part: water holds them while their energy is below the work of the bridge,
 * F rupture / 2. No damping. */
static void a_bridge_breaks_at_its_energy(void **unused)
{
    (void)unused;
    for (int n = 0; n < 2; ++n) {
        const double radius = 0.005, pull = 0.02, rupture = 0.0005, energy = 0.5 * pull * rupture;
        Bench b = { .law = { .law = WADI_DEM_LINEAR, .stiffness = 1e4f, .rupture = (float)rupture } };
        bench_add(&b, radius, (WadiVec3){ -radius + 1e-7, 0, 1 }, (WadiVec3){ 0, 0, 0 }, 0.5, 0.1);
        bench_add(&b, radius, (WadiVec3){ radius, 0, 1 }, (WadiVec3){ 0, 0, 0 }, 0.5, 0.1);
        float bridge[2] = { 1.0f, (float)pull }, grip[2] = { 0 }; /* the drier grain counts */
        bench_begin(&b, -1.0);
        b.grains.bridge = bridge;
        b.grains.grip = grip;
        const double mass = 0.5 * (double)b.mass[0],
                     speed = sqrt(2.0 * energy / mass) * (n == 0 ? 0.95 : 1.05);
        b.motion[0][0] = (float)(-0.5 * speed);
        b.motion[1][0] = (float)(0.5 * speed);
        double farthest = 0.0;
        for (int k = 0; k < 20000; ++k) {
            bench_step(&b, 2e-6);
            farthest = fmax(farthest, (double)(b.shift[1][0] - b.shift[0][0]));
            CHECK_AT_MOST(fabs((double)(b.motion[0][0] + b.motion[1][0])), 1e-5);
        }
        print_message("gap of at most %.3f ruptures\n", farthest / rupture);
        assert_true(n == 0 ? farthest < rupture && b.touches[0] != 0 : farthest > 2.0 * rupture);
        bench_free(&b);
    }
}

/* Two clouds of grains that meet. */
static void add_clouds(Bench *b)
{
    for (int n = 0; n < 48; ++n) {
        const double side = n % 2 == 0 ? 1.0 : -1.0, step = 2.2 * RADIUS;
        const int k = n / 2;
        const WadiVec3 x = { side * (2.0 + k % 3) * step, k / 3 % 3 * step,
                             k / 9 * step + 0.3 * side * RADIUS };
        bench_add(b, RADIUS, x, (WadiVec3){ -side, 0.1 * side, 0 }, 0.5, 0.1);
    }
}

/* Grains apart from each other that fly to one point. */
static void add_swarm(Bench *b)
{
    for (int n = 0; n < 48; ++n) {
        const WadiVec3 x = { (n % 4 - 1.5) * 4.0 * RADIUS, (n / 4 % 4 - 1.5) * 4.1 * RADIUS,
                             (n / 16 - 1.0) * 4.2 * RADIUS };
        bench_add(b, RADIUS, x, wadi_scale(x, -60.0), 0.5, 0.1);
    }
}

/* A step does without pairs that are not near, and without their springs; what happens is the same to the
 * last bit. There is room for the springs of near pairs alone; false: it was enough from the first step
 * on. */
static bool check_near(void (*add)(Bench *b))
{
    static Bench all, some;
    Bench *const bench[2] = { &all, &some };
    for (int n = 0; n < 2; ++n) {
        *bench[n] =
            (Bench){ .law = { .law = WADI_DEM_HERTZ, .stiffness = (float)STIFFNESS, .damping = 1e-5f } };
        add(bench[n]);
        bench_begin(bench[n], -1.0);
        for (int i = 0; i < 48; ++i) {
            bench[n]->skin[i] = n == 0 ? 0.0f : (float)RADIUS;
        }
    }
    int32_t contacts = 0;
    size_t room = 0;
    for (int step = 0; step < 1000; ++step) {
        bench_step(&all, 2e-5);
        bench_step(&some, 2e-5);
        room = step == 0 ? some.pairs.spring_capacity : room;
        for (int32_t p = 0; p < all.start[48]; ++p) {
            contacts += all.touches[p];
            assert_int_equal(all.touches[p], some.touches[p]);
        }
        assert_memory_equal(all.motion, some.motion, sizeof all.motion);
    }
    assert_true(contacts > 1000);
    assert_int_equal(all.chosen, 1000);
    assert_in_range(some.chosen, 2, 250);
    assert_true(some.near_count[0] < all.start[48] / 4);
    assert_true(some.pairs.spring_capacity < (size_t)all.start[48] / 3);
    const bool grew = some.pairs.spring_capacity > room;
    bench_free(&all);
    bench_free(&some);
    return grew;
}

static void pairs_that_are_not_near_do_nothing(void **unused)
{
    (void)unused;
    check_near(add_clouds);
    assert_true(check_near(add_swarm));
}

/* Fast collisions in a surface flow have six steps. */
static void six_steps_are_enough_for_a_collision(void **unused)
{
    (void)unused;
    for (double e = 0.2; e < 0.75; e += 0.2) {
        const WadiDemImpact impact = impact_of(3.0);
        const double damping = wadi_dem_damping(WADI_DEM_HERTZ, STIFFNESS, e, &impact);
        double mean = 0.0, seconds;
        for (double phase = 0.05; phase < 1.0; phase += 0.1) {
            mean += 0.1 * collide_at(WADI_DEM_HERTZ, damping, impact.speed, 6, phase, &seconds);
        }
        print_message("restitution %.1f: %.3f\n", e, mean);
        CHECK_NEAR(mean, e, 0.02);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restitution_is_as_asked),
        cmocka_unit_test(restitution_does_not_depend_on_the_speed),
        cmocka_unit_test(the_viscoelastic_law_has_its_restitution),
        cmocka_unit_test(contacts_last_as_long_as_hertz_says),
        cmocka_unit_test(a_thrown_sphere_slides_then_rolls),
        cmocka_unit_test(viscous_friction_bears_no_load_at_rest),
        cmocka_unit_test(a_sphere_on_a_slope_rolls_or_slides),
        cmocka_unit_test(rolling_friction_holds_a_sphere),
        cmocka_unit_test(without_damping_energy_stays),
        cmocka_unit_test(a_cluster_keeps_its_momentum),
        cmocka_unit_test(a_bridge_breaks_at_its_energy),
        cmocka_unit_test(pairs_that_are_not_near_do_nothing),
        cmocka_unit_test(six_steps_are_enough_for_a_collision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
