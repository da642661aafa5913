/* flip: what the transfers between particles and grid keep. WADI_LONG=1 asserts the times. [models T1, T2, T18] */
#include <stdlib.h>

#include "core/alloc.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "core/timer.h"
#include "expect.h"
#include "flip_fixture.h"

static const float two_masses[2] = { 1.0f, 2.5f };

/* The plain sum over particles and their eight nodes, in double. */
static void reference_to_grid(const Fluid *fluid, const float *mass, double *momentum[3], double *weight[3])
{
    const WadiParticles *p = &fluid->particles;
    for (int32_t i = 0; i < p->count; ++i) {
        double place[3] = { p->x[i] / fluid->cell_size, p->y[i] / fluid->cell_size,
                            p->z[i] / fluid->cell_size };
        double v[3] = { (double)p->vx[i], (double)p->vy[i], (double)p->vz[i] };
        for (int c = 0; c < 3; ++c) {
            for (int n = 0; n < 8; ++n) {
                int32_t node[3];
                double w = (double)mass[p->material[i]];
                for (int a = 0; a < 3; ++a) {
                    double q = place[a] - (a == c ? 0.0 : 0.5), f = q - floor(q);
                    node[a] = (int32_t)floor(q) + (n >> a & 1);
                    w *= n >> a & 1 ? f : 1.0 - f;
                }
                int32_t row = wadi_rows_find(&fluid->grid.rows, node[0], node[1], node[2]);
                assert_true(row > 0);
                size_t at = 8 * (size_t)row + (size_t)(node[0] & 7);
                momentum[c][at] += w * v[c];
                weight[c][at] += w;
            }
        }
    }
}

static void to_grid_agrees_with_plain_sums_in_double(void **unused)
{
    (void)unused;
    WadiError error;
    Fluid fluid;
    fluid_make_ball(&fluid, 9.3, wadi_vec3(-3.2, 1.7, 100.4), 0.02);
    fluid_set_random_velocity(&fluid);
    fluid_make_grid(&fluid);
    fluid_to_grid(&fluid, two_masses, 2, false);
    size_t cells = wadi_rows_floats(&fluid.grid.rows);
    double *momentum[3], *weight[3];
    for (int c = 0; c < 3; ++c) {
        CHECK_OK(WADI_NEW(&momentum[c], cells, "reference", &error), error);
        CHECK_OK(WADI_NEW(&weight[c], cells, "reference", &error), error);
    }
    reference_to_grid(&fluid, two_masses, momentum, weight);
    for (int c = 0; c < 3; ++c) {
        for (size_t n = 0; n < cells; ++n) {
            double u = (double)fluid.grid.velocity[c][n], m = (double)fluid.grid.face_mass[c][n];
            CHECK_NEAR(m, weight[c][n], 1e-5);
            CHECK_NEAR(u * m, momentum[c][n], 1e-5);
            if (weight[c][n] > 0.1) {
                CHECK_NEAR(u, momentum[c][n] / weight[c][n], 1e-5);
            }
        }
        WADI_DELETE(momentum[c], cells);
        WADI_DELETE(weight[c], cells);
    }
    fluid_free(&fluid);
}

static void to_grid_keeps_mass_and_momentum(void **unused)
{
    (void)unused;
    for (int is_affine = 0; is_affine < 2; ++is_affine) {
        Fluid fluid;
        fluid_make_ball(&fluid, 12.0, wadi_vec3(4.1, -2.9, 0.3), 0.1);
        fluid_set_random_velocity(&fluid);
        WadiParticles *p = &fluid.particles;
        for (int e = 0; e < 9; ++e) {
            float *c = wadi_particles_column(p, fluid.affine.column[e]);
            for (int32_t i = 0; i < p->count; ++i) {
                c[i] = 10.0f * (float)(wadi_random_unit((uint64_t)e, (uint64_t)i, WADI_RANDOM_TEST) - 0.5);
            }
        }
        fluid_make_grid(&fluid);
        fluid_to_grid(&fluid, two_masses, 2, is_affine);
        double mass = 0.0, momentum[3] = { 0.0 }, scale = 0.0;
        for (int32_t i = 0; i < p->count; ++i) {
            double m = (double)two_masses[p->material[i]];
            mass += m;
            momentum[0] += m * (double)p->vx[i];
            momentum[1] += m * (double)p->vy[i];
            momentum[2] += m * (double)p->vz[i];
            scale += m * fabs((double)p->vx[i]);
        }
        for (int c = 0; c < 3; ++c) {
            double grid_mass = 0.0, grid_momentum = 0.0;
            for (size_t n = 0; n < wadi_rows_floats(&fluid.grid.rows); ++n) {
                grid_mass += (double)fluid.grid.face_mass[c][n];
                grid_momentum += (double)fluid.grid.face_mass[c][n] * (double)fluid.grid.velocity[c][n];
            }
            CHECK_NEAR(grid_mass / mass, 1.0, 1e-6);
            CHECK_NEAR((grid_momentum - momentum[c]) / scale, 0.0, 1e-6);
        }
        fluid_free(&fluid);
    }
}

