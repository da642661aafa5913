/* sph: the published methods, by hand. */
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "expect.h"
#include "sph/published/sph_printed.h"

enum { MOST = 64, NEAR = 64 * 64 };
static const double PI = 3.14159265358979323846;

/* A few particles, all neighbours of each other, away from walls. */
typedef struct Few {
    WadiSphPrinted p;
    double x[MOST], y[MOST], z[MOST], radius[MOST], mass[MOST], rest[MOST], density[MOST], pressure[MOST];
    double viscosity[MOST], cohesion[MOST], friction[MOST];
    uint8_t is_sand[MOST];
    WadiVec3 velocity[MOST], force[MOST];
    int64_t start[MOST + 1];
    int32_t index[NEAR];
    WadiSphNearBits bits[1];
    WadiSphWalls walls;
    WadiSphPrintedSand sand;
    WadiSym3 strain[MOST], stress[MOST];
    double gradient[MOST][9];
    uint8_t is_rigid[MOST], is_sliding[MOST];
} Few;

static Few *make_few(int count, bool is_sand)
{
    Few *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->walls.of = f->bits;
    f->p = (WadiSphPrinted){ .count = count,
                             .spacing = 0.01,
                             .dt = 1e-4,
                             .reach = 0.02,
                             .near = { .count = count, .start = f->start, .index = f->index },
                             .x = f->x,
                             .y = f->y,
                             .z = f->z,
                             .is_sand = f->is_sand,
                             .radius = f->radius,
                             .mass = f->mass,
                             .rest_density = f->rest,
                             .density = f->density,
                             .pressure = f->pressure,
                             .viscosity = f->viscosity,
                             .cohesion = f->cohesion,
                             .friction = f->friction,
                             .velocity = f->velocity,
                             .force = f->force,
                             .walls = &f->walls };
    f->sand = (WadiSphPrintedSand){ .strain = f->strain,
                                    .gradient = f->gradient,
                                    .stress = f->stress,
                                    .is_rigid = f->is_rigid,
                                    .is_sliding = f->is_sliding };
    int32_t to = 0;
    for (int i = 0; i < count; ++i) {
        f->start[i] = to;
        for (int j = 0; j < count; ++j) {
            f->index[to] = j;
            to += j != i;
        }
        f->is_sand[i] = is_sand;
        f->radius[i] = 0.02, f->mass[i] = 1e-3, f->rest[i] = f->density[i] = 1000.0;
    }
    f->start[count] = to;
    return f;
}

