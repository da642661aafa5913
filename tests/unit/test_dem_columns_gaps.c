/* Gaps of columns between solids: floors and ceilings known by hand, flow above, below and over edges. */
#include "dem/columns/dem_columns.h"
#include "scene_text.h"
#include "world/world.h"

#define DEGREE (3.14159265358979323846 / 180.0)

typedef struct Field {
    WadiScene *scene;
    WadiWorld *world;
    WadiDemColumns *columns;
} Field;

static Field make_field(const char *colliders, const char *sides, double width)
{
    char text[1024];
    WadiError error;
    Field field = { 0 };
    snprintf(text, sizeof(text),
             "wadi: 1\nsolver: points\ncell_size: 0.1\n"
             "domain: {min: [0, 0, 0], max: [1, 1, 1]%s}\nmaterials: {sand: {kind: sand}}\n"
             "bodies: [{material: sand, shape: {sphere: {center: [0.5, 0.5, 0.9], radius: 0.05}}}]\n"
             "colliders: [%s]\n",
             sides, colliders);
    field.scene = parse(text);
    CHECK_OK(wadi_world_create(&field.world, field.scene, NULL, &error), error);
    const WadiDemColumnsIn in = { .solids = &field.world->solids,
                                  .box = field.scene->domain,
                                  .width = width,
                                  .least = 0.01,
                                  .has_faces = true };
    CHECK_OK(wadi_dem_columns_create(&field.columns, &in, &error), error);
    return field;
}

static void free_field(Field *field)
{
    wadi_dem_columns_destroy(field->columns);
    wadi_world_destroy(field->world);
    wadi_scene_destroy(field->scene);
}

#define TABLE "{shape: {box: {min: [0.2, 0.2, 0.3], max: [0.8, 0.8, 0.4]}}}"

static void test_a_table_has_a_gap_below_and_one_above(void **state)
{
    (void)state;
    Field f = make_field(TABLE, "", 0.1);
    const WadiDemColumns *c = f.columns;
    assert_int_equal(c->nx, 10);
    assert_false(c->is_single);
    assert_int_equal(c->count, 100 + 36);
    const int32_t middle = wadi_dem_columns_at(c, 0.55, 0.55), corner = wadi_dem_columns_at(c, 0.05, 0.05);
    const int32_t low = wadi_dem_columns_gap(c, middle, 0.1), high = wadi_dem_columns_gap(c, middle, 0.7);
    assert_int_equal(high, low + 1);
    CHECK_NEAR(c->floor[low], 0.0, 1e-9);
    CHECK_NEAR(c->ceiling[low], 0.3, 1e-9);
    CHECK_NEAR(c->floor[high], 0.4, 1e-9);
    assert_true(isinf(c->ceiling[high]));
    assert_int_equal(c->first[corner + 1] - c->first[corner], 1);
    assert_int_equal(wadi_dem_columns_of_gap(c, high), middle);
    assert_int_equal(wadi_dem_columns_at(c, 1.05, 0.5), -1);
    /* The column beside the table is linked with both of its gaps. */
    const int32_t beside = wadi_dem_columns_gap(c, wadi_dem_columns_at(c, 0.15, 0.55), 0.5);
    assert_int_equal(
        c->link_first[4 * beside + WADI_DEM_EAST + 1] - c->link_first[4 * beside + WADI_DEM_EAST], 2);
    free_field(&f);
}

static void test_the_floor_of_a_bowl_is_its_sphere(void **state)
{
    (void)state;
    Field f = make_field("{shape: {difference: [{box: {min: [0, 0, 0], max: [1, 1, 0.5]}}, "
                         "{sphere: {center: [0.5, 0.5, 0.5], radius: 0.4}}]}}",
                         "", 0.05);
    const WadiDemColumns *c = f.columns;
    assert_true(c->is_single);
    for (int32_t i = 0; i < c->count; ++i) {
        const double x = (i % c->nx + 0.5) * c->wx - 0.5, y = (i / c->nx + 0.5) * c->wy - 0.5;
        const double square = 0.16 - x * x - y * y;
        CHECK_NEAR(c->floor[i], square > 0.0 ? 0.5 - sqrt(square) : 0.5, 1e-8);
    }
    free_field(&f);
}

static void run(WadiDemColumns *c, const WadiDemBcre *law, int steps)
{
    WadiError error;
    for (int k = 0; k < steps; ++k) {
        CHECK_OK(wadi_dem_bcre_step(c, law, wadi_dem_bcre_largest_dt(c, law), &error), error);
    }
}

