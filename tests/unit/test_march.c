/* surface: marching cubes on shapes whose surface is known. */
#include "core/parallel.h"
#include "surface_fixture.h"

static const int low[3] = { -3, -3, -3 }, high[3] = { 3, 3, 3 };

static WadiVec3 corner(const WadiMesh *mesh, size_t t, int c)
{
    return mesh->vertices[mesh->triangles[t][c]];
}

static WadiVec3 area_vector(const WadiMesh *mesh, size_t t)
{
    WadiVec3 a = corner(mesh, t, 0);
    return wadi_scale(wadi_cross(wadi_sub(corner(mesh, t, 1), a), wadi_sub(corner(mesh, t, 2), a)), 0.5);
}

/* Largest distance of points of the mesh from the shape; the centres of triangles, which deviate most, are
 * among them. */
static double largest_error(const WadiMesh *mesh, const TestBall *ball)
{
    double largest = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        for (int n = 0; n < 28; ++n) {
            int i = n % 7, j = n / 7 * 2 % 7;
            j = i + j > 6 ? 6 - i : j;
            WadiVec3 x = wadi_scale(corner(mesh, t, 0), i / 6.0);
            x = wadi_add_scaled(x, corner(mesh, t, 1), j / 6.0);
            x = wadi_add_scaled(x, corner(mesh, t, 2), (6 - i - j) / 6.0);
            largest = fmax(largest, fabs(ball_distance(ball, x)));
        }
    }
    return largest;
}

static void a_ball_is_a_ball(void **unused)
{
    (void)unused;
    const TestBall ball = { { 0.0123, -0.0311, 0.0077 }, 0.31, 0.0 };
    double error[4];
    for (int level = 0; level < 4; ++level) {
        int tiles = 1 << level;
        double cell = 0.1 / (1 << level);
        int from[3] = { -tiles, -tiles, -tiles }, to[3] = { tiles, tiles, tiles };
        FieldFixture fixture;
        field_from_function(&fixture, from, to, cell, ball_distance, &ball);
        WadiSurfaceMesh surface = march_fixture(&fixture);
        WadiSurfaceFacts facts = surface_facts(&surface);
        assert_true(facts.is_closed && facts.is_oriented && facts.is_manifold);
        assert_int_equal(facts.euler, 2);
        assert_int_equal(facts.parts, 1);
        error[level] = largest_error(&surface.mesh, &ball);
        /* A chord of length c lies at most c^2 / 8 R off the arc; edges are at most sqrt(3) cells. The
         * vertices add the same for the field taken as linear along an edge. */
        CHECK_AT_MOST(error[level], 0.5 * cell * cell / ball.radius);
        if (level > 0) {
            CHECK_NEAR(log2(error[level - 1] / error[level]), 2.0, level == 1 ? 0.4 : 0.2);
        }
        double volume = 4.0 / 3.0 * acos(-1.0) * pow(ball.radius, 3.0);
        CHECK_NEAR(facts.volume, volume, cell * cell / ball.radius * facts.area);
        for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
            WadiVec3 out =
                wadi_normalized_or(wadi_sub(surface.mesh.vertices[v], ball.center), (WadiVec3){ 0 });
            const float *n = surface.normal[v];
            WadiVec3 normal = { (double)n[0], (double)n[1], (double)n[2] };
            CHECK_NEAR(wadi_norm(normal), 1.0, 1e-6);
            CHECK_AT_MOST(wadi_norm(wadi_sub(normal, out)), 2.0 * cell * cell / (ball.radius * ball.radius));
        }
        for (size_t t = 0; t < surface.mesh.triangle_count; ++t) {
            WadiVec3 middle = wadi_sub(corner(&surface.mesh, t, 0), ball.center);
            assert_true(wadi_dot(area_vector(&surface.mesh, t), middle) > 0.0);
        }
        wadi_surface_mesh_free(&surface);
        field_free(&fixture);
    }
    print_message("largest error of a ball: %g %g %g %g\n", error[0], error[1], error[2], error[3]);
}

static void topology_is_that_of_the_shape(void **unused)
{
    (void)unused;
    const TestBall ring = { { 0.03, 0.01, -0.02 }, 1.2, 0.41 };
    const TestBall balls[2] = { { { -0.7, 0.1, 0.0 }, 0.61, 0.0 }, { { 0.71, -0.2, 0.3 }, 0.52, 0.0 } };
    FieldFixture fixture;
    field_from_function(&fixture, low, high, 0.1, ball_distance, &ring);
    WadiSurfaceMesh surface = march_fixture(&fixture);
    WadiSurfaceFacts facts = surface_facts(&surface);
    assert_true(facts.is_closed && facts.is_oriented && facts.is_manifold);
    assert_int_equal(facts.euler, 0);
    assert_int_equal(facts.parts, 1);
    CHECK_NEAR(facts.volume, 2.0 * acos(-1.0) * acos(-1.0) * 1.2 * 0.41 * 0.41, 0.02 * facts.volume);
    wadi_surface_mesh_free(&surface);
    field_free(&fixture);

    field_from_function(&fixture, low, high, 0.1, two_balls_distance, balls);
    surface = march_fixture(&fixture);
    facts = surface_facts(&surface);
    assert_true(facts.is_closed && facts.is_oriented && facts.is_manifold);
    assert_int_equal(facts.euler, 4);
    assert_int_equal(facts.parts, 2);
    wadi_surface_mesh_free(&surface);
    field_free(&fixture);
}

