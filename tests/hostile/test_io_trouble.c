/* io with external failures: full disks, read-only folders, folders that vanish, killed processes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/alloc.h"
#include "expect.h"
#include "io/files/files.h"
#include "io_scratch.h"

/* Submit frames of `count` particles until one fails or 20 are written; returns how many were accepted. */
static int submit_until_failure(WadiRunFolder *folder, size_t count, WadiStatus *status, WadiError *error)
{
    WadiState frame = { 0 };
    int accepted = 0;
    *status = WADI_OK;
    while (*status == WADI_OK && accepted < 20) {
        *status = scratch_submit(folder, &frame, accepted + 1, count, false, error);
        accepted += *status == WADI_OK;
    }
    wadi_run_folder_flush(folder, NULL);
    wadi_state_free(&frame);
    return accepted;
}

/* Every existing frame is read correctly, run.json lists no more, and no temporary file is left. */
static void check_whole(const char *path, int at_least)
{
    WadiError error;
    WadiState state = { 0 }, expected = { 0 };
    WadiFrameHeader header;
    int frames = wadi_run_count_frames(path, "column");
    assert_true(frames >= at_least);
    char file[1024];
    for (int i = 1; i <= frames; ++i) {
        wadi_run_frame_path(file, sizeof file, path, "column", i);
        CHECK_OK(wadi_frame_file_read(file, "particles", &header, &state, &error), error);
        assert_int_equal(header.frame, i);
        CHECK_OK(scratch_fill(&expected, state.array[0].count, (uint64_t)i * 100, &error), error);
        assert_true(wadi_state_hash(&state, WADI_USE_BOTH) == wadi_state_hash(&expected, WADI_USE_BOTH));
    }
    WadiRunSummary summary;
    if (wadi_run_summary_read(path, &summary, &error) == WADI_OK) {
        assert_true(summary.frames <= frames);
        wadi_run_summary_free(&summary);
    } else {
        assert_int_equal(error.status, WADI_ERR_IO); /* none yet, but never an incomplete one */
    }
    wadi_state_free(&state);
    wadi_state_free(&expected);
}

static void check_no_temporaries(const char *path)
{
    char sub[1024];
    assert_int_equal(scratch_count(path, ".tmp-"), 0);
    snprintf(sub, sizeof sub, "%s/particles", path);
    assert_int_equal(scratch_count(sub, ".tmp-"), 0);
    snprintf(sub, sizeof sub, "%s/checkpoint", path);
    assert_int_equal(scratch_count(sub, ".tmp-"), 0);
}

static void a_file_size_limit_is_an_error_and_no_signal(void **unused)
{
    (void)unused;
    WadiError error;
    WadiState state = { 0 };
    WadiFrameHeader header = { .frame = 1, .fps = 24.0, .name = "column" };
    CHECK_OK(scratch_fill(&state, 10000, 1, &error), error);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    /* SIGXFSZ has its default action, which would end this program. */
    for (small.rlim_cur = 0; small.rlim_cur < 700000; small.rlim_cur += 50000) {
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        WadiStatus status =
            wadi_frame_file_write(scratch_path("limit.h5"), "particles", &header, &state, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, WADI_ERR_IO);
        assert_non_null(strstr(error.text, "limit.h5"));
        assert_non_null(strstr(error.text, "ulimit -f"));
        assert_false(wadi_file_exists(scratch_path("limit.h5")));
        assert_int_equal(scratch_count(scratch, ".tmp-"), 0);
    }
    CHECK_OK(wadi_frame_file_write(scratch_path("limit.h5"), "particles", &header, &state, &error), error);
    wadi_state_free(&state);
}

