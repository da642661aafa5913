/* Distances and insides of real and broken meshes, against closed forms and against a plain sum over all
 * triangles. WADI_LONG=1 checks ten times the points and asserts the times. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "core/random.h"
#include "core/timer.h"
#include "expect.h"
#include "geom/mesh/mesh_solid.h"
#include "geom/sdf_band.h"

static const double pi = 3.14159265358979323846;

static WadiVec3 random_in(WadiBox box, uint64_t seed, uint64_t id)
{
    double u[3];
    for (int i = 0; i < 3; ++i) {
        u[i] = wadi_random_unit(seed, 3 * id + (uint64_t)i, WADI_RANDOM_TEST);
    }
    return wadi_add(box.min, wadi_mul(wadi_box_size(box), wadi_vec3(u[0], u[1], u[2])));
}

/* Signed solid angles by the tripod formula with arctan2, written apart from the library's. */
static double slow_winding(const WadiMesh *mesh, WadiVec3 x)
{
    double angle = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; ++t) {
        double v[3][3], l[3];
        for (int k = 0; k < 3; ++k) {
            WadiVec3 p = mesh->vertices[mesh->triangles[t][k]];
            v[k][0] = p.x - x.x;
            v[k][1] = p.y - x.y;
            v[k][2] = p.z - x.z;
            l[k] = sqrt(v[k][0] * v[k][0] + v[k][1] * v[k][1] + v[k][2] * v[k][2]);
        }
        double det = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) -
                     v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
                     v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
        double d01 = v[0][0] * v[1][0] + v[0][1] * v[1][1] + v[0][2] * v[1][2];
        double d12 = v[1][0] * v[2][0] + v[1][1] * v[2][1] + v[1][2] * v[2][2];
        double d20 = v[2][0] * v[0][0] + v[2][1] * v[0][1] + v[2][2] * v[0][2];
        angle += 2.0 * atan2(det, l[0] * l[1] * l[2] + d01 * l[2] + d12 * l[0] + d20 * l[1]);
    }
    return angle / (4.0 * pi);
}

typedef struct SignCheck {
    const WadiMeshSolid *solid;
    WadiBox box;
    double *winding;
    bool *is_inside;
} SignCheck;

static void check_signs(void *context, int64_t first, int64_t end)
{
    SignCheck *check = context;
    for (int64_t i = first; i < end; ++i) {
        WadiVec3 x = random_in(check->box, 5, (uint64_t)i);
        check->winding[i] = slow_winding(&check->solid->mesh, x);
        check->is_inside[i] = wadi_mesh_solid_distance(check->solid, x, NULL) < 0.0;
    }
}

/* No exceptions: every point, near or far, must be on the side that the full sum says. */
static void signs_agree(const WadiMeshSolid *solid, int count)
{
    WadiError error;
    WadiVec3 size = wadi_box_size(solid->bounds);
    SignCheck check = { .solid = solid, .box = wadi_box_grown(solid->bounds, 0.05 * fmax(size.x, size.y)) };
    CHECK_OK(WADI_NEW(&check.winding, (size_t)count, "test", &error), error);
    CHECK_OK(WADI_NEW(&check.is_inside, (size_t)count, "test", &error), error);
    wadi_parallel_for(count, 64, check_signs, &check);
    int wrong = 0, inside = 0;
    for (int i = 0; i < count; ++i) {
        wrong += check.is_inside[i] != (solid->facing * check.winding[i] > 0.5);
        inside += check.is_inside[i];
    }
    assert_true(inside > 0 && inside < count);
    assert_int_equal(wrong, 0);
    WADI_DELETE(check.winding, (size_t)count);
    WADI_DELETE(check.is_inside, (size_t)count);
}

static bool find_mesh(const char *name, char path[1024])
{
    const char *places[] = { WADI_SOURCE_DIR "/../shared/meshes", WADI_SOURCE_DIR "/../../shared/meshes" };
    for (int i = 0; i < 2; ++i) {
        snprintf(path, 1024, "%s/%s", places[i], name);
        if (access(path, R_OK) == 0) {
            return true;
        }
    }
    print_message("%s is not here: skipped\n", name);
    return false;
}

