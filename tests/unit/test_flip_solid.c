/* flip: open fractions of faces against known areas. */
#include "flip/solids/flip_solid_fraction.h"
#include "flip_solid_fixture.h"

/* Index of a cell in the arrays of `out`. */
static size_t solid_at(const WadiFlipSolid *out, const FlipBox *box, int i, int j, int k)
{
    return wadi_table_cell(out->row, flip_box_at(box, i, j, k));
}

static void cut_squares_and_cubes_have_known_sizes(void **unused)
{
    (void)unused;
    CHECK_NEAR(wadi_square_open((double[4]){ 1, 1, 1, 1 }, 1e-6), 1.0, 0.0);
    CHECK_NEAR(wadi_square_open((double[4]){ 0, 0, 0, 0 }, 1e-6), 0.0, 0.0);
    CHECK_NEAR(wadi_square_open((double[4]){ 0, 1, 0, 1 }, 1e-6), 1.0, 0.0);
    CHECK_NEAR(wadi_square_open((double[4]){ 0, -1, 0, -1 }, 1e-6), 0.0, 0.0);
    CHECK_NEAR(wadi_square_open((double[4]){ -0.25, 0.75, -0.25, 0.75 }, 1e-6), 0.75, 1e-12);
    CHECK_NEAR(wadi_square_open((double[4]){ -0.25, 0.25, 0.25, 0.75 }, 1e-6), 0.875, 1e-12);
    CHECK_NEAR(wadi_square_open((double[4]){ 0.25, -0.25, -0.25, -0.75 }, 1e-6), 0.125, 1e-12);
    /* Alternating corners: joined on the larger side. */
    CHECK_NEAR(wadi_square_open((double[4]){ 3, -1, -1, 3 }, 1e-6), 1.0 - 2 * 0.5 / 16, 1e-12);
    CHECK_NEAR(wadi_square_open((double[4]){ 1, -3, -3, 1 }, 1e-6), 2 * 0.5 / 16, 1e-12);
    for (int axis = 0; axis < 3; ++axis) {
        double d[8], tilted[8];
        for (int n = 0; n < 8; ++n) {
            d[n] = (n >> axis & 1) - 0.2;
            tilted[n] = d[n] - 0.3 + 0.6 * (n >> (axis + 1) % 3 & 1);
        }
        CHECK_NEAR(wadi_cube_open(d, 1e-6), 0.8, 1e-12);
        /* Plane a + 0.6 b = 0.5: the trapezium below it is 0.5 - 0.3 = 0.2 ... cut off at b = 5/6. */
        CHECK_NEAR(wadi_cube_open(tilted, 1e-6), 1.0 - 0.5 * 0.5 / 1.2, 1e-12);
    }
}

static void a_floor_cuts_the_sides_of_cells(void **unused)
{
    (void)unused;
    FlipBox box;
    flip_box_make(&box, (const int[3]){ 0, 0, -3 }, (const int[3]){ 8, 8, 9 });
    WadiSolids solids = { .domain = endless_box(), .closed_sides = WADI_SIDE_Z_MIN };
    solids.domain.min.z = 0.03; /* in cells of 0.1 */
    WadiFlipSolid out = sample(&box, &solids, 0.1, NULL);
    for (int k = -3; k < 9; ++k) {
        size_t at = solid_at(&out, &box, 3, 4, k);
        double open = k < 0 ? 0.0 : k == 0 ? 0.7 : 1.0;
        CHECK_NEAR((double)out.open[0][at], open, 1e-6);
        CHECK_NEAR((double)out.open[1][at], open, 1e-6);
        CHECK_NEAR((double)out.open[2][at], k <= 0 ? 0.0 : 1.0, 0.0);
        CHECK_NEAR((double)out.fraction[at], 1.0 - open, 1e-6);
        CHECK_NEAR((double)out.distance[at], fmax(-0.2, fmin(0.1 * k + 0.02, 0.2)), 1e-7);
    }
    /* A wall on a grid line closes its faces and nothing else. */
    solids.domain.min.z = 0.1;
    out = sample(&box, &solids, 0.1, NULL);
    assert_true(out.open[2][solid_at(&out, &box, 3, 4, 1)] == 0.0f);
    assert_true(out.open[2][solid_at(&out, &box, 3, 4, 2)] == 1.0f);
    assert_true(out.open[0][solid_at(&out, &box, 3, 4, 1)] == 1.0f);
    assert_true(out.open[0][solid_at(&out, &box, 3, 4, 0)] == 0.0f);
    flip_box_free(&box);
}

/* Closed area of the x-faces in the plane next to the centre, and solid volume: errors against the exact
 * disc and ball. The centre is off the grid. */
