/* io: the run folder. */
#include "core/alloc.h"
#include "expect.h"
#include "io/files/files.h"
#include "io/run/run_files.h"
#include "io_scratch.h"

/* Log messages, for the tests that expect some. */
static char said[8192];

static void remember(void *user, WadiLogLevel level, const char *text)
{
    (void)user;
    (void)level;
    strncat(said, text, sizeof said - strlen(said) - 1);
}

static const WadiLog log_hook = { remember, NULL };

/* A folder with `frames` frames of 10 particles, closed. Frame 2 is a milestone. */
static void make_run(const char *path, int frames)
{
    WadiError error;
    WadiRunFolder *folder = NULL;
    WadiState frame = { 0 };
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_OVERWRITE, NULL, &error), error);
    CHECK_OK(wadi_run_folder_write_scene(folder, "wadi: 1\n", &error), error);
    for (int i = 1; i <= frames; ++i) {
        CHECK_OK(scratch_submit(folder, &frame, i, 10, i == 2, &error), error);
    }
    CHECK_OK(wadi_run_folder_close(folder, &error), error);
    wadi_state_free(&frame);
}

static bool is_there(const char *folder, const char *file)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return wadi_file_exists(path);
}

static void a_run_leaves_the_files_of_the_contract(void **unused)
{
    (void)unused;
    WadiError error;
    size_t live = wadi_alloc_live_bytes();
    const char *path = scratch_path("layout.run");
    make_run(path, 6);
    const char *files[] = { "scene.yaml",
                            "run.json",
                            "particles/column.xdmf",
                            "particles/column.vertices",
                            "particles/column.0001.h5",
                            "particles/column.0006.h5",
                            "checkpoint/column.0002.keep.h5",
                            "checkpoint/column.0005.h5",
                            "checkpoint/column.0006.h5" };
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        assert_true(is_there(path, files[i]));
    }
    char sub[1024];
    snprintf(sub, sizeof sub, "%s/checkpoint", path);
    assert_int_equal(scratch_count(sub, ".h5"), 3);
    assert_false(is_there(path, "lock"));
    assert_int_equal(wadi_run_count_frames(path, "column"), 6);
    WadiRunSummary summary;
    CHECK_OK(wadi_run_summary_read(path, &summary, &error), error);
    assert_int_equal(summary.frames, 6);
    wadi_run_summary_free(&summary);
    assert_int_equal(wadi_alloc_live_bytes(), live);
}

static void a_state_is_borrowed_and_its_uses_are_kept_apart(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunFolder *folder = NULL;
    WadiState state = { 0 }, back = { 0 };
    WadiFrameHeader header = { .frame = 1, .fps = 24.0, .name = "column" };
    const float radius = 0.5f, rest = 0.25f;
    const uint32_t id = 7;
    const double position[3] = { 0.0, 0.5, 1.0 };
    CHECK_OK(wadi_state_put(&state, "id", WADI_TYPE_U32, 1, 1, &id, &error), error);
    state.next_use = WADI_USE_FRAME;
    CHECK_OK(wadi_state_put(&state, "position", WADI_TYPE_F64, 3, 1, position, &error), error);
    CHECK_OK(wadi_state_put(&state, "radius", WADI_TYPE_F32, 1, 1, &radius, &error), error);
    state.next_use = WADI_USE_CHECKPOINT;
    CHECK_OK(wadi_state_put(&state, "vx_rest", WADI_TYPE_F32, 1, 1, &rest, &error), error);
    const char *path = scratch_path("uses.run");
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_NEW, NULL, &error), error);
    WadiRunItem item = { .header = header, .state = &state, .has_frame = true, .has_checkpoint = true };
    CHECK_OK(wadi_run_folder_submit(folder, &item, &error), error);
    CHECK_OK(wadi_run_folder_flush(folder, &error), error);
    assert_int_equal(state.count, 4);

    char file[1024];
    wadi_run_frame_path(file, sizeof file, path, "column", 1);
    CHECK_OK(wadi_frame_file_read(file, "particles", &header, &back, &error), error);
    assert_true(back.count == 3 && wadi_state_find(&back, "radius") != NULL &&
                wadi_state_find(&back, "id") != NULL);
    bool found = false;
    CHECK_OK(wadi_run_folder_read_checkpoint(folder, 1, &back, &header, &found, &error), error);
    assert_true(found && back.count == 2 && wadi_state_find(&back, "vx_rest") != NULL);
    CHECK_OK(wadi_run_folder_close(folder, &error), error);
    wadi_state_free(&state);
    wadi_state_free(&back);
}