static void signs_of_known_meshes(void **unused)
{
    (void)unused;
    const char *names[] = { "spot.obj", "stanford-bunny.obj" };
    const int count[2][2] = { { 5000, 1000 }, { 100000, 100000 } };
    for (int i = 0; i < 2; ++i) {
        char path[1024];
        if (!find_mesh(names[i], path)) {
            skip();
        }
        WadiError error;
        WadiMesh mesh;
        WadiMeshSolid solid;
        CHECK_OK(wadi_mesh_read(&mesh, path, &error), error);
        CHECK_OK(wadi_mesh_solid_create(&solid, &mesh, true, &error), error);
        signs_agree(&solid, count[is_long_run()][i]);
        wadi_mesh_solid_free(&solid);
    }
}

typedef struct Seeding {
    const WadiShape *shape;
    WadiBox box;
} Seeding;

static double seed_block(void *context, int64_t first, int64_t end)
{
    const Seeding *seeding = context;
    double inside = 0;
    for (int64_t i = first; i < end; ++i) {
        inside += wadi_shape_contains(seeding->shape, random_in(seeding->box, 8, (uint64_t)i), 0.0);
    }
    return inside;
}

static void the_bunny_is_fast(void **unused)
{
    (void)unused;
    char path[1024];
    if (!find_mesh("stanford-bunny.obj", path)) {
        skip();
    }
    WadiError error;
    WadiShape *shape;
    WadiSdfBand *band;
    WadiShapeDef def = wadi_shape_def(WADI_SHAPE_MESH);
    CHECK_OK(wadi_string_copy(&def.file, path, strlen(path), &error), error);
    clock_t cpu[3];
    double start = wadi_time_now();
    CHECK_OK(wadi_shape_create(&shape, &def, NULL, &error), error);
    double loaded = wadi_time_now();
    cpu[0] = clock();
    WadiBox box = wadi_shape_bounds(shape, 0);
    WadiVec3 size = wadi_box_size(box);
    double cell = fmax(size.x, fmax(size.y, size.z)) / 128;
    CHECK_OK(wadi_sdf_band_create(&band, shape, cell, 3, 0, &error), error);
    double built = wadi_time_now();
    cpu[1] = clock();
    enum { SEEDS = 1000000 };
    double *partials;
    int64_t blocks = wadi_parallel_block_count(SEEDS, 1024);
    CHECK_OK(WADI_NEW(&partials, (size_t)blocks, "test", &error), error);
    Seeding seeding = { shape, box };
    double inside = wadi_parallel_sum(SEEDS, 1024, seed_block, &seeding, partials);
    double seeded = wadi_time_now();
    cpu[2] = clock();
    print_message("bunny: load %.2f s, band %.2f s (%d tiles, %zu bytes), 10^6 insides %.2f s, volume %.4g; "
                  "processor time of both cores: band %.2f s, insides %.2f s\n",
                  loaded - start, built - loaded, (int)wadi_sdf_band_tile_count(band),
                  wadi_sdf_band_bytes(band), seeded - built, inside / SEEDS * size.x * size.y * size.z,
                  (double)(cpu[1] - cpu[0]) / CLOCKS_PER_SEC, (double)(cpu[2] - cpu[1]) / CLOCKS_PER_SEC);
    assert_true(inside > 0.1 * SEEDS && inside < 0.9 * SEEDS);
    /* At the nodes the band holds the distance itself, everywhere and with its sign; between them it
     * interpolates, which only the rims of holes and sheets thinner than a cell can spoil. */
    int off_nodes = 0, off_between = 0, wrong = 0, near = 0;
    for (uint64_t i = 0; i < 20000; ++i) {
        WadiVec3 x = random_in(wadi_box_grown(box, 5 * cell), 9, i);
        WadiVec3 node = { cell * floor(x.x / cell), cell * floor(x.y / cell), cell * floor(x.z / cell) };
        double cached, d = wadi_shape_distance(shape, node, 0);
        wadi_sdf_band_sample(band, node, &cached, NULL);
        off_nodes += fabs(cached - fmin(fmax(d, -3 * cell), 3 * cell)) > 1e-5 * cell;
        d = wadi_shape_distance(shape, x, 0);
        wadi_sdf_band_sample(band, x, &cached, NULL);
        wrong += fabs(d) > 3 * cell && (cached < 0) != (d < 0);
        near += fabs(d) < 2 * cell;
        off_between += fabs(d) < 2 * cell && fabs(cached - d) > 0.2 * cell;
    }
    assert_int_equal(off_nodes, 0);
    assert_int_equal(wrong, 0);
    CHECK_AT_MOST(off_between, 0.03 * near);
#if defined(__OPTIMIZE__) && !defined(WADI_ASAN)
    if (is_long_run()) {
        /* One second on two cores, whoever else uses them. */
        CHECK_AT_MOST((double)(cpu[1] - cpu[0]) / CLOCKS_PER_SEC, 2.0);
        CHECK_AT_MOST((double)(cpu[2] - cpu[1]) / CLOCKS_PER_SEC, 2.0);
    }
#endif
    WADI_DELETE(partials, (size_t)blocks);
    wadi_sdf_band_destroy(band);
    wadi_shape_destroy(shape);
    wadi_shape_def_free(&def);
}

