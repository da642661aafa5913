/* surface: smoothing removes noise and preserves volumes, planes and walls. */
#include "core/parallel.h"
#include "surface_fixture.h"

static const int low[3] = { -3, -3, -3 }, high[3] = { 3, 3, 3 };
static const WadiBox no_box = { { 0, 0, 0 }, { 0, 0, 0 } };

static WadiSurfaceMesh mesh_of(FieldFunction function, const void *context, WadiArena *arena)
{
    WadiError error;
    FieldFixture fixture;
    field_from_function(&fixture, low, high, 0.1, function, context);
    WadiSurfaceMesh surface;
    CHECK_OK(wadi_surface_march(&surface, &fixture.field, arena, &error), error);
    field_free(&fixture);
    return surface;
}

static size_t count_turned(const WadiMesh *mesh, const WadiMesh *before)
{
    size_t turned = 0;
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        WadiVec3 area[2];
        const WadiMesh *both[2] = { mesh, before };
        for (int m = 0; m < 2; ++m) {
            const uint32_t *v = both[m]->triangles[t];
            WadiVec3 a = both[m]->vertices[v[0]];
            area[m] = wadi_cross(wadi_sub(both[m]->vertices[v[1]], a), wadi_sub(both[m]->vertices[v[2]], a));
        }
        turned += !(wadi_dot(area[0], area[1]) > 0.0);
    }
    return turned;
}

static double rms_error(const WadiMesh *mesh, const TestBall *ball)
{
    double sum = 0.0;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        sum += pow(ball_distance(ball, mesh->vertices[v]), 2.0);
    }
    return sqrt(sum / (double)mesh->vertex_count);
}

static void noise_is_removed_and_volume_preserved(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    const TestBall shapes[2] = { { { 0.03, 0.01, -0.02 }, 1.8, 0.0 }, { { 0.03, 0.01, -0.02 }, 1.2, 0.61 } };
    for (int n = 0; n < 2; ++n) {
        WadiSurfaceMesh surface = mesh_of(ball_distance, &shapes[n], &arena);
        WadiMesh before;
        CHECK_OK(wadi_mesh_create(&before, surface.mesh.vertices, surface.mesh.vertex_count,
                                  (const uint32_t(*)[3])surface.mesh.triangles, surface.mesh.triangle_count,
                                  &error),
                 error);
        for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
            double u = 2.0 * wadi_random_unit(1, v, WADI_RANDOM_TEST) - 1.0;
            WadiVec3 normal = { (double)surface.normal[v][0], (double)surface.normal[v][1],
                                (double)surface.normal[v][2] };
            surface.mesh.vertices[v] = wadi_add_scaled(surface.mesh.vertices[v], normal, 0.02 * u);
        }
        double noise = rms_error(&surface.mesh, &shapes[n]), volume = surface_facts(&surface).volume;
        CHECK_OK(wadi_surface_smooth(&surface, 5, false, no_box, &arena, &error), error);
        WadiSurfaceFacts facts = surface_facts(&surface);
        CHECK_NEAR(facts.volume, volume, 1e-10 * volume);
        CHECK_AT_MOST(rms_error(&surface.mesh, &shapes[n]), 0.45 * noise);
        assert_int_equal(count_turned(&surface.mesh, &before), 0);
        for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
            const float *m = surface.normal[v];
            CHECK_NEAR(hypot(hypot((double)m[0], (double)m[1]), (double)m[2]), 1.0, 1e-6);
        }
        wadi_mesh_free(&before);
        wadi_surface_mesh_free(&surface);
    }
    wadi_arena_free(&arena);
}

static void smooth_meshes_are_unchanged(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    const TestBall ball = { { 0.03, 0.01, -0.02 }, 1.8, 0.0 };
    WadiSurfaceMesh surface = mesh_of(ball_distance, &ball, &arena);
    CHECK_OK(wadi_surface_smooth(&surface, 20, false, no_box, &arena, &error), error);
    /* The chord error of a mesh of such cells, 0.5 cell^2 / R. */
    CHECK_AT_MOST(rms_error(&surface.mesh, &ball), 0.5 * 0.1 * 0.1 / 1.8);
    wadi_surface_mesh_free(&surface);
    wadi_arena_free(&arena);
}

