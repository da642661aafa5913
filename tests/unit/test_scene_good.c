/* Valid scenes and their parsed values. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/files/files.h"
#include "scene_text.h"

static void the_example_of_the_design_is_read(void **unused)
{
    (void)unused;
    WadiScene *s = parse("wadi: 1\n"
                         "name: column\n"
                         "solver: flip\n"
                         "domain: {min: [0, 0, 0], max: [1.0, 0.6, 0.6], walls: {friction: 0.6}}\n"
                         "resolution: 100            # cells along the longest side (or cell_size: 0.01)\n"
                         "frames: 72\n"
                         "fps: 24\n"
                         "materials:\n"
                         "  sand: {kind: sand, density: 1600, friction_angle: 35}\n"
                         "bodies:\n"
                         "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.25, 0.6, 0.36]}}}\n");
    assert_int_equal(s->version, 1);
    assert_string_equal(s->name, "column");
    assert_string_equal(s->solver, "flip");
    assert_string_equal(s->where_solver.text, "<text>:3:9");
    assert_true(s->has_domain);
    CHECK_NEAR(s->domain.max.y, 0.6, 0.0);
    CHECK_NEAR(s->cell_size, 0.01, 1e-15);
    assert_int_equal(s->resolution, 100);
    assert_int_equal(s->closed_sides, WADI_SIDE_ALL);
    CHECK_NEAR(wadi_curve_value(&s->wall_friction, 0.0), 0.6, 0.0);
    assert_int_equal(s->material_count, 1);
    assert_string_equal(s->materials[0].name, "sand");
    CHECK_NEAR(wadi_curve_value(&s->materials[0].friction_angle, 0.0), 35.0, 0.0);
    assert_int_equal(s->body_count, 1);
    assert_int_equal(s->bodies[0].material, 0);
    assert_int_equal(s->bodies[0].shape.kind, WADI_SHAPE_BOX);
    check_vector(&s->bodies[0].shape.parameter[1], 0.0, 0.25, 0.6, 0.36);
    assert_string_equal(s->bodies[0].where.text, "<text>:11:5");
    CHECK_NEAR(wadi_scene_frame_time(s, 25), 1.0, 1e-15);
    wadi_scene_free(s);
}

static void defaults_are_those_of_the_reference(void **unused)
{
    (void)unused;
    WadiScene *s = parse(SMALL);
    assert_string_equal(s->name, "scene");
    assert_false(s->has_domain);
    assert_int_equal(s->resolution, 0);
    assert_int_equal(s->particles_per_axis, 2);
    assert_int_equal(s->frames, 72);
    CHECK_NEAR(s->fps, 24.0, 0.0);
    CHECK_NEAR(s->seed, 0.0, 0.0);
    check_vector(&s->gravity, 0.0, 0.0, 0.0, -9.81);
    assert_true(isinf(s->max_step));
    assert_int_equal(s->checkpoint_every, 24);
    assert_int_equal(s->closed_sides, WADI_SIDE_ALL);
    CHECK_NEAR(s->materials[0].density, 1600.0, 0.0);
    CHECK_NEAR(s->bodies[0].jitter, 1.0, 0.0);
    assert_int_equal(s->bodies[0].snap, WADI_SNAP_ZB05);
    check_vector(&s->bodies[0].shape.scale, 0.0, 1.0, 1.0, 1.0);
    assert_string_equal(s->source, SMALL);
    assert_string_equal(s->folder, ".");
    wadi_scene_free(s);
}

static void every_key_is_read(void **unused)
{
    (void)unused;
    WadiScene *s = parse(
        "wadi: 1\nsolver: sph\nname: a.b_c-d\ncell_size: 0.02\nparticles_per_cell: 27\nframes: 9999999\n"
        "fps: 29.97\nseed: 9007199254740992\ngravity: [1, 2, 3]\nmax_step: 0.01\ncheckpoint_every: 5\n"
        "domain: {min: [-1, -2, -3], max: [1, 2, 3], walls: {friction: 0.1, restitution: 0.2, "
        "open: [z_max, x_min]}}\n"
        "materials: {wet: {kind: water}, dry: {kind: sand, density: 1500, friction_angle: 30}}\n"
        "bodies: [{material: dry, shape: {sphere: {radius: 1}}, velocity: [1, 2, 3], "
        "angular_velocity: [4, 5, 6], jitter: 0.5, snap: layer}]\n"
        "colliders: [{name: paddle, shape: {sphere: {radius: 1}}, friction: 0.7, restitution: 0.3}]\n"
        "emitters: [{material: wet, shape: {sphere: {radius: 1}}, velocity: [0, 0, -1], rate: 0.001, "
        "start: 1, end: 2, max_particles: 10000}]\n"
        "drains: [{shape: {sphere: {radius: 1}}, start: 3, end: 4}]\n"
        "forces:\n"
        "  - {kind: uniform, acceleration: [1, 0, 0], start: 1, end: 2}\n"
        "  - {kind: drag, velocity: [3, 0, 0], rate: 2, region: {sphere: {radius: 5}}}\n"
        "  - {kind: point, center: [0, 1, 0], strength: -3, radius: 0.5}\n");
    assert_int_equal(s->particles_per_axis, 3);
    assert_int_equal(s->frames, 9999999);
    CHECK_NEAR(s->seed, 9007199254740992.0, 0.0);
    CHECK_NEAR(s->max_step, 0.01, 0.0);
    assert_int_equal(s->checkpoint_every, 5);
    assert_int_equal(s->closed_sides, WADI_SIDE_ALL & ~(WADI_SIDE_Z_MAX | WADI_SIDE_X_MIN));
    CHECK_NEAR(wadi_curve_value(&s->wall_restitution, 0.0), 0.2, 0.0);
    assert_int_equal(s->materials[0].kind, WADI_MATERIAL_WATER);
    CHECK_NEAR(s->materials[0].density, 1000.0, 0.0);
    assert_int_equal(s->bodies[0].material, 1);
    CHECK_NEAR(s->bodies[0].velocity.z, 3.0, 0.0);
    CHECK_NEAR(s->bodies[0].angular_velocity.x, 4.0, 0.0);
    CHECK_NEAR(s->bodies[0].jitter, 0.5, 0.0);
    assert_int_equal(s->bodies[0].snap, WADI_SNAP_LAYER);
    assert_string_equal(s->colliders[0].name, "paddle");
    CHECK_NEAR(wadi_curve_value(&s->colliders[0].friction, 0.0), 0.7, 0.0);
    CHECK_NEAR(wadi_curve_value(&s->colliders[0].restitution, 0.0), 0.3, 0.0);
    check_vector(&s->emitters[0].velocity, 0.0, 0.0, 0.0, -1.0);
    CHECK_NEAR(wadi_curve_value(&s->emitters[0].rate, 0.0), 0.001, 0.0);
    CHECK_NEAR(s->emitters[0].start + s->emitters[0].end, 3.0, 0.0);
    CHECK_NEAR(s->emitters[0].max_particles, 10000.0, 0.0);
    CHECK_NEAR(s->drains[0].end, 4.0, 0.0);
    assert_int_equal(s->force_count, 3);
    check_vector(&s->forces[0].acceleration, 0.0, 1.0, 0.0, 0.0);
    assert_null(s->forces[0].region);
    assert_int_equal(s->forces[1].region->kind, WADI_SHAPE_SPHERE);
    assert_true(isinf(s->forces[1].end));
    CHECK_NEAR(wadi_curve_value(&s->forces[2].strength, 0.0), -3.0, 0.0);
    CHECK_NEAR(s->forces[2].radius, 0.5, 0.0);
    wadi_scene_free(s);
}

static void every_shape_is_read(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/wadi_scene_XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *files[] = { "a.png", "b.obj", "c.07.obj", "c.08.obj" };
    char path[200];
    WadiError error = { 0 };
    for (int i = 0; i < 4; ++i) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        CHECK_OK(wadi_file_write(path, files[i], 5, &error), error);
    }
    const char *text =
        "wadi: 1\nsolver: points\ncell_size: 0.1\nmaterials: {sand: {kind: sand}}\n"
        "bodies:\n"
        "  - material: sand\n"
        "    shape:\n"
        "      union:\n"
        "        - {box: {min: [0, 0, 0], max: [1, 2, 3]}}\n"
        "        - {box: {center: [1, 1, 1], size: [2, 4, 6]}}\n"
        "        - {sphere: {center: [1, 2, 3], radius: 4}}\n"
        "        - {ellipsoid: {radii: [1, 2, 3]}}\n"
        "        - {cylinder: {from: [0, 0, 0], to: [0, 0, 1], radius: 2}}\n"
        "        - {cone: {from: [0, 0, 0], to: [0, 0, 1], radius: 2, top_radius: 1}}\n"
        "        - {capsule: {from: [0, 0, 0], to: [0, 0, 1], radius: 2}}\n"
        "        - {torus: {radius: 2, tube: 0.5}}\n"
        "        - {half_space: {point: [0, 0, -1]}}\n"
        "        - {heightmap: {file: a.png, min: [0, 0, 0], max: [1, 1, 1]}}\n"
        "        - {mesh: {file: b.obj, thickness: 0.1}}\n"
        "        - {mesh_sequence: {files: c.%02d.obj, first: 7, last: 8, fps: 12, start: 0.5}}\n"
        "        - {intersection: [{sphere: {radius: 1}}, {sphere: {radius: 2}}]}\n"
        "        - {difference: [{sphere: {radius: 1}}, {sphere: {radius: 2}}]}\n"
        "        - {smooth_union: {radius: 0.1, shapes: [{sphere: {radius: 1}}]}}\n"
        "      translate: [1, 2, 3]\n"
        "      rotate: [10, 20, 30]\n"
        "      scale: 2\n"
        "      pivot: [0, 0, 1]\n";
    WadiScene *s = NULL;
    WadiSceneDef def = { .text = text, .folder = folder };
    CHECK_OK(wadi_scene_parse(&s, &def, &error), error);
    const WadiShapeDef *shape = &s->bodies[0].shape, *c = shape->children;
    assert_int_equal(shape->child_count, 15);
    check_vector(&shape->scale, 0.0, 2.0, 2.0, 2.0);
    check_vector(&shape->rotate, 0.0, 10.0, 20.0, 30.0);
    check_vector(&shape->pivot, 0.0, 0.0, 0.0, 1.0);
    check_vector(&c[1].parameter[0], 0.0, 0.0, -1.0, -2.0);
    check_vector(&c[1].parameter[1], 0.0, 2.0, 3.0, 4.0);
    CHECK_NEAR(wadi_curve_value(&c[2].parameter[1], 0.0), 4.0, 0.0);
    check_vector(&c[3].parameter[1], 0.0, 1.0, 2.0, 3.0);
    CHECK_NEAR(wadi_curve_value(&c[5].parameter[3], 0.0), 1.0, 0.0);
    check_vector(&c[7].parameter[1], 0.0, 0.0, 0.0, 1.0);
    check_vector(&c[8].parameter[1], 0.0, 0.0, 0.0, 1.0);
    snprintf(path, sizeof path, "%s/a.png", folder);
    assert_string_equal(c[9].file, path);
    CHECK_NEAR(wadi_curve_value(&c[10].parameter[0], 0.0), 0.1, 0.0);
    assert_int_equal(c[11].first_number, 7);
    assert_int_equal(c[11].last_number, 8);
    CHECK_NEAR(wadi_curve_value(&c[11].parameter[1], 0.0), 0.5, 0.0);
    CHECK_NEAR(wadi_curve_value(&c[11].parameter[2], 0.0), 12.0, 0.0);
    WadiShapeKind kinds[15] = { WADI_SHAPE_BOX,          WADI_SHAPE_BOX,        WADI_SHAPE_SPHERE,
                                WADI_SHAPE_ELLIPSOID,    WADI_SHAPE_CYLINDER,   WADI_SHAPE_CONE,
                                WADI_SHAPE_CAPSULE,      WADI_SHAPE_TORUS,      WADI_SHAPE_HALF_SPACE,
                                WADI_SHAPE_HEIGHTMAP,    WADI_SHAPE_MESH,       WADI_SHAPE_MESH_SEQUENCE,
                                WADI_SHAPE_INTERSECTION, WADI_SHAPE_DIFFERENCE, WADI_SHAPE_SMOOTH_UNION };
    for (int i = 0; i < 15; ++i) {
        assert_int_equal(c[i].kind, kinds[i]);
    }
    uint64_t before = s->content_hash;
    wadi_scene_free(s);

    /* The hash includes the bytes of a file, not its name. */
    snprintf(path, sizeof path, "%s/c.08.obj", folder);
    CHECK_OK(wadi_file_write(path, "other", 5, &error), error);
    CHECK_OK(wadi_scene_parse(&s, &def, &error), error);
    assert_true(s->content_hash != before);
    wadi_scene_free(s);
    for (int i = 0; i < 4; ++i) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void good_scene_files_are_read(void **unused)
{
    (void)unused;
    static const char *const names[] = { "column.yaml", "everything.yaml", "shapes.json" };
    for (int i = 0; i < 3; ++i) {
        char path[1024];
        snprintf(path, sizeof path, "%s/tests/golden/good_scenes/%s", WADI_SOURCE_DIR, names[i]);
        WadiError error = { 0 };
        WadiScene *scene = NULL;
        WadiSceneDef def = { .path = path };
        CHECK_OK(wadi_scene_parse(&scene, &def, &error), error);
        assert_int_equal(strncmp(scene->name, names[i], strlen(scene->name)), 0);
        assert_true(scene->content_hash != 0);
        wadi_scene_free(scene);
    }
}

