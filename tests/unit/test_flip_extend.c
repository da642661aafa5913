/* flip: velocities extended beyond the fluid. */
#include "core/parallel.h"
#include "core/random.h"
#include "failing_alloc.h"
#include "flip/solids/flip_solid.h"
#include "flip/transfer/flip_extend.h"
#include "flip_box.h"
#include "physics/scene_shapes.h"

static const int low[3] = { 0, 0, 0 }, high[3] = { 24, 16, 16 };

typedef struct Field {
    FlipBox box;
    float *velocity[3];
    uint8_t *known[3], *reached[3];
    WadiFlipExtendIn in;
    WadiArena scratch;
} Field;

static void make_field(Field *field, const int a[3], const int b[3], int layers)
{
    *field = (Field){ 0 };
    flip_box_make(&field->box, low, high);
    field->in = (WadiFlipExtendIn){ .rows = &field->box.rows, .layers = layers };
    for (int n = 0; n < 3; ++n) {
        field->velocity[n] = flip_box_floats(&field->box, 99.0f); /* must not be read */
        field->in.known[n] = field->known[n] = flip_box_bits(&field->box, a, b);
        field->reached[n] = flip_box_array(&field->box, sizeof(uint8_t));
    }
}

static bool is_set(const uint8_t *bits, size_t at)
{
    return (bits[at / 8] >> (at % 8) & 1) != 0;
}

static void extend(Field *field)
{
    WadiError error;
    CHECK_OK(wadi_arena_reset(&field->scratch, &error), error);
    CHECK_OK(wadi_flip_extend(&field->in, field->velocity, field->reached, &field->scratch, &error), error);
}

static void free_field(Field *field)
{
    wadi_arena_free(&field->scratch);
    flip_box_free(&field->box);
}

static void a_constant_field_stays_constant_to_the_bit(void **unused)
{
    (void)unused;
    Field field;
    const int a[3] = { 6, 5, 5 }, b[3] = { 13, 9, 10 };
    make_field(&field, a, b, 3);
    const float value[3] = { 0.1f, -3.3333333f, 7e-5f };
    for (size_t at = 8; at < wadi_rows_floats(&field.box.rows); ++at) {
        for (int n = 0; n < 3; ++n) {
            field.velocity[n][at] = is_set(field.known[n], at) ? value[n] : 99.0f;
        }
    }
    extend(&field);
    int reached = 0;
    for (size_t at = 8; at < wadi_rows_floats(&field.box.rows); ++at) {
        int c[3], steps = 0;
        flip_box_cell(&field.box, at, c);
        for (int n = 0; n < 3; ++n) {
            steps += c[n] < a[n] ? a[n] - c[n] : c[n] >= b[n] ? c[n] - b[n] + 1 : 0;
        }
        for (int n = 0; n < 3; ++n) {
            assert_int_equal(is_set(field.reached[n], at), steps <= 3);
            assert_true(field.velocity[n][at] == (steps <= 3 ? value[n] : 0.0f));
        }
        reached += steps <= 3;
    }
    assert_true(reached > 7 * 4 * 5 * 3);
    free_field(&field);
}

static void a_layer_is_the_mean_of_the_layer_before(void **unused)
{
    (void)unused;
    Field field;
    make_field(&field, (const int[3]){ 7, 5, 5 }, (const int[3]){ 8, 6, 6 }, 2);
    /* Two known cells across the border of a tile, one apart. */
    size_t other = flip_box_at(&field.box, 9, 5, 5);
    field.known[0][other / 8] |= (uint8_t)(1u << (other % 8));
    field.velocity[0][flip_box_at(&field.box, 7, 5, 5)] = 2.0f;
    field.velocity[0][other] = 5.0f;
    extend(&field);
    CHECK_NEAR((double)field.velocity[0][flip_box_at(&field.box, 8, 5, 5)], 3.5, 0.0);
    CHECK_NEAR((double)field.velocity[0][flip_box_at(&field.box, 6, 5, 5)], 2.0, 0.0);
    CHECK_NEAR((double)field.velocity[0][flip_box_at(&field.box, 8, 6, 5)], (2.0 + 5.0 + 3.5) / 3.0, 1e-6);
    CHECK_NEAR((double)field.velocity[0][flip_box_at(&field.box, 4, 5, 5)], 0.0, 0.0);
    free_field(&field);
}

/* Fluid sliding along a wall: on closed faces the component along it is extended, the one across it is the
 * solid's. */