typedef WadiVec3 (*SurfaceFn)(double u, double v);

static WadiVec3 on_sphere(double u, double v)
{
    return wadi_vec3(sin(pi * v) * cos(2 * pi * u), sin(pi * v) * sin(2 * pi * u), -cos(pi * v));
}

static WadiVec3 on_torus(double u, double v)
{
    double r = 1.0 + 0.4 * cos(2 * pi * v);
    return wadi_vec3(r * cos(2 * pi * u), r * sin(2 * pi * u), 0.4 * sin(2 * pi * v));
}

/* A grid over (u, v), closed in u, closed in v unless it has poles. */
static void make_surface(WadiMesh *mesh, SurfaceFn surface, int n, bool has_poles)
{
    WadiError error;
    int rows = has_poles ? n + 1 : n;
    WadiVec3 *vertices;
    uint32_t(*triangles)[3];
    size_t count = 0;
    CHECK_OK(WADI_NEW(&vertices, (size_t)(rows * n), "test", &error), error);
    CHECK_OK(WADI_NEW(&triangles, (size_t)(2 * n * n), "test", &error), error);
    for (int j = 0; j < rows; ++j) {
        for (int i = 0; i < n; ++i) {
            vertices[j * n + i] = surface((double)i / n, (double)j / n);
        }
    }
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            bool is_first = has_poles && j == 0, is_last = has_poles && j == n - 1;
            uint32_t a = (uint32_t)(j * n + i), b = (uint32_t)(j * n + (i + 1) % n);
            uint32_t next = (uint32_t)((j + 1) % rows * n), c = next + (uint32_t)i,
                     d = next + (uint32_t)((i + 1) % n);
            a = is_first ? 0 : a;
            b = is_first ? 0 : b;
            c = is_last ? next : c;
            d = is_last ? next : d;
            if (!is_first) {
                memcpy(triangles[count++], (uint32_t[3]){ a, b, d }, sizeof *triangles);
            }
            if (!is_last) {
                memcpy(triangles[count++], (uint32_t[3]){ a, d, c }, sizeof *triangles);
            }
        }
    }
    CHECK_OK(
        wadi_mesh_create(mesh, vertices, (size_t)(rows * n), (const uint32_t(*)[3])triangles, count, &error),
        error);
    WADI_DELETE(vertices, (size_t)(rows * n));
    WADI_DELETE(triangles, (size_t)(2 * n * n));
}

