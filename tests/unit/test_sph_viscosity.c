/* sph: viscous forces keep momentum, leave rigid motion alone and diffuse shear as the law says. */
#include "sph/viscosity/sph_viscosity.h"

#include <string.h>

#include "sph_block.h"

static const double PI = 3.14159265358979323846;

static WadiSphViscosityReport apply(Block *b, const float *coefficient, float damping, double tolerance)
{
    WadiError error;
    WadiSphViscosityReport report;
    const WadiSphViscosityIn in = { .pairs = &b->pairs,
                                    .walls = &b->walls,
                                    .inverse_density = b->ones,
                                    .volume = b->ones,
                                    .role = b->none,
                                    .coefficient = coefficient,
                                    .damping = damping,
                                    .tolerance = tolerance,
                                    .max_iterations = 1000 };
    WadiF4 *drag = NULL;
    CHECK_OK(WADI_ARENA_NEW(&b->arena, &drag, wadi_sph_contacts(&b->walls), "test", &error), error);
    WadiF4 *v_star = NULL;
    CHECK_OK(WADI_ARENA_NEW(&b->arena, &v_star, (size_t)b->count, "test", &error), error);
    memcpy(v_star, b->velocity, (size_t)b->count * sizeof *v_star);
    CHECK_OK(wadi_sph_viscosity(b->velocity, drag, v_star, &in, &report, &b->arena, &error), error);
    return report;
}

static void set_random(Block *b)
{
    for (int32_t i = 0; i < b->count; ++i) {
        double u[3];
        wadi_random_unit3(8, (uint64_t)i, WADI_RANDOM_TEST, u);
        b->velocity[i] = (WadiF4){ (float)(u[0] - 0.5), (float)(u[1] - 0.5), (float)(u[2] - 0.5), 0.0f };
    }
}

typedef struct Sums {
    double momentum[3], turn, energy; /* turn: about the z axis */
} Sums;

static Sums sums_of(const Block *b)
{
    Sums s = { 0 };
    for (int32_t i = 0; i < b->count; ++i) {
        const WadiF4 v = b->velocity[i];
        for (int a = 0; a < 3; ++a) {
            s.momentum[a] += (double)v[a];
            s.energy += 0.5 * (double)v[a] * (double)v[a];
        }
        s.turn += b->particles.x[i] * (double)v[1] - b->particles.y[i] * (double)v[0];
    }
    return s;
}

static void momentum_is_kept_and_energy_falls(void **unused)
{
    (void)unused;
    /* Explicit, implicit, and implicit but far from solved. */
    const float c[3] = { 0.02f, 20.0f, 20.0f };
    const double tolerance[3] = { 1e-6, 1e-6, 0.05 };
    for (int n = 0; n < 3; ++n) {
        Block b;
        block_make(&b, 8, 7, 6, 0.4, 0, 1.0);
        block_find_pairs(&b);
        set_random(&b);
        const Sums before = sums_of(&b);
        const WadiSphViscosityReport report = apply(&b, b.zeros, c[n], tolerance[n]);
        const Sums after = sums_of(&b);
        assert_true((report.iterations > 0) == (n > 0));
        for (int a = 0; a < 3; ++a) {
            CHECK_NEAR(after.momentum[a], before.momentum[a], 1e-5);
        }
        CHECK_NEAR(after.turn, before.turn, 1e-4);
        CHECK_AT_MOST(after.energy, before.energy);
        block_free(&b);
    }
}