static void new_refuses_results_and_overwrite_removes_only_what_wadi_wrote(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunFolder *folder = NULL;
    const char *path = scratch_path("again.run");
    make_run(path, 3);
    assert_int_equal(wadi_run_folder_open(&folder, path, "column", WADI_RUN_NEW, NULL, &error),
                     WADI_ERR_ARGUMENT);
    assert_null(folder);
    assert_int_equal(error.hint, WADI_HINT_HAS_FRAMES);
    assert_non_null(strstr(error.text + error.hint_at, "WADI_RUN_RESUME"));
    char file[1024];
    const char *foreign[] = { "particles/notes.txt",    "particles/other.xdmf", "particles/column.12.h5",
                              "particles/mine.0001.h5", "surface.ply",          "checkpoint/readme" };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; ++i) {
        snprintf(file, sizeof file, "%s/%s", path, foreign[i]);
        CHECK_OK(wadi_file_write(file, "not of wadi", 11, &error), error);
    }
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_OVERWRITE, NULL, &error), error);
    assert_int_equal(wadi_run_folder_frames(folder), 0);
    CHECK_OK(wadi_run_folder_close(folder, &error), error);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; ++i) {
        assert_true(is_there(path, foreign[i]));
    }
    const char *gone[] = { "particles/column.0001.h5", "particles/column.xdmf", "particles/column.vertices",
                           "run.json", "checkpoint/column.0002.keep.h5" };
    for (size_t i = 0; i < sizeof gone / sizeof *gone; ++i) {
        assert_false(is_there(path, gone[i]));
    }
}

static void resuming_finds_the_newest_checkpoint(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunFolder *folder = NULL;
    WadiState state = { 0 }, expected = { 0 };
    WadiFrameHeader header;
    bool found = false;
    const char *path = scratch_path("resume.run");
    make_run(path, 6);
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_RESUME, NULL, &error), error);
    assert_int_equal(wadi_run_folder_frames(folder), 6);
    const int asked[] = { 99, 6, 5, 4, 2 }, given[] = { 6, 6, 5, 2, 2 };
    for (int i = 0; i < 5; ++i) {
        CHECK_OK(wadi_run_folder_read_checkpoint(folder, asked[i], &state, &header, &found, &error), error);
        assert_true(found);
        assert_int_equal(header.frame, given[i]);
        CHECK_OK(scratch_fill(&expected, 10, (uint64_t)given[i] * 100, &error), error);
        assert_true(wadi_state_hash(&state, WADI_USE_BOTH) == wadi_state_hash(&expected, WADI_USE_BOTH));
    }
    CHECK_OK(wadi_run_folder_read_checkpoint(folder, 1, &state, &header, &found, &error), error);
    assert_false(found);
    CHECK_OK(wadi_run_folder_close(folder, &error), error);
    wadi_state_free(&state);
    wadi_state_free(&expected);
}

static void a_damaged_checkpoint_is_skipped_with_a_warning(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunFolder *folder = NULL;
    WadiState state = { 0 };
    WadiFrameHeader header;
    bool found = false;
    const char *path = scratch_path("skip.run");
    make_run(path, 6);
    char file[1024];
    snprintf(file, sizeof file, "%s/checkpoint/column.0006.h5", path);
    assert_int_equal(truncate(file, 3000), 0);
    said[0] = '\0';
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_RESUME, &log_hook, &error), error);
    CHECK_OK(wadi_run_folder_read_checkpoint(folder, 6, &state, &header, &found, &error), error);
    assert_true(found);
    assert_int_equal(header.frame, 5);
    assert_non_null(strstr(said, "column.0006.h5"));
    CHECK_OK(wadi_run_folder_close(folder, &error), error);
    wadi_state_free(&state);
}

static void truncating_goes_back_to_a_frame(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunFolder *folder = NULL;
    const char *path = scratch_path("truncate.run");
    make_run(path, 6);
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_RESUME, NULL, &error), error);
    CHECK_OK(wadi_run_folder_truncate(folder, 5, &error), error);
    assert_int_equal(wadi_run_folder_frames(folder), 5);
    assert_true(is_there(path, "checkpoint/column.0005.h5"));
    assert_false(is_there(path, "checkpoint/column.0006.h5"));
    WadiRunSummary summary;
    CHECK_OK(wadi_run_summary_read(path, &summary, &error), error);
    assert_true(summary.frames == 5 && !summary.is_finished);
    wadi_run_summary_free(&summary);
    char file[1024], *text = NULL;
    size_t length = 0;
    snprintf(file, sizeof file, "%s/particles/column.xdmf", path);
    CHECK_OK(wadi_file_read(file, 1 << 20, &text, &length, &error), error);
    assert_non_null(strstr(text, "column.0005.h5:/particles/velocity"));
    assert_null(strstr(text, "column.0006.h5"));
    wadi_free(text, length + 1, 1);
    CHECK_OK(wadi_run_folder_close(folder, &error), error);
}