static WadiVec3 linear_field(const void *context, WadiVec3 x)
{
    const double *c = context; /* value and gradient of each component */
    return wadi_vec3(c[0] + c[1] * x.x + c[2] * x.y + c[3] * x.z, c[4] + c[5] * x.x + c[6] * x.y + c[7] * x.z,
                     c[8] + c[9] * x.x + c[10] * x.y + c[11] * x.z);
}

static void constant_and_linear_fields_reach_particles_exactly(void **unused)
{
    (void)unused;
    const double fields[2][12] = { { 3.7, 0, 0, 0, -1.3, 0, 0, 0, 0.1, 0, 0, 0 },
                                   { 0.5, 1, -2, 0.5, -0.2, 0.3, 0.7, -1, 0.1, -0.4, 0.9, 2 } };
    for (int f = 0; f < 2; ++f) {
        Fluid fluid;
        fluid_make_ball(&fluid, 8.0, wadi_vec3(0.5, 0.2, -0.4), 0.125);
        fluid_make_grid(&fluid);
        fluid_set_grid(&fluid, linear_field, fields[f]);
        fluid_to_particles(&fluid, 0.0, true, 1e-3, 2);
        WadiParticles *p = &fluid.particles;
        for (int32_t i = 0; i < p->count; ++i) {
            WadiVec3 u = linear_field(fields[f], wadi_vec3(p->x[i], p->y[i], p->z[i]));
            /* Constant: the very float. Linear: values to 4 m/s, places of eight cells in float. */
            double tolerance = f == 0 ? 0.0 : 1e-6;
            CHECK_NEAR((double)p->vx[i], f == 0 ? (double)(float)u.x : u.x, tolerance);
            CHECK_NEAR((double)p->vy[i], f == 0 ? (double)(float)u.y : u.y, tolerance);
            CHECK_NEAR((double)p->vz[i], f == 0 ? (double)(float)u.z : u.z, tolerance);
            for (int e = 0; e < 9; ++e) {
                const float *c = wadi_particles_column(p, fluid.affine.column[e]);
                CHECK_NEAR((double)c[i], fields[f][4 * (e / 3) + 1 + e % 3], f == 0 ? 0.0 : 2e-5);
            }
        }
        fluid_free(&fluid);
    }
}

/* Two materials, particle by particle in the same cells: one keeps its velocity (FLIP, nothing changed), one takes the grid's
 * and its slopes (APIC). */
