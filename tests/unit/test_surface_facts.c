/* surface: topology of meshes with a known answer, and against the sorting of all edges. */
#include "surface_fixture.h"

static const WadiVec3 tetrahedron_vertices[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
static const uint32_t tetrahedron[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 1, 2, 3 }, { 0, 3, 2 } };

static WadiSurfaceFacts facts_of(const WadiVec3 *vertices, size_t vertex_count,
                                 const uint32_t (*triangles)[3], size_t triangle_count)
{
    WadiError error;
    WadiMesh mesh;
    WadiSurfaceFacts facts;
    WadiMeshTopology topology;
    CHECK_OK(wadi_mesh_create(&mesh, vertices, vertex_count, triangles, triangle_count, &error), error);
    CHECK_OK(wadi_surface_facts(&facts, &mesh, &error), error);
    CHECK_OK(wadi_mesh_topology(&mesh, &topology, &error), error);
    assert_int_equal(facts.is_closed, topology.is_closed);
    assert_int_equal(facts.is_oriented, topology.is_oriented);
    assert_true(!facts.is_manifold || topology.non_manifold_edges == 0);
    wadi_mesh_topology_free(&topology);
    wadi_mesh_free(&mesh);
    return facts;
}

static void a_tetrahedron(void **unused)
{
    (void)unused;
    WadiSurfaceFacts facts = facts_of(tetrahedron_vertices, 4, tetrahedron, 4);
    assert_int_equal(facts.vertices, 4);
    assert_int_equal(facts.triangles, 4);
    assert_int_equal(facts.parts, 1);
    assert_int_equal(facts.euler, 2);
    assert_true(facts.is_closed && facts.is_oriented && facts.is_manifold);
    CHECK_NEAR(facts.volume, 1.0 / 6.0, 1e-15);
    CHECK_NEAR(facts.area, 1.5 + 0.5 * sqrt(3.0), 1e-15);
    CHECK_NEAR(facts.bounds.max.z, 1.0, 0.0);

    facts = facts_of(tetrahedron_vertices, 4, tetrahedron, 3);
    assert_true(!facts.is_closed && !facts.is_oriented && facts.is_manifold);
    assert_int_equal(facts.euler, 1);
    assert_true(facts.volume == 0.0);

    const uint32_t turned[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 1, 3, 2 }, { 0, 3, 2 } };
    facts = facts_of(tetrahedron_vertices, 4, turned, 4);
    assert_true(facts.is_closed && !facts.is_oriented && facts.is_manifold && facts.volume == 0.0);
}

/* Two tetrahedra that share `shared` of their vertices. */
static WadiSurfaceFacts two_tetrahedra(uint32_t shared)
{
    uint32_t triangles[8][3];
    WadiVec3 vertices[8];
    for (uint32_t v = 0; v < 4; ++v) {
        vertices[v] = tetrahedron_vertices[v];
        vertices[v + 4 - (v < shared ? 4 : shared)] =
            v < shared ? tetrahedron_vertices[v] : wadi_scale(tetrahedron_vertices[v], -1.0);
    }
    for (int t = 0; t < 4; ++t) {
        for (int c = 0; c < 3; ++c) {
            uint32_t v = tetrahedron[t][c];
            triangles[t][c] = v;
            triangles[t + 4][c] = v < shared ? v : v + 4 - shared;
        }
    }
    return facts_of(vertices, 8 - shared, (const uint32_t(*)[3])triangles, 8);
}

static void two_that_touch(void **unused)
{
    (void)unused;
    WadiSurfaceFacts facts = two_tetrahedra(0);
    assert_true(facts.is_closed && facts.is_manifold && facts.parts == 2 && facts.euler == 4);
    /* At a vertex: every edge has two triangles, and the vertex two fans. */
    facts = two_tetrahedra(1);
    assert_true(facts.is_closed && facts.is_oriented && !facts.is_manifold);
    assert_true(facts.parts == 1 && facts.euler == 3);
    /* Along an edge: it has four. */
    facts = two_tetrahedra(2);
    assert_true(facts.is_closed && facts.is_oriented && !facts.is_manifold);
    assert_true(facts.parts == 1 && facts.euler == 6 - 11 + 8);
}

static void what_no_triangle_uses_does_not_count(void **unused)
{
    (void)unused;
    WadiVec3 vertices[6] = { { 9, 9, 9 } };
    uint32_t triangles[4][3];
    for (int v = 0; v < 4; ++v) {
        vertices[v + 1] = tetrahedron_vertices[v];
        for (int c = 0; c < 3; ++c) {
            triangles[v][c] = tetrahedron[v][c] + 1;
        }
    }
    WadiSurfaceFacts facts = facts_of(vertices, 6, (const uint32_t(*)[3])triangles, 4);
    assert_true(facts.euler == 2 && facts.parts == 1 && facts.vertices == 6);
    CHECK_NEAR(facts.bounds.max.x, 1.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tetrahedron),
        cmocka_unit_test(two_that_touch),
        cmocka_unit_test(what_no_triangle_uses_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
