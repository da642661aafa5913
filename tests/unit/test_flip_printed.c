/* flip: the printed stages of [ZB05] and [A24] on grids with known answers. */
#include "flip/published/flip_printed.h"
#include "flip_test_grid.h"

/* A layer of fluid, k in [0, 4), on a floor. */
static TestCell layer_label(const void *context, int i, int j, int k)
{
    (void)context;
    (void)i;
    (void)j;
    return k < 0 ? CELL_SOLID : k < 4 ? CELL_FLUID : CELL_AIR;
}

static void layer_make(TestGrid *grid, float *velocity[3])
{
    grid_make(grid, (int[3]){ -8, -8, -8 }, (int[3]){ 8, 8, 16 }, layer_label, NULL);
    for (int axis = 0; axis < 3; ++axis) {
        velocity[axis] = grid_floats(grid, 0.0f);
    }
}

static WadiPrintedCells cells_of(const TestGrid *grid)
{
    return (WadiPrintedCells){
        .rows = &grid->rows, .fluid = grid->fluid, .solid = grid->solid, .cell_size = 0.1
    };
}

/* u.n >= 0 [ZB05 sec. 3.3]: what moves into the solid stops there, what leaves it does so; other faces
 * stay. */
static void material_may_leave_a_solid_but_not_enter_it(void **unused)
{
    (void)unused;
    TestGrid grid;
    float *velocity[3];
    layer_make(&grid, velocity);
    for (size_t at = 8; at < wadi_rows_floats(&grid.rows); ++at) {
        velocity[2][at] = at & 1 ? 0.3f : -0.3f;
    }
    const WadiPrintedCells cells = cells_of(&grid);
    wadi_printed_stop_at_solids(&cells, velocity);
    for (int i = -4; i < 4; ++i) {
        const float given = grid_at(&grid, i, 1, 0) & 1 ? 0.3f : -0.3f;
        assert_true(velocity[2][grid_at(&grid, i, 1, 0)] == (given > 0.0f ? given : 0.0f));
        assert_true(velocity[2][grid_at(&grid, i, 1, 1)] == given);
        assert_true(velocity[2][grid_at(&grid, i, 1, -1)] == given);
    }
    grid_free(&grid);
}

/* grad u . grad phi = 0 [ZB05 sec. 4.2.3]: above a flat layer the velocity is that of its uppermost faces,
 * below it, in the solid, that of its lowest ones. */
static void velocities_are_extended_along_the_normal(void **unused)
{
    (void)unused;
    WadiError error;
    TestGrid grid;
    float *velocity[3];
    layer_make(&grid, velocity);
    for (int32_t r = 1; r < grid.rows.count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(&grid.rows, r, cell);
        for (int l = 0; l < 8; ++l) {
            velocity[0][8 * r + l] = (float)(1.0 + 0.25 * cell[2]); /* changes across the layer */
        }
    }
    const WadiPrintedCells cells = cells_of(&grid);
    CHECK_OK(wadi_printed_extend(&cells, velocity, &grid.arena, &error), error);
    for (int k = -3; k < 8; ++k) {
        const double row = k < 0 ? 0.0 : k > 3 ? 3.0 : k;
        CHECK_NEAR(velocity[0][grid_at(&grid, 2, 1, k)], 1.0 + 0.25 * row, 1e-6);
    }
    grid_free(&grid);
}

static TestCell single_label(const void *context, int i, int j, int k)
{
    (void)context;
    return k < 0 ? CELL_SOLID : i == 3 && j == 2 && k == 0 ? CELL_FLUID : CELL_AIR;
}