static double plane_distance(const void *context, WadiVec3 x)
{
    const double *top = context;
    double box = fmax(fmax(fabs(x.x), fabs(x.y)), fabs(x.z)) - 1.6;
    return fmax(box, x.z - *top);
}

static void planes_are_flat_and_walls_hold_nodes(void **unused)
{
    (void)unused;
    /* The walls pass through nodes: their values are exactly 0. */
    const double top = 0.437;
    FieldFixture fixture;
    field_from_function(&fixture, low, high, 0.1, plane_distance, &top);
    WadiSurfaceMesh surface = march_fixture(&fixture);
    WadiSurfaceFacts facts = surface_facts(&surface);
    assert_true(facts.is_closed && facts.is_oriented && facts.is_manifold);
    assert_int_equal(facts.euler, 2);
    /* Twelve edges lose at most half a cell each way, to a bevel. */
    CHECK_NEAR(facts.volume, 3.2 * 3.2 * 2.037, 0.5 * 0.1 * 0.1 * (8 * 3.2 + 4 * 2.037));
    CHECK_NEAR(facts.bounds.min.x, -1.6, 1.01 * WADI_MARCH_CLEARANCE * 0.1);
    CHECK_NEAR(facts.bounds.max.z, top, 1e-7);
    for (size_t t = 0; t < surface.mesh.triangle_count; ++t) {
        double smallest = 0.4 * pow(WADI_MARCH_CLEARANCE * 0.1, 2.0);
        assert_true(wadi_norm(area_vector(&surface.mesh, t)) > smallest);
    }
    wadi_surface_mesh_free(&surface);
    field_free(&fixture);
}

static void an_empty_field_has_an_empty_mesh(void **unused)
{
    (void)unused;
    WadiError error;
    FieldFixture fixture = { 0 };
    fixture.field.cell = 1.0;
    CHECK_OK(wadi_rows_build(&fixture.field.rows, &fixture.field.tiles, NULL, &fixture.arena, &error), error);
    for (int pass = 0; pass < 2; ++pass) {
        WadiSurfaceMesh surface = march_fixture(&fixture);
        assert_int_equal(surface.mesh.vertex_count, 0);
        assert_int_equal(surface.mesh.triangle_count, 0);
        WadiSurfaceFacts facts = surface_facts(&surface);
        assert_true(facts.is_closed && facts.parts == 0 && facts.euler == 0);
        wadi_surface_mesh_free(&surface);
        fixture.field.rows.count = 0;
    }
    field_free(&fixture);
}

static void far_away_it_is_the_same(void **unused)
{
    (void)unused;
    /* The same nodes 2^20 tiles away: the same triangles, the vertices moved. */
    const TestBall ball = { { 0.5, 0.25, 0.125 }, 3.3, 0.0 };
    const int near_low[3] = { -1, -1, -1 }, near_high[3] = { 2, 2, 2 };
    FieldFixture fixture;
    field_from_function(&fixture, near_low, near_high, 0.5, ball_distance, &ball);
    WadiSurfaceMesh near = march_fixture(&fixture);
    for (int32_t t = 0; t < fixture.field.tiles.count; ++t) {
        fixture.field.tiles.tiles[t].x += 1 << 20;
    }
    WadiSurfaceMesh far = march_fixture(&fixture);
    assert_int_equal(near.mesh.triangle_count, far.mesh.triangle_count);
    assert_memory_equal(near.mesh.triangles, far.mesh.triangles,
                        near.mesh.triangle_count * sizeof *near.mesh.triangles);
    for (size_t v = 0; v < near.mesh.vertex_count; ++v) {
        CHECK_NEAR(far.mesh.vertices[v].x - near.mesh.vertices[v].x, 4.0 * (1 << 20), 1e-9);
    }
    wadi_surface_mesh_free(&near);
    wadi_surface_mesh_free(&far);
    field_free(&fixture);
}

static void threads_do_not_change_a_byte(void **unused)
{
    (void)unused;
    const TestBall ring = { { 0.03, 0.01, -0.02 }, 1.2, 0.41 };
    const int from[3] = { -9, -9, -9 }, to[3] = { 9, 9, 9 };
    FieldFixture fixture;
    field_from_function(&fixture, from, to, 0.025, ball_distance, &ring);
    WadiSurfaceMesh first = { 0 };
    const int threads[3] = { 1, 2, 5 };
    for (int n = 0; n < 3; ++n) {
        wadi_parallel_set_threads(threads[n]);
        WadiSurfaceMesh surface = march_fixture(&fixture);
        if (n == 0) {
            first = surface;
            continue;
        }
        size_t vertices = first.mesh.vertex_count;
        assert_int_equal(surface.mesh.vertex_count, vertices);
        assert_memory_equal(surface.mesh.vertices, first.mesh.vertices, vertices * sizeof(WadiVec3));
        assert_memory_equal(surface.normal, first.normal, vertices * sizeof *first.normal);
        assert_memory_equal(surface.mesh.triangles, first.mesh.triangles,
                            first.mesh.triangle_count * sizeof *first.mesh.triangles);
        wadi_surface_mesh_free(&surface);
    }
    wadi_surface_mesh_free(&first);
    wadi_parallel_set_threads(0);
    field_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_is_a_ball),
        cmocka_unit_test(topology_is_that_of_the_shape),
        cmocka_unit_test(planes_are_flat_and_walls_hold_nodes),
        cmocka_unit_test(an_empty_field_has_an_empty_mesh),
        cmocka_unit_test(far_away_it_is_the_same),
        cmocka_unit_test(threads_do_not_change_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