static void slide_along(WadiVec3 normal, WadiVec3 flow, double tolerance)
{
    Field field;
    make_field(&field, low, low, 4);
    WadiSolid solid = { .shape = shape_of(def_of(WADI_SHAPE_HALF_SPACE, wadi_vec3(12, 8, 8), normal)) };
    WadiSolids solids = { .solids = &solid, .count = 1, .domain = endless_box() };
    WadiFlipSolidIn in = { .rows = &field.box.rows, .solids = &solids, .cell_size = 1.0 };
    WadiError error;
    WadiFlipSolid out;
    CHECK_OK(wadi_flip_solid(&in, NULL, &out, &field.box.arena, &error), error);
    const float value[3] = { (float)flow.x, (float)flow.y, (float)flow.z };
    for (size_t at = 8; at < wadi_rows_floats(&field.box.rows); ++at) {
        for (int n = 0; n < 3; ++n) {
            if (out.open[n][wadi_table_cell(out.row, at)] > 0.0f) {
                field.known[n][at / 8] |= (uint8_t)(1u << (at % 8));
                field.velocity[n][at] = value[n];
            }
        }
    }
    extend(&field);
    WadiFlipWallIn wall = { .rows = &field.box.rows, .solid_row = out.row, .distance = out.distance };
    for (int n = 0; n < 3; ++n) {
        wall.open[n] = out.open[n];
        wall.solid_velocity[n] = out.velocity[n];
    }
    CHECK_OK(wadi_flip_extend_walls(&wall, field.velocity, &field.scratch, &error), error);
    WadiVec3 unit = wadi_normalized_or(normal, normal);
    WadiVec3 along = wadi_add_scaled(flow, unit, -wadi_dot(flow, unit));
    int closed = 0;
    for (size_t at = 8; at < wadi_rows_floats(&field.box.rows); ++at) {
        int c[3];
        flip_box_cell(&field.box, at, c);
        bool is_inside = c[0] > 1 && c[0] < 22 && c[1] > 1 && c[1] < 14 && c[2] > 1 && c[2] < 14;
        const size_t solid_at = wadi_table_cell(out.row, at);
        for (int n = 0; n < 3 && is_inside; ++n) {
            if (!(out.open[n][solid_at] > 0.0f) && out.distance[solid_at] > -0.5f) {
                CHECK_NEAR((double)field.velocity[n][at], wadi_component(along, n), tolerance);
                ++closed;
            }
        }
    }
    assert_true(closed > 100);
    wadi_shape_destroy((WadiShape *)solid.shape);
    free_field(&field);
}

static void fluid_slides_along_walls(void **unused)
{
    (void)unused;
    slide_along(wadi_vec3(0, 0, 1), wadi_vec3(1.5, -0.5, 0), 1e-6);
    slide_along(wadi_vec3(0, 0, 1), wadi_vec3(1.5, -0.5, -2), 1e-6);
    slide_along(wadi_vec3(1, 0, 0), wadi_vec3(3, 1, 2), 1e-6);
    slide_along(wadi_vec3(0.6, 0, 0.8), wadi_vec3(0.8, 0.3, -0.6), 1e-5);
    slide_along(wadi_vec3(0.6, 0, 0.8), wadi_vec3(0, 0.3, -1), 1e-5);
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    Field field[3];
    for (int n = 0; n < 3; ++n) {
        wadi_parallel_set_threads(n + 1);
        make_field(&field[n], (const int[3]){ 6, 5, 5 }, (const int[3]){ 13, 9, 10 }, 4);
        for (size_t at = 8; at < wadi_rows_floats(&field[n].box.rows); ++at) {
            field[n].velocity[1][at] = (float)wadi_random_unit(3, at, WADI_RANDOM_TEST);
        }
        extend(&field[n]);
    }
    wadi_parallel_set_threads(0);
    size_t bytes = wadi_rows_floats(&field[0].box.rows) * sizeof(float);
    assert_memory_equal(field[0].velocity[1], field[1].velocity[1], bytes);
    assert_memory_equal(field[0].velocity[1], field[2].velocity[1], bytes);
    for (int n = 0; n < 3; ++n) {
        free_field(&field[n]);
    }
}

static void nothing_known_extends_to_nothing(void **unused)
{
    (void)unused;
    Field field;
    make_field(&field, low, low, 3);
    extend(&field);
    for (size_t at = 0; at < wadi_rows_floats(&field.box.rows); ++at) {
        assert_true(field.velocity[0][at] == 0.0f);
    }
    free_field(&field);
}

static WadiStatus extend_with(int calls)
{
    Field field;
    WadiError error;
    make_field(&field, (const int[3]){ 6, 5, 5 }, (const int[3]){ 13, 9, 10 }, 3);
    alloc_calls_left = calls;
    WadiStatus status = wadi_flip_extend(&field.in, field.velocity, NULL, &field.scratch, &error);
    alloc_calls_left = INT_MAX;
    free_field(&field);
    return status;
}

static void every_failing_allocation_is_reported(void **unused)
{
    (void)unused;
    assert_true(failures_until_it_works(extend_with) >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_field_stays_constant_to_the_bit),
        cmocka_unit_test(a_layer_is_the_mean_of_the_layer_before),
        cmocka_unit_test(fluid_slides_along_walls),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(nothing_known_extends_to_nothing),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