static void keyframes_are_read_long_and_short(void **unused)
{
    (void)unused;
    WadiScene *s =
        parse(SMALL "gravity: {keys: [{time: 0, value: [0, 0, 0]}, {time: 2, value: [2, 4, 6]}]}\n"
                    "colliders:\n"
                    "  - shape:\n"
                    "      box: {center: {keys: [[0, [0, 0, 0]], [1, [4, 0, 0]]], repeat: true}, size: 2}\n"
                    "      rotate: {keys: [[0, [0, 0, 0]], [1, [0, 0, 90]]], interpolation: step}\n"
                    "    friction: {keys: [[0, 0], [2, 1]], interpolation: smooth}\n"
                    "    restitution: {keys: [[3, 0.25]]}\n");
    check_vector(&s->gravity, 1.0, 1.0, 2.0, 3.0);
    const WadiColliderDef *c = &s->colliders[0];
    check_vector(&c->shape.parameter[0], 0.25, 0.0, -1.0, -1.0);
    check_vector(&c->shape.parameter[1], 0.25, 2.0, 1.0, 1.0);
    check_vector(&c->shape.parameter[1], 5.25, 2.0, 1.0, 1.0);
    check_vector(&c->shape.rotate, 0.99, 0.0, 0.0, 0.0);
    check_vector(&c->shape.rotate, 1.0, 0.0, 0.0, 90.0);
    /* 3 s^2 - 2 s^3 at s = 1/4. */
    CHECK_NEAR(wadi_curve_value(&c->friction, 0.5), 0.15625, 1e-15);
    CHECK_NEAR(wadi_curve_value(&c->restitution, 0.0), 0.25, 0.0);
    assert_true(wadi_curve_is_constant(&c->restitution));
    wadi_scene_free(s);
}

