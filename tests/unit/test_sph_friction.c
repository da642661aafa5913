/* sph: friction at fixed pressure, on a disordered slab. */
#include "sph_slab.h"

static Slab *slab;
static WadiArena arena;

enum { PERIOD = 7, DEPTH = 5 };

/* A slab with random positions, pressures and, in `velocity`, motions. */
static int set_up(void **state)
{
    (void)state;
    slab = slab_create(PERIOD, DEPTH, 0.8);
    slab->wall_friction = 0.5f;
    slab_find_walls(slab);
    slab_find_pairs(slab);
    for (int i = 0; i < slab->count; ++i) {
        const uint64_t n = 3 * (uint64_t)i;
        slab->velocity[i] = (WadiF4){ (float)random_signed(2, n), (float)random_signed(2, n + 1),
                                      (float)random_signed(2, n + 2), 0 };
        slab->pressure[i] = (float)fmax(0.0, 8.0 * random_signed(3, n));
        slab->bound[i] = 0.6f * slab->pressure[i];
    }
    WadiError error;
    WadiSphFrictionIn in = slab_friction(slab);
    CHECK_OK(wadi_sph_friction_largest(&in, 40, &slab->largest_friction, &arena, &error), error);
    slab->largest_friction *= 1.1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(slab);
    wadi_arena_free(&arena);
    return 0;
}

static double energy(void)
{
    double sum = 0.0;
    for (int i = 0; i < slab->count; ++i) {
        for (int a = 0; a < 3; ++a) {
            sum += 0.5 * (double)slab->velocity[i][a] * (double)slab->velocity[i][a];
        }
    }
    return sum;
}

/* From no friction. */
static void solve(const WadiSphFrictionIn *in, WadiSphFrictionReport *report)
{
    static WadiF4 v_star[SLAB_MAX];
    WadiError error;
    memcpy(v_star, slab->velocity, sizeof v_star);
    CHECK_OK(wadi_sph_friction_solve(slab->velocity, v_star, &slab->friction, in, report, &arena, &error),
             error);
}

typedef float Tensors[WADI_SPH_STRESSES][SLAB_MAX];

/* A : B of particle i. */
static double product(Tensors a, Tensors b, int i)
{
    double sum = ((double)a[0][i] + (double)a[1][i]) * ((double)b[0][i] + (double)b[1][i]);
    for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
        sum += (c < 2 ? 1.0 : 2.0) * (double)a[c][i] * (double)b[c][i];
    }
    return sum;
}

static void find_strain(Tensors strain, const WadiF4 *velocity, const WadiSphFrictionIn *in)
{
    static WadiSphStrain all[SLAB_MAX];
    wadi_sph_friction_strain(all, velocity, in);
    for (int i = 0; i < in->pairs->count; ++i) {
        for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
            strain[c][i] = all[i].strain[c];
        }
    }
}

/* sum v . F(T) = -sum T : D(v), for any T and v. */
static void test_force_and_strain_are_transposes(void **state)
{
    (void)state;
    const WadiSphFrictionIn in = slab_friction(slab);
    static WadiF4 none[SLAB_MAX], force[SLAB_MAX];
    static Tensors strain;
    for (int i = 0; i < slab->count; ++i) {
        for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
            slab->stress[c][i] = (float)random_signed(4, 5 * (uint64_t)i + (uint64_t)c);
        }
    }
    wadi_sph_friction_apply(force, none, &slab->friction, &in);
    find_strain(strain, slab->velocity, &in);
    double power = 0.0, work = 0.0, size = 0.0;
    for (int i = 0; i < slab->count; ++i) {
        for (int a = 0; a < 3; ++a) {
            power += (double)slab->velocity[i][a] * (double)force[i][a];
        }
        work += product(slab->stress, strain, i);
        size += sqrt(product(slab->stress, slab->stress, i) * product(strain, strain, i));
    }
    CHECK_NEAR(power, -work, 1e-6 * size);
    assert_true(fabs(work) > 1e-3 * size);
}

/* |sum_j v_j (x) G_ij| of a constant velocity v = (1, 1, 1): the strain as the paper prints it, without the
 * difference of velocities. */
static double printed_strain(int i)
{
    const WadiSphPairs *pairs = &slab->pairs;
    WadiF4 sum = { 0 };
    for (int64_t n = pairs->start[i]; n < pairs->start[i + 1]; ++n) {
        sum += WADI_SPH_OFFSET(pairs->place[wadi_sph_other(pairs, n)], pairs->place[i]) *
               wadi_sph_slope(pairs, i, n);
    }
    return sqrt((double)(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]));
}