static double noise(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

static void scatter(Few *f, uint32_t seed)
{
    for (int i = 0; i < f->p.count; ++i) {
        f->x[i] = 0.015 * noise(&seed), f->y[i] = 0.015 * noise(&seed), f->z[i] = 0.015 * noise(&seed);
        f->velocity[i] = (WadiVec3){ noise(&seed), noise(&seed), noise(&seed) };
        f->pressure[i] = 1000.0 * (1.0 + noise(&seed)), f->friction[i] = 0.6;
        f->density[i] = 1000.0 * (1.0 + 0.2 * noise(&seed));
        f->mass[i] = 1e-3 * (1.0 + 0.5 * noise(&seed));
    }
}

static WadiVec3 total(const Few *f)
{
    WadiVec3 sum = { 0 };
    for (int i = 0; i < f->p.count; ++i) {
        sum = wadi_add(sum, f->force[i]);
    }
    return sum;
}

static void kernels_are_those_of_mcg03(void **unused)
{
    (void)unused;
    const double h = 0.03;
    const int steps = 20000;
    double all = 0.0, laplacian = 0.0, lattice = 0.0, wall = 0.0;
    for (int k = 0; k < steps; ++k) {
        const double r = h * (k + 0.5) / steps, shell = 4.0 * PI * r * r * h / steps;
        all += wadi_sph_printed_weight(r, h) * shell;
        laplacian += wadi_sph_printed_laplacian(r, h) * shell;
        const double z = 0.01 + (h - 0.01) * (k + 0.5) / steps; /* spiky over planes beyond 1 cm */
        wall += 2.0 * PI * z * 15.0 / (PI * pow(h, 6.0)) * pow(h - z, 3.0) * (h - 0.01) / steps;
    }
    for (int x = -2; x <= 2; ++x) {
        for (int y = -2; y <= 2; ++y) {
            for (int z = -2; z <= 2; ++z) {
                lattice += wadi_sph_printed_weight(sqrt(x * x + y * y + z * z), 2.0);
            }
        }
    }
    CHECK_NEAR(lattice, 1.0, 1e-12);
    CHECK_NEAR(all, 512.0 * PI / 315.0 * 64.0 / 330.0, 1e-6); /* poly6 over its sum on a lattice */
    CHECK_NEAR(laplacian * h * h, 15.0, 1e-3);                /* 45/(pi h^6) 4 pi (h^4/3 - h^4/4) */
    CHECK_NEAR(wadi_sph_printed_wall_slope(0.01, h), wall, 1e-4 * wall);
    const double r = 0.011, e = 1e-7;
    const double rise = (wadi_sph_printed_weight(r + e, h) - wadi_sph_printed_weight(r - e, h)) / (2.0 * e);
    CHECK_NEAR(wadi_sph_printed_slope(r, h) * r / rise, 1.0, 1e-6);
    CHECK_NEAR(wadi_sph_printed_spiky_slope(r, h) * r, -45.0 / (PI * pow(h, 6.0)) * pow(h - r, 2.0), 1e-3);
    /* A first row half a spacing from a wall lacks a quarter radius' planes: 63 of 330. */
    CHECK_NEAR(wadi_sph_printed_wall_part(0.25 * h, h), 63.0 / 330.0, 1e-12);
    assert_true(wadi_sph_printed_wall_part(h, h) == 0.0 && wadi_sph_printed_wall_slope(h, h) == 0.0);
}

/* Two particles of 1 g and 1 cm^3 a spacing of 1 cm apart, 200 and 300 Pa:
 * f = V^2 (p_1 + p_2) 45 / (pi h^6) (h - r)^2 apart. */
static void two_particles_push_each_other_by_hand(void **unused)
{
    (void)unused;
    Few *f = make_few(2, false);
    f->x[1] = 0.01;
    f->pressure[0] = 200.0, f->pressure[1] = 300.0;
    f->viscosity[0] = 3.0, f->viscosity[1] = 1.0;
    f->velocity[1].y = 0.5;
    wadi_sph_printed_forces(&f->p);
    const double factor = 45.0 / (PI * pow(0.02, 6.0));
    CHECK_NEAR(f->force[0].x, -1e-12 * 500.0 * factor * 1e-4, 1e-9);
    CHECK_NEAR(f->force[1].x, 1e-12 * 500.0 * factor * 1e-4, 1e-9);
    CHECK_NEAR(f->force[0].y, 2.0 * 1e-12 * 0.5 * factor * 0.01, 1e-9); /* mean of 3 and 1 Pa s */
    CHECK_NEAR(f->force[1].y, -f->force[0].y, 1e-15);
    wadi_sph_printed_density(&f->p);
    const double w0 = wadi_sph_printed_weight(0.0, 0.02), w1 = wadi_sph_printed_weight(0.01, 0.02);
    CHECK_NEAR(f->density[0], 1e-3 * (w0 + w1), 1e-9);
    free(f);
}

/* 1 % of compression: 1.01^7 = 1.0721354. */
static void pressure_is_taits(void **unused)
{
    (void)unused;
    Few *f = make_few(3, false);
    f->is_sand[1] = 1, f->rest[1] = 1600.0;
    f->density[0] = 1010.0, f->density[1] = 1616.0, f->density[2] = 900.0;
    wadi_sph_printed_pressure(&f->p, 10.0);
    CHECK_NEAR(f->pressure[0], 1000.0 * 100.0 / 7.0 * 0.0721354, 0.01);
    CHECK_NEAR(f->pressure[1], 1600.0 * 100.0 / 7.0 * 0.0721354, 0.01);
    CHECK_NEAR(f->pressure[2], 0.0, 0.0);
    f->p.is_t10 = true; /* k (rho / rho_0 - 1) for water */
    wadi_sph_printed_pressure(&f->p, 10.0);
    CHECK_NEAR(f->pressure[0], 1000.0, 1e-9);
    CHECK_NEAR(f->pressure[1], 1600.0 * 100.0 / 7.0 * 0.0721354, 0.01);
    free(f);
}

static void pairs_keep_momentum(void **unused)
{
    (void)unused;
    Few *f = make_few(40, true);
    scatter(f, 7);
    for (int i = 0; i < f->p.count; ++i) {
        f->viscosity[i] = 2.0;
    }
    wadi_sph_printed_forces(&f->p);
    double size = 0.0;
    for (int i = 0; i < f->p.count; ++i) {
        size = fmax(size, wadi_norm(f->force[i]));
    }
    assert_true(size > 1e-3);
    CHECK_AT_MOST(wadi_norm(total(f)), 1e-13 * size);
    wadi_sph_printed_strain(&f->p, &f->sand);
    wadi_sph_printed_yield(&f->p, &f->sand);
    memset(f->force, 0, sizeof f->force);
    wadi_sph_printed_friction(&f->p, &f->sand);
    size = 0.0;
    for (int i = 0; i < f->p.count; ++i) {
        size = fmax(size, wadi_norm(f->force[i]));
    }
    assert_true(size > 1e-6);
    CHECK_AT_MOST(wadi_norm(total(f)), 1e-12 * size);
    for (int i = 0; i < f->p.count; i += 2) {
        f->is_sand[i] = 0;
    }
    memset(f->force, 0, sizeof f->force);
    wadi_sph_printed_collide(&f->p, 1.0);
    size = wadi_norm(f->force[3]);
    assert_true(size > 1e-3);
    CHECK_AT_MOST(wadi_norm(total(f)), 1e-12 * size);
    free(f);
}

/* Simple shear dv_x/dz = 10 on a lattice: D = 5 in xz, sigma_f = mu p D / (sqrt(1/3) |D|), whose xz part is
 * mu p sqrt(3/2), or what bounds it. Of one speed: no strain with v_j - v_i; with T10's v_j there is some. */
static void the_stress_is_that_of_eq_2(void **unused)
{
    (void)unused;
    Few *f = make_few(27, true);
    for (int i = 0; i < 27; ++i) {
        f->x[i] = 0.01 * (i % 3), f->y[i] = 0.01 * (i / 3 % 3), f->z[i] = 0.01 * (i / 9);
        f->pressure[i] = 100.0, f->friction[i] = 0.6;
        f->velocity[i].x = 10.0 * f->z[i];
    }
    wadi_sph_printed_strain(&f->p, &f->sand);
    const WadiSym3 d = f->strain[13];
    CHECK_NEAR(d.xx + d.yy + d.zz + d.xy + d.yz, 0.0, 1e-9);
    assert_true(d.xz > 3.0 && d.xz < 6.0); /* 5 but for the sum over neighbours */
    /* Stopping it takes rho h^2 D / dt. Above sqrt(1/3) (mu p + c) it slides. */
    const double stopping = 1000.0 * 0.02 * 0.02 / 1e-4 * d.xz;
    f->cohesion[13] = sqrt(3.0) * stopping - 60.0 + 1.0;
    f->cohesion[12] = 0.0;
    wadi_sph_printed_yield(&f->p, &f->sand);
    assert_int_equal(f->is_rigid[13], 1);
    CHECK_NEAR(f->stress[13].xz, 0.0, 0.0);
    f->cohesion[13] -= 2.0;
    wadi_sph_printed_yield(&f->p, &f->sand);
    assert_int_equal(f->is_rigid[13], 0);
    CHECK_NEAR(f->stress[13].xz, 0.6 * 100.0 * sqrt(1.5), 1e-9);
    f->pressure[13] = 1e9, f->cohesion[13] = -1e12; /* then no more than an eighth of rho dx^2 D / dt */
    wadi_sph_printed_yield(&f->p, &f->sand);
    CHECK_NEAR(f->stress[13].xz, 0.125 * 1000.0 * 0.01 * 0.01 / 1e-4 * d.xz, 1e-9);
    for (int i = 0; i < 27; ++i) {
        f->velocity[i] = (WadiVec3){ 1.0, 2.0, 3.0 };
    }
    wadi_sph_printed_strain(&f->p, &f->sand);
    CHECK_AT_MOST(wadi_sym3_frobenius(f->strain[0]), 1e-12);
    f->p.is_t10 = true;
    wadi_sph_printed_strain(&f->p, &f->sand);
    assert_true(wadi_sym3_frobenius(f->strain[0]) > 10.0);
    free(f);
}

/* Six particles of 1 kg at (+-2, 0, 0), (0, +-1, 0) and (0, 0, +-1), one force that turns them about y by 10
 * N m: the inertia is 8 + 2, eq. 17 prints that of x, 4. */
static void clusters_move_as_bodies(void **unused)
{
    (void)unused;
    static const double at[6][3] = { { 2, 0, 0 },  { -2, 0, 0 }, { 0, 1, 0 },
                                     { 0, -1, 0 }, { 0, 0, 1 },  { 0, 0, -1 } };
    Few *f = make_few(8, true);
    WadiArena arena;
    WadiSphPrintedClusters clusters;
    WadiVec3 velocity[MOST] = { { 0, 0, 0 } };
    WadiError error;
    arena = (WadiArena){ 0 };
    for (int i = 0; i < 8; ++i) {
        f->x[i] = i < 6 ? at[i][0] : 100.0 + i, f->y[i] = i < 6 ? at[i][1] : 0.0,
        f->z[i] = i < 6 ? at[i][2] : 0.0;
        f->mass[i] = 1.0, f->is_rigid[i] = i != 7;
        f->velocity[i] = (WadiVec3){ 1.0, 0.0, 0.0 };
    }
    f->p.dt = 0.1;
    f->force[4].x = 5.0, f->force[5].x = -5.0; /* torque (0, 10, 0) */
    f->force[0].z = f->force[1].z = 3.0;       /* and 6 N up */
    assert_int_equal(wadi_sph_printed_clusters_find(&clusters, &f->p, f->is_rigid, 2.3, &arena, &error),
                     WADI_OK);
    assert_int_equal(clusters.count, 2);
    assert_true(clusters.of[0] == clusters.of[5] && clusters.of[6] == 1 && clusters.of[7] == -1);
    wadi_sph_printed_clusters_push(&f->p, &clusters, velocity);
    CHECK_NEAR(velocity[4].x, 1.0 + 0.1 * 10.0 / 4.0, 1e-6); /* alpha x r: (0, 2.5, 0) x (0, 0, 1) */
    CHECK_NEAR(velocity[0].z, 0.1 * (6.0 / 6.0 - 2.0 * 10.0 / 4.0), 1e-6);
    wadi_sph_printed_clusters_move(&f->p, &clusters, velocity);
    CHECK_NEAR(velocity[4].x, 1.0 + 0.1 * 10.0 / 10.0, 1e-6);
    CHECK_NEAR(velocity[0].z, 0.1 * (1.0 - 2.0), 1e-6);
    CHECK_NEAR(velocity[2].z, 0.1, 1e-6);
    CHECK_NEAR(velocity[6].x, 1.0, 1e-12);
    /* h' decides what is one body. */
    assert_int_equal(wadi_sph_printed_clusters_find(&clusters, &f->p, f->is_rigid, 1.5, &arena, &error),
                     WADI_OK);
    assert_int_equal(clusters.count,
                     4); /* the four at distance 1 are sqrt(2) apart, the outer ones sqrt(5) */
    wadi_arena_free(&arena);
    free(f);
}

/* Two dry particles and a wet one in a row, 1 cm apart, without gravity and at rest density. The middle one
 * sees more suction on its dry side. By eqs. 22 to 30 it gains v d m S^beta V lap W, v = K/(phi eta) V
 * (k - P^c) |grad W|, and the wet one, whose neighbour holds nothing, loses nothing: the printed exchange
 * makes this water. */
static void dry_sand_takes_what_wet_sand_keeps(void **unused)
{
    (void)unused;
    Few *f = make_few(3, true);
    f->x[1] = 0.01, f->x[2] = 0.02;
    WadiArena arena = { 0 };
    WadiError error;
    const double room = 1000.0 * 0.4 * 1e-6;
    double water[3] = { 0.0, 0.0, 0.5 * room }, saturation[3], pore[3], made = 0.0;
    const double k[3] = { 1e-9, 1e-9, 1e-9 }, phi[3] = { 0.4, 0.4, 0.4 };
    const double suction[3] = { 1000.0, 1000.0, 1000.0 }, a[3] = { 0.5, 0.5, 0.5 }, b[3] = { 3.0, 3.0, 3.0 };
    const double full[3] = { 1e-3, 1e-3, 1e-3 };
    WadiSphPrintedPores pores = { .water = water,
                                  .saturation = saturation,
                                  .pore_pressure = pore,
                                  .full = full,
                                  .permeability = k,
                                  .porosity = phi,
                                  .capillary = suction,
                                  .capillary_exponent = a,
                                  .flow_exponent = b,
                                  .water_density = 1000.0,
                                  .viscosity = 1e-3,
                                  .pore_stiffness = 1000.0 };
    const double slope = -wadi_sph_printed_slope(0.01, 0.02) * 0.01;
    const double speed = 1e-9 / (0.4 * 1e-3) * 1e-6 * (1000.0 - 1000.0 * sqrt(0.5)) * slope;
    const double laplacian = wadi_sph_printed_laplacian(0.01, 0.02);
    const double gain = 1e-4 * speed * 0.01 * 0.125 * 1e-6 * 0.5 * room * laplacian;
    assert_int_equal(wadi_sph_printed_flow(&f->p, &pores, &made, &arena, &error), WADI_OK);
    assert_true(gain > 0.0);
    CHECK_NEAR(water[1] / gain, 1.0, 1e-9);
    CHECK_NEAR(water[2], 0.5 * room, 0.0);
    CHECK_NEAR(made / gain, 1.0, 1e-9);
    CHECK_NEAR(saturation[2], 0.5, 1e-12);
    /* No more than the free volume. */
    f->p.dt = 1e9;
    assert_int_equal(wadi_sph_printed_flow(&f->p, &pores, &made, &arena, &error), WADI_OK);
    CHECK_NEAR(water[1], room, 1e-15);
    wadi_arena_free(&arena);
    free(f);
}

/* Three equally wet particles above each other without suction: eq. 27 points down, and by eq. 28 the highest
 * one gains what lies in the direction of its velocity, the lowest one loses. */
static void gravity_lifts_the_water(void **unused)
{
    (void)unused;
    Few *f = make_few(3, true);
    f->z[1] = 0.01, f->z[2] = 0.02;
    WadiArena arena = { 0 };
    WadiError error;
    const double half = 0.5 * 1000.0 * 0.4 * 1e-6;
    double water[3] = { half, half, half }, saturation[3], pore[3], made = 0.0;
    const double k[3] = { 1e-9, 1e-9, 1e-9 }, phi[3] = { 0.4, 0.4, 0.4 }, none[3] = { 0.0, 0.0, 0.0 };
    const double one[3] = { 1.0, 1.0, 1.0 };
    WadiSphPrintedPores pores = { .water = water,
                                  .saturation = saturation,
                                  .pore_pressure = pore,
                                  .full = one,
                                  .permeability = k,
                                  .porosity = phi,
                                  .capillary = none,
                                  .capillary_exponent = one,
                                  .flow_exponent = one,
                                  .water_density = 1000.0,
                                  .viscosity = 1e-3,
                                  .gravity = { 0.0, 0.0, -9.81 } };
    assert_int_equal(wadi_sph_printed_flow(&f->p, &pores, &made, &arena, &error), WADI_OK);
    const double speed = 1e-9 / (0.4 * 1e-3) * 1000.0 * 9.81;
    const double change = 1e-4 * speed * 0.01 * 0.5 * 1e-6 * half * wadi_sph_printed_laplacian(0.01, 0.02);
    CHECK_NEAR((water[2] - half) / change, 1.0, 1e-9);
    CHECK_NEAR((water[0] - half) / change, -1.0, 1e-9);
    CHECK_NEAR(water[1], half, 1e-9 * change);
    wadi_arena_free(&arena);
    free(f);
}

/* m dv/dt = -kappa m W (x_i - x_j): together. An impact of the speed that the stiffness is for stops within a
 * tenth of the diameter. */
static void tension_draws_and_collisions_part(void **unused)
{
    (void)unused;
    Few *f = make_few(2, false);
    f->x[1] = 0.01;
    const double kappa[2] = { 7e-5, 7e-5 };
    wadi_sph_printed_cohere(&f->p, kappa);
    CHECK_NEAR(f->force[0].x, 7e-5 * 1e-3 * wadi_sph_printed_weight(0.01, 0.02) * 0.01, 1e-15);
    CHECK_NEAR(f->force[1].x, -f->force[0].x, 1e-18);
    f->is_sand[0] = 1;
    double deepest = 0.0;
    f->velocity[1].x = -1.0;
    f->p.dt = 1e-6;
    for (int step = 0; step < 10000; ++step) {
        memset(f->force, 0, sizeof f->force);
        wadi_sph_printed_collide(&f->p, 1.0);
        for (int i = 0; i < 2; ++i) {
            f->velocity[i].x += f->p.dt * f->force[i].x / f->mass[i];
            f->x[i] += f->p.dt * f->velocity[i].x;
        }
        deepest = fmax(deepest, 0.01 - (f->x[1] - f->x[0]));
    }
    assert_true(deepest > 0.05 * 0.01 && deepest < 0.1 * 0.01);
    CHECK_NEAR(f->velocity[1].x - f->velocity[0].x, 0.5, 0.05);
    CHECK_NEAR(f->velocity[1].x + f->velocity[0].x, -1.0, 1e-9);
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_those_of_mcg03),
        cmocka_unit_test(two_particles_push_each_other_by_hand),
        cmocka_unit_test(pressure_is_taits),
        cmocka_unit_test(pairs_keep_momentum),
        cmocka_unit_test(the_stress_is_that_of_eq_2),
        cmocka_unit_test(clusters_move_as_bodies),
        cmocka_unit_test(dry_sand_takes_what_wet_sand_keeps),
        cmocka_unit_test(gravity_lifts_the_water),
        cmocka_unit_test(tension_draws_and_collisions_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
