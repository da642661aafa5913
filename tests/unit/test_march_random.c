/* surface: for any field the mesh is closed, oriented and manifold. */
#include "surface_fixture.h"

enum { SIDE = 16 };

/* Random nodes around the corner where eight tiles meet, positive around them. The seeds alternate: any
 * number; small integers, 0 among them; numbers of very different size; mostly inside. */
static void random_values(uint64_t seed, float *value)
{
    const int size[3] = { SIDE, SIDE, SIDE };
    for (int n = 0; n < SIDE * SIDE * SIDE; ++n) {
        value[n] = 1.0f;
    }
    for (int n = 0; n < 216; ++n) {
        double u = 2.0 * wadi_random_unit(seed, (uint64_t)n, WADI_RANDOM_TEST) - 1.0;
        double picked = seed % 4 == 0   ? u
                        : seed % 4 == 1 ? floor(3.0 * u + 0.5) - 1.0
                        : seed % 4 == 2 ? copysign(pow(10.0, 60.0 * fabs(u) - 30.0), u)
                                        : u - 0.6;
        value[box_index(size, 5 + n % 6, 5 + n / 6 % 6, 5 + n / 36)] = (float)picked;
    }
}

static void check_triangles(const WadiSurfaceMesh *surface)
{
    const WadiMesh *mesh = &surface->mesh;
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        const uint32_t *v = mesh->triangles[t];
        WadiVec3 a = mesh->vertices[v[0]];
        WadiVec3 normal = wadi_cross(wadi_sub(mesh->vertices[v[1]], a), wadi_sub(mesh->vertices[v[2]], a));
        assert_true(wadi_norm(normal) > WADI_MARCH_CLEARANCE * WADI_MARCH_CLEARANCE);
    }
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
        const float *n = surface->normal[v];
        CHECK_NEAR(hypot(hypot((double)n[0], (double)n[1]), (double)n[2]), 1.0, 1e-6);
    }
}

static void check_places(const WadiMesh *mesh)
{
    for (size_t a = 0; a < mesh->vertex_count; ++a) {
        for (size_t b = 0; b < a; ++b) {
            WadiVec3 apart = wadi_sub(mesh->vertices[a], mesh->vertices[b]);
            assert_true(wadi_dot(apart, apart) > 1.9 * WADI_MARCH_CLEARANCE * WADI_MARCH_CLEARANCE);
        }
    }
}

static void every_mesh_is_closed_and_manifold(void **unused)
{
    (void)unused;
    const int low[3] = { -1, -1, -1 }, high[3] = { 1, 1, 1 };
    static float value[SIDE * SIDE * SIDE];
    const size_t seeds = is_sanitized() ? 2500 : 10000;
    size_t triangles = 0;
    for (uint64_t seed = 0; seed < seeds; ++seed) {
        FieldFixture fixture;
        random_values(seed, value);
        field_from_values(&fixture, low, high, 1.0, value, seed % 8 < 4);
        WadiSurfaceMesh surface = march_fixture(&fixture);
        WadiSurfaceFacts facts = surface_facts(&surface);
        assert_true(facts.is_closed && facts.is_oriented && facts.is_manifold);
        assert_true(facts.volume > 0.0);
        assert_true(facts.euler % 2 == 0 && facts.euler <= 2 * (int64_t)facts.parts);
        check_triangles(&surface);
        if (seed % 64 < 4) {
            check_places(&surface.mesh);
        }
        triangles += facts.triangles;
        wadi_surface_mesh_free(&surface);
        field_free(&fixture);
    }
    assert_true(triangles > 100 * seeds);
}

/* Each case as the only cell with inside corners, closed by its neighbours. */
static void each_case_alone_is_closed(void **unused)
{
    (void)unused;
    const int low[3] = { -1, -1, -1 }, high[3] = { 1, 1, 1 }, size[3] = { SIDE, SIDE, SIDE };
    static float value[SIDE * SIDE * SIDE];
    for (int inside = 0; inside < 512; ++inside) {
        /* The complement: a cell of holes in an inside block. */
        bool is_hole = inside >= 256;
        for (int n = 0; n < SIDE * SIDE * SIDE; ++n) {
            int i = n % SIDE, j = n / SIDE % SIDE, k = n / SIDE / SIDE;
            bool is_block = i > 4 && i < 11 && j > 4 && j < 11 && k > 4 && k < 11;
            value[n] = is_hole && is_block ? -1.0f : 1.0f;
        }
        for (int c = 0; c < 8; ++c) {
            if ((inside >> c & 1) != 0) {
                value[box_index(size, 7 + (c & 1), 7 + (c >> 1 & 1), 7 + (c >> 2))] *= -1.0f;
            }
        }
        FieldFixture fixture;
        field_from_values(&fixture, low, high, 1.0, value, true);
        WadiSurfaceMesh surface = march_fixture(&fixture);
        WadiSurfaceFacts facts = surface_facts(&surface);
        assert_true(facts.is_closed && facts.is_oriented && facts.is_manifold);
        /* Octahedra of 4/3 half-edges each, joined or not: at least the volume of one. */
        assert_true(inside == 0 || facts.volume > 0.16);
        wadi_surface_mesh_free(&surface);
        field_free(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mesh_is_closed_and_manifold),
        cmocka_unit_test(each_case_alone_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