/* Mud beside thin material. The bounds of the support are those of the pairs: two spacings. */
static void thin_particles_away_from_mud_take_one_explicit_step(void **unused)
{
    (void)unused;
    const float c[3] = { 0.3f, 1.9f, 20.0f }; /* the last one is stiff */
    for (int n = 0; n < 3; ++n) {
        Block b, thin;
        WadiError error;
        float *coefficient = NULL;
        block_make(&b, 10, 7, 6, 0.4, 0, 1.0);
        block_make(&thin, 10, 7, 6, 0.4, 0, 1.0);
        block_find_pairs(&b);
        block_find_pairs(&thin);
        set_random(&b);
        set_random(&thin);
        const Sums before = sums_of(&b);
        CHECK_OK(WADI_ARENA_NEW(&b.arena, &coefficient, (size_t)b.count, "test", &error), error);
        for (int32_t i = 0; i < b.count; ++i) {
            coefficient[i] = b.particles.x[i] > 6.0 ? c[n] : 0.0f;
        }
        assert_true(apply(&b, coefficient, 0.02f, 1e-6).iterations > 0);
        assert_int_equal(apply(&thin, thin.zeros, 0.02f, 1e-6).iterations, 0);
        const Sums after = sums_of(&b);
        for (int a = 0; a < 3; ++a) {
            CHECK_NEAR(after.momentum[a], before.momentum[a], 1e-5);
        }
        CHECK_NEAR(after.turn, before.turn, 1e-4);
        CHECK_AT_MOST(after.energy, before.energy);
        int32_t same = 0, far = 0;
        for (int32_t i = 0; i < b.count; ++i) {
            far += b.particles.x[i] < 4.0;
            same += b.particles.x[i] < 4.0 && memcmp(&b.velocity[i], &thin.velocity[i], 12) == 0;
        }
        assert_true(far > 100);
        assert_int_equal(same, far);
        block_free(&b);
        block_free(&thin);
    }
}