static void materials_in_one_cell_keep_their_own_way(void **unused)
{
    (void)unused;
    const double field[12] = { 0.5, 1, -2, 0.5, -0.2, 0.3, 0.7, -1, 0.1, -0.4, 0.9, 2 };
    const float keep[2] = { 1.0f, 0.0f };
    Fluid fluid;
    WadiError error;
    fluid_make_ball(&fluid, 8.0, wadi_vec3(0.5, 0.2, -0.4), 0.125);
    WadiParticles *p = &fluid.particles;
    fluid_set_random_velocity(&fluid);
    fluid.affine.is_used[0] = false;
    for (int32_t i = 0; i < p->count; ++i) {
        p->material[i] = i % 3 == 0;
    }
    fluid_make_grid(&fluid);
    float *c[9], *velocity_before = NULL;
    for (int e = 0; e < 9; ++e) {
        c[e] = wadi_particles_column(p, fluid.affine.column[e]);
    }
    /* C of what is no APIC must not be read: garbage gives the bytes of zeros. */
    uint64_t hashes[2];
    for (int is_garbage = 0; is_garbage < 2; ++is_garbage) {
        for (int32_t i = 0; i < p->count; ++i) {
            c[1][i] = p->material[i] == 1 ? 3.0f : is_garbage != 0 ? 7e7f : 0.0f;
        }
        fluid_to_grid(&fluid, two_masses, 2, true);
        hashes[is_garbage] =
            wadi_hash_bytes(0, fluid.grid.velocity[0], wadi_rows_floats(&fluid.grid.rows) * sizeof(float));
    }
    assert_true(hashes[0] == hashes[1]);

    size_t count = (size_t)p->count;
    CHECK_OK(WADI_ARENA_NEW(&fluid.arena, &velocity_before, count, "velocity before", &error), error);
    memcpy(velocity_before, p->vy, count * sizeof(float));
    fluid_set_grid(&fluid, linear_field, field);
    const float *unchanged[3] = { fluid.grid.velocity[0], fluid.grid.velocity[1], fluid.grid.velocity[2] };
    WadiFlipToParticlesIn in = { .sort = &fluid.sort,
                                 .grid = &fluid.grid,
                                 .saved = unchanged,
                                 .keep = keep,
                                 .material_count = 2,
                                 .dt = 1e-3,
                                 .order = 2,
                                 .affine = &fluid.affine };
    WadiFlipPath path;
    CHECK_OK(wadi_flip_grid_to_particles(p, &path, &in, &fluid.arena, &error), error);
    for (int32_t i = 0; i < p->count; ++i) {
        WadiVec3 u = linear_field(field, wadi_vec3(p->x[i], p->y[i], p->z[i]));
        bool is_apic = p->material[i] == 1;
        CHECK_NEAR((double)p->vy[i], is_apic ? u.y : (double)velocity_before[i], is_apic ? 1e-6 : 0.0);
        for (int e = 0; e < 9; ++e) {
            CHECK_NEAR((double)c[e][i], is_apic ? field[4 * (e / 3) + 1 + e % 3] : 0.0, is_apic ? 2e-5 : 0.0);
        }
    }
    fluid_free(&fluid);
}

static void flip_without_change_keeps_every_bit(void **unused)
{
    (void)unused;
    Fluid fluid;
    fluid_make_ball(&fluid, 7.0, wadi_vec3(0, 0, 0), 0.05);
    fluid_set_random_velocity(&fluid);
    fluid_make_grid(&fluid);
    size_t bytes = (size_t)fluid.particles.count * sizeof(float);
    uint64_t before[3] = { wadi_hash_bytes(0, fluid.particles.vx, bytes),
                           wadi_hash_bytes(0, fluid.particles.vy, bytes),
                           wadi_hash_bytes(0, fluid.particles.vz, bytes) };
    fluid_to_grid(&fluid, NULL, 0, false);
    fluid_to_particles(&fluid, 1.0, false, 0.01, 2);
    assert_true(wadi_hash_bytes(0, fluid.particles.vx, bytes) == before[0]);
    assert_true(wadi_hash_bytes(0, fluid.particles.vy, bytes) == before[1]);
    assert_true(wadi_hash_bytes(0, fluid.particles.vz, bytes) == before[2]);
    fluid_free(&fluid);
}

