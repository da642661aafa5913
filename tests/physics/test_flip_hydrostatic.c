/* flip: water at rest, its pressure and its stillness [theory 5.1], and what moving walls displace. */
#include "flip/pressure/flip_surface.h"
#include "flip/solids/flip_solid.h"
#include "flip_box.h"
#include "physics/scene_shapes.h"

static const double gravity = 9.81, step = 0.01, cell = 0.125, density = 1000.0;
static const int low[3] = { -1, -1, -1 }, high[3] = { 9, 7, 18 };
static const int room_low[3] = { 0, 0, 0 }, room_high[3] = { 8, 6, 17 }, water_high[3] = { 8, 6, 12 };

static void make_tank(FlipTank *tank)
{
    flip_tank_make(tank, low, high, cell);
    flip_tank_open(tank, room_low, room_high);
    tank->in.fluid = flip_box_bits(&tank->box, room_low, water_high);
}

/* Pa; of cell (3, 3, k) */
static double pressure_at(const FlipTank *tank, int k)
{
    return tank->out.pressure[flip_box_at(&tank->box, 3, 3, k)] * density * cell / step;
}

static void first_order_is_half_a_cell_too_deep(void **unused)
{
    (void)unused;
    FlipTank tank;
    make_tank(&tank);
    flip_tank_add(&tank, 2, (float)(-gravity * step));
    flip_tank_project(&tank);
    for (int k = 0; k < 12; ++k) {
        double exact = density * gravity * cell * (12 - k - 0.5);
        CHECK_NEAR(pressure_at(&tank, k) - exact, 0.5 * density * gravity * cell, 1e-6 * exact);
    }
    CHECK_AT_MOST(flip_tank_max_speed(&tank), 1e-8);
    flip_tank_free(&tank);
}

static void the_ghost_fluid_is_exact(void **unused)
{
    (void)unused;
    /* The surface between the centres of cells 11 and 12, in cells above the lower one. */
    const double surfaces[3] = { 0.5, 0.3, 0.83 };
    for (int n = 0; n < 3; ++n) {
        FlipTank tank;
        make_tank(&tank);
        float *distance = flip_box_floats(&tank.box, 0.0f);
        for (size_t at = 8; at < wadi_rows_floats(&tank.box.rows); ++at) {
            int c[3];
            flip_box_cell(&tank.box, at, c);
            distance[at] = (float)(cell * (c[2] - 11 - surfaces[n]));
        }
        wadi_flip_surface_theta(&tank.box.rows, tank.in.fluid, distance, WADI_FLIP_THETA_GHOST, tank.theta);
        for (int a = 0; a < 3; ++a) {
            tank.in.theta[a] = tank.theta[a];
        }
        flip_tank_add(&tank, 2, (float)(-gravity * step));
        flip_tank_project(&tank);
        for (int k = 0; k < 12; ++k) {
            double exact = density * gravity * cell * (11 + surfaces[n] - k);
            CHECK_NEAR(pressure_at(&tank, k), exact, 1e-6 * exact);
        }
        CHECK_AT_MOST(flip_tank_max_speed(&tank), 1e-7);
        flip_tank_free(&tank);
    }
}

static void a_resting_tank_stays_at_rest(void **unused)
{
    (void)unused;
    for (int kind = WADI_FLIP_THETA_ONE; kind <= WADI_FLIP_THETA_GHOST; ++kind) {
        FlipTank tank;
        make_tank(&tank);
        WadiError error;
        float *fill = flip_box_floats(&tank.box, 0.0f), *solid = flip_box_floats(&tank.box, 1.0f);
        float *distance = flip_box_floats(&tank.box, 0.0f);
        for (size_t at = 8; at < wadi_rows_floats(&tank.box.rows); ++at) {
            int c[3];
            flip_box_cell(&tank.box, at, c);
            bool is_in = c[0] >= 0 && c[0] < 8 && c[1] >= 0 && c[1] < 6 && c[2] >= 0 && c[2] < 17;
            solid[at] = is_in ? 0.0f : 1.0f;
            fill[at] = is_in && c[2] < 12 ? 1.0f : 0.0f;
        }
        WadiFlipSurfaceIn surface = {
            .rows = &tank.box.rows, .fluid = tank.in.fluid, .fill = fill, .fraction = solid, .cell_size = cell
        };
        CHECK_OK(wadi_flip_surface_distance(&surface, distance, NULL, &tank.box.arena, &error), error);
        wadi_flip_surface_theta(&tank.box.rows, tank.in.fluid, distance, (WadiFlipTheta)kind, tank.theta);
        for (int a = 0; a < 3; ++a) {
            tank.in.theta[a] = tank.theta[a];
        }
        for (int n = 0; n < 100; ++n) {
            flip_tank_add(&tank, 2, (float)(-gravity * step));
            flip_tank_project(&tank);
        }
        CHECK_AT_MOST(flip_tank_max_speed(&tank), 1e-7 * sqrt(gravity * 12 * cell));
        CHECK_AT_MOST(tank.report.solve.iterations, 2); /* warm */
        flip_tank_free(&tank);
    }
}

