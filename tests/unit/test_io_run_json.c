/* io: run.json. */
#include "core/alloc.h"
#include "expect.h"
#include "io/run/run_json.h"
#include "io_scratch.h"

static void a_summary_comes_back_as_it_was_written(void **unused)
{
    (void)unused;
    WadiError error;
    size_t live = wadi_alloc_live_bytes();
    WadiRunSummary summary = scratch_summary(17), again;
    static char warning[] = "line one\n\"line\\two\" \xc3\xa4";
    summary.warning[summary.warning_count++] = warning;
    summary.max_divergence = (double)NAN;
    summary.state_hash = UINT64_MAX - 1;
    summary.is_finished = true;
    summary.has_resampling = true;
    summary.splits = 3, summary.merges = INT64_C(1) << 40, summary.shares = 5;
    summary.lost_energy = 0.125, summary.lost_spin[2] = -2.5;
    char *json = NULL;
    CHECK_OK(wadi_run_summary_json(&summary, &json, &error), error);
    CHECK_OK(wadi_run_summary_parse("run.json", json, strlen(json), &again, &error), error);
    assert_string_equal(again.scene, summary.scene);
    assert_string_equal(again.name, summary.name);
    assert_string_equal(again.solver, summary.solver);
    assert_true(again.content_hash == summary.content_hash && again.state_hash == summary.state_hash);
    assert_true(again.threads == 2 && again.is_finished && again.frames == 17 && again.frame_count == 72);
    assert_true(again.fps == 24.0 && again.steps == 1000 && again.lost_particles == 0);
    assert_int_equal(again.material_count, 1);
    assert_string_equal(again.material_name[0], "wet \"sand\"");
    assert_true(again.material_particles[0] == 123456789012);
    assert_true(again.seconds_total == 12.5 && again.peak_rss_bytes == 1 << 30);
    assert_int_equal(again.stages.count, 2);
    assert_string_equal(again.stages.name[1], "project");
    assert_true(again.stages.seconds[1] == 3.5);
    assert_true(again.drift_mass == 1e-17 && again.drift_water_mass == 0.0 && again.drift_volume == 0.0);
    assert_true(isnan(again.max_divergence));
    assert_true(again.has_resampling && again.splits == 3 && again.merges == INT64_C(1) << 40);
    assert_true(again.shares == 5 && again.lost_energy == 0.125 && again.lost_spin[0] == 0.0);
    assert_true(again.lost_spin[2] == -2.5);
    assert_int_equal(again.warning_count, 1);
    assert_string_equal(again.warning[0], warning);
    wadi_run_summary_free(&again);
    wadi_string_free(json);
    assert_int_equal(wadi_alloc_live_bytes(), live);
}

static void the_text_has_the_names_of_the_contract(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunSummary summary = scratch_summary(10);
    char *json = NULL;
    CHECK_OK(wadi_run_summary_json(&summary, &json, &error), error);
    const char *lines[] = {
        "  \"wadi\": \"0.2.0\",\n",
        "  \"scene\": \"scenes/column.yaml\",\n",
        "  \"solver\": \"flip\",\n",
        "  \"threads\": 2,\n",
        "  \"finished\": false,\n",
        "  \"frames\": 10,\n",
        "  \"steps\": 1000,\n",
        "  \"particles\": {\n    \"wet \\\"sand\\\"\": 123456789012\n  },\n",
        "  \"lost_particles\": 0,\n",
        "  \"drained_particles\": 0,\n",
        "  \"seconds\": {\n    \"total\": 12.5,\n    \"per_frame\": 1.25,\n    \"stages\": {\n",
        "      \"sort by cell\": 1.25,\n      \"project\": 3.5\n    }\n  },\n",
        "  \"peak_rss_bytes\": 1073741824,\n",
        "  \"state_hash\": \"000000000000002a\",\n",
        "  \"drift\": {\n    \"mass\": 1e-17,\n    \"water_mass\": 0,\n    \"volume\": 0\n  },\n",
        "  \"max_divergence\": 1e-09,\n",
        "  \"warnings\": []\n"
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) {
        if (strstr(json, lines[i]) == NULL) {
            print_error("not in run.json: %s\nrun.json: %s\n", lines[i], json);
            fail();
        }
    }
    wadi_string_free(json);
}

static void damage_is_an_error_that_names_the_file(void **unused)
{
    (void)unused;
    WadiError error;
    size_t live = wadi_alloc_live_bytes();
    WadiRunSummary summary = scratch_summary(10), again;
    char *json = NULL;
    CHECK_OK(wadi_run_summary_json(&summary, &json, &error), error);
    size_t length = strlen(json);
    /* Truncated: the last byte is a newline, the one before closes the object. */
    for (size_t cut = 0; cut + 1 < length; ++cut) {
        error.text[0] = '\0';
        assert_int_equal(wadi_run_summary_parse("run.json", json, cut, &again, &error), WADI_ERR_FORMAT);
        assert_non_null(strstr(error.text, "run.json"));
    }
    /* Any byte changed: an error or another summary, never a crash or a leak. */
    for (size_t i = 0; i < length; ++i) {
        char before = json[i];
        for (int change = 0; change < 4; ++change) {
            json[i] = "\xff}\"9"[change];
            if (wadi_run_summary_parse("run.json", json, length, &again, &error) == WADI_OK) {
                wadi_run_summary_free(&again);
            }
        }
        json[i] = before;
    }
    wadi_string_free(json);
    assert_int_equal(wadi_alloc_live_bytes(), live);
}

static void values_out_of_range_are_named(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunSummary summary = scratch_summary(10), again;
    char *json = NULL;
    CHECK_OK(wadi_run_summary_json(&summary, &json, &error), error);
    const char *pairs[][2] = { { "\"frames\": 10", "\"frames\": -1" },
                               { "\"threads\": 2", "\"threads\": x" },
                               { "\"fps\": 24", "\"fpz\": 24" },
                               { "\"name\": \"column\"", "\"name\": \"../../column\"" },
                               { "\"name\": \"column\"", "\"name\": \"a\\nb\"" },
                               { "\"000000000000002a\"", "\"00000000000000XY\"" } };
    const char *keys[] = { "frames", "threads", "fps", "name", "name", "state_hash" };
    for (int i = 0; i < 6; ++i) {
        char text[4096];
        const char *place = strstr(json, pairs[i][0]);
        assert_non_null(place);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(place - json), json, pairs[i][1],
                 place + strlen(pairs[i][0]));
        assert_int_equal(wadi_run_summary_parse("run.json", text, strlen(text), &again, &error),
                         WADI_ERR_FORMAT);
        /* Text that is not JSON is reported as such. */
        assert_true(strstr(error.text, keys[i]) != NULL || strstr(error.text, "JSON") != NULL);
    }
    wadi_string_free(json);
}

static void a_missing_file_is_an_io_error(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunSummary summary;
    assert_int_equal(wadi_run_summary_read(scratch, &summary, &error), WADI_ERR_IO);
    assert_non_null(strstr(error.text, "run.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_summary_comes_back_as_it_was_written),
        cmocka_unit_test(the_text_has_the_names_of_the_contract),
        cmocka_unit_test(damage_is_an_error_that_names_the_file),
        cmocka_unit_test(values_out_of_range_are_named),
        cmocka_unit_test(a_missing_file_is_an_io_error),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