/* Sand that moves as one has no strain, in any disorder; as printed it would. A simple shear has half its
 * rate, inside of a lattice. */
static void test_strain_is_that_of_the_motion(void **state)
{
    (void)state;
    static Tensors strain;
    const WadiSphFrictionIn in = slab_friction(slab);
    double printed = 0.0;
    for (int i = 0; i < slab->count; ++i) {
        slab->velocity[i] = (WadiF4){ 1.0f, 1.0f, 1.0f, 0.0f };
    }
    find_strain(strain, slab->velocity, &in);
    for (int i = 0; i < slab->count; ++i) {
        assert_true(product(strain, strain, i) == 0.0);
        printed = fmax(printed, printed_strain(i));
    }
    assert_true(printed > 0.1);
    Slab *even = slab_create(PERIOD, DEPTH, 0.0);
    slab_find_walls(even);
    slab_find_pairs(even);
    for (int i = 0; i < even->count; ++i) {
        even->velocity[i] = (WadiF4){ (float)even->x[i][2], 0.0f, 0.0f, 0.0f };
    }
    const WadiSphFrictionIn shear = slab_friction(even);
    find_strain(strain, even->velocity, &shear);
    const int middle = PERIOD * PERIOD * (DEPTH / 2);
    print_message("shear of rate 1: strain %.4f; printed strain of sand that moves as one: up to %.2f\n",
                  (double)strain[4][middle], printed);
    CHECK_NEAR(strain[4][middle], 0.5, 0.02);
    CHECK_NEAR(strain[2][middle], 0.0, 1e-4);
    CHECK_NEAR(strain[0][middle] + strain[1][middle], 0.0, 1e-4);
    /* Rigid rotation about a slanted axis has none, where no neighbour is beyond the period. */
    const int inside = middle + PERIOD * (PERIOD / 2) + PERIOD / 2;
    for (int i = 0; i < even->count; ++i) {
        const float x = (float)even->x[i][0], y = (float)even->x[i][1], z = (float)even->x[i][2];
        even->velocity[i] = (WadiF4){ 0.5f * z - 0.25f * y, 0.25f * x - z, y - 0.5f * x, 0.0f };
    }
    find_strain(strain, even->velocity, &shear);
    CHECK_AT_MOST(sqrt(product(strain, strain, inside)), 1e-5);
    free(even);
}

/* The pressure that bounds the stress, half of it the neighbours' mean weighted by their slopes, summed in
 * double; by its own sum, and from the Laplacian of the pressure. */
static void test_bounding_pressure_is_half_that_of_the_neighbours(void **state)
{
    (void)state;
    const WadiSphPairs *pairs = &slab->pairs;
    static float laplacian[SLAB_MAX];
    const WadiSphPressureIn in = { .pairs = pairs,
                                   .walls = &slab->walls,
                                   .is_sand = slab->is_sand,
                                   .inverse_density = slab->inverse_density,
                                   .is_idle = slab->none,
                                   .laplacian = laplacian };
    for (int i = 0; i < slab->count; ++i) {
        slab->inverse_density[i] = i % 2 == 0 ? 1.0f : 0.5f;
    }
    wadi_sph_pressure_apply(slab->velocity, slab->pressure, &in);
    for (int i = 0; i < slab->count; ++i) {
        double sum = 0.0, weight = 0.0;
        for (int64_t n = pairs->start[i]; n < pairs->start[i + 1]; ++n) {
            sum += (double)pairs->slope[n] * (double)slab->pressure[wadi_sph_other(pairs, n)];
            weight += (double)pairs->slope[n];
        }
        const double wanted = 0.5 * ((double)slab->pressure[i] + sum / weight);
        CHECK_NEAR(wadi_sph_friction_pressure(pairs, slab->pressure, i), wanted, 1e-5);
        CHECK_NEAR(
            wadi_sph_friction_smooth(pairs, slab->pressure[i], laplacian[i], slab->inverse_density[i], i),
            wanted, 1e-5);
    }
}

/* Forces between particles add up to nothing. */
static void test_friction_inside_sand_keeps_momentum(void **state)
{
    (void)state;
    slab->wall_friction = 0.0f;
    slab_find_walls(slab);
    const WadiSphFrictionIn in = slab_friction(slab);
    double before[3] = { 0 }, after[3] = { 0 };
    WadiSphFrictionReport report;
    for (int i = 0; i < slab->count; ++i) {
        for (int a = 0; a < 3; ++a) {
            before[a] += (double)slab->velocity[i][a];
        }
    }
    solve(&in, &report);
    for (int i = 0; i < slab->count; ++i) {
        for (int a = 0; a < 3; ++a) {
            after[a] += (double)slab->velocity[i][a];
        }
    }
    for (int a = 0; a < 3; ++a) {
        CHECK_NEAR(after[a], before[a], 1e-5 * slab->count);
    }
}