static void json_aliases_and_merge_keys_are_read(void **unused)
{
    (void)unused;
    WadiScene *s = parse(
        "{\"wadi\": 1, \"solver\": \"points\", \"cell_size\": 1e-1,\n\t\"materials\": {\"sand\": {\"kind\": "
        "\"sand\"}},\n\t\"bodies\": [{\"material\": \"sand\", \"shape\": {\"sphere\": {\"radius\": "
        "0.5}}}]}\n");
    WadiScene *t = parse(SMALL);
    assert_true(s->content_hash == t->content_hash);
    wadi_scene_free(s);
    wadi_scene_free(t);

    s = parse("\xEF\xBB\xBFwadi: 1\r\nsolver: points\r\ncell_size: 0x10\r\n"
              "materials:\n"
              "  dry: &dry {kind: sand, density: 1500, friction_angle: 30}\n"
              "  heavy: {<<: *dry, density: 2500}\n"
              "bodies:\n"
              "  - {material: dry, shape: &ball {sphere: {radius: +.5}}}\n"
              "  - {material: heavy, shape: *ball}\n");
    CHECK_NEAR(s->cell_size, 16.0, 0.0);
    CHECK_NEAR(s->materials[1].density, 2500.0, 0.0);
    CHECK_NEAR(wadi_curve_value(&s->materials[1].friction_angle, 0.0), 30.0, 0.0);
    CHECK_NEAR(wadi_curve_value(&s->bodies[1].shape.parameter[1], 0.0), 0.5, 0.0);
    wadi_scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_design_is_read),
        cmocka_unit_test(defaults_are_those_of_the_reference),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(every_shape_is_read),
        cmocka_unit_test(good_scene_files_are_read),
        cmocka_unit_test(keyframes_are_read_long_and_short),
        cmocka_unit_test(json_aliases_and_merge_keys_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
