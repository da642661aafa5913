/* flip: Gauss-Seidel on face velocities against the projection, its convergence, symmetry and walls [theory
 * 5.5]. */
#include "core/parallel.h"
#include "core/random.h"
#include "failing_alloc.h"
#include "flip/pressure/flip_relax.h"
#include "flip/transfer/flip_extend.h"
#include "flip/transfer/flip_transfer.h"
#include "flip/volume/flip_density.h"
#include "flip_box.h"

static double random_signed(uint64_t seed, uint64_t id)
{
    double u[3];
    wadi_random_unit3(seed, id, WADI_RANDOM_TEST, u);
    return 2.0 * u[0] - 1.0;
}

/* Fluid in [0, n), closed below and on the sides, air above. */
static void open_tank(FlipTank *tank, const int n[3], double cell_size)
{
    flip_tank_make(tank, (int[3]){ -2, -2, -2 }, (int[3]){ n[0] + 2, n[1] + 2, n[2] + 3 }, cell_size);
    flip_tank_open(tank, (int[3]){ 0, 0, 0 }, (int[3]){ n[0], n[1], n[2] + 2 });
    tank->in.fluid = flip_box_bits(&tank->box, (int[3]){ 0, 0, 0 }, n);
}

static void fill_random(FlipTank *tank, uint64_t seed)
{
    for (int a = 0; a < 3; ++a) {
        for (size_t c = 8; c < wadi_rows_floats(&tank->box.rows); ++c) {
            tank->out.velocity[a][c] = (float)random_signed(seed + (uint64_t)a, c);
        }
    }
}

static void relax(FlipTank *tank, double over_relaxation, int sweeps, double absolute)
{
    WadiError error;
    tank->in.solver = (WadiPoissonSettings){ .absolute = absolute, .max_iterations = sweeps };
    CHECK_OK(wadi_arena_reset(&tank->scratch, &error), error);
    CHECK_OK(wadi_flip_relax(&tank->in, over_relaxation, &tank->out, &tank->scratch, &tank->report, &error),
             error);
}

/* The sum of the changes is the pressure: sweeps to the end give the projection, fractions, moving walls and
 * wanted expansion included. */
static void many_sweeps_are_the_projection(void **unused)
{
    (void)unused;
    const int n[3] = { 11, 6, 7 };
    FlipTank swept, solved;
    open_tank(&swept, n, 0.1);
    open_tank(&solved, n, 0.1);
    FlipTank *both[2] = { &swept, &solved };
    for (int t = 0; t < 2; ++t) {
        fill_random(both[t], 3);
        float *expansion = flip_box_floats(&both[t]->box, 0.0f);
        for (size_t c = 8; c < wadi_rows_floats(&both[t]->box.rows); ++c) {
            expansion[c] = (float)random_signed(9, c);
            for (int a = 0; a < 3; ++a) {
                float w = (float)fabs(random_signed(20 + (uint64_t)a, c));
                both[t]->open[a][c] *= w < 0.2f ? 0.0f : w;
                both[t]->solid[a][c] = (float)random_signed(30 + (uint64_t)a, c);
            }
        }
        both[t]->in.expansion = expansion;
    }
    relax(&swept, 1.7, 2000, 0.0);
    flip_tank_project(&solved);
    assert_int_equal(swept.report.unknowns, solved.report.unknowns);
    CHECK_AT_MOST(swept.report.max_divergence, 1e-4);
    for (size_t c = 0; c < wadi_rows_floats(&swept.box.rows); ++c) {
        CHECK_NEAR(swept.out.pressure[c], solved.out.pressure[c], 2e-4);
        for (int a = 0; a < 3; ++a) {
            CHECK_NEAR(swept.out.velocity[a][c], solved.out.velocity[a][c], 2e-5);
            assert_int_equal(swept.out.known[a][c / 8], solved.out.known[a][c / 8]);
        }
    }
    flip_tank_free(&swept);
    flip_tank_free(&solved);
}