static void each_component_keeps_its_volume(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    /* A ball and a droplet of one node: parts far apart in size. */
    const TestBall balls[2] = { { { -0.7, 0.1, 0.0 }, 0.91, 0.0 }, { { 1.0, 1.0, 1.0 }, 0.08, 0.0 } };
    WadiSurfaceMesh surface = mesh_of(two_balls_distance, balls, &arena);
    assert_int_equal(surface_facts(&surface).parts, 2);
    WadiMesh droplet = surface.mesh;
    double volume[2] = { 0 };
    for (int pass = 0; pass < 2; ++pass) {
        double small = 0.0;
        for (size_t t = 0; t < droplet.triangle_count; ++t) {
            const uint32_t *v = surface.mesh.triangles[t];
            WadiVec3 x[3];
            for (int c = 0; c < 3; ++c) {
                x[c] = wadi_sub(surface.mesh.vertices[v[c]], balls[1].center);
            }
            small += wadi_norm(x[0]) < 0.2 ? wadi_dot(x[0], wadi_cross(x[1], x[2])) / 6.0 : 0.0;
        }
        WadiSurfaceFacts facts = surface_facts(&surface);
        assert_true(facts.is_closed && facts.is_manifold);
        assert_true(small > 0.0);
        if (pass > 0) {
            CHECK_NEAR(small, volume[0], 1e-9 * volume[0]);
            CHECK_NEAR(facts.volume, volume[1], 1e-10 * volume[1]);
        }
        volume[0] = small;
        volume[1] = facts.volume;
        CHECK_OK(wadi_surface_smooth(&surface, 10, false, no_box, &arena, &error), error);
    }
    wadi_surface_mesh_free(&surface);
    wadi_arena_free(&arena);
}

static double tank_distance(const void *context, WadiVec3 x)
{
    const double *top = context;
    return fmax(fmax(fmax(fabs(x.x), fabs(x.y)), fabs(x.z)) - 1.6, x.z - *top);
}

static void planes_stay_planes_and_walls_hold(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    const double top = 0.437;
    const WadiBox box = { { -1.6, -1.6, -1.6 }, { 1.6, 1.6, 1.6 } };
    WadiSurfaceMesh surface = mesh_of(tank_distance, &top, &arena);
    WadiMesh before;
    CHECK_OK(wadi_mesh_create(&before, surface.mesh.vertices, surface.mesh.vertex_count,
                              (const uint32_t(*)[3])surface.mesh.triangles, surface.mesh.triangle_count,
                              &error),
             error);
    double volume = surface_facts(&surface).volume;
    const int passes = 4;
    CHECK_OK(wadi_surface_smooth(&surface, passes, true, box, &arena, &error), error);
    CHECK_NEAR(surface_facts(&surface).volume, volume, 1e-10 * volume);
    assert_int_equal(count_turned(&surface.mesh, &before), 0);
    double lowest = INFINITY, highest = -INFINITY, held = 0.0;
    for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
        WadiVec3 old = before.vertices[v], now = surface.mesh.vertices[v];
        for (int axis = 0; axis < 3; ++axis) {
            if (fabs(wadi_component(old, axis)) > 1.6 - 2e-4) {
                held = fmax(held, fabs(wadi_component(now, axis) - wadi_component(old, axis)));
            }
        }
        /* A pass moves information by two edges; an edge is at most sqrt(3) cells. */
        if (old.z == (double)(float)top || fabs(old.z - top) < 1e-6) {
            double rim = 1.6 - 2 * passes * sqrt(3.0) * 0.1;
            if (fabs(old.x) < rim && fabs(old.y) < rim) {
                lowest = fmin(lowest, now.z);
                highest = fmax(highest, now.z);
            }
        }
    }
    assert_true(held == 0.0);
    CHECK_AT_MOST(highest - lowest, 1e-7);
    CHECK_NEAR(lowest, top, 0.01 * 0.1);
    wadi_mesh_free(&before);
    wadi_surface_mesh_free(&surface);
    wadi_arena_free(&arena);
}