static void a_full_disk_keeps_every_finished_frame(void **unused)
{
    (void)unused;
    char mounted[1024], path[1100];
    snprintf(mounted, sizeof mounted, "%s", scratch_path("disk"));
    assert_int_equal(mkdir(mounted, 0700), 0);
    if (mount("tmpfs", mounted, "tmpfs", 0, "size=1m") != 0) {
        print_message("skipped: cannot mount a small disk: %s\n", strerror(errno));
        skip();
    }
    snprintf(path, sizeof path, "%s/full.run", mounted);
    WadiError error = { 0 };
    WadiRunFolder *folder = NULL;
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_NEW, NULL, &error), error);
    WadiStatus status;
    /* A frame has 80 KB and a checkpoint as much, of which two are kept: about ten frames fit. */
    int accepted = submit_until_failure(folder, 1000, &status, &error);
    assert_int_equal(status, WADI_ERR_IO);
    assert_true(accepted > 3 && accepted < 20);
    int safe = wadi_run_folder_frames(folder);
    char expected[64];
    snprintf(expected, sizeof expected, "frames 1 to %d are safe in", safe);
    assert_non_null(strstr(error.text, expected));
    assert_non_null(strstr(error.text, "No space left on device; free some space\n"));
    assert_int_equal(error.hint, WADI_HINT_RESUME);
    assert_non_null(strstr(error.text, "continue with WADI_RUN_RESUME"));
    WadiError later = { 0 };
    assert_int_equal(wadi_run_folder_flush(folder, &later), WADI_ERR_IO);
    assert_string_equal(later.text, error.text);
    assert_int_equal(wadi_run_folder_close(folder, &later), WADI_ERR_IO);
    check_whole(path, accepted - 1);
    check_no_temporaries(path);
    /* With free space the run continues. */
    assert_int_equal(mount("tmpfs", mounted, "tmpfs", MS_REMOUNT, "size=8m"), 0);
    WadiState frame = { 0 }, checkpoint = { 0 };
    WadiFrameHeader header;
    bool found = false;
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_RESUME, NULL, &error), error);
    CHECK_OK(wadi_run_folder_read_checkpoint(folder, safe, &checkpoint, &header, &found, &error), error);
    assert_true(found && header.frame >= safe - 1);
    for (int i = header.frame + 1; i <= safe + 2; ++i) {
        CHECK_OK(scratch_submit(folder, &frame, i, 1000, false, &error), error);
    }
    CHECK_OK(wadi_run_folder_close(folder, &error), error);
    check_whole(path, safe + 2);
    wadi_state_free(&frame);
    wadi_state_free(&checkpoint);
    assert_int_equal(umount(mounted), 0);
}

static void a_read_only_folder_is_refused(void **unused)
{
    (void)unused;
    WadiError error;
    WadiRunFolder *folder = NULL;
    CHECK_OK(wadi_file_write(scratch_path("plain"), "x", 1, &error), error);
    const char *places[] = { scratch_path("plain/a.run"), "/proc/wadi.run" };
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(wadi_run_folder_open(&folder, places[i], "column", WADI_RUN_NEW, NULL, &error),
                         WADI_ERR_IO);
        assert_null(folder);
        assert_non_null(strstr(error.text, places[i]));
    }
    const char *mounted = scratch_path("fixed");
    assert_int_equal(mkdir(mounted, 0700), 0);
    if (mount("tmpfs", mounted, "tmpfs", MS_RDONLY, "size=1m") != 0) {
        print_message("part skipped: cannot mount a read-only disk: %s\n", strerror(errno));
        return;
    }
    assert_int_equal(wadi_run_folder_open(&folder, mounted, "column", WADI_RUN_NEW, NULL, &error),
                     WADI_ERR_IO);
    assert_non_null(strstr(error.text, "choose a folder that can be written"));
    assert_int_equal(umount(mounted), 0);
}