/* Over-relaxation by 1.9 needs at least five times fewer sweeps. */
static void over_relaxation_needs_fewer_sweeps(void **unused)
{
    (void)unused;
    const int n[3] = { 24, 24, 24 };
    int sweeps[2];
    for (int k = 0; k < 2; ++k) {
        FlipTank tank;
        open_tank(&tank, n, 0.05);
        flip_tank_add(&tank, 2, -0.1f);
        relax(&tank, k == 0 ? 1.0 : 1.9, 20000, 1e-5);
        assert_true(tank.report.solve.has_converged);
        sweeps[k] = tank.report.solve.iterations;
        flip_tank_free(&tank);
    }
    print_message("24^3 cells from 0.1 to 1e-5 m/s: %d sweeps plain, %d over-relaxed\n", sweeps[0],
                  sweeps[1]);
    assert_true(sweeps[0] >= 5 * sweeps[1]);
}

/* One step of gravity on resting water. */
static void a_hundred_sweeps_leave_a_thousandth(void **unused)
{
    (void)unused;
    const int n[3] = { 16, 16, 16 };
    const double dt = 1.0 / 60.0;
    FlipTank tank;
    open_tank(&tank, n, 0.05);
    flip_tank_add(&tank, 2, (float)(-9.81 * dt));
    relax(&tank, 1.9, 100, 0.0);
    print_message("divergence left, times dt: %.2g\n", tank.report.max_divergence * dt);
    CHECK_AT_MOST(tank.report.max_divergence * dt, 1e-3);
    /* p = rho g depth, with the first-order surface half a cell above the cells' tops. */
    double bottom = tank.out.pressure[flip_box_at(&tank.box, 8, 8, 0)] * 1000.0 * 0.05 / dt;
    CHECK_NEAR(bottom, 1000.0 * 9.81 * 16 * 0.05, 0.01 * 1000.0 * 9.81 * 16 * 0.05);
    flip_tank_free(&tank);
}

/* What is a mirror image stays one: to the bit about the centres of cells, where images have one colour;
 * about a face the image of a red cell is black, and symmetry comes with convergence only. */
static void a_mirrored_flow_stays_mirrored(void **unused)
{
    (void)unused;
    for (int width = 9; width <= 10; ++width) {
        const int n[3] = { width, 5, 6 };
        FlipTank tank;
        open_tank(&tank, n, 0.1);
        for (int k = 0; k <= n[2]; ++k) {
            for (int j = 0; j < n[1]; ++j) {
                for (int i = 0; i < width; ++i) {
                    uint64_t id = (uint64_t)(100 * (i < width - 1 - i ? i : width - 1 - i) + 10 * j + k);
                    size_t at = flip_box_at(&tank.box, i, j, k);
                    uint64_t u_id = (uint64_t)(100 * (i < width - i ? i : width - i) + 10 * j + k);
                    tank.out.velocity[0][at] =
                        2 * i == width ? 0.0f : (float)((2 * i < width ? 1 : -1) * random_signed(1, u_id));
                    tank.out.velocity[1][at] = (float)random_signed(2, id);
                    tank.out.velocity[2][at] = (float)random_signed(3, id);
                }
            }
        }
        relax(&tank, 1.9, width == 9 ? 30 : 400, 0.0);
        double largest = 0.0, change = 0.0;
        for (int k = 0; k <= n[2]; ++k) {
            for (int j = 0; j < n[1]; ++j) {
                for (int i = 0; i < width; ++i) {
                    size_t at = flip_box_at(&tank.box, i, j, k);
                    size_t image = flip_box_at(&tank.box, width - 1 - i, j, k);
                    size_t u_image = flip_box_at(&tank.box, width - i, j, k);
                    largest = fmax(largest,
                                   fabs((double)(tank.out.velocity[0][at] + tank.out.velocity[0][u_image])));
                    largest =
                        fmax(largest, fabs((double)(tank.out.velocity[1][at] - tank.out.velocity[1][image])));
                    largest =
                        fmax(largest, fabs((double)(tank.out.velocity[2][at] - tank.out.velocity[2][image])));
                    change = fmax(change, tank.out.pressure[at]);
                }
            }
        }
        print_message("%d cells wide: asymmetry %g m/s, pressures to %.2f m/s\n", width, largest, change);
        assert_true(change > 0.1);
        CHECK_AT_MOST(largest, width == 9 ? 0.0 : 1e-5);
        flip_tank_free(&tank);
    }
}

