/* io: frame files. */
#include "core/alloc.h"
#include "core/timer.h"
#include "expect.h"
#include "io/files/files.h"
#include "io_scratch.h"

static const WadiFrameHeader header = {
    .time = 1.0 / 3.0, .frame = 9, .fps = 23.976, .name = "s\xc3\xa4ule"
};

static size_t file_size(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (size_t)info.st_size : 0;
}

static void a_million_particles_come_back_bit_for_bit(void **unused)
{
    (void)unused;
    enum { N = 1000000 };
    WadiError error;
    WadiState state = { 0 }, again = { 0 };
    WadiFrameHeader read;
    const char *path = scratch_path("million.h5");
    CHECK_OK(scratch_fill(&state, N, 1, &error), error);
    double start = wadi_time_now();
    CHECK_OK(wadi_frame_file_write(path, "particles", &header, &state, &error), error);
    double written = wadi_time_now();
    CHECK_OK(wadi_frame_file_read(path, "particles", &read, &again, &error), error);
    double finished = wadi_time_now();
    print_message("%.1f MB: write %.0f MB/s with fsync, read %.0f MB/s\n", (double)file_size(path) * 1e-6,
                  (double)file_size(path) * 1e-6 / (written - start),
                  (double)file_size(path) * 1e-6 / (finished - written));
    assert_memory_equal(&read, &header, sizeof header);
    assert_int_equal(again.count, state.count);
    for (int i = 0; i < state.count; ++i) {
        const WadiStateArray *a = &state.array[i], *b = &again.array[i];
        assert_string_equal(a->name, b->name);
        assert_true(a->type == b->type && a->components == b->components && a->count == b->count);
        assert_memory_equal(a->data, b->data, N * (size_t)a->components * wadi_type_size(a->type));
    }
    assert_true(wadi_state_hash(&state, WADI_USE_BOTH) == wadi_state_hash(&again, WADI_USE_BOTH));
    size_t calls = wadi_alloc_call_count();
    CHECK_OK(wadi_frame_file_read(path, "particles", &read, &again, &error), error);
    assert_int_equal(wadi_alloc_call_count(), calls + 1); /* the metadata alone */
    wadi_state_free(&state);
    wadi_state_free(&again);
}

/* Small arrays are in the gaps that sectors leave between large ones. */
static void small_and_large_arrays_share_a_file(void **unused)
{
    (void)unused;
    WadiError error;
    const size_t counts[] = { 1, 300000, 5, 0, 1000, 300001, 4096, 3 };
    WadiState state = { 0 }, again = { 0 };
    WadiFrameHeader read;
    const char *path = scratch_path("mixed.h5");
    for (int a = 0; a < 8; ++a) {
        char name[WADI_STATE_NAME_SIZE];
        unsigned char *data = NULL;
        snprintf(name, sizeof name, "array_%d", a);
        CHECK_OK(wadi_state_add(&state, name, a % 2 == 0 ? WADI_TYPE_U8 : WADI_TYPE_F64, 1, counts[a],
                                (void **)&data, &error),
                 error);
        for (size_t i = 0; i < wadi_state_array_bytes(&state.array[a]); ++i) {
            data[i] = (unsigned char)(i * 7 + (size_t)a);
        }
    }
    CHECK_OK(wadi_frame_file_write(path, "state", &header, &state, &error), error);
    assert_in_range(wadi_frame_file_bytes(&state), file_size(path), file_size(path) + 8192);
    CHECK_OK(wadi_frame_file_read(path, "state", &read, &again, &error), error);
    assert_true(wadi_state_hash(&state, WADI_USE_BOTH) == wadi_state_hash(&again, WADI_USE_BOTH));
    wadi_state_free(&state);
    wadi_state_free(&again);
}

static void the_size_is_known_beforehand(void **unused)
{
    (void)unused;
    WadiError error;
    const size_t counts[] = { 0, 1, 63, 1000 };
    for (int arrays = 0; arrays <= WADI_STATE_MAX; arrays += 16) {
        for (int i = 0; i < 4; ++i) {
            WadiState state = { 0 }, again = { 0 };
            for (int a = 0; a < arrays; ++a) {
                char name[WADI_STATE_NAME_SIZE];
                void *data = NULL;
                memset(name, 'n', sizeof name - 1);
                name[0] = (char)('a' + a % 26), name[1] = (char)('a' + a / 26);
                name[sizeof name - 1] = '\0';
                CHECK_OK(wadi_state_add(&state, name, (WadiType)(a % 6), 1 + a % 9, a == 3 ? 0 : counts[i],
                                        &data, &error),
                         error);
            }
            WadiFrameHeader longest = header, read;
            memset(longest.name, 'n', sizeof longest.name - 1);
            const char *path = scratch_path("size.h5");
            CHECK_OK(wadi_frame_file_write(path, "state", &longest, &state, &error), error);
            assert_int_equal(file_size(path), wadi_frame_file_bytes(&state));
            CHECK_OK(wadi_frame_file_read(path, "state", &read, &again, &error), error);
            assert_int_equal(again.count, arrays);
            assert_string_equal(read.name, longest.name);
            assert_true(wadi_state_hash(&state, WADI_USE_BOTH) == wadi_state_hash(&again, WADI_USE_BOTH));
            wadi_state_free(&state);
            wadi_state_free(&again);
        }
    }
}