static void fine_meshes_have_the_distances_of_what_they_mesh(void **unused)
{
    (void)unused;
    WadiError error;
    for (int c = 0; c < 2; ++c) {
        WadiMesh mesh;
        WadiMeshSolid solid;
        make_surface(&mesh, c == 0 ? on_sphere : on_torus, 300, c == 0);
        CHECK_OK(wadi_mesh_solid_create(&solid, &mesh, true, &error), error);
        assert_true(solid.topology.is_closed && solid.topology.is_oriented);
        CHECK_NEAR(solid.facing, 1.0, 0);
        double volume = c == 0 ? 4.0 / 3.0 * pi : 2 * pi * pi * 0.16;
        CHECK_NEAR(wadi_mesh_volume(&solid.mesh), volume, 1e-3 * volume);
        double diameter = c == 0 ? 2.0 : 2.8;
        for (uint64_t i = 0; i < (is_long_run() ? 20000 : 5000); ++i) {
            WadiVec3 x = random_in((WadiBox){ { -1.6, -1.6, -1.6 }, { 1.6, 1.6, 1.6 } }, 3, i), normal;
            double expected = c == 0 ? wadi_norm(x) - 1 : hypot(hypot(x.x, x.y) - 1, x.z) - 0.4;
            WadiMeshNearest nearest;
            double d = wadi_mesh_solid_sample(&solid, x, false, &nearest, &normal);
            CHECK_NEAR(d, expected, 1e-4 * diameter);
            CHECK_NEAR(wadi_norm(normal), 1.0, 1e-12);
            CHECK_NEAR(wadi_norm(wadi_sub(wadi_add_scaled(x, normal, -d), nearest.point)), 0.0, 1e-9);
        }
        wadi_mesh_solid_free(&solid);
    }
}

static void the_nearest_point_is_the_nearest_of_all_triangles(void **unused)
{
    (void)unused;
    WadiError error;
    WadiMesh mesh;
    WadiMeshTree *tree;
    make_surface(&mesh, on_torus, 40, false);
    /* Far from the origin, where single precision alone would be off by 1e-3. */
    for (size_t i = 0; i < mesh.vertex_count; ++i) {
        mesh.vertices[i] = wadi_add(mesh.vertices[i], wadi_vec3(10000, -20000, 5000));
    }
    CHECK_OK(wadi_mesh_tree_create(&tree, &mesh, &error), error);
    for (uint64_t i = 0; i < 2000; ++i) {
        WadiVec3 x = random_in(wadi_box_grown(wadi_mesh_bounds(&mesh), 1.0), 4, i), point;
        double best = INFINITY, weight[3];
        for (size_t t = 0; t < mesh.triangle_count; ++t) {
            const uint32_t *v = mesh.triangles[t];
            double squared = wadi_triangle_nearest(mesh.vertices[v[0]], mesh.vertices[v[1]],
                                                   mesh.vertices[v[2]], x, &point, weight);
            best = fmin(best, squared);
        }
        WadiMeshNearest nearest;
        assert_true(wadi_mesh_tree_nearest(tree, x, INFINITY, &nearest));
        CHECK_NEAR(nearest.distance, sqrt(best), 0.0);
        assert_false(wadi_mesh_tree_nearest(tree, x, 0.999 * nearest.distance, &nearest));
    }
    wadi_mesh_tree_destroy(tree);
    wadi_mesh_free(&mesh);
}

static const uint32_t box_triangles[12][3] = { { 0, 2, 3 }, { 0, 3, 1 }, { 4, 5, 7 }, { 4, 7, 6 },
                                               { 0, 1, 5 }, { 0, 5, 4 }, { 2, 6, 7 }, { 2, 7, 3 },
                                               { 0, 4, 6 }, { 0, 6, 2 }, { 1, 3, 7 }, { 1, 7, 5 } };