/* [A24 sec. I-B]: a cell on the floor has five open faces, each gets a fifth of its outflow; P is the sum. */
static void a_sweep_takes_equal_parts_from_open_faces(void **unused)
{
    (void)unused;
    WadiError error;
    TestGrid grid;
    float *velocity[3], *open[3];
    uint8_t *known[3];
    grid_make(&grid, (int[3]){ -8, -8, -8 }, (int[3]){ 8, 8, 8 }, single_label, NULL);
    double *pressure = grid_alloc(&grid, wadi_rows_floats(&grid.rows), sizeof *pressure);
    for (int axis = 0; axis < 3; ++axis) {
        velocity[axis] = grid_floats(&grid, 0.0f);
        open[axis] = grid_floats(&grid, 1.0f);
        known[axis] = grid_alloc(&grid, (size_t)grid.rows.count, 1);
    }
    const size_t cell = grid_at(&grid, 3, 2, 0), right = grid_at(&grid, 4, 2, 0),
                 top = grid_at(&grid, 3, 2, 1);
    open[2][cell] = 0.0f;
    velocity[2][cell] = 5.0f; /* of the wall: read as 0 */
    velocity[0][right] = 1.0f;
    velocity[2][top] = 1.0f;
    const WadiFlipProjectIn in = {
        .rows = &grid.rows, .fluid = grid.fluid, .open = { open[0], open[1], open[2] }, .cell_size = 0.1
    };
    WadiFlipProjectOut out = { .velocity = { velocity[0], velocity[1], velocity[2] },
                               .pressure = pressure,
                               .known = { known[0], known[1], known[2] } };
    WadiFlipProjectReport report;
    CHECK_OK(wadi_printed_sweeps(&in, 1, &out, &report, &error), error);
    CHECK_NEAR(velocity[0][right], 0.6, 1e-6);
    CHECK_NEAR(velocity[0][cell], 0.4, 1e-6);
    CHECK_NEAR(velocity[2][top], 0.6, 1e-6);
    CHECK_NEAR(velocity[2][cell], 0.0, 0.0);
    CHECK_NEAR(velocity[1][cell], 0.4, 1e-6);
    CHECK_NEAR(pressure[cell], -0.4, 1e-6);
    CHECK_NEAR(report.max_divergence, 0.0, 1e-5);
    grid_free(&grid);
}

/* [ZB05 sec. 4.2.5]: RK2 in five parts of the step. In a field that turns by 1.5 in a step, which the grid
 * has exactly, a part turns by a = 0.3 and maps x to (1 - a^2/2) x + a J x: the radius grows by
 * (1 + a^4/4)^(1/2). One step of RK2 would make it 1.51 times as large. */
static void paths_are_rk2_in_five_parts(void **unused)
{
    (void)unused;
    WadiError error;
    TestGrid grid;
    WadiParticles particles;
    int32_t first;
    float *velocity[3];
    layer_make(&grid, velocity);
    for (int32_t r = 1; r < grid.rows.count; ++r) {
        int32_t cell[3];
        wadi_rows_cell(&grid.rows, r, cell);
        for (int lane = 0; lane < 8; ++lane) {
            velocity[0][8 * r + lane] = -0.1f * ((float)cell[1] + 0.5f);
            velocity[1][8 * r + lane] = 0.1f * ((float)(cell[0] + lane) + 0.5f);
        }
    }
    CHECK_OK(wadi_particles_init(&particles, &error), error);
    CHECK_OK(wadi_particles_append(&particles, 1, &first, &error), error);
    particles.x[first] = 0.32;
    particles.y[first] = 0.0;
    particles.z[first] = 0.15;
    const WadiFlipGrid faces = { .cell_size = 0.1,
                                 .tiles = grid.map,
                                 .rows = grid.rows,
                                 .velocity = { velocity[0], velocity[1], velocity[2] } };
    const WadiFlipSolid solid = { .distance = grid_floats(&grid, 10.0f) };
    const WadiSolids none = { 0 };
    const WadiPrintedMoveIn in = {
        .solids = &none, .grid = &faces, .solid = &solid, .cell_size = 0.1, .dt = 1.5, .substeps = 5
    };
    wadi_printed_move(&particles, &in);
    const double a = 0.3, radius = 0.32 * pow(1.0 + a * a * a * a / 4.0, 2.5),
                 angle = 5.0 * atan2(a, 1.0 - a * a / 2.0);
    CHECK_NEAR(particles.x[first], radius * cos(angle), 1e-6);
    CHECK_NEAR(particles.y[first], radius * sin(angle), 1e-6);
    CHECK_NEAR(particles.z[first], 0.15, 1e-9);
    wadi_particles_free(&particles);
    grid_free(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(material_may_leave_a_solid_but_not_enter_it),
        cmocka_unit_test(velocities_are_extended_along_the_normal),
        cmocka_unit_test(a_sweep_takes_equal_parts_from_open_faces),
        cmocka_unit_test(paths_are_rk2_in_five_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