static void layers_of_two_densities_weigh_what_they_weigh(void **unused)
{
    (void)unused;
    FlipTank tank;
    make_tank(&tank);
    float *densities[3];
    for (int a = 0; a < 3; ++a) {
        densities[a] = flip_box_floats(&tank.box, 0.0f);
        tank.in.density[a] = densities[a];
    }
    for (size_t at = 8; at < wadi_rows_floats(&tank.box.rows); ++at) {
        int c[3];
        flip_box_cell(&tank.box, at, c);
        for (int a = 0; a < 3; ++a) {
            densities[a][at] = c[2] < 5 ? 1600.0f : c[2] == 5 && a == 2 ? 1300.0f : 1000.0f;
        }
    }
    wadi_flip_surface_theta(&tank.box.rows, tank.in.fluid, NULL, WADI_FLIP_THETA_HALF, tank.theta);
    for (int a = 0; a < 3; ++a) {
        tank.in.theta[a] = tank.theta[a];
    }
    flip_tank_add(&tank, 2, (float)(-gravity * step));
    flip_tank_project(&tank);
    for (int k = 0; k < 12; ++k) {
        double top = fmax(0.0, k + 0.5 - 5.0);
        double exact = gravity * cell * (1000.0 * (7.0 - top) + 1600.0 * fmax(0.0, 5.0 - (k + 0.5)));
        CHECK_NEAR(pressure_at(&tank, k), exact, 2e-6 * exact);
    }
    CHECK_AT_MOST(flip_tank_max_speed(&tank), 1e-7);
    flip_tank_free(&tank);
}

/* Solids from their distances instead of by hand. Water everywhere below k = 12 that is not solid. */
static void rest_on(WadiShape *shape, float min_open)
{
    FlipTank tank;
    flip_tank_make(&tank, (const int[3]){ -9, -9, -9 }, (const int[3]){ 17, 15, 18 }, cell);
    WadiSolid solid = { .shape = shape };
    WadiSolids solids = { .solids = &solid, .count = 1, .closed_sides = WADI_SIDE_ALL };
    solids.domain = (WadiBox){ { -0.5, -0.6, -0.7 }, { 1.3, 1.1, 2.0 } };
    WadiFlipSolidIn in = {
        .rows = &tank.box.rows, .solids = &solids, .cell_size = cell, .min_open = min_open
    };
    WadiError error;
    WadiFlipSolid out;
    CHECK_OK(wadi_flip_solid(&in, NULL, &out, &tank.box.arena, &error), error);
    uint8_t *fluid = flip_box_array(&tank.box, sizeof(uint8_t));
    int cut = 0;
    for (size_t at = 8; at < wadi_rows_floats(&tank.box.rows); ++at) {
        int c[3];
        flip_box_cell(&tank.box, at, c);
        const size_t solid_at = wadi_table_cell(out.row, at);
        cut += out.fraction[solid_at] > 0.0f && out.fraction[solid_at] < 1.0f;
        if (c[2] < 12 && out.distance[solid_at] >
                             0.0f) { /* a cell whose centre is in the solid has no particle, perhaps */
            fluid[at / 8] |= (uint8_t)(1u << (at % 8));
        }
    }
    assert_true(cut > 100);
    uint8_t *filled = flip_box_array(&tank.box, sizeof(uint8_t));
    wadi_flip_solid_fill_cut_cells(&tank.box.rows, &out, cell, fluid, filled);
    for (size_t at = 8; at < wadi_rows_floats(&tank.box.rows); ++at) {
        int c[3];
        flip_box_cell(&tank.box, at, c);
        if (c[2] >= 12) {
            filled[at / 8] &= (uint8_t)(~(1u << (at % 8)));
        }
    }
    tank.in.fluid = filled;
    tank.in.solid_row = out.row;
    for (int a = 0; a < 3; ++a) {
        tank.in.open[a] = out.open[a];
        tank.in.solid_velocity[a] = out.velocity[a];
    }
    tank.in.solver.max_iterations = 20000;
    double speed = 0.0;
    for (int n = 0; n < 10; ++n) {
        flip_tank_add(&tank, 2, (float)(-gravity * step));
        flip_tank_project(&tank);
        assert_true(tank.report.solve.has_converged);
        speed = fmax(speed, flip_tank_max_speed(&tank));
    }
    print_message("largest speed over cut cells: %.2e m/s, %lld unknowns\n", speed,
                  (long long)tank.report.unknowns);
    CHECK_AT_MOST(speed, 1e-6);
    flip_tank_free(&tank);
    wadi_shape_destroy(shape);
}