static void sphere_errors(int n, double *area_error, double *volume_error)
{
    const double h = 1.0 / n, pi = acos(-1.0);
    const WadiVec3 centre = { 0.013, 0.021, -0.017 };
    const double radius = 0.317;
    FlipBox box;
    flip_box_make(&box, (const int[3]){ -n / 2, -n / 2, -n / 2 }, (const int[3]){ n / 2, n / 2, n / 2 });
    WadiSolid solid;
    WadiShape *shape = shape_of(def_of_sphere(centre, radius));
    WadiSolids solids = solids_of(&solid, shape);
    WadiFlipSolid out = sample(&box, &solids, h, NULL);
    *area_error = 0.0;
    double volume = 0.0;
    for (int i = -n / 2; i < n / 2; ++i) {
        double area = 0.0;
        for (int k = -n / 2; k < n / 2; ++k) {
            for (int j = -n / 2; j < n / 2; ++j) {
                size_t at = solid_at(&out, &box, i, j, k);
                area += h * h * (1.0 - (double)out.open[0][at]);
                volume += h * h * h * (double)out.fraction[at];
            }
        }
        double x = i * h - centre.x;
        *area_error = fmax(*area_error, fabs(area - pi * fmax(radius * radius - x * x, 0.0)));
    }
    *volume_error = fabs(volume - 4.0 / 3.0 * pi * radius * radius * radius);
    wadi_shape_destroy(shape);
    flip_box_free(&box);
}

static void a_sphere_converges_at_second_order(void **unused)
{
    (void)unused;
    double area[2], volume[2];
    /* Coarse grids subdivide faces where the sphere bends within a cell: their areas are better than their
     * order. */
    sphere_errors(16, &area[0], &volume[0]);
    CHECK_AT_MOST(area[0], 5e-4);
    sphere_errors(48, &area[0], &volume[0]);
    sphere_errors(96, &area[1], &volume[1]);
    double area_order = log2(area[0] / area[1]), volume_order = log2(volume[0] / volume[1]);
    print_message("areas: error %.2e, %.2e, order %.2f; volume: %.2e, %.2e, order %.2f\n", area[0], area[1],
                  area_order, volume[0], volume[1], volume_order);
    assert_true(area_order >= 1.8);
    assert_true(volume_order >= 1.8);
}

/* Is there a path over open faces from cell a to cell b? Flood fill. */
static bool is_connected(FlipBox *box, const WadiFlipSolid *solid, const int a[3], const int b[3])
{
    uint8_t *wet = flip_box_array(box, sizeof(uint8_t)); /* one a cell here */
    wet[flip_box_at(box, a[0], a[1], a[2])] = 1;
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (int k = box->lo[2]; k < box->hi[2]; ++k) {
            for (int j = box->lo[1]; j < box->hi[1]; ++j) {
                for (int i = box->lo[0]; i < box->hi[0]; ++i) {
                    for (int axis = 0; axis < 3; ++axis) {
                        size_t here = flip_box_at(box, i, j, k);
                        size_t there = flip_box_at(box, i - (axis == 0), j - (axis == 1), k - (axis == 2));
                        if (there >= 8 && solid->open[axis][wadi_table_cell(solid->row, here)] > 0 &&
                            wet[here] != wet[there]) {
                            wet[here] = wet[there] = 1;
                            has_changed = true;
                        }
                    }
                }
            }
        }
    }
    return wet[flip_box_at(box, b[0], b[1], b[2])] != 0;
}

static void a_thin_plate_closes_the_faces_it_crosses(void **unused)
{
    (void)unused;
    FlipBox box;
    flip_box_make(&box, (const int[3]){ 0, 0, 0 }, (const int[3]){ 8, 8, 8 });
    /* A tenth of a cell and a thousandth, at every position in the cell. */
    for (int thin = 0; thin < 2; ++thin) {
        for (int n = 0; n <= 40; ++n) {
            double x = 3.0 + n / 40.0, half = thin ? 0.0005 : 0.05;
            WadiSolid solid;
            WadiShape *shape =
                shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(x - half, -5, -5), wadi_vec3(x + half, 20, 20)));
            WadiSolids solids = solids_of(&solid, shape);
            WadiFlipSolid out = sample(&box, &solids, 1.0, NULL);
            for (int k = 0; k < 8; ++k) {
                for (int j = 0; j < 8; ++j) {
                    int closed = 0;
                    for (int i = 1; i < 8; ++i) {
                        closed += out.open[0][solid_at(&out, &box, i, j, k)] == 0.0f;
                    }
                    assert_int_equal(closed, 1);
                }
            }
            assert_false(is_connected(&box, &out, (const int[3]){ 0, 0, 0 }, (const int[3]){ 7, 7, 7 }));
            wadi_shape_destroy(shape);
        }
    }
    flip_box_free(&box);
}