static void equal_input_gives_equal_bytes(void **unused)
{
    (void)unused;
    WadiError error;
    WadiState state = { 0 };
    CHECK_OK(scratch_fill(&state, 100, 1, &error), error);
    char *bytes[2] = { NULL, NULL };
    size_t size[2] = { 0, 0 };
    for (int i = 0; i < 2; ++i) {
        const char *path = scratch_path(i ? "second.h5" : "first.h5");
        CHECK_OK(wadi_frame_file_write(path, "particles", &header, &state, &error), error);
        CHECK_OK(wadi_file_read(path, 1 << 20, &bytes[i], &size[i], &error), error);
        usleep(1100000 * (1 - (unsigned)i)); /* time stamps would have a resolution of a second */
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    for (int i = 0; i < 2; ++i) {
        wadi_free(bytes[i], size[i] + 1, 1);
    }
    wadi_state_free(&state);
}

static void arrays_lie_on_multiples_of_64_bytes_and_hold_the_raw_values(void **unused)
{
    (void)unused;
    WadiError error;
    WadiState state = { 0 };
    const char *path = scratch_path("raw.h5");
    CHECK_OK(scratch_fill(&state, 77, 3, &error), error);
    CHECK_OK(wadi_frame_file_write(path, "particles", &header, &state, &error), error);
    WadiFrameLayout layout;
    CHECK_OK(wadi_frame_file_read_layout(path, "particles", &layout, &error), error);
    char *bytes = NULL;
    size_t size = 0;
    CHECK_OK(wadi_file_read(path, 1 << 20, &bytes, &size, &error), error);
    assert_int_equal(layout.array_count, state.count);
    for (int i = 0; i < state.count; ++i) {
        const WadiStateArray *array = &state.array[i];
        assert_int_equal(layout.array[i].offset % 64, 0);
        assert_memory_equal(bytes + layout.array[i].offset, array->data,
                            77 * (size_t)array->components * wadi_type_size(array->type));
    }
    wadi_free(bytes, size + 1, 1);
    wadi_state_free(&state);
}

/* h5py as the reference: HDF5 reads from the file what was written. */
static void hdf5_readers_find_the_same_values(void **unused)
{
    (void)unused;
    if (system("/usr/bin/python3 -c 'import h5py' 2>/dev/null") != 0) {
        print_message("skipped: no h5py\n");
        skip();
    }
    WadiError error;
    WadiState state = { 0 };
    CHECK_OK(scratch_fill(&state, 1234, 9, &error), error);
    const char *path = scratch_path("oracle.h5");
    CHECK_OK(wadi_frame_file_write(path, "particles", &header, &state, &error), error);
    for (int i = 0; i < state.count; ++i) {
        const WadiStateArray *array = &state.array[i];
        static const char *const types[] = { "<u1", "<u4", "<u8", "<i4", "<f4", "<f8" };
        char command[4096], dump[1024], shape[32] = "(1234,)", *bytes = NULL;
        size_t size = 0;
        snprintf(dump, sizeof dump, "%s.dump", path);
        if (array->components > 1) {
            snprintf(shape, sizeof shape, "(1234, %d)", array->components);
        }
        snprintf(
            command, sizeof command,
            "/usr/bin/python3 -c \"import h5py, numpy; f = h5py.File('%s'); d = f['particles/%s']; "
            "assert d.dtype == numpy.dtype('%s') and d.shape == %s and d.attrs['checksum'].dtype == 'u8'; "
            "assert f.attrs['frame'] == 9 and f.attrs['fps'] == 23.976 and f.attrs['up'] == b'z'; "
            "d[:].tofile('%s')\"",
            path, array->name, types[array->type], shape, dump);
        assert_int_equal(system(command), 0);
        CHECK_OK(wadi_file_read(dump, 1 << 20, &bytes, &size, &error), error);
        assert_int_equal(size, 1234 * (size_t)array->components * wadi_type_size(array->type));
        assert_memory_equal(bytes, array->data, size);
        wadi_free(bytes, size + 1, 1);
    }
    wadi_state_free(&state);
}

static void a_checkpoint_is_not_taken_for_a_frame(void **unused)
{
    (void)unused;
    WadiError error;
    WadiState state = { 0 };
    WadiFrameHeader read;
    const char *path = scratch_path("kind.h5");
    CHECK_OK(wadi_frame_file_write(path, "state", &header, &state, &error), error);
    assert_int_equal(wadi_frame_file_read(path, "particles", &read, &state, &error), WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "wadi-checkpoint 1"));
    CHECK_OK(wadi_frame_file_read(path, "state", &read, &state, &error), error);
    assert_int_equal(state.count, 0);
}

static void other_files_are_refused(void **unused)
{
    (void)unused;
    WadiError error;
    WadiState state = { 0 };
    WadiFrameHeader read;
    assert_int_equal(wadi_frame_file_read(scratch_path("none.h5"), "state", &read, &state, &error),
                     WADI_ERR_IO);
    assert_int_equal(wadi_frame_file_read(scratch, "state", &read, &state, &error), WADI_ERR_FORMAT);
    CHECK_OK(wadi_file_write(scratch_path("text.h5"), "text", 4, &error), error);
    assert_int_equal(wadi_frame_file_read(scratch_path("text.h5"), "state", &read, &state, &error),
                     WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "text.h5"));
    assert_int_equal(wadi_frame_file_check(scratch_path("text.h5"), &error), WADI_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_particles_come_back_bit_for_bit),
        cmocka_unit_test(small_and_large_arrays_share_a_file),
        cmocka_unit_test(the_size_is_known_beforehand),
        cmocka_unit_test(equal_input_gives_equal_bytes),
        cmocka_unit_test(arrays_lie_on_multiples_of_64_bytes_and_hold_the_raw_values),
        cmocka_unit_test(hdf5_readers_find_the_same_values),
        cmocka_unit_test(a_checkpoint_is_not_taken_for_a_frame),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
