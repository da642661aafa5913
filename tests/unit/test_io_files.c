/* io: files that are complete or absent. */
#include "core/alloc.h"
#include "expect.h"
#include "io/files/files.h"
#include "io_scratch.h"

static void a_file_comes_back_as_it_was_written(void **unused)
{
    (void)unused;
    WadiError error;
    const char *path = scratch_path("bytes");
    for (size_t size = 0; size < 3; ++size) {
        char *bytes = NULL;
        size_t length = 0;
        CHECK_OK(wadi_file_write(path, "a\0b", size, &error), error);
        CHECK_OK(wadi_file_read(path, 3, &bytes, &length, &error), error);
        assert_int_equal(length, size);
        assert_memory_equal(bytes, "a\0b", size);
        assert_int_equal(bytes[size], '\0');
        wadi_free(bytes, length + 1, 1);
    }
    assert_int_equal(scratch_count(scratch, ".tmp-"), 0);
}

/* Pieces of odd sizes with gaps between them, over several blocks of the stream; on many systems tmpfs has no
 * O_DIRECT. */
static void a_stream_comes_back_as_it_was_put(void **unused)
{
    (void)unused;
    WadiError error;
    char in_memory[64];
    snprintf(in_memory, sizeof in_memory, "/dev/shm/wadi-test-%ld", (long)getpid());
    const size_t sizes[] = { 0, 1, 4095, 4096, 1 << 20, (1 << 20) + 1, 3500001 };
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
        for (int where = 0; where < 2; ++where) {
            const char *path = where == 0 ? scratch_path("stream") : in_memory;
            unsigned char *expected = calloc(sizes[n] + 1, 1);
            WadiFileWriter writer;
            if (where == 1 && access("/dev/shm", W_OK) != 0) {
                free(expected);
                continue;
            }
            CHECK_OK(wadi_file_writer_open(&writer, path, &error), error);
            wadi_file_writer_stream(&writer);
            size_t end = 0;
            for (size_t at = 0, piece = 1; at < sizes[n]; at += piece + piece / 5, piece = 3 * piece + 7) {
                size_t size = piece < sizes[n] - at ? piece : sizes[n] - at;
                for (size_t i = 0; i < size; ++i) {
                    expected[at + i] = (unsigned char)(1 + (at + i) * 31 % 251);
                }
                CHECK_OK(wadi_file_writer_put(&writer, expected + at, size, at, &error), error);
                end = at + size;
            }
            CHECK_OK(wadi_file_writer_commit(&writer, &error), error);
            char *bytes = NULL;
            size_t length = 0;
            CHECK_OK(wadi_file_read(path, 1 << 23, &bytes, &length, &error), error);
            assert_int_equal(length, end);
            assert_memory_equal(bytes, expected, end);
            wadi_free(bytes, length + 1, 1);
            free(expected);
        }
    }
    remove(in_memory);
    assert_int_equal(scratch_count(scratch, ".tmp-"), 0);
}

static void a_file_over_the_limit_is_refused_without_reading_it(void **unused)
{
    (void)unused;
    WadiError error;
    char *bytes = NULL;
    size_t length = 0, peak = wadi_alloc_call_count();
    const char *path = scratch_path("large");
    CHECK_OK(wadi_file_write(path, "1234", 4, &error), error);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    assert_int_equal(wadi_file_read(path, 1000, &bytes, &length, &error), WADI_ERR_FORMAT);
    assert_int_equal(wadi_alloc_call_count(), peak);
    assert_null(bytes);
    assert_non_null(strstr(error.text, "large"));
}

static void a_pipe_is_read_to_its_end(void **unused)
{
    (void)unused;
    WadiError error;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "through a pipe", 14), 14);
    close(ends[1]);
    char path[64], *bytes = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_int_equal(wadi_file_read(path, 1000, &bytes, &length, &error), WADI_ERR_IO);
    assert_non_null(strstr(error.text, "not a regular file"));
    CHECK_OK(wadi_file_read_any(path, 1000, &bytes, &length, &error), error);
    assert_string_equal(bytes, "through a pipe");
    wadi_free(bytes, length + 1, 1);
    close(ends[0]);
}

static void errors_name_the_file_and_the_reason(void **unused)
{
    (void)unused;
    WadiError error;
    char *bytes = NULL;
    size_t length = 0;
    assert_int_equal(wadi_file_read(scratch_path("none"), 10, &bytes, &length, &error), WADI_ERR_IO);
    assert_non_null(strstr(error.text, "none"));
    assert_non_null(strstr(error.text, "No such file"));
    CHECK_OK(wadi_file_write(scratch_path("plain"), "x", 1, &error), error);
    assert_int_equal(wadi_file_write(scratch_path("plain/below"), "x", 1, &error), WADI_ERR_IO);
    assert_non_null(strstr(error.text, "plain/below"));
    assert_non_null(strstr(error.text, "Not a directory"));
    assert_int_equal(wadi_folder_make(scratch_path("plain/below"), &error), WADI_ERR_IO);
    assert_int_equal(wadi_file_write("", "x", 1, &error), WADI_ERR_IO);
}