static bool index_names(const char *path, const char *frame)
{
    char file[1024], *text = NULL;
    size_t length = 0;
    WadiError error;
    snprintf(file, sizeof file, "%s/particles/column.xdmf", path);
    CHECK_OK(wadi_file_read(file, 1 << 20, &text, &length, &error), error);
    bool is_named = strstr(text, frame) != NULL;
    wadi_free(text, length + 1, 1);
    return is_named;
}

/* Frames without a checkpoint are listed in run.json with the next checkpoint, and at the end. */
static void index_and_summary_keep_the_pace_of_checkpoints(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunFolder *folder = NULL;
    WadiState state = { 0 };
    WadiRunSummary summary;
    const char *path = scratch_path("pace.run");
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_NEW, NULL, &error), error);
    CHECK_OK(scratch_submit(folder, &state, 1, 10, false, &error), error);
    for (int frame = 2; frame <= 3; ++frame) {
        CHECK_OK(wadi_run_folder_flush(folder, &error), error);
        WadiRunSummary told = scratch_summary(frame);
        WadiRunItem item = { .header = { .frame = frame, .fps = 24.0, .name = "column" },
                             .state = &state,
                             .has_frame = true,
                             .summary = &told };
        CHECK_OK(wadi_run_folder_submit(folder, &item, &error), error);
    }
    CHECK_OK(wadi_run_folder_flush(folder, &error), error);
    assert_int_equal(wadi_run_folder_safe_frames(folder), 3);
    assert_true(is_there(path, "particles/column.0003.h5"));
    assert_true(index_names(path, "column.0001.h5") && !index_names(path, "column.0002.h5"));
    CHECK_OK(wadi_run_folder_close(folder, &error), error);
    assert_true(index_names(path, "column.0003.h5"));
    CHECK_OK(wadi_run_summary_read(path, &summary, &error), error);
    assert_int_equal(summary.frames, 3);
    wadi_run_summary_free(&summary);
    wadi_state_free(&state);
}

static void a_resumed_run_has_the_same_index_as_an_unbroken_one(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunFolder *folder = NULL;
    WadiState frame = { 0 };
    char path[2][1024], *text[2] = { NULL, NULL };
    size_t length[2] = { 0, 0 };
    snprintf(path[0], sizeof path[0], "%s", scratch_path("whole.run"));
    snprintf(path[1], sizeof path[1], "%s", scratch_path("broken.run"));
    make_run(path[0], 6);
    make_run(path[1], 4);
    CHECK_OK(wadi_run_folder_open(&folder, path[1], "column", WADI_RUN_RESUME, NULL, &error), error);
    for (int i = 4; i <= 6; ++i) { /* frame 4 is written again */
        CHECK_OK(scratch_submit(folder, &frame, i, 10, false, &error), error);
    }
    CHECK_OK(wadi_run_folder_close(folder, &error), error);
    for (int i = 0; i < 2; ++i) {
        strncat(path[i], "/particles/column.xdmf", sizeof path[i] - strlen(path[i]) - 1);
        CHECK_OK(wadi_file_read(path[i], 1 << 20, &text[i], &length[i], &error), error);
    }
    assert_string_equal(text[0], text[1]);
    wadi_free(text[0], length[0] + 1, 1);
    wadi_free(text[1], length[1] + 1, 1);
    wadi_state_free(&frame);
}

static void a_gap_ends_the_frames(void **unused)
{
    (void)unused;
    const char *path = scratch_path("gap.run");
    make_run(path, 6);
    char file[1024];
    snprintf(file, sizeof file, "%s/particles/column.0004.h5", path);
    assert_int_equal(truncate(file, 1000), 0);
    assert_int_equal(wadi_run_count_frames(path, "column"), 3);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(wadi_run_count_frames(path, "column"), 3);
}