static void a_folder_that_vanishes_is_an_error(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiRunFolder *folder = NULL;
    size_t live = wadi_alloc_live_bytes();
    const char *path = scratch_path("vanish.run");
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_NEW, NULL, &error), error);
    scratch_remove_tree(path);
    WadiStatus status;
    assert_true(submit_until_failure(folder, 10, &status, &error) <= 1);
    assert_int_equal(status, WADI_ERR_IO);
    assert_non_null(strstr(error.text, "frame 1: the folder"));
    assert_non_null(strstr(error.text, "no frame is in"));
    assert_int_equal(wadi_run_folder_close(folder, &error), WADI_ERR_IO);
    assert_int_equal(wadi_alloc_live_bytes(), live);
}

/* What the message says is looked up: files may have been removed, or the folder replaced. */
static void only_frames_that_are_there_are_called_safe(void **unused)
{
    (void)unused;
    enum { VANISHED, MOVED, REPLACED, FRAME_REMOVED, CASES };
    for (int which = 0; which < CASES; ++which) {
        WadiError error = { 0 };
        WadiRunFolder *folder = NULL;
        WadiState frame = { 0 };
        char path[1024], other[1100], file[1200];
        snprintf(path, sizeof path, "%s/safe-%d.run", scratch, which);
        snprintf(other, sizeof other, "%s.moved", path);
        CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_NEW, NULL, &error), error);
        for (int i = 1; i <= 5; ++i) {
            CHECK_OK(scratch_submit(folder, &frame, i, 10, false, &error), error);
            CHECK_OK(wadi_run_folder_flush(folder, &error), error);
        }
        if (which == VANISHED) {
            scratch_remove_tree(path);
        } else if (which == FRAME_REMOVED) {
            wadi_run_frame_path(file, sizeof file, path, "column", 4);
            assert_int_equal(unlink(file), 0);
            snprintf(file, sizeof file, "%s/checkpoint", path);
            scratch_remove_tree(file); /* so that the next write fails */
        } else {
            assert_int_equal(rename(path, other), 0);
        }
        if (which == REPLACED) { /* by a run of the same name */
            WadiRunFolder *second = NULL;
            WadiState first_frame = { 0 };
            CHECK_OK(wadi_run_folder_open(&second, path, "column", WADI_RUN_NEW, NULL, &error), error);
            CHECK_OK(scratch_submit(second, &first_frame, 1, 10, false, &error), error);
            CHECK_OK(wadi_run_folder_close(second, &error), error);
            wadi_state_free(&first_frame);
        }
        scratch_submit(folder, &frame, 6, 10, false, &error);
        assert_int_equal(wadi_run_folder_flush(folder, &error), WADI_ERR_IO);
        const bool is_removed = which == FRAME_REMOVED;
        assert_non_null(strstr(error.text, is_removed ? "frames 1 to 3 are safe in" : "no frame is in"));
        assert_int_equal(wadi_run_folder_safe_frames(folder), is_removed ? 3 : 0);
        assert_int_equal(wadi_run_folder_close(folder, &error), WADI_ERR_IO);
        assert_int_equal(wadi_run_count_frames(path, "column"), which == REPLACED ? 1 : is_removed ? 3 : 0);
        wadi_state_free(&frame);
    }
}

/* A run that ends after its folder is gone is no success. */
static void a_folder_that_is_gone_at_the_end_is_an_error(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiRunFolder *folder = NULL;
    WadiState frame = { 0 };
    const char *path = scratch_path("gone.run");
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_NEW, NULL, &error), error);
    CHECK_OK(scratch_submit(folder, &frame, 1, 10, false, &error), error);
    CHECK_OK(wadi_run_folder_flush(folder, &error), error);
    scratch_remove_tree(path);
    assert_int_equal(wadi_run_folder_close(folder, &error), WADI_ERR_IO);
    assert_non_null(strstr(error.text, "removed"));
    wadi_state_free(&frame);
}

