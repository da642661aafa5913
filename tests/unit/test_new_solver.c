/* The example solver of CONTRIBUTING.md is complete with its two files and its line: tests/CMakeLists.txt
 * extracts them from the text and builds this test with them. */
#include <stdlib.h>

#include "core/alloc.h"
#include "drift/drift_settings.h"
#include "io/scene/scene_parse.h"
#include "io/scene/scene_schema.h"
#include "scene_sim.h"

#define HEAD(solver)                                                                                         \
    "wadi: 1\nsolver: " solver "\ncell_size: 0.1\nfps: 10\nmaterials: {dust: {kind: sand}}\n"                \
    "bodies: [{material: dust, shape: {box: {size: 0.4}}}]\n"

static uint64_t content_hash(const char *text)
{
    WadiScene *scene = load_scene(text);
    uint64_t hash = scene->content_hash;
    wadi_scene_destroy(scene);
    return hash;
}

static void check_refused(const char *text, const char *message)
{
    WadiError error = { 0 };
    WadiSceneDef def = wadi_default_scene_def();
    def.text = text;
    WadiScene *scene = NULL;
    assert_int_equal(wadi_scene_load(&scene, &def, &error), WADI_ERR_SCENE);
    if (strstr(error.text, message) == NULL) {
        fail_msg("'%s' is not in: %s", message, error.text);
    }
}

static void its_settings_are_read_and_have_defaults(void **unused)
{
    (void)unused;
    WadiScene *scene = load_scene(HEAD("drift"));
    const WadiDriftDef *def = scene->settings;
    CHECK_NEAR(wadi_curve_value3(&def->wind, 5.0).x, 1.0, 0.0);
    CHECK_NEAR(def->fade, 0.0, 0.0);
    wadi_scene_destroy(scene);
    scene = load_scene(HEAD("drift") "drift: {wind: {keys: [[0, [1, 0, 0]], [2, [3, 6, 8]]]}, fade: 0.25}\n");
    def = scene->settings;
    WadiVec3 wind = wadi_curve_value3(&def->wind, 1.0);
    CHECK_NEAR(wind.x, 2.0, 1e-12);
    CHECK_NEAR(wind.y, 3.0, 1e-12);
    CHECK_NEAR(wind.z, 4.0, 1e-12);
    CHECK_NEAR(def->fade, 0.25, 0.0);
    wadi_scene_destroy(scene);
}

static void its_mistakes_are_refused_with_their_position(void **unused)
{
    (void)unused;
    check_refused(HEAD("drift") "drift: {fade: -1}\n",
                  ":7:15: drift.fade: -1 is out of range; expected 0 to 1000 1/s");
    check_refused(HEAD("drift") "drift: {winds: 1}\n", "drift.winds: unknown key; did you mean 'wind'?");
    check_refused(HEAD("drift") "drift: {wind: [0, 0, 0], fade: 2}\n",
                  ":7:32: drift.fade: there is no wind that could fade");
    check_refused(HEAD("points") "drift: {fade: 1}\n",
                  ":7:8: drift: settings of the solver drift, but the solver is points");
    check_refused(HEAD("drift") "flip: {cfl: 1}\n", "settings of the solver flip, but the solver is drift");
    check_refused(HEAD("drifts"), "did you mean 'drift'? (known: drift, points, flip, ");
}

static void nothing_of_a_scene_stays_in_memory(void **unused)
{
    (void)unused;
    size_t before = wadi_alloc_live_bytes();
    wadi_scene_destroy(load_scene(HEAD("drift") "drift: {wind: {keys: [[0, [0, 0, 0]], [2, [4, 6, 8]]]}}\n"));
    check_refused(HEAD("drift") "drift: {wind: {keys: [[0, [0, 0, 0]], [2, [4, 6, 8]]]}, fade: -1}\n",
                  "fade");
    assert_int_equal(wadi_alloc_live_bytes(), before);
}

