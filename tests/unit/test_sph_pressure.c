/* sph: the pressure of smoothed particles. A column of water at rest has the pressure rho g depth, whatever
 * the places of its particles; forces and rates are transposes of each other, beside walls too. */
#include "sph/pressure/sph_pressure.h"
#include "sph_block.h"
#include "sph_solve.h"

enum { NX = 6, NY = 6, NZ = 16 };

static const int CLOSED = WADI_SIDE_ALL & ~WADI_SIDE_Z_MAX;

typedef struct Problem {
    Block block;
    WadiSphCoarse coarse;
    float *source, *tension, *pressure, *inverse;
} Problem;

static WadiSphPressureIn make(Problem *p, int nz, double jitter)
{
    WadiError error;
    block_make(&p->block, NX, NY, nz, jitter, CLOSED, 0.02);
    block_find_pairs(&p->block);
    const size_t count = (size_t)p->block.count;
    CHECK_OK(WADI_ARENA_NEW(&p->block.arena, &p->source, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&p->block.arena, &p->tension, count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&p->block.arena, &p->pressure, count, "test", &error), error);
    for (size_t i = 0; i < count; ++i) {
        p->source[i] =
            p->block.particles.z[i] > (nz - 1) * p->block.spacing ? 10.0f : 0.0f; /* the surface may fall */
        p->pressure[i] = p->tension[i] = 0.0f;
        p->block.velocity[i] = (WadiF4){ 0.0f, 0.0f, -1.0f, 0.0f };
    }
    const WadiSphCoarseIn coarse = { .sort = &p->block.sort,
                                     .spacing = p->block.spacing,
                                     .walls = &p->block.walls,
                                     .pairs = &p->block.pairs,
                                     .solids = &p->block.solids,
                                     .inverse_density = p->block.ones,
                                     .volume = p->block.ones };
    CHECK_OK(wadi_sph_coarse_begin(&p->coarse, &coarse, &p->block.arena, &error), error);
    WadiSphPressureIn in = { .pairs = &p->block.pairs,
                             .walls = &p->block.walls,
                             .is_sand = p->block.is_sand,
                             .inverse_density = p->block.ones,
                             .volume = p->block.ones,
                             .is_idle = p->block.none,
                             .source = p->source,
                             .tension = p->tension,
                             .smooth = { 0.1f, 0.1f },
                             .tolerance = 1e-4,
                             .max_iterations = 1000 };
    CHECK_OK(WADI_ARENA_NEW(&p->block.arena, &p->inverse, count, "test", &error), error);
    wadi_sph_pressure_invert(p->inverse, &in);
    in.inverse = p->inverse;
    double largest;
    CHECK_OK(wadi_sph_pressure_largest(&in, 40, &largest, &p->block.arena, &error), error);
    in.largest = 1.1 * largest;
    return in;
}

/* Falling water of unit speed is stopped by P = depth in spacings, in units of that speed: P = g dt depth /
 * dx. Without the smoothing term, which would leave a tenth of the speed at the floor. */
static void a_column_of_water_has_the_pressure_of_its_depth(void **unused)
{
    (void)unused;
    Problem p;
    WadiSphPressureIn in = make(&p, NZ, 0.0);
    in.smooth[0] = 0.0f;
    const WadiSphPressureReport report = sph_solve_pressure(p.block.velocity, p.pressure, in, &p.block.arena);
    double zz = 0.0, zp = 0.0, z_mean = 0.0, p_mean = 0.0, fastest = 0.0;
    for (int32_t i = 0; i < p.block.count; ++i) {
        const double z = p.block.particles.z[i] / p.block.spacing;
        assert_true(p.pressure[i] >= 0.0f);
        if (z < NZ - 3.0) {
            z_mean += z, p_mean += (double)p.pressure[i], zz += z * z, zp += z * (double)p.pressure[i];
            fastest = fmax(fastest, fabs((double)p.block.velocity[i][2]));
        }
    }
    const double m = NX * NY * (NZ - 3.0);
    const double slope = (zp - z_mean * p_mean / m) / (zz - z_mean * z_mean / m);
    printf("slope %.4f, %d iterations, fastest %.3f\n", slope, report.iterations, fastest);
    CHECK_NEAR(slope, -1.0, 0.05);
    CHECK_AT_MOST(fastest, 0.1);
    block_free(&p.block);
}