static void test_stress_stays_within_the_yield_surface_and_dissipates(void **state)
{
    (void)state;
    WadiSphFrictionIn in = slab_friction(slab);
    WadiSphFrictionReport report;
    const double before = energy();
    int yields = 0, sticks = 0;
    in.max_iterations = 200;
    in.tolerance = 1e-4;
    solve(&in, &report);
    CHECK_AT_MOST(report.residual, in.tolerance);
    assert_true(energy() < 0.9 * before);
    for (int i = 0; i < slab->count; ++i) {
        const double size = sqrt(0.5 * product(slab->stress, slab->stress, i));
        const WadiF4 t = slab->traction[i];
        const double along = sqrt((double)(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]));
        CHECK_AT_MOST(size, (double)slab->bound[i] * (1 + 1e-5));
        CHECK_AT_MOST(along, 0.5 * (double)(slab->pressure[i] * -slab->gradient[i][2]) * (1 + 1e-5));
        CHECK_NEAR(t[2], 0.0, 1e-7);
        yields += size > 0.999 * (double)slab->bound[i] && size > 0.0;
        sticks += size < 0.9 * (double)slab->bound[i];
    }
    assert_true(yields > 10 && sticks > 10);
}

/* Where friction sticks everywhere, no strain is left: only what moves as a whole. */
static void test_unbounded_friction_leaves_rest(void **state)
{
    (void)state;
    WadiSphFrictionIn in = slab_friction(slab);
    WadiSphFrictionReport report;
    for (int i = 0; i < slab->count; ++i) {
        slab->bound[i] = 1e6f;
        slab->velocity[i][2] = 0.0f;
        slab->pressure[i] = 1e6f;
    }
    in.max_iterations = 3000;
    in.tolerance = 1e-5;
    solve(&in, &report);
    CHECK_AT_MOST(report.residual, in.tolerance);
    CHECK_AT_MOST(energy() / slab->count, 1e-3);
}

/* With a step four times too long the iterations would grow without bound. */
static void test_eigenvalue_that_is_too_small_is_raised(void **state)
{
    (void)state;
    WadiSphFrictionIn in = slab_friction(slab);
    WadiSphFrictionReport report;
    const double before = energy();
    in.largest = 0.25 * slab->largest_friction;
    in.max_iterations = 200;
    in.tolerance = 1e-3;
    solve(&in, &report);
    print_message("eigenvalue %.2f, from %.2f, measured %.2f\n", report.largest, in.largest,
                  slab->largest_friction);
    CHECK_AT_MOST(report.residual, in.tolerance);
    assert_true(energy() < 0.9 * before);
    assert_true(report.largest > in.largest && report.largest < 4.0 * slab->largest_friction);
}

/* A free lump of bonded sand: a disordered block without one of its quarters, with all surfaces, edges and
 * corners, and a single row of particles that sticks out. */
static int set_up_lump(void **state)
{
    (void)state;
    enum { SIDE = 9, ROW = 4 };
    slab = slab_create(4096, 0, 0.0); /* places as in the solver */
    int count = 0;
    for (int n = 0; n < SIDE * SIDE * SIDE; ++n) {
        const int cell[3] = { n % SIDE, n / SIDE % SIDE, n / (SIDE * SIDE) };
        for (int a = 0; a < 3 && (cell[0] < SIDE / 2 || cell[2] < SIDE / 2); ++a) {
            slab->x[count][a] = 100.0 + cell[a] + 0.3 * random_signed(1, (uint64_t)(3 * n + a));
        }
        count += cell[0] < SIDE / 2 || cell[2] < SIDE / 2;
    }
    for (int n = 0; n < ROW; ++n, ++count) {
        slab->x[count][0] = 100.0 + SIDE + n;
        slab->x[count][1] = slab->x[count][2] = 102.0;
    }
    for (int n = 0; n < count; ++n) {
        slab->is_sand[n] = 1;
        slab->ones[n] = slab->inverse_density[n] = slab->tension[n] = slab->cohesion_of[n] = 1.0f;
    }
    slab->count = slab->pairs.count = slab->walls.count = count;
    slab_find_walls(slab);
    slab_find_pairs(slab);
    wadi_sph_friction_moments(slab->moment, slab->tension, slab->cohesion_of, &slab->pairs, slab->none);
    return 0;
}