/* Tilted by a tenth; the thickness over the middle of the floor at z = -1.57. */
static double slab_distance(const void *context, WadiVec3 x)
{
    const double *thickness = context;
    return fmax(fmax(fmax(fabs(x.x), fabs(x.y)), fabs(x.z)) - 1.57,
                (x.z + 1.57 - *thickness - 0.1 * x.x) / sqrt(1.01));
}

/* A slab that walls cut has the volume of its plane sides; bevels along 1.57 m of twelve edges cost more. */
static void edges_along_walls_are_sharp(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    const WadiBox box = { { -1.57, -1.57, -1.57 }, { 1.57, 1.57, 1.57 } };
    const double thickness[2] = { 1.9, 0.3 };
    for (int n = 0; n < 2; ++n) {
        WadiSurfaceMesh surface = mesh_of(slab_distance, &thickness[n], &arena);
        const double whole = 3.14 * 3.14 * thickness[n];
        assert_true(surface_facts(&surface).volume < (1.0 - 2e-3) * whole);
        CHECK_OK(wadi_surface_sharpen(&surface, box, &arena, &error), error);
        CHECK_NEAR(surface_facts(&surface).volume, whole, 5e-4 * whole);
        double worst = 0.0; /* from the nearest of the three sides; half a cell with bevels */
        for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
            WadiVec3 x = surface.mesh.vertices[v];
            double top = fabs(thickness[n] + 0.1 * x.x - (x.z + 1.57)), floor = fabs(x.z + 1.57);
            double side = 1.57 - fmax(fabs(x.x), fabs(x.y));
            worst = fmax(worst, fmin(side, fmin(top, floor)));
        }
        CHECK_AT_MOST(worst, 0.2 * 0.1);
        wadi_surface_mesh_free(&surface);
    }
    wadi_arena_free(&arena);
}

static void a_rim_does_not_move(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    const double top = 0.437;
    const WadiBox box = { { -1.6, -1.6, -1.6 }, { 1.6, 1.6, 1.6 } };
    WadiSurfaceMesh surface = mesh_of(tank_distance, &top, &arena);
    CHECK_OK(wadi_surface_open_walls(&surface, box, 0.0, &arena, &error), error);
    WadiBox bounds = wadi_mesh_bounds(&surface.mesh);
    double area = wadi_mesh_area(&surface.mesh);
    CHECK_OK(wadi_surface_smooth(&surface, 5, false, box, &arena, &error), error);
    WadiBox after = wadi_mesh_bounds(&surface.mesh);
    CHECK_NEAR(after.min.x, bounds.min.x, 0.0);
    CHECK_NEAR(after.max.y, bounds.max.y, 0.0);
    CHECK_NEAR(after.min.z, bounds.min.z, 0.0);
    CHECK_NEAR(wadi_mesh_area(&surface.mesh), area, 0.02 * area);
    wadi_surface_mesh_free(&surface);
    wadi_arena_free(&arena);
}

static void threads_do_not_change_a_byte(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    const TestBall ring = { { 0.03, 0.01, -0.02 }, 1.2, 0.61 };
    WadiSurfaceMesh first = { 0 };
    const int threads[3] = { 1, 2, 5 };
    for (int n = 0; n < 3; ++n) {
        wadi_parallel_set_threads(threads[n]);
        WadiSurfaceMesh surface = mesh_of(ball_distance, &ring, &arena);
        CHECK_OK(wadi_surface_smooth(&surface, 3, false, no_box, &arena, &error), error);
        if (n == 0) {
            first = surface;
            continue;
        }
        assert_memory_equal(surface.mesh.vertices, first.mesh.vertices,
                            first.mesh.vertex_count * sizeof(WadiVec3));
        assert_memory_equal(surface.normal, first.normal, first.mesh.vertex_count * sizeof *first.normal);
        wadi_surface_mesh_free(&surface);
    }
    wadi_surface_mesh_free(&first);
    wadi_parallel_set_threads(0);
    wadi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_removed_and_volume_preserved),
        cmocka_unit_test(smooth_meshes_are_unchanged),
        cmocka_unit_test(each_component_keeps_its_volume),
        cmocka_unit_test(planes_stay_planes_and_walls_hold),
        cmocka_unit_test(edges_along_walls_are_sharp),
        cmocka_unit_test(a_rim_does_not_move),
        cmocka_unit_test(threads_do_not_change_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
