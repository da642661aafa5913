/* flip: the viscosity solve against known motions: invariants, exact decay rates and profiles. Lengths in
 * cells, h = 1. */
#include "flip/viscosity/flip_viscosity.h"
#include "flip_box.h"

typedef struct Viscous {
    FlipBox box;
    WadiFlipViscosityIn in;
    WadiFlipViscosityReport report;
    uint8_t *fluid, *solid;
    float *distance, *solid_distance, *coefficient, *open[3], *solid_velocity[3], *u[3];
    WadiArena scratch;
} Viscous;

typedef double (*Level)(double x, double y, double z);

/* All cells open; the surface where `level`, a distance, is zero. */
static void make(Viscous *v, const int lo[3], const int hi[3], Level level, double coefficient)
{
    *v = (Viscous){ 0 };
    flip_box_make(&v->box, lo, hi);
    v->fluid = flip_box_array(&v->box, 1);
    v->solid = flip_box_array(&v->box, 1);
    v->distance = flip_box_floats(&v->box, 0.0f);
    v->solid_distance = flip_box_floats(&v->box, 2.0f);
    v->coefficient = flip_box_floats(&v->box, (float)coefficient);
    for (int a = 0; a < 3; ++a) {
        v->open[a] = flip_box_floats(&v->box, 1.0f);
        v->solid_velocity[a] = flip_box_floats(&v->box, 0.0f);
        v->u[a] = flip_box_floats(&v->box, 0.0f);
    }
    for (size_t at = 8; at < wadi_rows_floats(&v->box.rows); ++at) {
        int c[3];
        flip_box_cell(&v->box, at, c);
        double d = level(c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
        v->distance[at] = (float)fmax(-1.0, fmin(1.0, d));
        v->fluid[at / 8] |= (uint8_t)((d < 0.0) << at % 8);
    }
    v->in = (WadiFlipViscosityIn){ .rows = &v->box.rows,
                                   .fluid = v->fluid,
                                   .solid = v->solid,
                                   .distance = v->distance,
                                   .solid_distance = v->solid_distance,
                                   .coefficient = v->coefficient,
                                   .cell_size = 1.0,
                                   .solver = { .tolerance = 1e-6, .absolute = 1e-7, .max_iterations = 500 } };
    for (int a = 0; a < 3; ++a) {
        v->in.open[a] = v->open[a];
        v->in.solid_velocity[a] = v->solid_velocity[a];
    }
}

/* Cells with k < floor are solid, its top at z = floor + depth (0 <= depth < 1/2 cuts cells that stay
 * open). */
static void add_floor(Viscous *v, int floor, double depth, float speed)
{
    for (size_t at = 8; at < wadi_rows_floats(&v->box.rows); ++at) {
        int c[3];
        flip_box_cell(&v->box, at, c);
        v->solid_distance[at] = (float)fmax(-2.0, fmin(2.0, c[2] + 0.5 - floor - depth));
        bool is_solid = c[2] < floor;
        v->solid[at / 8] |= (uint8_t)(is_solid << at % 8);
        v->fluid[at / 8] &= (uint8_t)(~(is_solid << at % 8));
        for (int a = 0; a < 3; ++a) {
            if (c[2] < floor || (a == 2 && c[2] == floor)) {
                v->open[a][at] = 0.0f;
                v->solid_velocity[a][at] = a == 0 ? speed : 0.0f;
            }
        }
    }
}

static void solve(Viscous *v)
{
    WadiError error = { 0 };
    CHECK_OK(wadi_arena_reset(&v->scratch, &error), error);
    CHECK_OK(wadi_flip_viscosity(&v->in, v->u, &v->scratch, &v->report, &error), error);
    assert_true(v->report.has_converged);
}

static void done(Viscous *v)
{
    wadi_arena_free(&v->scratch);
    flip_box_free(&v->box);
}

static void face_position(const Viscous *v, size_t at, int a, double x[3])
{
    int c[3];
    flip_box_cell(&v->box, at, c);
    for (int b = 0; b < 3; ++b) {
        x[b] = c[b] + (a == b ? 0.0 : 0.5);
    }
}

static double u_at(const Viscous *v, int a, int i, int j, int k)
{
    return (double)v->u[a][flip_box_at(&v->box, i, j, k)];
}

static double ball(double x, double y, double z)
{
    return sqrt((x - 8.3) * (x - 8.3) + (y - 7.9) * (y - 7.9) + (z - 8.1) * (z - 8.1)) - 6.2;
}

static const int ball_lo[3] = { -1, -1, -1 }, ball_hi[3] = { 18, 18, 18 };

static void rigid_motions_cost_nothing(void **unused)
{
    (void)unused;
    const double coefficients[3] = { 0.3, 30.0, 1e5 };
    for (int n = 0; n < 3; ++n) {
        Viscous v;
        make(&v, ball_lo, ball_hi, ball, coefficients[n]);
        v.in.solver.absolute = 1e-5 * coefficients[n]; /* rounding of u, times the coefficient */
        const double move[3] = { 1.0, -0.5, 0.25 }, turn[3] = { 0.1, -0.2, 0.15 };
        float *before[3];
        for (int a = 0; a < 3; ++a) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            before[a] = flip_box_floats(&v.box, 0.0f);
            for (size_t at = 8; at < wadi_rows_floats(&v.box.rows); ++at) {
                double x[3];
                face_position(&v, at, a, x);
                v.u[a][at] = before[a][at] = (float)(move[a] + turn[b] * x[c] - turn[c] * x[b]);
            }
        }
        solve(&v);
        double change = 0.0;
        for (int a = 0; a < 3; ++a) {
            for (size_t at = 0; at < wadi_rows_floats(&v.box.rows); ++at) {
                change = fmax(change, fabs((double)(v.u[a][at] - before[a][at])));
            }
        }
        CHECK_AT_MOST(change, 2e-5); /* speeds are up to 4 */
        done(&v);
    }
}