/* Sand on a table runs over its edges and a little under it; none goes through the board. */
static void test_sand_runs_over_the_edges_of_a_table(void **state)
{
    (void)state;
    Field f = make_field(TABLE, "", 0.02);
    WadiDemColumns *c = f.columns;
    WadiDemBcre law = wadi_dem_bcre_default(0.01, 30.0 * DEGREE, 9.81);
    for (int32_t column = 0; column < c->nx * c->ny; ++column) {
        const int32_t last = c->first[column + 1] - 1;
        if (c->floor[last] > 0.3) {
            c->height[last] = 0.55; /* a block on the table */
        }
    }
    const double volume = wadi_dem_columns_volume(c);
    CHECK_NEAR(volume, 0.36 * 0.15, 1e-9);
    run(c, &law, 1500);
    CHECK_NEAR(wadi_dem_columns_volume(c) / volume, 1.0, 1e-12);
    double below = 0.0, above = 0.0, beside = 0.0, most = 0.0;
    for (int32_t column = 0; column < c->nx * c->ny; ++column) {
        for (int32_t i = c->first[column]; i < c->first[column + 1]; ++i) {
            const double sand = c->height[i] - c->floor[i] + c->rolling[i];
            *(c->ceiling[i] < 1.0 ? &below : c->floor[i] > 0.3 ? &above : &beside) += sand;
            most = fmax(most, c->height[i] + c->rolling[i] - c->ceiling[i]);
        }
    }
    /* On the table stays at most a pyramid of 30 degrees. */
    CHECK_AT_MOST(above * c->wx * c->wy, 0.36 * 0.3 * tan(31.0 * DEGREE) / 3.0);
    assert_true(beside > 0.0 && below > 0.0);
    CHECK_AT_MOST(most, 1e-12);
    const int32_t middle = wadi_dem_columns_gap(c, wadi_dem_columns_at(c, 0.51, 0.51), 0.1);
    CHECK_NEAR(c->height[middle], 0.0, 1e-12); /* far from the edges */
    free_field(&f);
}

/* What leaves through an open side is counted, and nothing else is lost. */
static void test_sand_leaves_through_an_open_side(void **state)
{
    (void)state;
    Field f = make_field("", ", walls: {open: [x_max]}", 0.02);
    WadiDemColumns *c = f.columns;
    WadiDemBcre law = wadi_dem_bcre_default(0.01, 30.0 * DEGREE, 9.81);
    assert_int_equal(c->nx, 51);
    assert_int_equal(c->sink_count, 50);
    for (int32_t i = 0; i < c->count; ++i) {
        c->height[i] = i % c->nx < 50 ? 0.5 : c->floor[i];
    }
    run(c, &law, 4000);
    CHECK_NEAR(wadi_dem_columns_volume(c) + c->drained, 0.5, 1e-12);
    /* A slope of 30 degrees or less up from the edge is left. */
    CHECK_AT_MOST(wadi_dem_columns_volume(c), 0.5 * tan(31.0 * DEGREE));
    assert_true(wadi_dem_columns_volume(c) > 0.5 * tan(15.0 * DEGREE));
    free_field(&f);
}

/* A pocket under an overhang takes sand until it is full. */
static void test_a_full_gap_takes_no_more(void **state)
{
    (void)state;
    Field f = make_field("{shape: {box: {min: [0.5, -1, 0.1], max: [2, 2, 0.15]}}}", "", 0.02);
    WadiDemColumns *c = f.columns;
    WadiDemBcre law = wadi_dem_bcre_default(0.01, 20.0 * DEGREE, 9.81);
    for (int32_t column = 0; column < c->nx * c->ny; ++column) {
        c->height[c->first[column]] = column % c->nx < 25 ? 0.8 : 0.0;
    }
    const double volume = wadi_dem_columns_volume(c);
    run(c, &law, 1500);
    CHECK_NEAR(wadi_dem_columns_volume(c) / volume, 1.0, 1e-12);
    const int32_t lip = wadi_dem_columns_gap(c, wadi_dem_columns_at(c, 0.51, 0.5), 0.05);
    CHECK_NEAR(c->height[lip] + c->rolling[lip], 0.1, 1e-9);
    const int32_t top = wadi_dem_columns_gap(c, wadi_dem_columns_at(c, 0.61, 0.5), 0.5);
    assert_true(c->height[top] > 0.2); /* the rest went over the plate */
    free_field(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_table_has_a_gap_below_and_one_above),
        cmocka_unit_test(test_the_floor_of_a_bowl_is_its_sphere),
        cmocka_unit_test(test_sand_runs_over_the_edges_of_a_table),
        cmocka_unit_test(test_sand_leaves_through_an_open_side),
        cmocka_unit_test(test_a_full_gap_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