static void its_settings_are_in_the_hash_of_its_scenes_only(void **unused)
{
    (void)unused;
    uint64_t plain = content_hash(HEAD("drift"));
    assert_true(plain == content_hash(HEAD("drift") "drift: {wind: [1, 0, 0], fade: 0}\n"));
    assert_true(plain != content_hash(HEAD("drift") "drift: {fade: 1}\n"));
    assert_true(plain !=
                content_hash(HEAD("drift") "drift: {wind: {keys: [[0, [1, 0, 0]], [1, [1, 0, 0]]]}}\n"));
}

/* Runs of other solvers that began without this one can be continued: the recorded hashes are of the tree
 * without it. */
static void hashes_of_other_scenes_stay(void **unused)
{
    (void)unused;
    FILE *record = fopen(WADI_SOURCE_DIR "/tests/golden/states/hashes.txt", "r");
    assert_non_null(record);
    char line[256], name[32], path[512];
    unsigned long long hash;
    int count = 0;
    while (fgets(line, sizeof line, record) != NULL) {
        if (line[0] == '#') {
            continue;
        }
        assert_int_equal(sscanf(line, "%31s %llx", name, &hash), 2);
        snprintf(path, sizeof path, WADI_SOURCE_DIR "/tests/golden/states/%s.yaml", name);
        WadiError error = { 0 };
        WadiSceneDef def = wadi_default_scene_def();
        def.path = path;
        WadiScene *scene = NULL;
        CHECK_OK(wadi_scene_load(&scene, &def, &error), error);
        assert_true(scene->content_hash == hash);
        wadi_scene_destroy(scene);
        ++count;
    }
    fclose(record);
    assert_true(count > 0);
}

static void its_keys_are_in_schema_and_reference(void **unused)
{
    (void)unused;
    WadiText text = { 0 };
    wadi_scene_schema_json(&text);
    assert_non_null(strstr(text.data, "\"enum\": [\"drift\", \"points\", \"flip\""));
    assert_non_null(strstr(text.data, "\"drift\": {\"description\": \"Settings of the solver `drift`.\""));
    wadi_text_clear(&text);
    wadi_scene_reference_markdown(&text);
    assert_non_null(strstr(text.data, "## drift\n"));
    assert_non_null(strstr(text.data, "- `solver`: `drift` (particles that move with a wind), "));
    assert_non_null(strstr(text.data, "| `fade` | number, 0 to 1000 1/s | 0 |"));
    wadi_text_free(&text);
}

/* With v = w exp(-a t), x(t) - x(0) = w (1 - exp(-a t)) / a; the relative error of the midpoint rule is (a
 * dt)^2 / 24. */
static void it_runs_and_its_attribute_can_be_viewed(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(HEAD("drift") "drift: {wind: [2, 0, 0], fade: 0.5}\n");
    WadiSim *sim = start_sim(scene, 1);
    WadiView position, velocity, age;
    CHECK_OK(wadi_sim_view(sim, "position", &position, &error), error);
    assert_true(position.count > 0);
    const double first = ((const double *)position.data[0])[0];
    run_frames(sim, 10);
    CHECK_OK(wadi_sim_view(sim, "position", &position, &error), error);
    CHECK_OK(wadi_sim_view(sim, "velocity", &velocity, &error), error);
    CHECK_OK(wadi_sim_view(sim, "age", &age, &error), error);
    CHECK_NEAR(((const double *)position.data[0])[0] - first, 4.0 * (1.0 - exp(-0.5)), 1e-3);
    assert_int_equal(age.type, WADI_VIEW_F32);
    assert_int_equal(age.components, 1);
    for (size_t i = 0; i < age.count; ++i) {
        CHECK_NEAR((double)((const float *)age.data[0])[i], 1.0, 1e-5);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_settings_are_read_and_have_defaults),
        cmocka_unit_test(its_mistakes_are_refused_with_their_position),
        cmocka_unit_test(nothing_of_a_scene_stays_in_memory),
        cmocka_unit_test(its_settings_are_in_the_hash_of_its_scenes_only),
        cmocka_unit_test(hashes_of_other_scenes_stay),
        cmocka_unit_test(its_keys_are_in_schema_and_reference),
        cmocka_unit_test(it_runs_and_its_attribute_can_be_viewed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