/* sum of m u and of m x cross u over the faces. */
static void momenta(Viscous *v, double linear[3], double angular[3])
{
    WadiError error = { 0 };
    WadiFlipViscous viscous;
    CHECK_OK(wadi_arena_reset(&v->scratch, &error), error);
    CHECK_OK(wadi_flip_viscosity_setup(&v->in, &viscous, &v->scratch, &error), error);
    for (int a = 0; a < 3; ++a) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        for (size_t at = 8; at < wadi_rows_floats(&v->box.rows); ++at) {
            double x[3], mu = (double)viscous.mass[a][at] * (double)v->u[a][at];
            face_position(v, at, a, x);
            linear[a] += mu;
            angular[b] += x[c] * mu;
            angular[c] -= x[b] * mu;
        }
    }
}

static void momentum_and_spin_are_conserved(void **unused)
{
    (void)unused;
    const double coefficients[3] = { 0.3, 30.0, 1e4 };
    for (int n = 0; n < 3; ++n) {
        Viscous v;
        make(&v, ball_lo, ball_hi, ball, coefficients[n]);
        v.in.solver.tolerance = 1e-9; /* the remaining residual is missing in the momentum */
        uint32_t random = 12345;
        for (int a = 0; a < 3; ++a) {
            for (size_t at = 8; at < wadi_rows_floats(&v.box.rows); ++at) {
                random = 1664525u * random + 1013904223u;
                v.u[a][at] = (float)(random >> 8) / (float)(1 << 24) - 0.5f;
            }
        }
        double before[6] = { 0 }, after[6] = { 0 };
        momenta(&v, before, before + 3);
        solve(&v);
        momenta(&v, after, after + 3);
        for (int a = 0; a < 3; ++a) {
            /* Of 3000 faces of speed 0.25, at arms of 8; velocities are rounded, and the stress is the
             * coefficient times as much. */
            CHECK_NEAR(after[a], before[a], 1e-3 + 2e-5 * coefficients[n]);
            CHECK_NEAR(after[3 + a], before[3 + a], 1e-2 + 2e-4 * coefficients[n]);
        }
        done(&v);
    }
}

