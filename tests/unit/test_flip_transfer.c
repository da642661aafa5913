/* flip: what the transfers between particles and grid conserve. [theory 2.1, 2.2] */
#include "core/alloc.h"
#include "expect.h"
#include "flip_fixture.h"
#include "grid/row_lanes.h"

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
            /* Constant: exactly the same float. Linear: values to 4 m/s, positions up to eight cells in
             * float. */
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

/* Two materials alternating in the same cells: one keeps its velocity (FLIP, nothing changed), one gets
 * the grid's and its slopes (APIC). */
static void materials_in_one_cell_keep_their_own_transfer(void **unused)
{
    (void)unused;
    const double field[12] = { 0.5, 1, -2, 0.5, -0.2, 0.3, 0.7, -1, 0.1, -0.4, 0.9, 2 };
    const float flip_fraction[2] = { 1.0f, 0.0f };
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
    /* C of materials without APIC must not be read: garbage gives the bytes of zeros. */
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
                                 .flip_fraction = flip_fraction,
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

/* Transfers in both directions without motion. APIC stores a rigid rotation exactly; PIC's averages at the
 * rim damp it. For any velocities APIC conserves the angular momentum of the grid. */
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

/* Particles exactly on the low corners of their cells have no weight at the far faces, which still get
 * their velocity. */
static void particles_on_edges_reach_all_faces_of_their_cell(void **unused)
{
    (void)unused;
    const float velocity[3] = { 1.0f, -2.0f, 3.0f };
    for (int is_affine = 0; is_affine < 2; ++is_affine) {
        Fluid fluid;
        fluid_make_ball(&fluid, 6.3, wadi_vec3(-3.2, 1.7, 10.4), 0.0625);
        WadiParticles *p = &fluid.particles;
        for (int32_t i = 0; i < p->count; ++i) {
            p->x[i] = 0.0625 * floor(p->x[i] / 0.0625);
            p->y[i] = 0.0625 * floor(p->y[i] / 0.0625);
            p->z[i] = 0.0625 * floor(p->z[i] / 0.0625);
            p->vx[i] = velocity[0], p->vy[i] = velocity[1], p->vz[i] = velocity[2];
        }
        fluid.affine.is_used[0] = fluid.affine.is_used[1] = is_affine == 1;
        fluid_make_grid(&fluid);
        fluid_to_grid(&fluid, two_masses, 2, is_affine == 1);
        const WadiRows *rows = &fluid.grid.rows;
        int cells = 0;
        for (int32_t row = 1; row < rows->count; ++row) {
            for (unsigned left = fluid.grid.occupied[row]; left != 0; left &= left - 1, ++cells) {
                const WadiRowCell cell = { row, __builtin_ctz(left) };
                for (int axis = 0; axis < 3; ++axis) {
                    const WadiRowCell next = wadi_row_cell_neighbour(rows, cell, 2 * axis + 1);
                    const float *u = fluid.grid.velocity[axis];
                    CHECK_NEAR((double)u[wadi_row_cell_index(cell)], (double)velocity[axis], 1e-5);
                    CHECK_NEAR((double)u[wadi_row_cell_index(next)], (double)velocity[axis], 1e-5);
                }
            }
        }
        assert_true(cells > 500);
        fluid_free(&fluid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_grid_agrees_with_plain_sums_in_double),
        cmocka_unit_test(to_grid_keeps_mass_and_momentum),
        cmocka_unit_test(particles_on_edges_reach_all_faces_of_their_cell),
        cmocka_unit_test(constant_and_linear_fields_reach_particles_exactly),
        cmocka_unit_test(materials_in_one_cell_keep_their_own_transfer),
        cmocka_unit_test(flip_without_change_keeps_every_bit),
        cmocka_unit_test(flip_adds_the_change_and_a_blend_lies_between),
        cmocka_unit_test(apic_keeps_angular_momentum_and_pic_loses_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