static void flip_adds_the_change_and_a_blend_lies_between(void **unused)
{
    (void)unused;
    const double blends[3] = { 0.0, 0.25, 1.0 };
    for (int b = 0; b < 3; ++b) {
        Fluid fluid;
        fluid_make_ball(&fluid, 5.0, wadi_vec3(0, 0, 0), 0.05);
        fluid_set_random_velocity(&fluid);
        fluid_make_grid(&fluid);
        fluid_to_grid(&fluid, NULL, 0, false);
        double a = blends[b];
        const double uniform[12] = { [0] = 4.0, [4] = 5.0, [8] = 6.0 };
        fluid_set_grid(&fluid, linear_field, uniform);
        for (size_t n = 8; n < wadi_rows_floats(&fluid.grid.rows); ++n) {
            fluid.saved[0][n] = 3.0f;
            fluid.saved[1][n] = 3.0f;
            fluid.saved[2][n] = 3.0f;
        }
        Fluid start = { 0 };
        fluid_make_ball(&start, 5.0, wadi_vec3(0, 0, 0), 0.05);
        fluid_set_random_velocity(&start);
        fluid_to_particles(&fluid, a, false, 0.0, 2);
        for (int32_t i = 0; i < fluid.particles.count; ++i) {
            uint32_t id = fluid.particles.id[i];
            CHECK_NEAR((double)fluid.particles.vx[i], (1 - a) * 4 + a * ((double)start.particles.vx[id] + 1),
                       1e-6);
            CHECK_NEAR((double)fluid.particles.vy[i], (1 - a) * 5 + a * ((double)start.particles.vy[id] + 2),
                       1e-6);
            CHECK_NEAR((double)fluid.particles.vz[i], (1 - a) * 6 + a * ((double)start.particles.vz[id] + 3),
                       1e-6);
        }
        fluid_free(&fluid);
        fluid_free(&start);
    }
}

/* About the z axis through the origin. */
static double angular_momentum(const Fluid *fluid)
{
    double sum = 0.0;
    for (int32_t row = 1; row < fluid->grid.rows.count; ++row) {
        for (int l = 0; l < 8; ++l) {
            size_t n = 8 * (size_t)row + (size_t)l;
            sum += fluid_face(fluid, row, l, 1).x * (double)fluid->grid.face_mass[1][n] *
                   (double)fluid->grid.velocity[1][n];
            sum -= fluid_face(fluid, row, l, 0).y * (double)fluid->grid.face_mass[0][n] *
                   (double)fluid->grid.velocity[0][n];
        }
    }
    return sum;
}

/* Transfers to and fro without motion. A rigid rotation is what APIC stores exactly; PIC's averages at the rim eat it. Under
 * any velocities APIC keeps the angular momentum of the grid. */
static void apic_keeps_angular_momentum_and_pic_loses_it(void **unused)
{
    (void)unused;
    for (int is_random = 0; is_random < 2; ++is_random) {
        double kept[2];
        for (int is_affine = 0; is_affine < 2; ++is_affine) {
            Fluid fluid;
            fluid_make_ball(&fluid, 6.0, wadi_vec3(0.3, -0.2, 0.1), 0.1);
            fluid_set_random_velocity(&fluid);
            WadiParticles *p = &fluid.particles;
            float *c01 = wadi_particles_column(p, fluid.affine.column[1]);
            float *c10 = wadi_particles_column(p, fluid.affine.column[3]);
            for (int32_t i = 0; i < p->count; ++i) {
                float some = is_random ? 0.3f : 0.0f;
                p->vx[i] = some * p->vx[i] - (float)p->y[i];
                p->vy[i] = some * p->vy[i] + (float)p->x[i];
                p->vz[i] = some * p->vz[i];
                c01[i] = -1.0f;
                c10[i] = 1.0f;
            }
            double first = 0.0;
            for (int cycle = 0; cycle <= 20; ++cycle) {
                fluid_make_grid(&fluid);
                fluid_to_grid(&fluid, NULL, 0, is_affine);
                first = cycle == 0 ? angular_momentum(&fluid) : first;
                kept[is_affine] = angular_momentum(&fluid) / first;
                fluid_to_particles(&fluid, 0.0, is_affine, 0.0, 2);
            }
            fluid_free(&fluid);
        }
        CHECK_NEAR(kept[1], 1.0, 1e-5);
        CHECK_AT_MOST(kept[0], 0.95);
    }
}