static double slab(double x, double y, double z)
{
    return fmax(fmax(fabs(x - 24.0) - 22.0, fabs(y - 12.0) - 10.0), fabs(z - 6.0) - 4.0);
}

static const int slab_lo[3] = { 0, 0, 0 }, slab_hi[3] = { 48, 24, 12 };

/* u = cos(k z) between two free surfaces at its antinodes: backward Euler damps it by 1 / (1 + nu dt k^2) a
 * step. */
static void a_shear_wave_decays_at_its_rate(void **unused)
{
    (void)unused;
    const double coefficients[3] = { 0.5, 3.0, 40.0 };
    for (int n = 0; n < 3; ++n) {
        Viscous v;
        make(&v, slab_lo, slab_hi, slab, coefficients[n]);
        const double k = 3.14159265358979 / 8.0;
        for (size_t at = 8; at < wadi_rows_floats(&v.box.rows); ++at) {
            double x[3];
            face_position(&v, at, 0, x);
            v.u[0][at] = (float)cos(k * (x[2] - 2.0));
        }
        solve(&v);
        double factor = 1.0 / (1.0 + coefficients[n] * (2.0 - 2.0 * cos(k)));
        for (int z = 2; z < 10; ++z) {
            CHECK_NEAR(u_at(&v, 0, 24, 12, z), factor * cos(k * (z + 0.5 - 2.0)), 0.01);
        }
        done(&v);
    }
}

static double film_height;

static double film(double x, double y, double z)
{
    return fmax(fmax(fabs(x - 18.0) - 16.0, fabs(y - 18.0) - 16.0), z - film_height);
}

/* Film flow: u = g (2 H z - z^2) / (2 nu), for any fraction of a cell cut off by the surface or the floor.
 * The wall's stress is that of a straight line through the first cell, which is off by g h^2 / (8 nu): 1 /
 * (4 H^2) of the speed. */
static void a_film_flows_with_its_parabola(void **unused)
{
    (void)unused;
    const double tops[4] = { 4.0, 4.3, 3.7, 4.0 }, floors[4] = { 0.0, 0.0, 0.0, 0.3 };
    for (int n = 0; n < 4; ++n) {
        Viscous v;
        film_height = tops[n];
        const double coefficient = 200.0, g = 1.0;
        make(&v, (const int[3]){ 0, 0, -2 }, (const int[3]){ 36, 36, 9 }, film, coefficient);
        add_floor(&v, 0, floors[n], 0.0f);
        for (int step = 0; step < 5; ++step) {
            for (size_t at = 8; at < wadi_rows_floats(&v.box.rows); ++at) {
                v.u[0][at] += (float)g;
            }
            solve(&v);
        }
        const double depth = tops[n] - floors[n], fastest = g * depth * depth / (2.0 * coefficient);
        double worst = 0.0;
        for (int k = 0; k < (int)(tops[n] + 0.5); ++k) {
            double z = k + 0.5 - floors[n];
            double exact = g * (2.0 * depth * z - z * z) / (2.0 * coefficient);
            worst = fmax(worst, fabs(u_at(&v, 0, 18, 18, k) - exact) / fastest);
        }
        print_message("film of %.1f cells on a floor at %.1f: off by %.2f %% of its speed, %d iterations\n",
                      tops[n], floors[n], 100.0 * worst, v.report.iterations);
        CHECK_AT_MOST(worst, 0.03);
        done(&v);
    }
}