static void box_vertices(WadiBox box, WadiVec3 v[8])
{
    for (int c = 0; c < 8; ++c) {
        v[c] = wadi_vec3(c & 1 ? box.max.x : box.min.x, c & 2 ? box.max.y : box.min.y,
                         c & 4 ? box.max.z : box.min.z);
    }
}

static void make_solid(WadiMeshSolid *solid, const WadiVec3 *v, size_t vertex_count, const uint32_t (*t)[3],
                       size_t count)
{
    WadiError error;
    WadiMesh mesh;
    CHECK_OK(wadi_mesh_create(&mesh, v, vertex_count, t, count, &error), error);
    CHECK_OK(wadi_mesh_solid_create(solid, &mesh, true, &error), error);
    signs_agree(solid, 20000);
}

static void broken_and_thin_meshes_have_insides(void **unused)
{
    (void)unused;
    WadiMeshSolid solid;
    WadiVec3 v[16];
    uint32_t t[24][3];
    WadiBox unit = { { 0, 0, 0 }, { 1, 1, 1 } };

    box_vertices((WadiBox){ { 0, 0, 0 }, { 1, 1, 1e-4 } }, v);
    make_solid(&solid, v, 8, box_triangles, 12);
    CHECK_NEAR(wadi_mesh_solid_distance(&solid, wadi_vec3(0.5, 0.5, 0.5e-4), NULL), -0.5e-4, 1e-18);
    CHECK_NEAR(wadi_mesh_solid_distance(&solid, wadi_vec3(0.5, 0.5, 2e-4), NULL), 1e-4, 1e-18);
    wadi_mesh_solid_free(&solid);

    /* A wedge with an edge of 0.06 degrees. */
    WadiVec3 wedge[6] = {
        { 0, 0, 0 }, { 1, 0, 0 }, { 1, 0, 1e-3 }, { 0, 1, 0 }, { 1, 1, 0 }, { 1, 1, 1e-3 }
    };
    const uint32_t wedge_triangles[8][3] = { { 0, 1, 2 }, { 3, 5, 4 }, { 0, 3, 4 }, { 0, 4, 1 },
                                             { 1, 4, 5 }, { 1, 5, 2 }, { 2, 5, 3 }, { 2, 3, 0 } };
    make_solid(&solid, wedge, 6, wedge_triangles, 8);
    wadi_mesh_solid_free(&solid);

    box_vertices(unit, v);
    make_solid(&solid, v, 8, box_triangles, 10); /* the face x = 1 is missing */
    assert_false(solid.topology.is_closed);
    assert_int_equal(solid.topology.boundary_edges, 4);
    assert_int_equal(solid.topology.hole_count, 1);
    CHECK_NEAR(solid.topology.hole_width, 1.0, 0);
    CHECK_NEAR(solid.topology.hole_center.x, 1.0, 1e-15);
    assert_true(wadi_mesh_solid_contains(&solid, wadi_vec3(0.5, 0.5, 0.5)));
    wadi_mesh_solid_free(&solid);

    memcpy(t, box_triangles, sizeof box_triangles);
    t[3][0] = 7, t[3][1] = 4;
    make_solid(&solid, v, 8, (const uint32_t(*)[3])t, 12); /* one triangle flipped */
    assert_true(solid.topology.is_closed && !solid.topology.is_oriented);
    assert_int_equal(solid.topology.flipped_edges, 3);
    assert_true(wadi_mesh_solid_contains(&solid, wadi_vec3(0.5, 0.5, 0.3)));
    wadi_mesh_solid_free(&solid);

    box_vertices((WadiBox){ { 0.5, 0.5, 0.5 }, { 1.5, 1.5, 1.5 } }, v + 8);
    memcpy(t, box_triangles, sizeof box_triangles);
    for (int i = 0; i < 36; ++i) {
        t[12 + i / 3][i % 3] = box_triangles[i / 3][i % 3] + 8;
    }
    make_solid(&solid, v, 16, (const uint32_t(*)[3])t, 24); /* overlapping cubes: winding 2 in common */
    assert_true(wadi_mesh_solid_contains(&solid, wadi_vec3(0.75, 0.75, 0.75)));
    wadi_mesh_solid_free(&solid);

    memcpy(t, box_triangles, sizeof box_triangles);
    for (int i = 0; i < 12; ++i) {
        t[i][1] = box_triangles[i][2], t[i][2] = box_triangles[i][1];
    }
    make_solid(&solid, v, 8, (const uint32_t(*)[3])t, 12); /* inside out */
    CHECK_NEAR(solid.facing, -1.0, 0);
    WadiMeshNearest nearest;
    WadiVec3 normal;
    CHECK_NEAR(wadi_mesh_solid_sample(&solid, wadi_vec3(0.5, 0.5, 0.9), false, &nearest, &normal), -0.1,
               1e-15);
    CHECK_NEAR(normal.z, 1.0, 1e-12);
    wadi_mesh_solid_free(&solid);
}

