/* Shapes as triangles: closed, outward, within the tolerance, with the volumes of the textbook. */
#include "expect.h"
#include "geom/shape_mesh.h"

static const double PI = 3.14159265358979324, TOLERANCE = 1e-4;
static const WadiBox VIEW = { { -1, -1, -1 }, { 1, 1, 1 } };

static void set(WadiShapeDef *def, int n, double x, double y, double z)
{
    def->parameter[n] = wadi_curve_constant3(x, y, z);
}

static void set1(WadiShapeDef *def, int n, double x)
{
    def->parameter[n] = wadi_curve_constant(x);
}

static WadiMesh mesh_of(const WadiShapeDef *def, bool is_near)
{
    WadiError error;
    WadiShape *shape = NULL;
    WadiMesh mesh;
    CHECK_OK(wadi_shape_create(&shape, def, NULL, &error), error);
    assert_true(wadi_shape_has_mesh(shape));
    CHECK_OK(wadi_shape_mesh(&mesh, shape, 0.0, VIEW, TOLERANCE, &error), error);
    for (size_t v = 0; v < mesh.vertex_count && is_near; ++v) {
        CHECK_NEAR(wadi_shape_distance(shape, mesh.vertices[v], 0.0), 0.0, 1e-12);
    }
    for (size_t t = 0; t < mesh.triangle_count && is_near; ++t) {
        const uint32_t *c = mesh.triangles[t];
        WadiVec3 middle = wadi_scale(
            wadi_add(wadi_add(mesh.vertices[c[0]], mesh.vertices[c[1]]), mesh.vertices[c[2]]), 1.0 / 3.0);
        CHECK_NEAR(wadi_shape_distance(shape, middle, 0.0), 0.0, 2.0 * TOLERANCE);
    }
    wadi_shape_destroy(shape);
    return mesh;
}

static void check_solid(WadiShapeDef *def, double volume)
{
    WadiError error;
    WadiMesh mesh = mesh_of(def, true);
    WadiMeshTopology topology;
    CHECK_OK(wadi_mesh_topology(&mesh, &topology, &error), error);
    assert_true(topology.is_closed && topology.is_oriented);
    assert_int_equal(topology.non_manifold_edges, 0);
    assert_int_equal(topology.degenerate_triangles, 0);
    /* Inscribed: a little less, by at most the tolerance times the area. */
    CHECK_NEAR(wadi_mesh_volume(&mesh), volume, 3.0 * TOLERANCE * wadi_mesh_area(&mesh));
    wadi_mesh_topology_free(&topology);
    wadi_mesh_free(&mesh);
    wadi_shape_def_free(def);
}

static void test_primitives_are_closed_and_have_their_volume(void **state)
{
    (void)state;
    WadiShapeDef box = wadi_shape_def(WADI_SHAPE_BOX);
    set(&box, 0, -0.1, 0.2, 0.3);
    set(&box, 1, 0.4, 0.5, 0.7);
    check_solid(&box, 0.5 * 0.3 * 0.4);
    WadiShapeDef sphere = wadi_shape_def(WADI_SHAPE_SPHERE);
    set(&sphere, 0, 0.1, 0.2, 0.3);
    set1(&sphere, 1, 0.4);
    check_solid(&sphere, 4.0 / 3.0 * PI * 0.064);
    WadiShapeDef ellipsoid = wadi_shape_def(WADI_SHAPE_ELLIPSOID);
    set(&ellipsoid, 1, 0.4, 0.2, 0.3);
    check_solid(&ellipsoid, 4.0 / 3.0 * PI * 0.024);
    WadiShapeDef cylinder = wadi_shape_def(WADI_SHAPE_CYLINDER);
    set(&cylinder, 0, 0.1, 0.1, 0.0);
    set(&cylinder, 1, 0.1, 0.4, 0.4);
    set1(&cylinder, 2, 0.2);
    check_solid(&cylinder, PI * 0.04 * 0.5);
    WadiShapeDef cone = wadi_shape_def(WADI_SHAPE_CONE);
    set(&cone, 1, 0.0, 0.0, 0.6);
    set1(&cone, 2, 0.3);
    set1(&cone, 3, 0.1);
    check_solid(&cone, PI * 0.6 / 3.0 * (0.09 + 0.03 + 0.01));
    WadiShapeDef pointed = wadi_shape_def(WADI_SHAPE_CONE);
    set(&pointed, 1, 0.6, 0.0, 0.0);
    set1(&pointed, 2, 0.3);
    set1(&pointed, 3, 0.0);
    check_solid(&pointed, PI * 0.6 / 3.0 * 0.09);
    WadiShapeDef capsule = wadi_shape_def(WADI_SHAPE_CAPSULE);
    set(&capsule, 1, 0.0, 0.5, 0.0);
    set1(&capsule, 2, 0.2);
    check_solid(&capsule, PI * 0.04 * 0.5 + 4.0 / 3.0 * PI * 0.008);
    WadiShapeDef torus = wadi_shape_def(WADI_SHAPE_TORUS);
    set(&torus, 1, 1.0, 1.0, 0.0);
    set1(&torus, 2, 0.4);
    set1(&torus, 3, 0.1);
    check_solid(&torus, 2.0 * PI * PI * 0.4 * 0.01);
}

