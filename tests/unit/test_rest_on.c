/* world and geom: highest points of solids, meshes fitted to a size and place, shapes that rest on others. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "geom/shape_mesh.h"
#include "io/scene/scene_parse.h"
#include "particles/seed.h"
#include "world/rest_on.h"
#include "world/world.h"

static char folder[] = "/tmp/wadi_rest_XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* A box of 2 x 4 x 1 beside the origin, whose y points up, and a tetrahedron with a corner on each axis. */
static int make_folder(void **unused)
{
    (void)unused;
    assert_non_null(mkdtemp(folder));
    write_file("box.obj", "v 10 20 30\nv 12 20 30\nv 12 24 30\nv 10 24 30\n"
                          "v 10 20 31\nv 12 20 31\nv 12 24 31\nv 10 24 31\n"
                          "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
    write_file("open.obj", "v 10 20 30\nv 12 20 30\nv 12 24 30\nv 10 24 30\n"
                           "v 10 20 31\nv 12 20 31\nv 12 24 31\nv 10 24 31\n"
                           "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 4 1 5 8\n");
    write_file("corner.obj", "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

typedef struct Fixture {
    WadiScene *scene;
    WadiWorld *world;
} Fixture;

static char last_warning[600];

static void remember(void *user, WadiLogLevel level, const char *text)
{
    (void)user;
    if (level == WADI_LOG_WARNING) {
        snprintf(last_warning, sizeof last_warning, "%s", text);
    }
}

#define HEAD                                                                                                 \
    "wadi: 1\nsolver: points\ndomain: {min: [-1, -1, -0.5], max: [1, 1, 1]}\ncell_size: 0.1\n"               \
    "particles_per_cell: 8\nmaterials: {sand: {kind: sand}}\n"
#define BODY "bodies: [{material: sand, shape: {sphere: {center: [0, 0, 0.8], radius: 0.1}}}]\n"

static Fixture build(const char *text)
{
    Fixture f = { NULL, NULL };
    WadiError error;
    const WadiSceneDef def = { .text = text, .folder = folder };
    const WadiLog log = { remember, NULL };
    last_warning[0] = '\0';
    CHECK_OK(wadi_scene_parse(&f.scene, &def, &error), error);
    CHECK_OK(wadi_world_create(&f.world, f.scene, &log, &error), error);
    return f;
}

static void discard(Fixture *f)
{
    wadi_world_destroy(f->world);
    wadi_scene_free(f->scene);
}

static double top(const WadiShape *shape)
{
    return wadi_shape_support(shape, wadi_vec3(0, 0, 1), 0.0);
}

static double bottom(const WadiShape *shape)
{
    return -wadi_shape_support(shape, wadi_vec3(0, 0, -1), 0.0);
}

static void check_box(const WadiShape *shape, const double low[3], const double high[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        const WadiVec3 d = { axis == 0, axis == 1, axis == 2 };
        CHECK_NEAR(wadi_shape_support(shape, d, 0.0), high[axis], 1e-12);
        CHECK_NEAR(-wadi_shape_support(shape, wadi_scale(d, -1), 0.0), low[axis], 1e-12);
    }
}

static void highest_points_are_those_of_geometry(void **unused)
{
    (void)unused;
    const double slanted = sqrt(0.5);
    Fixture f = build(
        HEAD BODY
        "colliders:\n"
        "  - {shape: {box: {center: [0, 0, 0], size: [0.2, 0.2, 0.2]}, rotate: [45, 0, 0]}}\n"
        "  - {shape: {sphere: {center: [0.1, 0, 0.2], radius: 0.1}, rotate: [30, 40, 50], pivot: [0.1, 0, "
        "0.2]}}\n"
        "  - {shape: {ellipsoid: {radii: [0.1, 0.2, 0.3]}, rotate: [90, 0, 0]}}\n"
        "  - {shape: {cylinder: {from: [0, 0, 0], to: [0, 0.4, 0.4], radius: 0.1}}}\n"
        "  - {shape: {cone: {from: [0, 0, 0], to: [0, 0.4, 0.4], radius: 0.1, top_radius: 0}}}\n"
        "  - {shape: {capsule: {from: [0, 0, 0], to: [0, 0, 0.4], radius: 0.1}}}\n"
        "  - {shape: {torus: {axis: [1, 0, 0], radius: 0.3, tube: 0.1}, scale: 0.5}}\n"
        "  - {shape: {half_space: {point: [0, 0, 0.25]}}}\n"
        "  - {shape: {union: [{box: {size: 0.2}}, {sphere: {center: [0, 0, 0.1], radius: 0.1}}]}}\n"
        "  - {shape: {difference: [{box: {size: 0.2}}, {sphere: {center: [0, 0, 0.1], radius: 0.05}}]}}\n");
    const double expected[] = {
        0.1 * 2 * slanted, 0.3, 0.2, 0.4 + 0.1 * slanted, 0.4, 0.5, 0.5 * (0.3 + 0.1), 0.25, 0.2, 0.1
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        CHECK_NEAR(top(f.world->collider_shapes[i]), expected[i], 1e-12);
    }
    CHECK_NEAR(bottom(f.world->collider_shapes[4]), -0.1 * slanted, 1e-12); /* the rim of the cone */
    assert_true(isinf(bottom(f.world->collider_shapes[7])));
    discard(&f);
}

static void a_fitted_mesh_has_its_size_place_and_volume(void **unused)
{
    (void)unused;
    Fixture f =
        build(HEAD BODY
              "colliders:\n"
              "  - {shape: {mesh: {file: box.obj, fit: 0.8, center: [0.1, 0.2, 0.3], up: y}}}\n"
              "  - {shape: {mesh: {file: box.obj, fit: [0.1, 4, 4], center: [0, 0, 0]}}}\n"
              "  - {shape: {mesh: {file: box.obj, fit: 0.8}}}\n"
              "  - {shape: {mesh: {file: box.obj, fit: 0.8, center: [0, 0, 0], up: y}, rotate: [0, 90, 0], "
              "translate: [0.5, 0, 0]}}\n");
    WadiShape *const *shape = f.world->collider_shapes;
    check_box(shape[0], (double[]){ -0.1, 0.1, -0.1 }, (double[]){ 0.3, 0.3, 0.7 });
    check_box(shape[1], (double[]){ -0.05, -0.1, -0.025 }, (double[]){ 0.05, 0.1, 0.025 });
    check_box(shape[2], (double[]){ 2, 4, 6 },
              (double[]){ 2.4, 4.8, 6.2 }); /* about the origin of the file */
    check_box(shape[3], (double[]){ 0.1, -0.1, -0.2 }, (double[]){ 0.9, 0.1, 0.2 });
    WadiMesh mesh;
    WadiError error;
    const WadiBox all = { { -9, -9, -9 }, { 9, 9, 9 } };
    CHECK_OK(wadi_shape_mesh(&mesh, shape[0], 0.0, all, 1e-3, &error), error);
    CHECK_NEAR(wadi_mesh_volume(&mesh), 0.4 * 0.2 * 0.8, 1e-12);
    wadi_mesh_free(&mesh);
    CHECK_NEAR(wadi_shape_distance(shape[0], wadi_vec3(0.1, 0.2, 0.3), 0.0), -0.1, 1e-12);
    discard(&f);
}

/* A mesh keeps its handedness: what is at +z of a file with y up comes to the front, at -y. */
static void each_axis_can_point_up(void **unused)
{
    (void)unused;
    static const char *const up[] = { "z", "y", "x", "-x", "-y", "-z" };
    static const double low[][3] = { { 0, 0, 0 },  { 0, -3, 0 }, { -3, 0, 0 },
                                     { 0, 0, -1 }, { 0, 0, -2 }, { 0, -2, -3 } };
    static const double high[][3] = { { 1, 2, 3 }, { 1, 0, 2 }, { 0, 2, 1 },
                                      { 3, 2, 0 }, { 1, 3, 0 }, { 1, 0, 0 } };
    for (int i = 0; i < 6; ++i) {
        char text[700];
        snprintf(text, sizeof text, HEAD BODY "colliders: [{shape: {mesh: {file: corner.obj, up: %s}}}]\n",
                 up[i]);
        Fixture f = build(text);
        check_box(f.world->collider_shapes[0], low[i], high[i]);
        WadiMesh mesh;
        WadiError error;
        const WadiBox all = { { -9, -9, -9 }, { 9, 9, 9 } };
        CHECK_OK(wadi_shape_mesh(&mesh, f.world->collider_shapes[0], 0.0, all, 1e-3, &error), error);
        CHECK_NEAR(wadi_mesh_volume(&mesh), 1.0, 1e-12); /* positive: not mirrored */
        wadi_mesh_free(&mesh);
        discard(&f);
    }
}

static void shapes_rest_on_the_ground_and_on_each_other(void **unused)
{
    (void)unused;
    Fixture f = build(
        HEAD
        "bodies:\n"
        "  - {material: sand, shape: {mesh: {file: box.obj, fit: 0.4, center: [0, 0, 9], up: y, on: lid}}}\n"
        "  - {material: sand, shape: {sphere: {center: [0.5, 0, 7], radius: 0.1}, translate: [0, 0, 0.05], "
        "on: ground}}\n"
        "colliders:\n"
        "  - {name: lid, shape: {cylinder: {from: [0, 0, 0], to: [0, 0.1, 0.1], radius: 0.1}, on: table}}\n"
        "  - {name: table, shape: {box: {size: [1, 1, 0.2]}, rotate: [0, 45, 0], translate: {keys: [[0, "
        "[0.1, 0, 0]], "
        "[2, [0.1, 0, 1]]]}, on: ground}}\n");
    WadiShape *const *bodies = f.world->body_shapes, *const *solids = f.world->collider_shapes;
    const double slanted = sqrt(0.5), floor_z = -0.5, table = (1.0 + 0.2) * slanted;
    CHECK_NEAR(bottom(solids[1]), floor_z, 1e-12);
    CHECK_NEAR(top(solids[1]), floor_z + table, 1e-12);
    CHECK_NEAR(-wadi_shape_support(solids[1], wadi_vec3(0, 0, -1), 1.0), floor_z + 0.5,
               1e-12); /* it moves on */
    CHECK_NEAR(bottom(solids[0]), floor_z + table, 1e-12);
    CHECK_NEAR(bottom(bodies[0]), top(solids[0]), 1e-12);
    CHECK_NEAR(top(bodies[0]) - bottom(bodies[0]), 0.4, 1e-12);
    check_box(bodies[1], (double[]){ 0.4, -0.1, floor_z + 0.05 }, (double[]){ 0.6, 0.1, floor_z + 0.25 });
    discard(&f);
}

/* Particles fill the fitted box of 0.4 x 0.2 x 0.8: one for each 0.05^3 m^3. */
static void a_body_that_rests_is_filled_where_it_rests(void **unused)
{
    (void)unused;
    Fixture f =
        build(HEAD "bodies: [{material: sand, jitter: 0, snap: none, shape: {mesh: {file: box.obj, fit: 0.8, "
                   "center: [0, 0, 0], up: y, on: ground}}}]\n");
    WadiError error;
    int64_t count;
    const WadiSeedIn in = wadi_world_seed_in(f.world, &f.scene->bodies[0], f.world->body_shapes[0]);
    CHECK_OK(wadi_seed_count(&in, &count, &error), error);
    assert_int_equal(count, 512);
    CHECK_NEAR(wadi_shape_bounds(f.world->body_shapes[0], 0.0).min.z, -0.5, 1e-12);
    discard(&f);
}

static void ground_may_be_a_collider(void **unused)
{
    (void)unused;
    Fixture f = build(HEAD "bodies: [{material: sand, shape: {sphere: {radius: 0.1}, on: ground}}]\n"
                           "colliders: [{name: ground, shape: {half_space: {point: [0, 0, -0.3]}}}]\n");
    CHECK_NEAR(bottom(f.world->body_shapes[0]), -0.3, 1e-12);
    discard(&f);
}

static void what_cannot_rest_is_refused_with_its_line(void **unused)
{
    (void)unused;
    WadiScene *scene;
    WadiWorld *world;
    WadiError error;
    const WadiSceneDef def = { .text = HEAD BODY "colliders:\n  - {shape: {half_space: {}, on: ground}}\n" };
    CHECK_OK(wadi_scene_parse(&scene, &def, &error), error);
    assert_int_equal(wadi_world_create(&world, scene, NULL, &error), WADI_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, ":9:"));
    assert_non_null(strstr(error.text, "no lowest point"));
    wadi_scene_free(scene);
}

/* The box without one side of 2 x 1: fitted to half its size the hole is 1 m wide, then scaled by 0.3. */
static void holes_are_measured_in_the_scene(void **unused)
{
    (void)unused;
    Fixture f = build(
        HEAD BODY "colliders: [{shape: {union: [{mesh: {file: open.obj, fit: 2, center: [0, 0, 0], up: y}, "
                  "scale: 0.3}], translate: [0, 0, 0.5]}}]\n");
    assert_non_null(strstr(last_warning, "1 hole, the largest 0.3 m wide around (0, 0, 0.8)"));
    discard(&f);
    f = build(HEAD BODY "colliders: [{shape: {mesh: {file: open.obj}, scale: 0.01}}]\n");
    assert_non_null(strstr(last_warning, "the largest 0.02 m wide around (0.11, 0.24, 0.305)"));
    discard(&f);
    f = build(HEAD BODY "colliders: [{shape: {mesh: {file: open.obj}, scale: 0.01, on: ground}}]\n");
    assert_non_null(strstr(last_warning, "the largest 0.02 m wide around (0.11, 0.24, -0.495)"));
    discard(&f);
}

/* Of a scene without the keys the hash is unchanged, and each key changes it. */
static void the_keys_are_part_of_the_content(void **unused)
{
    (void)unused;
    static const char *const shapes[] = { "mesh: {file: box.obj}",
                                          "mesh: {file: box.obj, fit: 0.5}",
                                          "mesh: {file: box.obj, fit: 0.6}",
                                          "mesh: {file: box.obj, up: y}",
                                          "mesh: {file: box.obj, center: [0, 0, 0]}",
                                          "mesh: {file: box.obj, on: ground}" };
    uint64_t hash[6];
    for (int i = 0; i < 6; ++i) {
        char text[700];
        WadiScene *scene;
        WadiError error;
        snprintf(text, sizeof text, HEAD BODY "colliders: [{shape: {%s}}]\n", shapes[i]);
        const WadiSceneDef def = { .text = text, .folder = folder };
        CHECK_OK(wadi_scene_parse(&scene, &def, &error), error);
        hash[i] = scene->content_hash;
        wadi_scene_free(scene);
        for (int j = 0; j < i; ++j) {
            assert_true(hash[i] != hash[j]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(highest_points_are_those_of_geometry),
        cmocka_unit_test(a_fitted_mesh_has_its_size_place_and_volume),
        cmocka_unit_test(each_axis_can_point_up),
        cmocka_unit_test(shapes_rest_on_the_ground_and_on_each_other),
        cmocka_unit_test(a_body_that_rests_is_filled_where_it_rests),
        cmocka_unit_test(ground_may_be_a_collider),
        cmocka_unit_test(what_cannot_rest_is_refused_with_its_line),
        cmocka_unit_test(holes_are_measured_in_the_scene),
        cmocka_unit_test(the_keys_are_part_of_the_content),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