static void an_oblique_thin_plate_does_not_leak(void **unused)
{
    (void)unused;
    FlipBox box;
    flip_box_make(&box, (const int[3]){ 0, 0, 0 }, (const int[3]){ 16, 16, 16 });
    for (int n = 0; n < 12; ++n) {
        double thickness = n < 6 ? 0.1 : 0.7;
        WadiShapeDef def =
            def_of(WADI_SHAPE_BOX, wadi_vec3(-0.5 * thickness, -50, -50), wadi_vec3(0.5 * thickness, 50, 50));
        def.rotate = wadi_curve_constant3(0, 11.0 * n, 8.0 + 7.0 * n);
        def.translate = wadi_curve_constant3(8.03, 7.98, 8.01);
        WadiSolid solid;
        WadiShape *shape = shape_of(def);
        WadiSolids solids = solids_of(&solid, shape);
        WadiFlipSolid out = sample(&box, &solids, 1.0, NULL);
        /* Cells far from the plate on its two sides. */
        int a[3] = { -1, 0, 0 }, b[3] = { -1, 0, 0 };
        WadiVec3 normal = wadi_shape_sample(shape, wadi_vec3(8, 8, 30), 0).normal;
        for (int k = 0; k < 16; ++k) {
            for (int j = 0; j < 16; ++j) {
                for (int i = 0; i < 16; ++i) {
                    double s = (i + 0.5 - 8.03) * normal.x + (j + 0.5 - 7.98) * normal.y +
                               (k + 0.5 - 8.01) * normal.z;
                    int *cell = s > 2 ? a : s < -2 ? b : NULL;
                    if (cell != NULL) {
                        cell[0] = i;
                        cell[1] = j;
                        cell[2] = k;
                    }
                }
            }
        }
        assert_true(a[0] >= 0 && b[0] >= 0);
        assert_false(is_connected(&box, &out, a, b));
        wadi_shape_destroy(shape);
    }
    flip_box_free(&box);
}

static void a_thin_box_holds_what_is_in_it(void **unused)
{
    (void)unused;
    FlipBox box;
    flip_box_make(&box, (const int[3]){ 0, 0, 0 }, (const int[3]){ 16, 16, 16 });
    for (int n = 0; n < 24; ++n) {
        double inner = 4.0 + 0.03 * n, outer = inner + (n % 3 == 0 ? 0.1 : n % 3 == 1 ? 0.02 : 0.6);
        WadiShapeDef def = def_of_two(
            WADI_SHAPE_DIFFERENCE,
            def_of(WADI_SHAPE_BOX, wadi_vec3(-outer, -outer, -outer), wadi_vec3(outer, outer, outer)),
            def_of(WADI_SHAPE_BOX, wadi_vec3(-inner, -inner, -inner), wadi_vec3(inner, inner, inner)));
        int turns = n / 6; /* the first ones along the grid */
        def.rotate = wadi_curve_constant3(13.0 * turns, 7.0 * turns, 11.0 * turns);
        def.translate = wadi_curve_constant3(8.0, 8.0 + 0.1 * n, 8.0);
        WadiSolid solid;
        WadiShape *shape = shape_of(def);
        WadiSolids solids = solids_of(&solid, shape);
        WadiFlipSolid out = sample(&box, &solids, 1.0, NULL);
        assert_false(is_connected(&box, &out, (const int[3]){ 8, 9, 8 }, (const int[3]){ 0, 0, 0 }));
        wadi_shape_destroy(shape);
    }
    flip_box_free(&box);
}

static void a_thin_rod_narrows_the_faces_it_crosses(void **unused)
{
    (void)unused;
    FlipBox box;
    flip_box_make(&box, (const int[3]){ 0, 0, 0 }, (const int[3]){ 8, 8, 8 });
    WadiSolid solid;
    WadiShape *shape = shape_of(def_of(WADI_SHAPE_BOX, wadi_vec3(3.25, 3.25, -9), wadi_vec3(3.75, 3.75, 20)));
    WadiSolids solids = solids_of(&solid, shape);
    WadiFlipSolid out = sample(&box, &solids, 1.0, NULL);
    CHECK_NEAR((double)out.open[2][solid_at(&out, &box, 3, 3, 4)], 0.75, 0.07);
    wadi_shape_destroy(shape);
    flip_box_free(&box);
}

