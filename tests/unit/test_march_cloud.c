/* surface: fields of particles make closed, manifold meshes for any cloud. */
#include "surface_fixture.h"

enum { PARTICLES = 400, SEEDS = 200 };

typedef struct Case {
    WadiVec3 position[PARTICLES];
    int32_t count;
    double spacing;
    WadiFieldDef def;
} Case;

/* Scattered, in clumps, on a lattice that meets the nodes exactly, coincident; smoothed or not, clipped or
 * not. */
static void make_case(Case *to, uint64_t seed)
{
    uint64_t bits = wadi_random_bits(1, seed, WADI_RANDOM_TEST);
    to->count = 1 + (int32_t)(bits % PARTICLES);
    to->spacing = 0.1;
    double spread = bits >> 20 & 1 ? 1.0 : 0.4;
    for (int32_t i = 0; i < to->count; ++i) {
        double u[3];
        uint64_t id = (uint64_t)(seed % 4 == 3 ? i / 2 : i);
        wadi_random_unit3(2 + seed, id, WADI_RANDOM_TEST, u);
        WadiVec3 x = { spread * (2.0 * u[0] - 1.0), spread * (2.0 * u[1] - 1.0),
                       spread * (2.0 * u[2] - 1.0) };
        if (seed % 4 == 1) {
            x = wadi_vec3(0.1 * (i % 7), 0.1 * (i / 7 % 7), 0.1 * (i / 49));
        }
        if (seed % 4 == 2 && i % 2 == 1) {
            x = wadi_add(x, wadi_vec3(1e4, -1e4, 0.0));
        }
        to->position[i] = x;
    }
    const double cells[4] = { 0.05, 0.07, 0.08, 0.1 };
    to->def = (WadiFieldDef){ .method = WADI_SURFACE_ZHU_BRIDSON,
                              .cell = cells[bits >> 24 & 3],
                              .support = 2.0,
                              .radius = bits >> 26 & 1 ? 1.0 : 0.5,
                              .is_concave_fixed = (bits >> 27 & 1) != 0,
                              .smoothing = (int)(bits >> 28 & 1),
                              .lowering = (int)(bits >> 29 & 1),
                              .flatten = (double)(bits >> 31 & 3),
                              .is_clipped = (bits >> 30 & 1) != 0,
                              .clip = { { -0.3, -0.4, -0.25 }, { 0.4, 0.3, 0.27 } } };
}

static void every_cloud_has_a_closed_mesh(void **unused)
{
    (void)unused;
    static Case one;
    size_t meshes = 0;
    for (uint64_t seed = 0; seed < SEEDS; ++seed) {
        WadiError error;
        WadiArena arena = { 0 };
        WadiCloud cloud;
        WadiBins bins;
        WadiField field;
        WadiSurfaceMesh surface;
        make_case(&one, seed);
        CHECK_OK(wadi_cloud_from_points(&cloud, one.position, one.count, one.spacing, &error), error);
        CHECK_OK(wadi_bins_build(&bins, &cloud, one.def.support, &arena, &error), error);
        CHECK_OK(wadi_field_build(&field, &cloud, &bins, &one.def, &arena, &error), error);
        CHECK_OK(wadi_surface_march(&surface, &field, &arena, &error), error);
        WadiSurfaceFacts facts = surface_facts(&surface);
        assert_true(facts.is_closed && facts.is_oriented && facts.is_manifold);
        assert_true(facts.triangles == 0 || facts.volume > 0.0);
        if (one.def.is_clipped && facts.triangles > 0) {
            assert_true(facts.bounds.min.x >= one.def.clip.min.x - 1e-6);
            assert_true(facts.bounds.max.z <= one.def.clip.max.z + 1e-6);
        }
        meshes += facts.triangles > 0;
        wadi_surface_mesh_free(&surface);
        wadi_cloud_free(&cloud);
        wadi_arena_free(&arena);
    }
    assert_true(meshes > SEEDS / 2);
}

static void one_particle_is_a_ball(void **unused)
{
    (void)unused;
    /* Its field is the distance to a ball of one spacing. */
    WadiError error;
    WadiArena arena = { 0 };
    WadiCloud cloud;
    WadiBins bins;
    WadiField field;
    WadiSurfaceMesh surface;
    const WadiVec3 at = { 0.013, -0.021, 0.034 };
    const WadiFieldDef def = {
        .method = WADI_SURFACE_ZHU_BRIDSON, .cell = 0.02, .support = 2.0, .radius = 1.0
    };
    CHECK_OK(wadi_cloud_from_points(&cloud, &at, 1, 0.1, &error), error);
    CHECK_OK(wadi_bins_build(&bins, &cloud, 2.0, &arena, &error), error);
    CHECK_OK(wadi_field_build(&field, &cloud, &bins, &def, &arena, &error), error);
    CHECK_OK(wadi_surface_march(&surface, &field, &arena, &error), error);
    WadiSurfaceFacts facts = surface_facts(&surface);
    assert_true(facts.is_closed && facts.is_manifold && facts.euler == 2);
    for (size_t v = 0; v < surface.mesh.vertex_count; ++v) {
        CHECK_NEAR(wadi_norm(wadi_sub(surface.mesh.vertices[v], at)), 0.1, 0.125 * 0.02 * 0.02 / 0.1 * 1.1);
    }
    wadi_surface_mesh_free(&surface);
    wadi_cloud_free(&cloud);
    wadi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cloud_has_a_closed_mesh),
        cmocka_unit_test(one_particle_is_a_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