/* Everything a step computes, in the order of ids, relative to where the body is. */
static void results_at(double far, uint64_t *hash, double *sample)
{
    Fluid fluid;
    fluid_make_ball(&fluid, 6.0, wadi_vec3(0.3, 0.4, 0.5), 0.0625);
    for (int32_t i = 0; i < fluid.particles.count; ++i) {
        fluid.particles.x[i] += far;
        fluid.particles.y[i] += far;
        fluid.particles.z[i] -= far;
    }
    fluid_set_random_velocity(&fluid);
    fluid_make_grid(&fluid);
    fluid_to_grid(&fluid, NULL, 0, false);
    WadiFlipPath path = fluid_to_particles(&fluid, 0.0, false, 0.05, 2);
    for (int32_t i = 0; i < fluid.particles.count; ++i) {
        double *to = sample + 6 * fluid.particles.id[i];
        to[0] = (double)fluid.particles.vx[i];
        to[1] = (double)fluid.particles.vy[i];
        to[2] = (double)fluid.particles.vz[i];
        to[3] = path.x[i] - far;
        to[4] = path.y[i] - far;
        to[5] = path.z[i] + far;
    }
    *hash = wadi_hash_bytes(0, fluid.particles.vx, (size_t)fluid.particles.count * sizeof(float));
    fluid_free(&fluid);
}

static void results_are_the_same_tiles_or_a_kilometre_away(void **unused)
{
    (void)unused;
    enum { VALUES = 6 * 8 * 12 * 12 * 12 };
    static double here[VALUES], there[VALUES];
    uint64_t hash;
    results_at(0.0, &hash, here);
    const double far[3] = { 4.0, 1000.0, -1000.5 }; /* m; a tile is half a metre */
    for (int n = 0; n < 3; ++n) {
        results_at(far[n], &hash, there);
        for (int i = 0; i < VALUES; ++i) {
            CHECK_NEAR(there[i], here[i], 1e-6);
        }
    }
}

static uint64_t hash_of_step(int threads, bool is_affine)
{
    wadi_parallel_set_threads(threads);
    Fluid fluid;
    fluid_make_ball(&fluid, 14.0, wadi_vec3(0.3, 0.4, 0.5), 0.1);
    fluid_set_random_velocity(&fluid);
    fluid_make_grid(&fluid);
    fluid_to_grid(&fluid, two_masses, 2, is_affine);
    fluid.grid.velocity[2][100] += 1.0f;
    WadiFlipPath path = fluid_to_particles(&fluid, is_affine ? 0.0 : 0.9, is_affine, 0.25, 3);
    size_t count = (size_t)fluid.particles.count;
    uint64_t hash = 0;
    for (int a = 0; a < 3; ++a) {
        size_t bytes = wadi_rows_floats(&fluid.grid.rows) * sizeof(float);
        hash = wadi_hash_bytes(hash, fluid.saved[a], bytes);
        hash = wadi_hash_bytes(hash, fluid.grid.face_mass[a], bytes);
    }
    hash = wadi_hash_bytes(hash, fluid.particles.vz, count * sizeof(float));
    hash = wadi_hash_bytes(hash, wadi_particles_column(&fluid.particles, fluid.affine.column[5]),
                           count * sizeof(float));
    hash = wadi_hash_bytes(hash, path.x, count * sizeof(double));
    hash = wadi_hash_bytes(hash, &path.long_paths, sizeof path.long_paths);
    fluid_free(&fluid);
    wadi_parallel_set_threads(0);
    return hash;
}

static void threads_do_not_change_a_byte(void **unused)
{
    (void)unused;
    for (int is_affine = 0; is_affine < 2; ++is_affine) {
        uint64_t one = hash_of_step(1, is_affine);
        assert_true(hash_of_step(2, is_affine) == one);
        assert_true(hash_of_step(5, is_affine) == one);
    }
}

static void nothing_and_one_particle_pass(void **unused)
{
    (void)unused;
    for (int count = 0; count < 2; ++count) {
        WadiError error;
        int32_t first;
        Fluid fluid = { .cell_size = 0.1 };
        CHECK_OK(wadi_particles_init(&fluid.particles, &error), error);
        CHECK_OK(wadi_particles_append(&fluid.particles, count, &first, &error), error);
        for (int i = 0; i < count; ++i) {
            fluid.particles.x[i] = fluid.particles.y[i] = fluid.particles.z[i] = -0.7;
            fluid.particles.vx[i] = 0.3f;
        }
        fluid_make_grid(&fluid);
        fluid_to_grid(&fluid, NULL, 0, false);
        fluid_to_particles(&fluid, 0.0, false, 0.1, 2);
        for (int i = 0; i < count; ++i) {
            CHECK_NEAR((double)fluid.particles.vx[i], (double)0.3f, 1e-7);
        }
        fluid_free(&fluid);
    }
}