/* Velocities a + omega x x. The last particles have neighbours on a line only: they have no bonds. */
static void test_rigid_motion_of_bonded_sand_is_no_strain(void **state)
{
    (void)state;
    static WadiSphStrain strain[SLAB_MAX];
    const double omega[3] = { 0.7, -0.4, 0.6 };
    double plain = 0.0;
    const WadiSphFrictionIn in = slab_friction(slab);
    for (int i = 0; i < slab->count; ++i) {
        for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            slab->velocity[i][a] =
                (float)(1.0 + omega[b] * (slab->x[i][c] - 100.0) - omega[c] * (slab->x[i][b] - 100.0));
        }
    }
    wadi_sph_friction_strain(strain, slab->velocity, &in);
    for (int i = 0; i < slab->count; ++i) {
        const bool is_bonded = slab->tension[i] > 0.0f;
        for (int c = 0; c < WADI_SPH_STRESSES && is_bonded; ++c) {
            CHECK_NEAR(strain[i].strain[c], 0.0, 2e-5);
        }
        CHECK_NEAR(strain[i].rate, 0.0, 2e-5);
        for (int a = 0; a < 3 && is_bonded; ++a) {
            CHECK_NEAR(strain[i].spin[a], omega[a], 2e-5);
        }
        assert_true(is_bonded || slab->cohesion_of[i] == 0.0f);
        slab->moment[i] = (WadiSphMoment){ { 0 }, { 0 } };
    }
    assert_true(slab->tension[slab->count - 1] == 0.0f && slab->tension[0] > 0.0f);
    wadi_sph_friction_strain(strain, slab->velocity, &in);
    for (int i = 0; i < slab->count; ++i) {
        plain = fmax(plain, fabs((double)strain[i].strain[4]));
    }
    print_message("shear of a rigid motion with plain gradients: up to %.3f\n", plain);
    assert_true(plain > 0.1);
}

/* The forces of any stress, with its isotropic part, add up to no force and no torque, and are the transpose
 * of the strain rate. */
static void test_stress_of_bonded_sand_exerts_no_torque(void **state)
{
    (void)state;
    static WadiF4 none[SLAB_MAX], force[SLAB_MAX];
    static WadiSphStrain strain[SLAB_MAX];
    const WadiSphFrictionIn in = slab_friction(slab);
    double torque[3] = { 0 }, total[3] = { 0 }, power = 0.0, work = 0.0, size = 0.0;
    for (int i = 0; i < slab->count; ++i) {
        for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
            const float t = (float)random_signed(4, 6 * (uint64_t)i + (uint64_t)c);
            slab->stress[c][i] = slab->tension[i] > 0.0f ? t : 0.0f;
        }
        slab->mean[i] = (float)random_signed(4, 6 * (uint64_t)i + 5);
        for (int a = 0; a < 3; ++a) {
            slab->velocity[i][a] = (float)random_signed(5, 3 * (uint64_t)i + (uint64_t)a);
        }
    }
    wadi_sph_friction_apply(force, none, &slab->friction, &in);
    wadi_sph_friction_strain(strain, slab->velocity, &in);
    for (int i = 0; i < slab->count; ++i) {
        for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            torque[a] +=
                (slab->x[i][b] - 100.0) * (double)force[i][c] - (slab->x[i][c] - 100.0) * (double)force[i][b];
            total[a] += (double)force[i][a];
            power += (double)(slab->velocity[i][a] * force[i][a]);
            size += fabs((double)force[i][a]);
        }
        const float *t = strain[i].strain;
        work += (double)(slab->mean[i] * strain[i].rate);
        for (int c = 0; c < WADI_SPH_STRESSES; ++c) {
            work += (c < 2 ? 1.0 : 2.0) * (double)(slab->stress[c][i] * t[c]);
        }
        work += (double)((slab->stress[0][i] + slab->stress[1][i]) * (t[0] + t[1]));
    }
    for (int a = 0; a < 3; ++a) {
        CHECK_NEAR(total[a] / size, 0.0, 1e-6);
        CHECK_NEAR(torque[a] / size, 0.0, 1e-5);
    }
    CHECK_NEAR(power, -work, 1e-5 * size);
    assert_true(fabs(work) > 1e-3 * size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_force_and_strain_are_transposes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_strain_is_that_of_the_motion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bounding_pressure_is_half_that_of_the_neighbours, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_friction_inside_sand_keeps_momentum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stress_stays_within_the_yield_surface_and_dissipates, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_unbounded_friction_leaves_rest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_eigenvalue_that_is_too_small_is_raised, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rigid_motion_of_bonded_sand_is_no_strain, set_up_lump,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_stress_of_bonded_sand_exerts_no_torque, set_up_lump, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
