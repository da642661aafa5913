/* Scenes with overrides: their hash, their name, and failing allocations. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "failing_alloc.h"
#include "io/files/files.h"
#include "scene_text.h"

static void overrides_change_the_scene_and_its_source(void **unused)
{
    (void)unused;
    const char *text = "wadi: 1\nsolver: points\ncell_size: 0.1\ndomain: {min: [0, 0, 0], max: [1, 1, 1]}\n"
                       "materials: {sand: {kind: sand}}\n"
                       "bodies:\n"
                       "  - &b {material: sand, shape: {sphere: {radius: 0.5}}}\n"
                       "  - *b\n";
    const char *sets[] = { "resolution=50",
                           "bodies[0].velocity=[0,0,1]",
                           "bodies.1.shape.sphere.radius=2",
                           "domain.walls.friction={keys: [[0, 0], [1, 1]]}",
                           "name=\"a.b\"",
                           "frames=5" };
    const char *with_gravity[] = { "gravity=[0, 0, -9]", "gravity[2]=-1" };
    WadiScene *s = parse_with(text, sets, 6);
    assert_int_equal(s->resolution, 50);
    CHECK_NEAR(s->cell_size, 0.02, 1e-15);
    CHECK_NEAR(s->bodies[0].velocity.z, 1.0, 0.0);
    /* An alias is a copy: the other body's radius does not change. */
    CHECK_NEAR(wadi_curve_value(&s->bodies[0].shape.parameter[1], 0.0), 0.5, 0.0);
    CHECK_NEAR(wadi_curve_value(&s->bodies[1].shape.parameter[1], 0.0), 2.0, 0.0);
    CHECK_NEAR(wadi_curve_value(&s->wall_friction, 0.5), 0.5, 1e-15);
    assert_string_equal(s->name, "a.b");
    assert_int_equal(s->frames, 5);
    assert_int_equal(
        strncmp(s->source, "# as run with the settings resolution=50 bodies[0].velocity=[0,0,1]", 67), 0);

    /* The source parses to the same scene without the overrides. */
    WadiScene *again = parse(s->source);
    assert_true(again->content_hash == s->content_hash);
    assert_string_equal(again->name, "a.b");
    assert_int_equal(again->frames, 5);
    wadi_scene_free(again);
    wadi_scene_free(s);

    s = parse_with(text, with_gravity, 2);
    check_vector(&s->gravity, 0.0, 0.0, 0.0, -1.0);
    wadi_scene_free(s);
    const char *size[] = { "cell_size=0.5" };
    s = parse_with(
        "wadi: 1\nsolver: points\nresolution: 10\ndomain: {min: [0, 0, 0], max: [1, 1, 1]}\n"
        "materials: {sand: {kind: sand}}\nbodies: [{material: sand, shape: {sphere: {radius: 1}}}]\n",
        size, 1);
    CHECK_NEAR(s->cell_size, 0.5, 0.0);
    assert_int_equal(s->resolution, 0);
    wadi_scene_free(s);
}

static void wrong_overrides_are_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *set, *message;
    } cases[] = {
        { "resolution=abc", "set resolution=abc: resolution: expected a whole number, found the text 'abc'" },
        { "fps", "set fps: expected a path, '=' and a value: bodies[0].velocity=[0, 0, 1]" },
        { "=3", "set =3: expected a path, '=' and a value: bodies[0].velocity=[0, 0, 1]" },
        { "bodies[=3", "set bodies[=3: expected a path, '=' and a value: bodies[0].velocity=[0, 0, 1]" },
        { "fps=", "set fps=: the value is empty" },
        { "gravity=[1",
          "set gravity=[1: flow sequence without a closing bracket; the '[' of line 1, column 1 is still "
          "open" },
        { "bodies[1].jitter=0",
          "set bodies[1].jitter=0: bodies: has 1 entry, counted from 0; there is no [1]" },
        { "bodies.jitter=0", "set bodies.jitter=0: bodies: is a list; give an index, as in bodies[0]" },
        { "cell_size.x=0", "set cell_size.x=0: cell_size: is the number 0.1; it has no 'x'" },
        { "bodies[0].shape.sphere.raduis=1",
          "set bodies[0].shape.sphere.raduis=1: bodies[0].shape.sphere.raduis: unknown key; did you mean "
          "'radius'? "
          "(known: center, radius)" },
        { "frmaes.x=1",
          "set frmaes.x=1: frmaes: unknown key; did you mean 'frames'? (known: wadi, name, solver, domain, "
          "resolution, cell_size, particles_per_cell, frames, fps, seed, gravity, max_step, flip, sph, dem, "
          "surface, secondary, render, texture, visible_only, checkpoint_every, materials, bodies, "
          "colliders, emitters, "
          "drains, "
          "forces)" },
        { "bodies[0].material=snad", "set bodies[0].material=snad: bodies[0].material: unknown material "
                                     "'snad'; did you mean 'sand'? (known: sand)" },
        { "wadi=2", "set wadi=2: wadi: the scene is written in version 2; this wadi reads version 1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        WadiError error = { 0 };
        WadiScene *scene = NULL;
        const char *text = i == 0 ? "wadi: 1\nsolver: points\ndomain: {min: [0, 0, 0], max: [1, 1, 1]}\n"
                                    "materials: {sand: {kind: sand}}\n"
                                    "bodies: [{material: sand, shape: {sphere: {radius: 1}}}]\n"
                                  : SMALL;
        WadiSceneDef def = { .text = text, .sets = &cases[i].set, .set_count = 1 };
        assert_int_equal(wadi_scene_parse(&scene, &def, &error), WADI_ERR_SCENE);
        assert_null(scene);
        assert_string_equal(error.text, cases[i].message);
    }
}