/* Root mean square, m/s. */
static void velocities_are_as_near_to_the_solution_as_the_tolerance(void **unused)
{
    (void)unused;
    const float c[4] = { 0.1f, 1.0f, 1.9f, 20.0f };
    for (int n = 0; n < 4; ++n) {
        for (int k = 0; k < 2; ++k) {
            const double tolerance = k == 0 ? 0.03 : 0.003;
            Block b, exact;
            block_make(&b, 8, 7, 6, 0.4, 0, 1.0);
            block_make(&exact, 8, 7, 6, 0.4, 0, 1.0);
            block_find_pairs(&b);
            block_find_pairs(&exact);
            set_random(&b);
            set_random(&exact);
            const int iterations = apply(&b, b.zeros, c[n], tolerance).iterations;
            apply(&exact, exact.zeros, c[n], 1e-6);
            double square = 0.0;
            for (int32_t i = 0; i < b.count; ++i) {
                const WadiF4 d = b.velocity[i] - exact.velocity[i];
                square += (double)(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            }
            const double error = sqrt(square / b.count);
            print_message("c %g: %.5f m/s off after %d iterations, tolerance %g\n", (double)c[n], error,
                          iterations, tolerance);
            CHECK_AT_MOST(error, tolerance);
            block_free(&b);
            block_free(&exact);
        }
    }
}

static void rigid_motion_is_not_resisted(void **unused)
{
    (void)unused;
    Block b;
    block_make(&b, 8, 7, 6, 0.4, 0, 1.0);
    block_find_pairs(&b);
    for (int32_t i = 0; i < b.count; ++i) {
        b.velocity[i] = (WadiF4){ (float)(3.0 - b.particles.y[i]), (float)b.particles.x[i], 2.0f, 0.0f };
    }
    const Sums before = sums_of(&b);
    apply(&b, b.zeros, 100.0f, 1e-6);
    CHECK_NEAR(sums_of(&b).energy / before.energy, 1.0, 1e-6);
    block_free(&b);
}

/* v_y = sin(k x) has the Laplacian -k^2 v. */
static void shear_diffuses_as_the_law_says(void **unused)
{
    (void)unused;
    for (int n = 0; n < 2; ++n) {
        const float c = 0.01f;
        const double k = 2.0 * PI / 16.0;
        Block b;
        block_make(&b, 16, 8, 8, n == 0 ? 0.0 : 1.0, 0, 1.0);
        block_find_pairs(&b);
        for (int32_t i = 0; i < b.count; ++i) {
            b.velocity[i] = (WadiF4){ 0.0f, (float)sin(k * b.particles.x[i]), 0.0f, 0.0f };
        }
        apply(&b, b.zeros, c, 1e-6);
        double with = 0.0, without = 0.0;
        for (int32_t i = 0; i < b.count; ++i) {
            const WadiParticles *p = &b.particles;
            const double edge = fmin(fmin(p->x[i], 16 - p->x[i]), fmin(p->y[i], 8 - p->y[i]));
            if (fmin(edge, fmin(p->z[i], 8 - p->z[i])) > 2.0) {
                with += (double)b.velocity[i][1] * sin(k * p->x[i]);
                without += sin(k * p->x[i]) * sin(k * p->x[i]);
            }
        }
        const double ratio = (1.0 - with / without) / ((double)c * k * k);
        print_message("%s: %.3f of the Laplacian\n", n == 0 ? "lattice" : "jittered", ratio);
        /* A lattice along the shear has sum_j 10 F_ij y^2 (1 - cos k x) / (r k)^2 = 0.843. */
        CHECK_NEAR(ratio, n == 0 ? 0.843 : 1.0, n == 0 ? 0.005 : 0.2);
        block_free(&b);
    }
}

/* Above a wall at rest the velocity of a steady shear is a straight line that is zero at the wall. The upper
 * rows and the ends, which would carry the same stress, are set to it before every step. */
static void nothing_slips_along_a_wall(void **unused)
{
    (void)unused;
    enum { ROWS = 8, LENGTH = 14 };
    Block b;
    block_make(&b, LENGTH, 8, ROWS, 0.0, WADI_SIDE_Z_MIN, 1.0);
    block_find_pairs(&b);
    const WadiParticles *p = &b.particles;
    float *coefficient = NULL;
    WadiError error;
    CHECK_OK(WADI_ARENA_NEW(&b.arena, &coefficient, (size_t)b.count, "test", &error), error);
    for (int32_t i = 0; i < b.count; ++i) {
        coefficient[i] = 0.1f;
    }
    for (int n = 0; n < 600; ++n) {
        for (int32_t i = 0; i < b.count; ++i) {
            if (p->z[i] > ROWS - 2 || p->x[i] < 2.0 || p->x[i] > LENGTH - 2) {
                b.velocity[i] = (WadiF4){ (float)p->z[i], 0.0f, 0.0f, 0.0f };
            }
        }
        apply(&b, coefficient, 0.0f, 1e-6);
    }
    double first = 0.0, fourth = 0.0;
    for (int32_t i = 0; i < b.count; ++i) {
        if (fabs(p->x[i] - 0.5 * LENGTH) < 1.0) {
            first += p->z[i] < 1.0 ? (double)b.velocity[i][0] / 16 : 0.0;
            fourth += p->z[i] > 3.0 && p->z[i] < 4.0 ? (double)b.velocity[i][0] / 16 : 0.0;
        }
    }
    const double slope = (fourth - first) / 3.0, zero_at = 0.5 - first / slope;
    print_message("speed %.3f and %.3f at 0.5 and 3.5 spacings: zero at %.3f\n", first, fourth, zero_at);
    CHECK_NEAR(zero_at, 0.0, 0.2);
    CHECK_NEAR(slope, 1.0, 0.1);
    block_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentum_is_kept_and_energy_falls),
        cmocka_unit_test(thin_particles_away_from_mud_take_one_explicit_step),
        cmocka_unit_test(velocities_are_as_near_to_the_solution_as_the_tolerance),
        cmocka_unit_test(rigid_motion_is_not_resisted),
        cmocka_unit_test(shear_diffuses_as_the_law_says),
        cmocka_unit_test(nothing_slips_along_a_wall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