/* The coarse grid changes the way to the solution, not the solution. */
static void the_coarse_grid_leaves_the_solution_alone(void **unused)
{
    (void)unused;
    double sum[2] = { 0 };
    int iterations[2];
    for (int n = 0; n < 2; ++n) {
        Problem p;
        WadiSphPressureIn in = make(&p, NZ, 0.2);
        in.has_coarse = n > 0;
        in.coarse = &p.coarse;
        const WadiSphPressureReport report =
            sph_solve_pressure(p.block.velocity, p.pressure, in, &p.block.arena);
        for (int32_t i = 0; i < p.block.count; ++i) {
            sum[n] += (double)p.pressure[i];
        }
        iterations[n] = report.iterations;
        CHECK_AT_MOST(report.residual, in.tolerance);
        block_free(&p.block);
    }
    printf("%d iterations without, %d with the coarse grid\n", iterations[0], iterations[1]);
    CHECK_NEAR(sum[1] / sum[0], 1.0, 2e-3);
    assert_true(iterations[1] < iterations[0]);
}

/* The pressure of a deep column is found in the iterations of a shallow one, though only its floor has a
 * residual at first; also where particles are uneven, whose pressures push the harder the deeper they are. */
static void deep_water_takes_no_more_iterations(void **unused)
{
    (void)unused;
    for (int n = 0; n < 2; ++n) {
        int iterations[2];
        for (int k = 0; k < 2; ++k) {
            Problem p;
            const int nz = k == 0 ? NZ : 8 * NZ;
            WadiSphPressureIn in = make(&p, nz, n == 0 ? 0.0 : 0.2);
            in.has_coarse = true;
            in.coarse = &p.coarse;
            in.tolerance = 2e-3 * NZ / nz;
            const WadiSphPressureReport report =
                sph_solve_pressure(p.block.velocity, p.pressure, in, &p.block.arena);
            iterations[k] = report.iterations;
            printf("%d spacings, %s: %d iterations\n", nz, n == 0 ? "even" : "uneven", report.iterations);
            block_free(&p.block);
        }
        CHECK_AT_MOST(iterations[1], 2 * iterations[0]);
    }
}

/* Pairs press on each other with opposite forces, the same number on both sides (test_sph_pairs): without
 * walls the momentum stays, to the rounding of the velocities, which are floats. */
static void momentum_is_kept(void **unused)
{
    (void)unused;
    Block b;
    WadiError error;
    block_make(&b, 8, 8, 8, 0.8, 0, 0.02);
    block_find_pairs(&b);
    float *source, *tension, *pressure, *inverse;
    CHECK_OK(WADI_ARENA_NEW(&b.arena, &inverse, (size_t)b.count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&b.arena, &source, (size_t)b.count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&b.arena, &tension, (size_t)b.count, "test", &error), error);
    CHECK_OK(WADI_ARENA_NEW(&b.arena, &pressure, (size_t)b.count, "test", &error), error);
    for (int32_t i = 0; i < b.count; ++i) {
        double u[3];
        wadi_random_unit3(3, (uint64_t)i, WADI_RANDOM_TEST, u);
        b.velocity[i] = (WadiF4){ (float)u[0], (float)u[1], (float)u[2], 0.0f };
        source[i] = tension[i] = pressure[i] = 0.0f;
    }
    double before[3] = { 0 }, after[3] = { 0 }, energy[2] = { 0 };
    for (int32_t i = 0; i < b.count; ++i) {
        for (int a = 0; a < 3; ++a) {
            before[a] += (double)b.velocity[i][a];
            energy[0] += (double)(b.velocity[i][a] * b.velocity[i][a]);
        }
    }
    WadiSphPressureIn in = { .pairs = &b.pairs,
                             .walls = &b.walls,
                             .is_sand = b.is_sand,
                             .inverse_density = b.ones,
                             .volume = b.ones,
                             .is_idle = b.none,
                             .source = source,
                             .tension = tension,
                             .smooth = { 0.1f, 0.1f },
                             .tolerance = 1e-3,
                             .max_iterations = 50 };
    wadi_sph_pressure_invert(inverse, &in);
    in.inverse = inverse;
    CHECK_OK(wadi_sph_pressure_largest(&in, 40, &in.largest, &b.arena, &error), error);
    in.largest *= 1.2;
    sph_solve_pressure(b.velocity, pressure, in, &b.arena);
    for (int32_t i = 0; i < b.count; ++i) {
        for (int a = 0; a < 3; ++a) {
            after[a] += (double)b.velocity[i][a];
            energy[1] += (double)(b.velocity[i][a] * b.velocity[i][a]);
        }
    }
    for (int a = 0; a < 3; ++a) {
        print_message("momentum of %d particles at up to 1 m/s changes by %.1e\n", b.count,
                      after[a] - before[a]);
        CHECK_NEAR(after[a], before[a], 1e-8 * b.count);
    }
    assert_true(energy[1] < energy[0]);
    block_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_of_water_has_the_pressure_of_its_depth),
        cmocka_unit_test(the_coarse_grid_leaves_the_solution_alone),
        cmocka_unit_test(deep_water_takes_no_more_iterations),
        cmocka_unit_test(momentum_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