static void the_hash_sees_what_changes_the_simulation_only(void **unused)
{
    (void)unused;
    WadiScene *base = parse(SMALL);
    static const char *const same[] = { "frames=3",
                                        "name=other",
                                        "checkpoint_every=2",
                                        "fps=24.0",
                                        "seed=0",
                                        "gravity=[0, -0.0, -9.81]",
                                        "materials.sand.porosity=0.4" };
    static const char *const other[] = { "fps=25",
                                         "seed=1",
                                         "gravity=[0, 0, -9.8]",
                                         "solver=dem",
                                         "cell_size=0.2",
                                         "bodies[0].shape.sphere.center=[0, 0, 1]",
                                         "bodies[0].jitter=0.5",
                                         "bodies[0].shape.scale=2",
                                         "bodies[0].saturation=0.5",
                                         "materials.sand.density=1601",
                                         "materials.sand.porosity=0.3",
                                         "domain={min: [0, 0, 0], max: [1, 1, 1]}",
                                         "forces=[{kind: drag, rate: 1}]",
                                         "particles_per_cell=1",
                                         "max_step=1" };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; ++i) {
        WadiScene *s = parse_with(SMALL "# a comment\n", &same[i], 1);
        assert_true(s->content_hash == base->content_hash);
        wadi_scene_free(s);
    }
    for (size_t i = 0; i < sizeof other / sizeof other[0]; ++i) {
        WadiScene *s = parse_with(SMALL, &other[i], 1);
        if (s->content_hash == base->content_hash) {
            print_error("%s does not change the hash\n", other[i]);
            fail();
        }
        wadi_scene_free(s);
    }
    wadi_scene_free(base);
}

static void the_name_defaults_to_the_files_stem(void **unused)
{
    (void)unused;
    static const char *const cases[][3] = {
        { "shots/dune 7.yaml", "dune_7", "shots" },
        { "/pile.v2.yml", "pile.v2", "/" },
        { ".yaml", "_yaml", "." },
        { "a/", "scene", "a" },
        { "pile", "pile", "." },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        WadiError error = { 0 };
        WadiScene *scene = NULL;
        WadiSceneDef def = { .path = cases[i][0], .text = SMALL };
        CHECK_OK(wadi_scene_parse(&scene, &def, &error), error);
        assert_string_equal(scene->name, cases[i][1]);
        assert_string_equal(scene->folder, cases[i][2]);
        wadi_scene_free(scene);
    }
}

static void memory_may_fail_at_every_call(void **unused)
{
    (void)unused;
    const char *good = SMALL
        "gravity: {keys: [[0, [0, 0, 0]], [1, [1, 1, 1]]]}\n"
        "forces: [{kind: drag, rate: 1, region: {union: [{box: {size: 1, center: {keys: [[0, [0, 0, 0]], "
        "[1, [1, 0, 0]]]}}}, {sphere: {radius: 1}}]}}]\n"
        "colliders: [&c {name: a, shape: {sphere: {radius: 1}}}, *c]\n";
    const char *bad =
        SMALL "gravty: 1\nfps: x\nforces: [{kind: drga}]\nemitters: [{material: mud}]\nname: a/b\n"
              "colliders: [{shape: {mesh: {file: none.obj}}}, {shape: {box: {}}}]\n";
    const char *texts[2] = { good, bad };
    const char *sets[1] = { "bodies[0].velocity=[0, 0, 1]" };
    for (int t = 0; t < 2; ++t) {
        wadi_set_allocator(&failing_allocator);
        size_t before = wadi_alloc_live_bytes();
        WadiStatus status = WADI_ERR_MEMORY;
        for (alloc_fails_at = 1; status == WADI_ERR_MEMORY; ++alloc_fails_at) {
            alloc_calls = 0;
            WadiError error = { 0 };
            WadiScene *scene = NULL;
            WadiSceneDef def = { .text = texts[t], .sets = sets, .set_count = 1 };
            status = wadi_scene_parse(&scene, &def, &error);
            assert_true((status == WADI_OK) == (scene != NULL));
            assert_true(status == WADI_OK || error.text[0] != '\0');
            wadi_scene_free(scene);
            assert_int_equal(wadi_alloc_live_bytes(), before);
        }
        wadi_set_allocator(NULL);
        assert_int_equal(status, t == 0 ? WADI_OK : WADI_ERR_SCENE);
        assert_true(alloc_fails_at > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overrides_change_the_scene_and_its_source),
        cmocka_unit_test(wrong_overrides_are_named),
        cmocka_unit_test(the_hash_sees_what_changes_the_simulation_only),
        cmocka_unit_test(the_name_defaults_to_the_files_stem),
        cmocka_unit_test(memory_may_fail_at_every_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
