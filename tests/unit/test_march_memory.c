/* surface: a failed allocation at any call leaves nothing behind, and scratch stays small. */
#include "core/alloc.h"
#include "failing_alloc.h"
#include "surface_fixture.h"

enum { PARTICLES = 500 };

static const int low[3] = { -2, -2, -2 }, high[3] = { 2, 2, 2 };
static const WadiBox box = { { -1.0, -1.0, -1.0 }, { 1.0, 1.0, 1.0 } };

static double half_full(const void *unused, WadiVec3 x)
{
    (void)unused;
    return fmax(fmax(fmax(fabs(x.x), fabs(x.y)), fabs(x.z)) - 1.0, x.z - 0.23);
}

/* Every stage in turn, on an existing field. */
static WadiStatus all_stages(WadiSurfaceMesh *surface, const WadiField *field, const WadiCloud *cloud,
                             const WadiBins *bins, WadiArena *arena, WadiError *error)
{
    WadiSurfaceFacts facts;
    WADI_TRY(wadi_surface_march(surface, field, arena, error));
    WADI_TRY(wadi_surface_smooth(surface, 2, true, box, arena, error));
    WADI_TRY(wadi_surface_attributes(surface, cloud, bins, error));
    WADI_TRY(wadi_surface_open_walls(surface, box, 0.0, arena, error));
    return wadi_surface_facts(&facts, &surface->mesh, error);
}

static void any_allocation_may_fail(void **unused)
{
    (void)unused;
    WadiError error;
    FieldFixture fixture;
    field_from_function(&fixture, low, high, 0.1, half_full, NULL);
    static WadiVec3 position[PARTICLES];
    static float spacing[PARTICLES], velocity[PARTICLES][3], wetness[PARTICLES];
    WadiCloud cloud = { .count = PARTICLES,
                        .position = position,
                        .spacing = spacing,
                        .spacing_min = (double)0.2f,
                        .spacing_max = (double)0.2f,
                        .attribute_count = 2,
                        .attribute = { { "velocity", 3, velocity[0] }, { "wetness", 1, wetness } } };
    for (uint64_t i = 0; i < PARTICLES; ++i) {
        double u[3];
        wadi_random_unit3(1, i, WADI_RANDOM_TEST, u);
        position[i] = wadi_vec3(2.0 * u[0] - 1.0, 2.0 * u[1] - 1.0, 1.2 * u[2] - 1.0);
        spacing[i] = 0.2f;
    }
    WadiBins bins;
    CHECK_OK(wadi_bins_build(&bins, &cloud, 2.0, &fixture.arena, &error), error);
    wadi_set_allocator(&failing_allocator);
    size_t live = wadi_alloc_live_bytes();
    bool has_worked = false;
    int calls = 0;
    for (; !has_worked; ++calls) {
        assert_true(calls < 200);
        WadiArena arena = { 0 };
        WadiSurfaceMesh surface = { 0 };
        alloc_calls_left = calls;
        WadiStatus status = all_stages(&surface, &fixture.field, &cloud, &bins, &arena, &error);
        alloc_calls_left = INT_MAX;
        assert_true(status == WADI_OK || status == WADI_ERR_MEMORY);
        has_worked = status == WADI_OK;
        wadi_surface_mesh_free(&surface);
        wadi_arena_free(&arena);
        assert_int_equal(wadi_alloc_live_bytes(), live);
    }
    assert_true(calls > 20);
    wadi_set_allocator(NULL);
    field_free(&fixture);
}

static void memory_follows_the_vertices(void **unused)
{
    (void)unused;
    WadiError error;
    const TestBall ball = { { 0.01, 0.02, 0.03 }, 1.3, 0.0 };
    const int from[3] = { -5, -5, -5 }, to[3] = { 5, 5, 5 };
    FieldFixture fixture;
    field_from_function(&fixture, from, to, 0.04, ball_distance, &ball);
    WadiArena arena = { 0 };
    size_t before = wadi_alloc_live_bytes();
    WadiSurfaceMesh surface;
    CHECK_OK(wadi_surface_march(&surface, &fixture.field, &arena, &error), error);
    CHECK_OK(wadi_surface_smooth(&surface, 1, false, box, &arena, &error), error);
    /* Positions 24, normals 12, two triangles 24; smoothing 150 while it lasts. */
    size_t vertices = surface.mesh.vertex_count;
    size_t kept = wadi_alloc_live_bytes() - before - arena.capacity;
    CHECK_AT_MOST((double)kept / (double)vertices, 61.0);
    CHECK_AT_MOST((double)arena.high_water / (double)vertices, 155.0);
    wadi_surface_mesh_free(&surface);
    wadi_arena_free(&arena);
    field_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(memory_follows_the_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