static void a_moving_solid_gives_its_velocity(void **unused)
{
    (void)unused;
    FlipBox box;
    flip_box_make(&box, (const int[3]){ 0, 0, 0 }, (const int[3]){ 8, 8, 8 });
    WadiShapeDef def = def_of(WADI_SHAPE_BOX, wadi_vec3(-9, -9, -9), wadi_vec3(2, 20, 20));
    def.translate = curve_of(0, wadi_vec3(0, 0, 0), 1, wadi_vec3(1.5, -0.5, 0));
    WadiSolid solid;
    WadiShape *shape = shape_of(def);
    WadiSolids solids = solids_of(&solid, shape);
    WadiFlipSolidCache cache = { 0 };
    WadiError error;
    WadiFlipSolid out;
    WadiFlipSolidIn in = { .rows = &box.rows, .solids = &solids, .cell_size = 1.0, .time = 0.5 };
    CHECK_OK(wadi_flip_solid(&in, &cache, &out, &box.arena, &error), error);
    /* The wall is at 2.75 now. */
    CHECK_NEAR((double)out.open[1][solid_at(&out, &box, 2, 4, 4)], 0.25, 1e-6);
    CHECK_NEAR((double)out.open[0][solid_at(&out, &box, 2, 4, 4)], 0.0, 0.0);
    CHECK_NEAR((double)out.velocity[0][solid_at(&out, &box, 2, 4, 4)], 1.5, 1e-6);
    CHECK_NEAR((double)out.velocity[1][solid_at(&out, &box, 2, 4, 4)], -0.5, 1e-6);
    CHECK_NEAR((double)out.velocity[0][solid_at(&out, &box, 4, 4, 4)], 0.0, 0.0);
    in.time = 0.75; /* 3.125 */
    CHECK_OK(wadi_flip_solid(&in, &cache, &out, &box.arena, &error), error);
    CHECK_NEAR((double)out.open[1][solid_at(&out, &box, 3, 4, 4)], 0.875, 1e-6);
    wadi_flip_solid_cache_free(&cache);
    wadi_shape_destroy(shape);
    flip_box_free(&box);
}

static void binary_walls_follow_the_centres(void **unused)
{
    (void)unused;
    FlipBox box;
    flip_box_make(&box, (const int[3]){ 0, 0, 0 }, (const int[3]){ 8, 8, 8 });
    WadiSolids solids = { .domain = endless_box(), .closed_sides = WADI_SIDE_Z_MIN };
    for (int n = 0; n < 2; ++n) {
        solids.domain.min.z = n == 0 ? 2.4 : 2.6;
        WadiError error;
        WadiFlipSolid out;
        WadiFlipSolidIn in = { .rows = &box.rows, .solids = &solids, .cell_size = 1.0, .is_binary = true };
        CHECK_OK(wadi_flip_solid(&in, NULL, &out, &box.arena, &error), error);
        for (int k = 0; k < 8; ++k) {
            size_t at = solid_at(&out, &box, 4, 4, k);
            CHECK_NEAR((double)out.open[0][at], k >= 2 + n ? 1.0 : 0.0, 0.0);
            CHECK_NEAR((double)out.open[2][at], k > 2 + n ? 1.0 : 0.0, 0.0);
        }
    }
    flip_box_free(&box);
}

static void empty_cut_cells_under_fluid_are_fluid(void **unused)
{
    (void)unused;
    FlipBox box;
    flip_box_make(&box, (const int[3]){ 0, 0, 0 }, (const int[3]){ 8, 8, 8 });
    WadiSolids solids = { .domain = endless_box(), .closed_sides = WADI_SIDE_Z_MIN };
    solids.domain.min.z = 2.8;
    WadiFlipSolid out = sample(&box, &solids, 1.0, NULL);
    uint8_t *fluid = flip_box_bits(&box, (const int[3]){ 1, 1, 3 }, (const int[3]){ 7, 7, 5 });
    uint8_t *filled = flip_box_array(&box, sizeof(uint8_t));
    wadi_flip_solid_fill_cut_cells(&box.rows, &out, 1.0, fluid, filled);
    uint8_t *expected = flip_box_bits(&box, (const int[3]){ 1, 1, 2 }, (const int[3]){ 7, 7, 5 });
    assert_memory_equal(filled, expected, (size_t)box.rows.count);
    flip_box_free(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_squares_and_cubes_have_known_sizes),
        cmocka_unit_test(a_floor_cuts_the_sides_of_cells),
        cmocka_unit_test(a_sphere_converges_at_second_order),
        cmocka_unit_test(a_thin_plate_closes_the_faces_it_crosses),
        cmocka_unit_test(an_oblique_thin_plate_does_not_leak),
        cmocka_unit_test(a_thin_box_holds_what_is_in_it),
        cmocka_unit_test(a_thin_rod_narrows_the_faces_it_crosses),
        cmocka_unit_test(a_moving_solid_gives_its_velocity),
        cmocka_unit_test(binary_walls_follow_the_centres),
        cmocka_unit_test(empty_cut_cells_under_fluid_are_fluid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