static void names_are_read_as_they_are_written(void **unused)
{
    (void)unused;
    char path[1024];
    bool is_kept = false;
    wadi_run_frame_path(path, sizeof path, "a.run", "column", 7);
    assert_string_equal(path, "a.run/particles/column.0007.h5");
    wadi_run_frame_path(path, sizeof path, "a.run", "column", 123456);
    assert_string_equal(path, "a.run/particles/column.123456.h5");
    assert_int_equal(wadi_run_parse_name("column.0007.h5", "column", &is_kept), 7);
    assert_int_equal(wadi_run_parse_name("column.123456.h5", "column", &is_kept), 123456);
    assert_false(is_kept);
    assert_int_equal(wadi_run_parse_name("column.0007.keep.h5", "column", &is_kept), 7);
    assert_true(is_kept);
    const char *others[] = { "column.7.h5",     "column.00007.h5", "column.0007.h5x",     "column.0007",
                             "columns.0007.h5", ".0007.h5",        "column.0007.h5.tmp-3" };
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        assert_int_equal(wadi_run_parse_name(others[i], "column", &is_kept), -1);
    }
}

static void a_second_opener_is_refused_and_told_who_has_it(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunFolder *first = NULL, *second = NULL;
    const char *path = scratch_path("busy.run");
    CHECK_OK(wadi_run_folder_open(&first, path, "column", WADI_RUN_NEW, NULL, &error), error);
    assert_int_equal(wadi_run_folder_open(&second, path, "column", WADI_RUN_OVERWRITE, NULL, &error),
                     WADI_ERR_BUSY);
    assert_null(second);
    char expected[64];
    snprintf(expected, sizeof expected, "busy.run is in use by process %ld on ", (long)getpid());
    assert_non_null(strstr(error.text, expected));
    assert_non_null(strstr(error.text, "choose another folder"));
    CHECK_OK(wadi_run_folder_close(first, &error), error);
    CHECK_OK(wadi_run_folder_open(&second, path, "column", WADI_RUN_NEW, NULL, &error), error);
    CHECK_OK(wadi_run_folder_close(second, &error), error);
}

static void what_a_dead_process_left_is_taken_over(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunFolder *folder = NULL;
    const char *path = scratch_path("stale.run");
    make_run(path, 2);
    char file[1024];
    const char *left[] = { "lock", "run.json.tmp-77", "particles/column.0003.h5.tmp-77",
                           "particles/column.xdmf.tmp-77", "checkpoint/column.0003.keep.h5.tmp-77" };
    const char *foreign[] = { "notes.tmp-77", "particles/draft.h5.tmp-77" };
    for (int i = 0; i < 7; ++i) {
        snprintf(file, sizeof file, "%s/%s", path, i < 5 ? left[i] : foreign[i - 5]);
        const char *text = "process 77 on elsewhere since 2020-01-01T00:00:00Z\n";
        CHECK_OK(wadi_file_write(file, text, strlen(text), &error), error);
    }
    said[0] = '\0';
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_RESUME, &log_hook, &error), error);
    assert_non_null(strstr(said, "process 77 on elsewhere"));
    assert_int_equal(wadi_run_folder_frames(folder), 2);
    CHECK_OK(wadi_run_folder_close(folder, &error), error);
    for (int i = 0; i < 5; ++i) {
        assert_false(is_there(path, left[i]));
    }
    assert_true(is_there(path, foreign[0]) && is_there(path, foreign[1]));
}

static void bad_names_are_refused(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunFolder *folder = NULL;
    char longest[400] = { 0 };
    memset(longest, 'x', sizeof longest - 1);
    const char *names[] = { "", "a/b", longest };
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(
            wadi_run_folder_open(&folder, scratch_path("x.run"), names[i], WADI_RUN_NEW, NULL, &error),
            WADI_ERR_ARGUMENT);
        assert_null(folder);
    }
    assert_int_equal(wadi_run_folder_close(NULL, NULL), WADI_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_leaves_the_files_of_the_contract),
        cmocka_unit_test(a_state_is_borrowed_and_its_uses_are_kept_apart),
        cmocka_unit_test(new_refuses_results_and_overwrite_removes_only_what_wadi_wrote),
        cmocka_unit_test(resuming_finds_the_newest_checkpoint),
        cmocka_unit_test(a_damaged_checkpoint_is_skipped_with_a_warning),
        cmocka_unit_test(truncating_goes_back_to_a_frame),
        cmocka_unit_test(index_and_summary_keep_the_pace_of_checkpoints),
        cmocka_unit_test(a_resumed_run_has_the_same_index_as_an_unbroken_one),
        cmocka_unit_test(a_gap_ends_the_frames),
        cmocka_unit_test(names_are_read_as_they_are_written),
        cmocka_unit_test(a_second_opener_is_refused_and_told_who_has_it),
        cmocka_unit_test(what_a_dead_process_left_is_taken_over),
        cmocka_unit_test(bad_names_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