static void an_existing_file_survives_a_failed_replacement(void **unused)
{
    (void)unused;
    WadiError error;
    const char *path = scratch_path("kept");
    CHECK_OK(wadi_file_write(path, "old", 3, &error), error);
    WadiFileWriter writer;
    CHECK_OK(wadi_file_writer_open(&writer, path, &error), error);
    CHECK_OK(wadi_file_writer_put(&writer, "new text", 8, 0, &error), error);
    wadi_file_writer_cancel(&writer);
    char *bytes = NULL;
    size_t length = 0;
    CHECK_OK(wadi_file_read(path, 100, &bytes, &length, &error), error);
    assert_string_equal(bytes, "old");
    wadi_free(bytes, length + 1, 1);
    assert_int_equal(scratch_count(scratch, ".tmp-"), 0);
}

static void folders_are_made_with_their_parents(void **unused)
{
    (void)unused;
    WadiError error;
    CHECK_OK(wadi_folder_make(scratch_path("a//b/c/"), &error), error);
    CHECK_OK(wadi_folder_make(scratch_path("a/b/c"), &error), error);
    assert_true(wadi_file_exists(scratch_path("a/b/c")));
}

typedef struct Seen {
    int count;
    unsigned letters; /* bit n: the entry whose name begins with 'a' + n */
    int fail_at;      /* the visit that fails; 0: none */
} Seen;

static WadiStatus see_entry(void *user, const char *folder, const char *name, WadiError *error)
{
    Seen *seen = user;
    assert_non_null(strstr(folder, "visited"));
    seen->letters |= 1u << (name[0] - 'a');
    return ++seen->count == seen->fail_at ? wadi_fail(error, WADI_ERR_IO, "stop at %s", name) : WADI_OK;
}

static void every_entry_of_a_folder_is_visited_until_one_fails(void **unused)
{
    (void)unused;
    WadiError error;
    Seen seen = { 0 }, stopped = { .fail_at = 2 };
    CHECK_OK(wadi_folder_make(scratch_path("visited/c"), &error), error);
    CHECK_OK(wadi_file_write(scratch_path("visited/a"), "x", 1, &error), error);
    CHECK_OK(wadi_file_write(scratch_path("visited/b"), "x", 1, &error), error);
    CHECK_OK(wadi_folder_visit(scratch_path("visited"), see_entry, &seen, &error), error);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.letters, 0x7);
    assert_int_equal(wadi_folder_visit(scratch_path("visited"), see_entry, &stopped, &error), WADI_ERR_IO);
    assert_int_equal(stopped.count, 2);
    CHECK_OK(wadi_folder_visit(scratch_path("visited/none"), see_entry, &seen, &error), error);
    assert_int_equal(wadi_folder_visit(scratch_path("visited/a"), see_entry, &seen, &error), WADI_ERR_IO);
    assert_non_null(strstr(error.text, "visited/a"));
    assert_int_equal(seen.count, 3);
}

static void temporary_names_are_recognised(void **unused)
{
    (void)unused;
    assert_int_equal(wadi_file_temporary_stem("run.json.tmp-12"), 8);
    assert_int_equal(wadi_file_temporary_stem("a.tmp-1.tmp-22"), 7);
    assert_int_equal(wadi_file_temporary_stem("run.json.tmp-"), 0);
    assert_int_equal(wadi_file_temporary_stem("run.json.tmp-1x"), 0);
    assert_int_equal(wadi_file_temporary_stem(".tmp-1"), 0);
    assert_int_equal(wadi_file_temporary_stem("run.json"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_comes_back_as_it_was_written),
        cmocka_unit_test(a_stream_comes_back_as_it_was_put),
        cmocka_unit_test(a_file_over_the_limit_is_refused_without_reading_it),
        cmocka_unit_test(a_pipe_is_read_to_its_end),
        cmocka_unit_test(errors_name_the_file_and_the_reason),
        cmocka_unit_test(an_existing_file_survives_a_failed_replacement),
        cmocka_unit_test(folders_are_made_with_their_parents),
        cmocka_unit_test(every_entry_of_a_folder_is_visited_until_one_fails),
        cmocka_unit_test(temporary_names_are_recognised),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
