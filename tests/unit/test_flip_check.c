/* flip: the checking build names the stage that made a value not finite. */
#include <math.h>

#include "flip/flip.h"
#include "flip_box.h"
#include "stage_check.h"

typedef struct Case {
    FlipBox box;
    WadiWorld world;
    WadiParticles particles;
    WadiFlip flip;
    WadiFlipStep step;
} Case;

/* One tile; velocities and pressures are 1 in [2, 6)^3. */
static void make_case(Case *c)
{
    *c = (Case){ .world = { .cell_size = 0.5 } };
    flip_box_make(&c->box, (const int[3]){ 0, 0, 0 }, (const int[3]){ 8, 8, 8 });
    c->flip.context.world = &c->world;
    c->flip.context.particles = &c->particles;
    c->step.grid.rows = c->box.rows;
    const int low[3] = { 2, 2, 2 }, high[3] = { 6, 6, 6 };
    for (int a = 0; a < 3; ++a) {
        c->step.reached[a] = flip_box_bits(&c->box, low, high);
        c->step.grid.velocity[a] = flip_box_floats(&c->box, 1.0f);
    }
    WadiError error;
    c->step.cells.pressure_cells = flip_box_bits(&c->box, low, high);
    CHECK_OK(wadi_table_of_rows(&c->box.rows, c->step.cells.pressure_cells, &c->step.cells.pressure_row,
                                &c->step.cells.pressure_rows, &c->box.arena, &error),
             error);
    c->step.cells.expansion = flip_box_floats(&c->box, 0.0f);
}

/* `expected`: as expect_stage. */
static void check_case(Case *c, const char *stage, const char *expected)
{
    WadiError error = { 0 };
    const WadiStatus status = wadi_flip_check_stage(&c->flip, &c->step, stage, &error);
    expect_stage(status, &error, stage, expected);
}

static void the_stage_and_the_position_are_named(void **unused)
{
    (void)unused;
    Case c;
    make_case(&c);
    check_case(&c, "forces", NULL);
    /* A face that no particle reaches is not looked at: it may hold anything. */
    c.step.grid.velocity[1][flip_box_at(&c.box, 1, 1, 1)] = NAN;
    check_case(&c, "forces", NULL);
    c.step.grid.velocity[1][flip_box_at(&c.box, 3, 2, 5)] = NAN;
    check_case(&c, "forces", "a face velocity nan at (1.5, 1, 2.5) m");
    c.step.grid.velocity[1][flip_box_at(&c.box, 3, 2, 5)] = 0.0f;
    const size_t cell = wadi_table_cell(c.step.cells.pressure_row, flip_box_at(&c.box, 4, 4, 4));
    c.step.cells.expansion[cell] = INFINITY;
    check_case(&c, "density correction", "a prescribed divergence inf at (2, 2, 2) m");
    flip_box_free(&c.box);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_stage_and_the_position_are_named) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