/* Placed, turned, stretched and mirrored: still outward, volume times the determinant. */
static void test_placed_shapes_stay_outward(void **state)
{
    (void)state;
    WadiShapeDef box = wadi_shape_def(WADI_SHAPE_BOX);
    set(&box, 0, -0.1, -0.1, -0.1);
    set(&box, 1, 0.1, 0.1, 0.1);
    box.scale = wadi_curve_constant3(-1.0, 2.0, 1.0);
    box.rotate = wadi_curve_constant3(20.0, 30.0, 40.0);
    box.translate = wadi_curve_constant3(0.3, 0.2, 0.1);
    WadiMesh mesh = mesh_of(&box, false);
    CHECK_NEAR(wadi_mesh_volume(&mesh), 0.016, 1e-12);
    wadi_mesh_free(&mesh);
    wadi_shape_def_free(&box);
}

static void test_half_spaces_cover_the_view(void **state)
{
    (void)state;
    WadiShapeDef floor = wadi_shape_def(WADI_SHAPE_HALF_SPACE);
    set(&floor, 0, 0.0, 0.0, -0.5);
    set(&floor, 1, 0.0, 0.6, 0.8);
    WadiMesh mesh = mesh_of(&floor, true);
    assert_int_equal(mesh.triangle_count, 2);
    const uint32_t *c = mesh.triangles[0];
    WadiVec3 normal = wadi_cross(wadi_sub(mesh.vertices[c[1]], mesh.vertices[c[0]]),
                                 wadi_sub(mesh.vertices[c[2]], mesh.vertices[c[0]]));
    assert_true(wadi_dot(normal, wadi_vec3(0.0, 0.6, 0.8)) > 0.0);
    CHECK_NEAR(wadi_mesh_area(&mesh), 3.0 * 3.0 * 12.0, 1e-9); /* sides of three diagonals */
    wadi_mesh_free(&mesh);
    wadi_shape_def_free(&floor);
}

static void test_carved_shapes_have_no_mesh(void **state)
{
    (void)state;
    WadiError error;
    WadiShape *shape = NULL;
    WadiShapeDef carved = wadi_shape_def(WADI_SHAPE_DIFFERENCE), child[2];
    for (int n = 0; n < 2; ++n) {
        child[n] = wadi_shape_def(WADI_SHAPE_SPHERE);
        set(&child[n], 0, 0.1 * n, 0.0, 0.0);
        set1(&child[n], 1, 0.2);
    }
    carved.children = child;
    carved.child_count = 2;
    CHECK_OK(wadi_shape_create(&shape, &carved, NULL, &error), error);
    assert_false(wadi_shape_has_mesh(shape));
    wadi_shape_destroy(shape);
    carved.kind = WADI_SHAPE_UNION;
    WadiMesh both = mesh_of(&carved, false);
    CHECK_NEAR(wadi_mesh_volume(&both), 2.0 * 4.0 / 3.0 * PI * 0.008,
               3.0 * TOLERANCE * wadi_mesh_area(&both));
    wadi_mesh_free(&both);
    carved.children = NULL;
    carved.child_count = 0;
    wadi_shape_def_free(&carved);
    for (int n = 0; n < 2; ++n) {
        wadi_shape_def_free(&child[n]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_primitives_are_closed_and_have_their_volume),
        cmocka_unit_test(test_placed_shapes_stay_outward),
        cmocka_unit_test(test_half_spaces_cover_the_view),
        cmocka_unit_test(test_carved_shapes_have_no_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