static void a_killed_process_leaves_whole_files_only(void **unused)
{
    (void)unused;
    const char *path = scratch_path("killed.run");
    int taken_over = 0;
    for (int round = 0; round < 20; ++round) {
        scratch_remove_tree(path);
        int ready[2];
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            WadiRunFolder *folder = NULL;
            WadiState frame = { 0 };
            if (wadi_run_folder_open(&folder, path, "column", WADI_RUN_NEW, NULL, NULL) != WADI_OK) {
                _exit(1);
            }
            for (int i = 1; i < 1000; ++i) {
                if (scratch_submit(folder, &frame, i, 20000, false, NULL) != WADI_OK ||
                    (i == 1 && write(ready[1], "", 1) != 1)) {
                    _exit(1);
                }
            }
            _exit(0);
        }
        char byte;
        close(ready[1]);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        usleep(20000 + 7001 * (unsigned)round);
        assert_int_equal(kill(child, SIGKILL), 0);
        int result = 0;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFSIGNALED(result));

        check_whole(path, 0);
        WadiError error;
        WadiRunFolder *folder = NULL;
        WadiState state = { 0 }, expected = { 0 };
        WadiFrameHeader header;
        bool found = false;
        int frames = wadi_run_count_frames(path, "column");
        taken_over += frames > 0;
        CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_RESUME, NULL, &error), error);
        check_no_temporaries(path);
        CHECK_OK(wadi_run_folder_read_checkpoint(folder, frames, &state, &header, &found, &error), error);
        /* A frame is followed by its checkpoint, so at most the last frame has none. */
        assert_true(found || frames <= 1);
        if (found) {
            assert_true(header.frame >= frames - 1);
            CHECK_OK(scratch_fill(&expected, 20000, (uint64_t)header.frame * 100, &error), error);
            assert_true(wadi_state_hash(&state, WADI_USE_BOTH) == wadi_state_hash(&expected, WADI_USE_BOTH));
        }
        CHECK_OK(wadi_run_folder_close(folder, &error), error);
        wadi_state_free(&state);
        wadi_state_free(&expected);
    }
    assert_true(taken_over > 0);
}

static void another_process_at_the_same_folder_is_refused(void **unused)
{
    (void)unused;
    WadiError error;
    const char *path = scratch_path("two.run");
    int ready[2], done[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(done), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        WadiRunFolder *folder = NULL;
        char byte = 0;
        bool is_good = wadi_run_folder_open(&folder, path, "column", WADI_RUN_NEW, NULL, NULL) == WADI_OK &&
                       write(ready[1], "", 1) == 1 && read(done[0], &byte, 1) == 1;
        _exit(!is_good); /* without closing: the kernel must release the lock */
    }
    char byte, expected[64];
    assert_int_equal(read(ready[0], &byte, 1), 1);
    WadiRunFolder *folder = NULL;
    assert_int_equal(wadi_run_folder_open(&folder, path, "column", WADI_RUN_NEW, NULL, &error),
                     WADI_ERR_BUSY);
    snprintf(expected, sizeof expected, "in use by process %ld on", (long)child);
    assert_non_null(strstr(error.text, expected));
    assert_int_equal(write(done[1], "", 1), 1);
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    CHECK_OK(wadi_run_folder_open(&folder, path, "column", WADI_RUN_NEW, NULL, &error), error);
    CHECK_OK(wadi_run_folder_close(folder, &error), error);
    for (int i = 0; i < 2; ++i) {
        close(ready[i]);
        close(done[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_size_limit_is_an_error_and_no_signal),
        cmocka_unit_test(a_full_disk_keeps_every_finished_frame),
        cmocka_unit_test(a_read_only_folder_is_refused),
        cmocka_unit_test(a_folder_that_vanishes_is_an_error),
        cmocka_unit_test(only_frames_that_are_there_are_called_safe),
        cmocka_unit_test(a_folder_that_is_gone_at_the_end_is_an_error),
        cmocka_unit_test(a_killed_process_leaves_whole_files_only),
        cmocka_unit_test(another_process_at_the_same_folder_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