static void a_tilted_floor_makes_no_current(void **unused)
{
    (void)unused;
    rest_on(shape_of(def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(0.3, 0.3, 0.2), wadi_vec3(0.3, 0.17, 1.0))),
            0.1f);
    rest_on(shape_of(def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(0.3, 0.3, 0.2), wadi_vec3(-0.6, 0.4, 1.0))),
            0.0f);
}

static void a_sunken_sphere_makes_no_current(void **unused)
{
    (void)unused;
    rest_on(shape_of(def_of_sphere(wadi_vec3(0.41, 0.32, 0.43), 0.45)), 0.1f);
}

/* A box that moves into a channel from one side, anywhere in a cell: what it displaces leaves at the other.
 */
static void a_moving_collider_pushes_out_what_it_displaces(void **unused)
{
    (void)unused;
    WadiShapeDef def = def_of(WADI_SHAPE_BOX, wadi_vec3(-9, -9, -9), wadi_vec3(2 * cell, 9, 9));
    def.translate =
        curve_of(0, wadi_vec3(0, 0, 0), 10, wadi_vec3(5, 0, 0)); /* 0.5 m/s, four cells a second */
    WadiSolid solid = { .shape = shape_of(def) };
    WadiSolids solids = { .solids = &solid, .count = 1, .closed_sides = WADI_SIDE_ALL & ~WADI_SIDE_X_MAX };
    solids.domain = (WadiBox){ { -10, 0, 0 }, { 10, 6 * cell, 5 * cell } };
    for (int n = 0; n <= 10; ++n) {
        FlipTank tank;
        flip_tank_make(&tank, (const int[3]){ 0, -1, -1 }, (const int[3]){ 16, 7, 6 }, cell);
        WadiFlipSolidIn in = {
            .rows = &tank.box.rows, .solids = &solids, .cell_size = cell, .time = 0.025 * n
        };
        WadiError error;
        WadiFlipSolid out;
        CHECK_OK(wadi_flip_solid(&in, NULL, &out, &tank.box.arena, &error), error);
        tank.in.fluid =
            flip_box_bits(&tank.box, (const int[3]){ 2 + n / 10, 0, 0 }, (const int[3]){ 14, 6, 5 });
        tank.in.solid_row = out.row;
        for (int a = 0; a < 3; ++a) {
            tank.in.open[a] = out.open[a];
            tank.in.solid_velocity[a] = out.velocity[a];
        }
        flip_tank_project(&tank);
        double flux = 0.0;
        for (int k = 0; k < 5; ++k) {
            for (int j = 0; j < 6; ++j) {
                flux += (double)tank.out.velocity[0][flip_box_at(&tank.box, 14, j, k)];
            }
        }
        CHECK_NEAR(flux / 30.0, 0.5, 1e-6);
        flip_tank_free(&tank);
    }
    wadi_shape_destroy((WadiShape *)solid.shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_order_is_half_a_cell_too_deep),
        cmocka_unit_test(the_ghost_fluid_is_exact),
        cmocka_unit_test(a_resting_tank_stays_at_rest),
        cmocka_unit_test(layers_of_two_densities_weigh_what_they_weigh),
        cmocka_unit_test(a_tilted_floor_makes_no_current),
        cmocka_unit_test(a_sunken_sphere_makes_no_current),
        cmocka_unit_test(a_moving_collider_pushes_out_what_it_displaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