/* A block that fills a shaft from wall to wall falls at its walls and edges as in its middle: nothing holds
 * it, and tangential velocities are extended into the walls. Read as 0 there, as INF585's text has it ("the
 * speed is null inside the ground and walls"), a particle beside a wall loses the weight of the faces behind
 * it: up to half of its fall, three quarters in an edge. */
static void a_shaft_does_not_hold_what_falls(void **unused)
{
    (void)unused;
    WadiError error;
    const float fall = -9.81f / 60.0f;
    FlipTank tank;
    flip_tank_make(&tank, (int[3]){ -3, -3, -3 }, (int[3]){ 9, 8, 12 }, 1.0);
    flip_tank_open(&tank, (int[3]){ 0, 0, -3 }, (int[3]){ 6, 5, 12 });
    tank.in.fluid = flip_box_bits(&tank.box, (int[3]){ 0, 0, 3 }, (int[3]){ 6, 5, 7 });
    for (int k = 3; k <= 7; ++k) {
        for (int n = 0; n < 30; ++n) {
            tank.out.velocity[2][flip_box_at(&tank.box, n % 6, n / 6, k)] = fall;
        }
    }
    relax(&tank, 1.9, 60, 0.0);
    for (int is_extended = 0; is_extended < 2; ++is_extended) {
        if (is_extended) {
            float *distance = flip_box_floats(&tank.box, 1.0f);
            for (size_t c = 8; c < wadi_rows_floats(&tank.box.rows); ++c) {
                int cell[3];
                flip_box_cell(&tank.box, c, cell);
                int x = cell[0] < 3 ? cell[0] : 5 - cell[0], y = cell[1] < 3 ? cell[1] : 4 - cell[1];
                distance[c] = (float)(x < y ? x : y) + 0.5f;
            }
            WadiFlipExtendIn in = { .rows = &tank.box.rows, .layers = 4 };
            WadiFlipWallIn walls = { .rows = &tank.box.rows, .distance = distance };
            for (int a = 0; a < 3; ++a) {
                in.known[a] = tank.out.known[a];
                walls.open[a] = tank.open[a];
                walls.solid_velocity[a] = tank.solid[a];
            }
            CHECK_OK(wadi_flip_extend(&in, tank.out.velocity, NULL, &tank.scratch, &error), error);
            CHECK_OK(wadi_flip_extend_walls(&walls, tank.out.velocity, &tank.scratch, &error), error);
        }
        WadiFlipGrid grid = { .cell_size = 1.0, .tiles = tank.box.map, .rows = tank.box.rows };
        for (int a = 0; a < 3; ++a) {
            grid.velocity[a] = tank.out.velocity[a];
        }
        static const double place[3][3] = { { 3.0, 2.5, 5.0 }, { 0.0, 2.5, 5.0 }, { 0.0, 0.0, 5.0 } };
        static const double share[3] = { 1.0, 0.5, 0.25 };
        for (int p = 0; p < 3; ++p) {
            double u[3];
            assert_true(wadi_flip_grid_sample(&grid, place[p], u));
            CHECK_NEAR(u[2], (is_extended ? 1.0 : share[p]) * (double)fall, 1e-10);
        }
    }
    flip_tank_free(&tank);
}

