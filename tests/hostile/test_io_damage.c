/* io with damaged files and with failing allocations. */
#include <fcntl.h>

#include "core/alloc.h"
#include "failing_alloc.h"
#include "io/files/files.h"
#include "io/frame/frame_block.h"
#include "io_scratch.h"

/* A frame of `count` particles at `path`, its bytes, and its layout. */
static void make_frame(const char *path, size_t count, char **bytes, size_t *size, WadiFrameLayout *layout)
{
    WadiError error;
    WadiState state = { 0 };
    WadiFrameHeader header = { .time = 0.25, .frame = 4, .fps = 24.0, .name = "column" };
    CHECK_OK(scratch_fill(&state, count, 5, &error), error);
    CHECK_OK(wadi_frame_file_write(path, "particles", &header, &state, &error), error);
    CHECK_OK(wadi_file_read(path, 1 << 24, bytes, size, &error), error);
    CHECK_OK(wadi_frame_file_read_layout(path, "particles", layout, &error), error);
    wadi_state_free(&state);
}

static void overwrite(const char *path, const char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/* Whether the byte is used: metadata, or a value of an array. */
static bool is_meaningful(const WadiFrameLayout *layout, size_t place)
{
    bool is_value = false;
    for (int i = 0; i < layout->array_count; ++i) {
        const WadiFrameArray *array = &layout->array[i];
        size_t bytes = array->count * (size_t)array->components * wadi_type_size(array->type);
        is_value = is_value || (place >= array->offset && place < array->offset + bytes);
    }
    return is_value || place < layout->metadata_size;
}

static void every_changed_byte_is_found(void **unused)
{
    (void)unused;
    WadiError error;
    const char *path = scratch_path("changed.h5");
    char *bytes = NULL;
    size_t size = 0;
    WadiFrameLayout layout;
    make_frame(path, 30, &bytes, &size, &layout);
    size_t live = wadi_alloc_live_bytes();
    for (size_t place = 0; place < size; place += place < 600 ? 1 : 7) {
        bytes[place] = (char)(bytes[place] ^ (1 << place % 8));
        overwrite(path, bytes, size);
        WadiState state = { 0 };
        WadiFrameHeader header;
        WadiStatus status = wadi_frame_file_read(path, "particles", &header, &state, &error);
        if (is_meaningful(&layout, place)) {
            assert_int_equal(status, WADI_ERR_FORMAT);
            assert_non_null(strstr(error.text, "changed.h5"));
            assert_int_equal(state.count, 0);
        } else {
            CHECK_OK(status, error);
        }
        wadi_state_free(&state);
        bytes[place] = (char)(bytes[place] ^ (1 << place % 8));
    }
    assert_int_equal(wadi_alloc_live_bytes(), live);
    wadi_free(bytes, size + 1, 1);
}

static void a_damaged_array_is_named(void **unused)
{
    (void)unused;
    WadiError error;
    const char *path = scratch_path("array.h5");
    char *bytes = NULL;
    size_t size = 0;
    WadiFrameLayout layout;
    make_frame(path, 30, &bytes, &size, &layout);
    for (int i = 0; i < layout.array_count; ++i) {
        size_t place = (size_t)layout.array[i].offset;
        bytes[place] ^= 1;
        overwrite(path, bytes, size);
        WadiState state = { 0 };
        WadiFrameHeader header;
        char expected[64];
        assert_int_equal(wadi_frame_file_read(path, "particles", &header, &state, &error), WADI_ERR_FORMAT);
        snprintf(expected, sizeof expected, "dataset '%s'", layout.array[i].name);
        assert_non_null(strstr(error.text, expected));
        CHECK_OK(wadi_frame_file_check(path, &error), error); /* cheap: it does not read values */
        wadi_state_free(&state);
        bytes[place] ^= 1;
    }
    wadi_free(bytes, size + 1, 1);
}

static void every_cut_file_is_found(void **unused)
{
    (void)unused;
    WadiError error;
    const char *path = scratch_path("cut.h5");
    char *bytes = NULL;
    size_t size = 0;
    WadiFrameLayout layout;
    make_frame(path, 30, &bytes, &size, &layout);
    for (size_t cut = 0; cut < size; cut += cut < 600 || cut + 64 > size ? 1 : 13) {
        overwrite(path, bytes, cut);
        WadiState state = { 0 };
        WadiFrameHeader header;
        assert_int_equal(wadi_frame_file_read(path, "particles", &header, &state, &error), WADI_ERR_FORMAT);
        assert_int_equal(wadi_frame_file_check(path, &error), WADI_ERR_FORMAT);
        wadi_state_free(&state);
    }
    overwrite(path, bytes, size);
    int fd = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    assert_int_equal(wadi_frame_file_check(path, &error), WADI_ERR_FORMAT);
    wadi_free(bytes, size + 1, 1);
}

/* A forged table with matching hashes. */
static void a_forged_table_is_refused_before_memory_is_asked_for(void **unused)
{
    (void)unused;
    WadiError error;
    const char *path = scratch_path("forged.h5");
    char *bytes = NULL;
    size_t size = 0;
    WadiFrameLayout layout;
    make_frame(path, 30, &bytes, &size, &layout);
    for (int lie = 0; lie < 12; ++lie) {
        WadiUserBlock block;
        memcpy(&block, bytes, sizeof block);
        WadiBlockArray *array = &block.array[1];
        switch (lie) {
        case 0: array->count = UINT64_MAX / 12; break;
        case 1: array->count = UINT64_MAX; break;
        case 2: array->offset = UINT64_MAX; break;
        case 3: array->offset = 0; break;
        case 4: array->offset = block.file_size - 3; break;
        case 5: array->type = 6; break;
        case 6: array->components = UINT32_MAX; break;
        case 7: array->components = 0; break;
        case 8: memset(array->name, 'x', sizeof array->name); break;
        case 9: memcpy(array->name, block.array[0].name, sizeof array->name); break;
        case 10: block.array_count = WADI_STATE_MAX + 1; break;
        case 11: block.frame = INT64_MIN; break;
        }
        unsigned char *forged = NULL;
        CHECK_OK(WADI_NEW(&forged, size, "forged file", &error), error);
        memcpy(forged, bytes, size);
        memcpy(forged, &block, sizeof block);
        block.block_hash = wadi_block_hash(forged);
        memcpy(forged, &block, sizeof block);
        overwrite(path, (const char *)forged, size);
        WADI_DELETE(forged, size);
        WadiState state = { 0 };
        WadiFrameHeader header;
        size_t calls = wadi_alloc_call_count();
        assert_int_equal(wadi_frame_file_read(path, "particles", &header, &state, &error), WADI_ERR_FORMAT);
        assert_non_null(strstr(error.text, "forged.h5"));
        assert_true(wadi_alloc_call_count() <= calls + 1); /* the HDF5 metadata */
        wadi_state_free(&state);
    }
    wadi_free(bytes, size + 1, 1);
}

/* All operations of a run on its folder. Returns the first failure. */
static WadiStatus whole_life(const char *path, WadiError *error)
{
    WadiRunFolder *folder = NULL;
    WadiState frame = { 0 }, checkpoint = { 0 };
    WadiFrameHeader header;
    WadiRunSummary summary = { 0 };
    bool found = false;
    WadiStatus status = wadi_run_folder_open(&folder, path, "column", WADI_RUN_OVERWRITE, NULL, error);
    for (int i = 1; i <= 2 && status == WADI_OK; ++i) {
        status = scratch_submit(folder, &frame, i, 20, i == 1, error);
    }
    if (status == WADI_OK) {
        status = wadi_run_folder_flush(folder, error);
    }
    WadiStatus closed = wadi_run_folder_close(folder, status == WADI_OK ? error : NULL);
    status = status == WADI_OK ? closed : status;
    folder = NULL;
    if (status == WADI_OK) {
        status = wadi_run_summary_read(path, &summary, error);
    }
    wadi_run_summary_free(&summary);
    if (status == WADI_OK) {
        status = wadi_run_folder_open(&folder, path, "column", WADI_RUN_RESUME, NULL, error);
    }
    if (status == WADI_OK) {
        status = wadi_run_folder_read_checkpoint(folder, 1, &checkpoint, &header, &found, error);
        assert_true(status != WADI_OK || found);
    }
    if (status == WADI_OK) {
        status = wadi_run_folder_truncate(folder, 1, error);
    }
    closed = wadi_run_folder_close(folder, NULL);
    status = status == WADI_OK ? closed : status;
    wadi_state_free(&frame);
    wadi_state_free(&checkpoint);
    return status;
}

static void without_memory_there_is_an_error_and_no_leak(void **unused)
{
    (void)unused;
    const char *path = scratch_path("memory.run");
    assert_int_equal(wadi_alloc_live_bytes(), 0);
    wadi_set_allocator(&failing_allocator);
    long failures = 0;
    WadiStatus status;
    do {
        alloc_calls = 0;
        alloc_fails_at += 1;
        WadiError error = { 0 };
        status = whole_life(path, &error);
        if (status != WADI_OK) {
            assert_int_equal(status, WADI_ERR_MEMORY);
            assert_int_equal(error.status, WADI_ERR_MEMORY);
            assert_non_null(strstr(error.text, "out of memory"));
            failures += 1;
        }
        assert_int_equal(wadi_alloc_live_bytes(), 0);
    } while (alloc_calls >= alloc_fails_at);
    wadi_set_allocator(NULL);
    assert_int_equal(status, WADI_OK);
    print_message("%ld calls of the allocator, each of which failed once\n", failures);
    assert_true(failures > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_changed_byte_is_found),
        cmocka_unit_test(a_damaged_array_is_named),
        cmocka_unit_test(every_cut_file_is_found),
        cmocka_unit_test(a_forged_table_is_refused_before_memory_is_asked_for),
        cmocka_unit_test(without_memory_there_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