static long calls, fail_at;

static void *failing_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    return ++calls == fail_at ? NULL : aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

static void plain_free(void *user, void *memory, size_t size)
{
    (void)user, (void)size;
    free(memory);
}

static WadiStatus small_step(WadiError *error)
{
    WadiParticles particles;
    WadiArena arena = { 0 };
    WadiFlipSort sort;
    WadiFlipGrid grid;
    WadiFlipPath path;
    int32_t first;
    WadiStatus status = wadi_particles_init(&particles, error);
    status = status == WADI_OK ? wadi_particles_append(&particles, 50, &first, error) : status;
    for (int32_t i = 0; i < particles.count; ++i) {
        particles.x[i] = 0.3 * i;
    }
    status = status == WADI_OK ? wadi_flip_sort(&sort, &particles, 0.1, &arena, error) : status;
    status = status == WADI_OK ? wadi_flip_grid_build(&grid, &sort, 3, &arena, error) : status;
    WadiFlipToGridIn to_grid = { .sort = &sort, .particles = &particles };
    status = status == WADI_OK ? wadi_flip_particles_to_grid(&grid, &to_grid, &arena, error) : status;
    WadiFlipToParticlesIn back = { .sort = &sort, .grid = &grid, .dt = 0.1, .order = 2 };
    status =
        status == WADI_OK ? wadi_flip_grid_to_particles(&particles, &path, &back, &arena, error) : status;
    wadi_arena_free(&arena);
    wadi_particles_free(&particles);
    return status;
}

static void an_allocation_failing_anywhere_is_an_error_without_a_leak(void **unused)
{
    (void)unused;
    WadiAllocator allocator = { failing_alloc, plain_free, NULL };
    wadi_set_allocator(&allocator);
    WadiStatus status = WADI_ERR_MEMORY;
    size_t live = wadi_alloc_live_bytes();
    for (fail_at = 1; status != WADI_OK; ++fail_at) {
        WadiError error = { 0 };
        calls = 0;
        status = small_step(&error);
        assert_true(status == WADI_OK || status == WADI_ERR_MEMORY);
        assert_int_equal(wadi_alloc_live_bytes(), live);
    }
    assert_true(fail_at > 30);
    wadi_set_allocator(NULL);
}

/* ns a particle of sort, to grid, to particles with their path: two million particles, or droplets that are alone. */
static void step_costs_follow_the_particles(void **unused)
{
    (void)unused;
    bool is_long = getenv("WADI_LONG") != NULL;
    Fluid fluid;
    fluid_make_ball(&fluid, is_long ? 40.0 : 16.0, wadi_vec3(0.3, 0.4, 0.5), 0.1);
    fluid_set_random_velocity(&fluid);
    double best[4] = { INFINITY, INFINITY, INFINITY, INFINITY };
    for (int repeat = 0; repeat < 5; ++repeat) {
        WadiError error;
        double t[5];
        CHECK_OK(wadi_arena_reset(&fluid.arena, &error), error);
        t[0] = wadi_time_now();
        CHECK_OK(wadi_flip_sort(&fluid.sort, &fluid.particles, 0.1, &fluid.arena, &error), error);
        t[1] = wadi_time_now();
        CHECK_OK(wadi_flip_grid_build(&fluid.grid, &fluid.sort, WADI_FLIP_MARGIN, &fluid.arena, &error),
                 error);
        t[2] = wadi_time_now();
        fluid_to_grid(&fluid, two_masses, 2, false);
        t[3] = wadi_time_now();
        fluid_to_particles(&fluid, 0.95, false, 0.05, 2);
        t[4] = wadi_time_now();
        for (int s = 0; s < 4; ++s) {
            double each = 1e9 * (t[s + 1] - t[s]) / fluid.particles.count;
            best[s] = each < best[s] ? each : best[s];
        }
    }
    print_message(
        "%d particles, %d threads, ns each: sort %.1f, grid %.1f, to grid %.1f, to particles and path %.1f\n",
        fluid.particles.count, wadi_parallel_threads(), best[0], best[1], best[2], best[3]);
    assert_true(best[0] > 0.0);
    if (is_long) { /* two quiet cores */
        CHECK_AT_MOST(best[0], 25.0);
        CHECK_AT_MOST(best[1], 1.0);
        CHECK_AT_MOST(best[2], 10.0);
        CHECK_AT_MOST(best[3], 20.0);
    }
    fluid_free(&fluid);
}