/* Two halves that move apart: a pressure that may not pull lets them. */
static void what_parts_is_not_held(void **unused)
{
    (void)unused;
    const int n[3] = { 12, 4, 4 };
    double speed[2], lowest[2];
    for (int is_unilateral = 0; is_unilateral < 2; ++is_unilateral) {
        FlipTank tank;
        flip_tank_make(&tank, (int[3]){ -3, -3, -3 }, (int[3]){ 15, 7, 7 }, 0.1);
        flip_tank_open(&tank, (int[3]){ -3, -3, -3 }, (int[3]){ 15, 7, 7 });
        tank.in.fluid = flip_box_bits(&tank.box, (int[3]){ 0, 0, 0 }, n);
        tank.in.is_unilateral = is_unilateral;
        for (size_t c = 8; c < wadi_rows_floats(&tank.box.rows); ++c) {
            int cell[3];
            flip_box_cell(&tank.box, c, cell);
            tank.out.velocity[0][c] = cell[0] < 6 ? -0.5f : cell[0] > 6 ? 0.5f : 0.0f;
        }
        relax(&tank, 1.9, 500, 0.0);
        speed[is_unilateral] = (double)tank.out.velocity[0][flip_box_at(&tank.box, 7, 2, 2)];
        lowest[is_unilateral] = 0.0;
        for (size_t c = 0; c < wadi_rows_floats(&tank.box.rows); ++c) {
            lowest[is_unilateral] = fmin(lowest[is_unilateral], tank.out.pressure[c]);
        }
        flip_tank_free(&tank);
    }
    print_message("bilateral %.3f of 0.5 m/s, lowest pressure %.3f; unilateral %.3f, %g\n", speed[0],
                  lowest[0], speed[1], lowest[1]);
    CHECK_NEAR(speed[1], 0.5, 1e-6);
    assert_true(lowest[1] == 0.0 && lowest[0] < -0.1 && speed[0] < 0.3);
}

/* A pool at rest density whose topmost cells are a third full. The rule for crowding leaves it alone; as
 * printed, div - alpha (rho - rho_0) with either sign, it draws the surface down, and what was thin becomes
 * crowded. */
static void thin_surface_cells_are_not_drawn_in(void **unused)
{
    (void)unused;
    const int n[3] = { 8, 5, 6 };
    for (int is_printed = 0; is_printed < 2; ++is_printed) {
        FlipTank tank;
        open_tank(&tank, n, 0.1);
        float *fill = flip_box_floats(&tank.box, 0.0f), *expansion = flip_box_floats(&tank.box, 0.0f);
        uint8_t *solid = flip_box_array(&tank.box, sizeof(uint8_t));
        for (size_t c = 8; c < wadi_rows_floats(&tank.box.rows); ++c) {
            int cell[3];
            flip_box_cell(&tank.box, c, cell);
            bool is_fluid = (tank.in.fluid[c / 8] >> c % 8 & 1) != 0;
            bool is_shaft = cell[0] >= 0 && cell[0] < n[0] && cell[1] >= 0 && cell[1] < n[1] && cell[2] >= 0;
            fill[c] = !is_fluid ? 0.0f : cell[2] == n[2] - 1 ? 1.0f / 3.0f : 1.0f;
            solid[c / 8] |= (uint8_t)(!is_shaft << c % 8);
            expansion[c] = is_fluid && is_printed ? 6.0f * (fill[c] - 1.0f) : 0.0f;
        }
        WadiFlipDensityIn in = { .rows = &tank.box.rows,
                                 .fluid = tank.in.fluid,
                                 .solid = solid,
                                 .fill = fill,
                                 .fraction = flip_box_floats(&tank.box, 0.0f),
                                 .rate = 6.0f,
                                 .is_one_sided = true };
        if (!is_printed) {
            wadi_flip_density(&in, expansion);
        }
        tank.in.expansion = expansion;
        relax(&tank, 1.9, 300, 0.0);
        double surface = (double)tank.out.velocity[2][flip_box_at(&tank.box, 4, 2, n[2])];
        CHECK_NEAR(surface, is_printed ? -6.0 * 2.0 / 3.0 * 0.1 : 0.0, is_printed ? 1e-5 : 0.0);
        /* The same with all cells crowded by a fifth: both push out as much. */
        for (size_t c = 8; c < wadi_rows_floats(&tank.box.rows); ++c) {
            fill[c] = (tank.in.fluid[c / 8] >> c % 8 & 1) != 0 ? 1.2f : 0.0f;
        }
        wadi_flip_density(&in, expansion);
        for (int a = 0; a < 3; ++a) {
            memset(tank.out.velocity[a], 0, wadi_rows_floats(&tank.box.rows) * sizeof(float));
        }
        relax(&tank, 1.9, 300, 0.0);
        double below = (double)tank.out.velocity[2][flip_box_at(&tank.box, 4, 2, n[2] - 1)];
        CHECK_NEAR(below, 6.0 * 0.2 * 0.1 * (n[2] - 1), 1e-5);
        flip_tank_free(&tank);
    }
}

