/* surface: a tank of water opened where it lies against the glass. */
#include "core/alloc.h"
#include "surface_fixture.h"

typedef struct Tank {
    double wall, top; /* m: a cube of half width `wall`, filled to `top` */
} Tank;

static double tank_distance(const void *context, WadiVec3 x)
{
    const Tank *tank = context;
    double glass = fmax(fmax(fabs(x.x), fabs(x.y)), fabs(x.z)) - tank->wall;
    return fmax(glass, x.z - tank->top);
}

static WadiSurfaceMesh open_tank(Tank tank)
{
    const int low[3] = { -3, -3, -3 }, high[3] = { 3, 3, 3 };
    WadiError error;
    FieldFixture fixture;
    field_from_function(&fixture, low, high, 0.1, tank_distance, &tank);
    WadiSurfaceMesh surface = march_fixture(&fixture);
    size_t count = surface.mesh.vertex_count;
    surface.attribute_count = 1;
    surface.attribute[0] = (WadiCloudAttribute){ .name = "place", .components = 2 };
    CHECK_OK(WADI_NEW(&surface.attribute[0].values, 2 * count, "test", &error), error);
    for (size_t v = 0; v < count; ++v) {
        surface.attribute[0].values[2 * v] = (float)surface.mesh.vertices[v].x;
        surface.attribute[0].values[2 * v + 1] = (float)surface.mesh.vertices[v].y;
    }
    double w = tank.wall;
    CHECK_OK(wadi_surface_open_walls(&surface, (WadiBox){ { -w, -w, -w }, { w, w, w } }, 0.0, &fixture.arena,
                                     &error),
             error);
    field_free(&fixture);
    return surface;
}

/* Two pyramids on a wall that share one corner of their bases: the wall's triangles are dropped, the corner
 * is split. */
static void sheets_that_touch_are_parted(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    const WadiVec3 corners[9] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 },    { 0.5, 0.5, 1 },
                                  { 2, 1, 0 }, { 2, 2, 0 }, { 1, 2, 0 }, { 1.5, 1.5, 1 } };
    const uint32_t feet[2][4] = { { 0, 1, 2, 3 }, { 2, 5, 6, 7 } }, tops[2] = { 4, 8 };
    WadiSurfaceMesh surface = { .cell = 0.01 };
    CHECK_OK(WADI_NEW(&surface.mesh.vertices, 9, "test", &error), error);
    CHECK_OK(WADI_NEW(&surface.normal, 9, "test", &error), error);
    surface.mesh.vertex_count = 9;
    CHECK_OK(WADI_NEW(&surface.mesh.triangles, 12, "test", &error), error);
    surface.mesh.triangle_count = 12;
    memcpy(surface.mesh.vertices, corners, sizeof corners);
    for (size_t p = 0, t = 0; p < 2; ++p) {
        const uint32_t *f = feet[p];
        for (size_t c = 0; c < 4; ++c, ++t) {
            const uint32_t side[3] = { f[c], f[(c + 1) % 4], tops[p] };
            memcpy(surface.mesh.triangles[t], side, sizeof side);
        }
        const uint32_t floor[2][3] = { { f[0], f[2], f[1] }, { f[0], f[3], f[2] } };
        memcpy(surface.mesh.triangles[t], floor, sizeof floor);
        t += 2;
    }
    assert_false(surface_facts(&surface).is_manifold);
    CHECK_OK(wadi_surface_open_walls(&surface, (WadiBox){ { -9, -9, 0 }, { 9, 9, 9 } }, 0.0, &arena, &error),
             error);
    WadiSurfaceFacts facts = surface_facts(&surface);
    assert_int_equal(surface.mesh.triangle_count, 8);
    assert_int_equal(surface.mesh.vertex_count, 10);
    assert_true(facts.is_manifold && !facts.is_closed);
    assert_int_equal(facts.parts, 2);
    WadiVec3 apart = wadi_sub(surface.mesh.vertices[9], wadi_vec3(1, 1, 0));
    CHECK_NEAR(wadi_norm(apart), 1e-2 * surface.cell, 1e-12);
    CHECK_NEAR(apart.z, 0.0, 0.0); /* on the wall */
    wadi_surface_mesh_free(&surface);
    wadi_arena_free(&arena);
}

static void only_the_free_surface_is_left(void **unused)
{
    (void)unused;
    /* Walls through nodes and walls between them. */
    const Tank tanks[3] = { { 1.6, 0.437 }, { 1.57, -0.2 }, { 1.6, 0.4 } };
    for (int n = 0; n < 3; ++n) {
        WadiSurfaceMesh surface = open_tank(tanks[n]);
        WadiSurfaceFacts facts = surface_facts(&surface);
        assert_true(!facts.is_closed && facts.is_manifold);
        /* A sheet: one part with one rim. */
        assert_int_equal(facts.parts, 1);
        assert_int_equal(facts.euler, 1);
        /* Flat up to the walls, whose planes it touches. */
        double side = 2.0 * tanks[n].wall;
        /* Except for the bevels of its four corners. */
        CHECK_NEAR(facts.area, side * side, 4.0 * 0.5 * 0.1 * 0.1);
        double slack = 1.01 * WADI_MARCH_CLEARANCE * 0.1;
        CHECK_NEAR(facts.bounds.min.z, tanks[n].top, slack);
        CHECK_NEAR(facts.bounds.max.z, tanks[n].top, slack);
        CHECK_NEAR(facts.bounds.min.x, -tanks[n].wall, 1e-12);
        CHECK_NEAR(facts.bounds.max.y, tanks[n].wall, 1e-12);
        for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
            CHECK_NEAR((double)surface.normal[v][2], 1.0, 1e-6);
        }
        for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
            /* Moves with the vertex, except where the rim moved. */
            WadiVec3 x = surface.mesh.vertices[v];
            if (fabs(x.x) < tanks[n].wall && fabs(x.y) < tanks[n].wall) {
                assert_true(surface.attribute[0].values[2 * v] == (float)x.x);
                assert_true(surface.attribute[0].values[2 * v + 1] == (float)x.y);
            }
        }
        wadi_surface_mesh_free(&surface);
    }
}

static void a_full_tank_has_none_and_a_ball_keeps_all(void **unused)
{
    (void)unused;
    WadiSurfaceMesh surface = open_tank((Tank){ 1.6, 2.0 });
    assert_int_equal(surface.mesh.triangle_count, 0);
    assert_int_equal(surface.mesh.vertex_count, 0);
    wadi_surface_mesh_free(&surface);

    const int low[3] = { -2, -2, -2 }, high[3] = { 2, 2, 2 };
    const TestBall ball = { { 0.0, 0.0, 0.0 }, 1.0, 0.0 };
    WadiError error;
    FieldFixture fixture;
    field_from_function(&fixture, low, high, 0.1, ball_distance, &ball);
    surface = march_fixture(&fixture);
    size_t count = surface.mesh.triangle_count;
    WadiBox box = { { -1.5, -1.5, -1.5 }, { 1.5, 1.5, 1.5 } };
    CHECK_OK(wadi_surface_open_walls(&surface, box, 0.01, &fixture.arena, &error), error);
    assert_int_equal(surface.mesh.triangle_count, count);
    wadi_surface_mesh_free(&surface);
    field_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheets_that_touch_are_parted),
        cmocka_unit_test(only_the_free_surface_is_left),
        cmocka_unit_test(a_full_tank_has_none_and_a_ball_keeps_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