/* Sort alone, or the whole step (a grid of a million droplets would take 9 GB: 38 rows each). */
static double droplet_seconds(int32_t count, bool is_whole)
{
    WadiError error;
    int32_t first;
    Fluid fluid = { .cell_size = 1.0 };
    CHECK_OK(wadi_particles_init(&fluid.particles, &error), error);
    CHECK_OK(wadi_particles_append(&fluid.particles, count, &first, &error), error);
    double best = INFINITY;
    for (int repeat = 0; repeat < 4; ++repeat) {
        for (int32_t i = 0; i < count; ++i) {
            double u[3];
            wadi_random_unit3(8, (uint64_t)i, WADI_RANDOM_TEST, u);
            fluid.particles.x[i] = 1e6 * u[0];
            fluid.particles.y[i] = 1e6 * u[1];
            fluid.particles.z[i] = 1e6 * u[2];
        }
        CHECK_OK(wadi_arena_reset(&fluid.arena, &error), error);
        double start = wadi_time_now();
        if (is_whole) {
            fluid_make_grid(&fluid);
            fluid_to_grid(&fluid, NULL, 0, false);
            fluid_to_particles(&fluid, 0.95, false, 0.01, 2);
        } else {
            CHECK_OK(wadi_flip_sort(&fluid.sort, &fluid.particles, 1.0, &fluid.arena, &error), error);
        }
        double seconds = wadi_time_now() - start;
        best = seconds < best ? seconds : best;
    }
    CHECK_NEAR((double)fluid.sort.tiles.count / count, 1.0, 1e-4);
    if (is_whole) {
        CHECK_NEAR((double)fluid.grid.rows.count / count, 25.0 * 1.5, 1.0); /* test_flip_grid */
    }
    fluid_free(&fluid);
    return best;
}

static void isolated_droplets_cost_by_their_number(void **unused)
{
    (void)unused;
    bool is_long = getenv("WADI_LONG") != NULL;
    int32_t count = is_long ? 10000 : 2000;
    double few = droplet_seconds(count, true), many = droplet_seconds(8 * count, true);
    print_message("droplets a million cells apart, us each: %.2f of %d, %.2f of %d\n", 1e6 * few / count,
                  count, 1e6 * many / (8 * count), 8 * count);
    assert_true(few > 0.0 && many > 0.0);
    if (is_long) {
        CHECK_AT_MOST(many / few, 16.0);
        CHECK_AT_MOST(1e6 * many / (8 * count), 20.0);
        few = droplet_seconds(125000, false);
        many = droplet_seconds(1000000, false);
        print_message("sort of droplets, us each: %.2f of 125000, %.2f of 1000000\n", 8.0 * few, many);
        CHECK_AT_MOST(many / few, 16.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_grid_agrees_with_plain_sums_in_double),
        cmocka_unit_test(to_grid_keeps_mass_and_momentum),
        cmocka_unit_test(constant_and_linear_fields_reach_particles_exactly),
        cmocka_unit_test(materials_in_one_cell_keep_their_own_way),
        cmocka_unit_test(flip_without_change_keeps_every_bit),
        cmocka_unit_test(flip_adds_the_change_and_a_blend_lies_between),
        cmocka_unit_test(apic_keeps_angular_momentum_and_pic_loses_it),
        cmocka_unit_test(results_are_the_same_tiles_or_a_kilometre_away),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(nothing_and_one_particle_pass),
        cmocka_unit_test(an_allocation_failing_anywhere_is_an_error_without_a_leak),
        cmocka_unit_test(step_costs_follow_the_particles),
        cmocka_unit_test(isolated_droplets_cost_by_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