static void threads_do_not_change_a_byte(void **unused)
{
    (void)unused;
    const int n[3] = { 40, 40, 40 };
    static const int threads[3] = { 1, 2, 5 };
    uint64_t hash[3] = { 0 };
    for (int t = 0; t < 3; ++t) {
        FlipTank tank;
        wadi_parallel_set_threads(threads[t]);
        open_tank(&tank, n, 0.1);
        fill_random(&tank, 5);
        relax(&tank, 1.9, 5, 0.0);
        for (int a = 0; a < 3; ++a) {
            for (size_t c = 0; c < wadi_rows_floats(&tank.box.rows); ++c) {
                uint32_t bits;
                memcpy(&bits, &tank.out.velocity[a][c], 4);
                hash[t] = hash[t] * 1099511628211u + bits;
            }
        }
        assert_true(hash[t] == hash[0]);
        flip_tank_free(&tank);
    }
    wadi_parallel_set_threads(1);
}

static void a_velocity_that_is_not_finite_is_named(void **unused)
{
    (void)unused;
    WadiError error;
    FlipTank tank;
    open_tank(&tank, (int[3]){ 4, 4, 4 }, 0.1);
    tank.out.velocity[1][flip_box_at(&tank.box, 1, 2, 1)] = NAN;
    tank.in.solver.max_iterations = 2;
    assert_int_equal(wadi_flip_relax(&tank.in, 1.0, &tank.out, &tank.scratch, &tank.report, &error),
                     WADI_ERR_NUMERIC);
    assert_non_null(strstr(error.text, "not finite"));
    flip_tank_free(&tank);
}

static void failed_allocations_are_reported(void **unused)
{
    (void)unused;
    WadiError error;
    WadiStatus status = WADI_ERR_MEMORY;
    wadi_set_allocator(&failing_allocator);
    FlipTank tank;
    open_tank(&tank, (int[3]){ 40, 20, 20 }, 0.1);
    tank.in.solver.max_iterations = 1;
    int failures = 0;
    for (; status != WADI_OK && failures < 100; ++failures) {
        WadiArena arena = { 0 };
        alloc_calls_left = failures;
        status = wadi_flip_relax(&tank.in, 1.0, &tank.out, &arena, &tank.report, &error);
        alloc_calls_left = INT_MAX;
        assert_true(status == WADI_OK || status == WADI_ERR_MEMORY);
        wadi_arena_free(&arena);
    }
    assert_true(failures > 1 && status == WADI_OK);
    flip_tank_free(&tank);
    wadi_set_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_sweeps_are_the_projection),
        cmocka_unit_test(over_relaxation_needs_fewer_sweeps),
        cmocka_unit_test(a_hundred_sweeps_leave_a_thousandth),
        cmocka_unit_test(a_mirrored_flow_stays_mirrored),
        cmocka_unit_test(a_shaft_does_not_hold_what_falls),
        cmocka_unit_test(what_parts_is_not_held),
        cmocka_unit_test(thin_surface_cells_are_not_drawn_in),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(a_velocity_that_is_not_finite_is_named),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    wadi_parallel_set_threads(1); /* small grids */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