static void points_on_the_surface_have_finite_answers(void **unused)
{
    (void)unused;
    WadiMeshSolid solid;
    WadiVec3 v[8], normal;
    box_vertices((WadiBox){ { 0, 0, 0 }, { 1, 1, 1 } }, v);
    make_solid(&solid, v, 8, box_triangles, 12);
    const WadiVec3 at[] = { { 0, 0, 0 },     { 1, 1, 1 },       { 0.5, 0, 0 },
                            { 0.5, 0.5, 1 }, { 0.25, 0.75, 0 }, { 1, 0.5, 0.5 } };
    for (int i = 0; i < 6; ++i) {
        WadiMeshNearest nearest;
        CHECK_NEAR(wadi_mesh_solid_sample(&solid, at[i], false, &nearest, &normal), 0.0, 0);
        CHECK_NEAR(wadi_norm(normal), 1.0, 1e-12);
        assert_true(isfinite(wadi_winding_number(solid.winding, at[i], 2.0)));
    }
    assert_true(isfinite(wadi_mesh_solid_distance(&solid, wadi_vec3(1e15, 0, 0), NULL)));
    wadi_mesh_solid_free(&solid);
}

static void the_winding_expansion_converges(void **unused)
{
    (void)unused;
    WadiError error;
    WadiMesh mesh;
    WadiWinding *winding;
    make_surface(&mesh, on_torus, 60, false);
    mesh.triangle_count -= 1500; /* with a hole, so that the answer is not an integer */
    CHECK_OK(wadi_winding_create(&winding, &mesh, &error), error);
    double worst[2] = { 0, 0 };
    for (uint64_t i = 0; i < 2000; ++i) {
        WadiVec3 x = random_in((WadiBox){ { -1.6, -1.6, -0.6 }, { 1.6, 1.6, 0.6 } }, 6, i);
        double exact = slow_winding(&mesh, x);
        CHECK_NEAR(wadi_winding_number_exact(&mesh, x), exact, 1e-11);
        worst[0] = fmax(worst[0], fabs(wadi_winding_number(winding, x, 2.0) - exact));
        worst[1] = fmax(worst[1], fabs(wadi_winding_number(winding, x, 6.0) - exact));
    }
    print_message("winding error: %.2g at beta 2, %.2g at beta 6\n", worst[0], worst[1]);
    CHECK_AT_MOST(worst[0], 0.02);
    CHECK_AT_MOST(worst[1], 1e-3);
    wadi_winding_destroy(winding);
    mesh.triangle_count += 1500;
    wadi_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fine_meshes_have_the_distances_of_what_they_mesh),
        cmocka_unit_test(the_nearest_point_is_the_nearest_of_all_triangles),
        cmocka_unit_test(broken_and_thin_meshes_have_insides),
        cmocka_unit_test(points_on_the_surface_have_finite_answers),
        cmocka_unit_test(the_winding_expansion_converges),
        cmocka_unit_test(the_bunny_is_fast),
        cmocka_unit_test(signs_of_known_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