/* Two layers sheared by a belt: stress is continuous, so each layer has its fraction of the speed. */
static void layers_share_the_shear_by_their_viscosity(void **unused)
{
    (void)unused;
    Viscous v;
    film_height = 6.0;
    make(&v, (const int[3]){ 0, 0, -2 }, (const int[3]){ 36, 36, 9 }, film, 2000.0);
    for (size_t at = 8; at < wadi_rows_floats(&v.box.rows); ++at) {
        int c[3];
        flip_box_cell(&v.box, at, c);
        v.coefficient[at] = c[2] < 3 ? 200.0f : 2000.0f;
        bool is_lid = c[2] >= 6;
        v.solid[at / 8] |= (uint8_t)(is_lid << at % 8);
        for (int a = 0; a < 3; ++a) {
            if (is_lid) {
                v.open[a][at] = 0.0f;
                v.solid_velocity[a][at] = a == 0 ? 1.0f : 0.0f;
            }
        }
    }
    add_floor(&v, 0, 0.0, 0.0f);
    for (size_t at = 8; at < wadi_rows_floats(&v.box.rows); ++at) {
        int c[3];
        flip_box_cell(&v.box, at, c);
        v.solid_distance[at] = (float)fmin(c[2] + 0.5, 6.0 - (c[2] + 0.5));
    }
    for (int step = 0; step < 5; ++step) {
        solve(&v);
    }
    for (int k = 0; k < 6; ++k) {
        double z = k + 0.5, exact = z < 3.0 ? 10.0 / 11.0 * z / 3.0 : 10.0 / 11.0 + (z - 3.0) / 33.0;
        CHECK_NEAR(u_at(&v, 0, 18, 18, k), exact, 0.01);
    }
    done(&v);
}

/* Energy falls, and the change stays bounded, over 12 decades. */
static void no_coefficient_blows_up(void **unused)
{
    (void)unused;
    for (double coefficient = 1e-6; coefficient < 1e7; coefficient *= 100.0) {
        Viscous v;
        make(&v, ball_lo, ball_hi, ball, coefficient);
        add_floor(&v, 3, 0.2, 0.0f);
        uint32_t random = 4711;
        double before = 0.0, after = 0.0;
        for (int a = 0; a < 3; ++a) {
            for (size_t at = 8; at < wadi_rows_floats(&v.box.rows); ++at) {
                random = 1664525u * random + 1013904223u;
                v.u[a][at] = (float)(random >> 8) / (float)(1 << 24) - 0.5f;
                before += (double)(v.u[a][at] * v.u[a][at]);
            }
        }
        solve(&v);
        for (int a = 0; a < 3; ++a) {
            for (size_t at = 8; at < wadi_rows_floats(&v.box.rows); ++at) {
                after += (double)(v.u[a][at] * v.u[a][at]);
            }
        }
        print_message("coefficient %g: %d iterations, residual %.1e -> %.1e\n", coefficient,
                      v.report.iterations, v.report.first_residual, v.report.residual);
        assert_true(after <= before);
        done(&v);
    }
}

/* Nothing viscous: not a bit changes. */
static void no_viscosity_changes_nothing(void **unused)
{
    (void)unused;
    Viscous v;
    make(&v, ball_lo, ball_hi, ball, 0.0);
    v.u[1][flip_box_at(&v.box, 8, 8, 8)] = 1.0f;
    solve(&v);
    assert_true(v.u[1][flip_box_at(&v.box, 8, 8, 8)] == 1.0f);
    assert_true(v.u[1][flip_box_at(&v.box, 9, 8, 8)] == 0.0f);
    assert_int_equal(v.report.iterations, 0);
    done(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_motions_cost_nothing),
        cmocka_unit_test(momentum_and_spin_are_conserved),
        cmocka_unit_test(a_shear_wave_decays_at_its_rate),
        cmocka_unit_test(a_film_flows_with_its_parabola),
        cmocka_unit_test(layers_share_the_shear_by_their_viscosity),
        cmocka_unit_test(no_coefficient_blows_up),
        cmocka_unit_test(no_viscosity_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
