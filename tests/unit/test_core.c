/* core: allocation, arena, arrays, text, hash, random numbers, loops, state. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/os/os_memory.h"
#include "core/parallel.h"
#include "core/random.h"
#include "core/state.h"
#include "core/text.h"
#include "core/timer.h"
#include "expect.h"

static void sizes_that_overflow_are_refused(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    void *memory = &error;
    assert_int_equal(wadi_alloc(&memory, SIZE_MAX / 2, 3, "keys", &error), WADI_ERR_MEMORY);
    assert_null(memory);
    assert_non_null(strstr(error.text, "keys"));
    assert_int_equal(wadi_alloc(&memory, (size_t)PTRDIFF_MAX + 1, 1, "keys", &error), WADI_ERR_MEMORY);
    size_t product = 1;
    assert_false(wadi_size_multiply(SIZE_MAX, 2, &product));
    assert_int_equal(product, 0);
}

static void memory_is_zeroed_aligned_and_accounted(void **unused)
{
    (void)unused;
    WadiError error;
    size_t before = wadi_alloc_live_bytes();
    double *numbers = NULL;
    CHECK_OK(WADI_NEW(&numbers, 100, "numbers", &error), error);
    assert_int_equal((uintptr_t)numbers % WADI_ALIGNMENT, 0);
    assert_int_equal(wadi_alloc_live_bytes() - before, 100 * sizeof(double));
    for (int i = 0; i < 100; ++i) {
        assert_true(numbers[i] == 0.0);
        numbers[i] = i;
    }
    CHECK_OK(WADI_RESIZE(&numbers, 100, 200, "numbers", &error), error);
    assert_true(numbers[99] == 99.0 && numbers[100] == 0.0);
    WADI_DELETE(numbers, 200);
    assert_int_equal(wadi_alloc_live_bytes(), before);
}

static void a_warm_arena_does_not_allocate(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    for (int step = 0; step < 3; ++step) {
        size_t calls = wadi_alloc_call_count();
        for (int i = 0; i < 10; ++i) {
            float *scratch = NULL;
            CHECK_OK(WADI_ARENA_NEW(&arena, &scratch, 1000, "scratch", &error), error);
            assert_int_equal((uintptr_t)scratch % WADI_ALIGNMENT, 0);
            memset(scratch, 1, 1000 * sizeof(float));
        }
        assert_true(step == 0 || wadi_alloc_call_count() == calls);
        CHECK_OK(wadi_arena_reset(&arena, &error), error);
    }
    wadi_arena_free(&arena);
}

static void released_scratch_is_used_again(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    for (int round = 0; round < 2; ++round) {
        double *kept = NULL, *passing = NULL;
        CHECK_OK(WADI_ARENA_NEW(&arena, &kept, 1000, "kept", &error), error);
        kept[999] = 3.0;
        for (int stage = 0; stage < 8; ++stage) {
            WadiArenaMark mark = wadi_arena_mark(&arena);
            CHECK_OK(WADI_ARENA_NEW(&arena, &passing, 2000, "of one stage", &error), error);
            passing[1999] = 1.0;
            wadi_arena_release(&arena, mark);
        }
        assert_true(kept[999] == 3.0);
        /* Eight stages, but one at a time. */
        assert_int_equal(arena.high_water, 3000 * sizeof(double));
        CHECK_OK(wadi_arena_reset(&arena, &error), error);
    }
    wadi_arena_free(&arena);
}

#ifdef WADI_ASAN
#include <sanitizer/asan_interface.h>

static void released_scratch_is_poisoned(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    for (int round = 0; round < 2; ++round) { /* in a block of its own first, then in the main block */
        unsigned char *held = NULL, *passing = NULL;
        CHECK_OK(WADI_ARENA_NEW(&arena, &held, 64, "held", &error), error);
        const WadiArenaMark mark = wadi_arena_mark(&arena);
        CHECK_OK(WADI_ARENA_NEW(&arena, &passing, 128, "of one stage", &error), error);
        assert_false(__asan_address_is_poisoned(passing + 127));
        wadi_arena_release(&arena, mark);
        assert_true(__asan_address_is_poisoned(passing) && __asan_address_is_poisoned(passing + 127));
        assert_false(__asan_address_is_poisoned(held + 63));
        CHECK_OK(wadi_arena_reset(&arena, &error), error);
        assert_true(__asan_address_is_poisoned(held));
    }
    wadi_arena_free(&arena);
}
#endif

/* A stage's result is made after its temporaries and outlives them; from the second step on in memory that is
 * there. */
static void temporaries_go_before_results(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    for (int step = 0; step < 3; ++step) {
        const size_t calls = wadi_alloc_call_count();
        for (int stage = 0; stage < 4; ++stage) {
            const WadiArenaMark mark = wadi_arena_mark(&arena);
            double *passing = NULL, *result = NULL, *also = NULL;
            CHECK_OK(WADI_ARENA_NEW_TEMPORARY(&arena, &passing, 2000, "of one stage", &error), error);
            CHECK_OK(WADI_ARENA_NEW(&arena, &result, 1000, "result", &error), error);
            CHECK_OK(WADI_ARENA_NEW_TEMPORARY(&arena, &also, 512, "of one stage", &error), error);
            assert_int_equal((uintptr_t)passing % WADI_ALIGNMENT, 0);
            for (int i = 0; i < 1000; ++i) {
                passing[2 * i] = passing[2 * i + 1] = 1.0;
                result[i] = i;
                also[i / 2] = 2.0;
            }
            assert_true(passing[0] == 1.0 && passing[1999] == 1.0 && result[0] == 0.0 &&
                        result[999] == 999.0);
            wadi_arena_release_temporaries(&arena, mark);
            assert_true(result[0] == 0.0 && result[999] == 999.0);
        }
        /* Four results, but the temporaries of one stage. */
        assert_int_equal(arena.high_water, (4 * 1000 + 2000 + 512) * sizeof(double));
        assert_int_equal(arena.live, 4 * 1000 * sizeof(double));
        assert_true(step == 0 || wadi_alloc_call_count() == calls);
        CHECK_OK(wadi_arena_reset(&arena, &error), error);
    }
    wadi_arena_free(&arena);
}

/* A first step that needs four times as much does not decide what is held for ever. */
static void an_arena_shrinks_to_what_is_needed(void **unused)
{
    (void)unused;
    WadiError error;
    WadiArena arena = { 0 };
    size_t before = wadi_alloc_live_bytes(), calls = 0;
    for (int step = 0; step < 100; ++step) {
        double *scratch = NULL;
        const size_t count = step == 0 ? 40000 : 10000 - 8 * (size_t)(step % 7);
        CHECK_OK(WADI_ARENA_NEW(&arena, &scratch, count, "scratch", &error), error);
        scratch[0] = scratch[count - 1] = 1.0;
        CHECK_OK(wadi_arena_reset(&arena, &error), error);
        calls = step == 50 ? wadi_alloc_call_count() : calls;
        assert_true(wadi_alloc_live_bytes() - before >= count * sizeof(double));
    }
    assert_true(wadi_alloc_live_bytes() - before <= 10000 * sizeof(double) * 17 / 16);
    assert_int_equal(wadi_alloc_call_count(), calls); /* and stays so */
    wadi_arena_free(&arena);
    assert_int_equal(wadi_alloc_live_bytes(), before);
}

static void renewed_arrays_fit(void **unused)
{
    (void)unused;
    WadiError error;
    double *data = NULL;
    size_t capacity = 0, before = wadi_alloc_live_bytes();
    const size_t wanted[6] = { 800, 900, 1000, 600, 100, 0 }, expected[6] = { 850, 956, 1062, 1062, 106, 0 };
    for (int n = 0; n < 6; ++n) {
        CHECK_OK(wadi_array_renew((void **)&data, &capacity, wanted[n], sizeof *data, "numbers", &error),
                 error);
        assert_int_equal(capacity, expected[n]);
        assert_int_equal(wadi_alloc_live_bytes() - before, capacity * sizeof *data);
    }
    assert_null(data);
}

static void fitted_arrays_keep_their_content(void **unused)
{
    (void)unused;
    WadiError error;
    double *data = NULL;
    size_t capacity = 0, before = wadi_alloc_live_bytes();
    const size_t wanted[5] = { 800, 900, 1000, 600, 100 }, expected[5] = { 850, 956, 1062, 1062, 106 };
    for (int n = 0; n < 5; ++n) {
        CHECK_OK(wadi_array_fit((void **)&data, &capacity, wanted[n], sizeof *data, "numbers", &error),
                 error);
        assert_int_equal(capacity, expected[n]);
        assert_int_equal(wadi_alloc_live_bytes() - before, capacity * sizeof *data);
        for (size_t i = 0; i < wanted[n]; ++i) {
            data[i] = n == 0 || i >= wanted[n - 1] ? (double)i : data[i];
            assert_true(data[i] == (double)i);
        }
    }
    WADI_DELETE(data, capacity);
}

static void arrays_grow(void **unused)
{
    (void)unused;
    WadiError error;
    WADI_ARRAY(int) array = { 0 };
    for (int i = 0; i < 1000; ++i) {
        CHECK_OK(WADI_ARRAY_PUSH(&array, i, "numbers", &error), error);
    }
    assert_int_equal(array.count, 1000);
    assert_int_equal(array.data[999], 999);
    WADI_ARRAY_FREE(&array);
    assert_null(array.data);
}

static void json_text_is_escaped(void **unused)
{
    (void)unused;
    WadiText text = { 0 };
    wadi_text_append_json(&text, "a\"\\\n\x01 \xc3\xa9 \xff");
    assert_string_equal(wadi_text_cstr(&text), "\"a\\\"\\\\\\n\\u0001 \xc3\xa9 \\ufffd\"");
    wadi_text_clear(&text);
    wadi_text_append_number(&text, 0.1);
    wadi_text_append(&text, " ");
    wadi_text_append_number(&text, 1.0 / 3.0);
    wadi_text_append(&text, " ");
    wadi_text_append_number(&text, NAN);
    assert_string_equal(wadi_text_cstr(&text), "0.1 0.3333333333333333 null");
    wadi_text_free(&text);
}

static void numbers_are_short_and_read_back(void **unused)
{
    (void)unused;
    static const struct {
        double value;
        const char *text;
    } cases[] = { { 60, "60" },
                  { 30, "30" },
                  { -1000000, "-1000000" },
                  { 0.05, "0.05" },
                  { 0.0001, "0.0001" },
                  { 1e-6, "1e-06" },
                  { 1.5e14, "150000000000000" },
                  { 9007199254740992, "9007199254740992" },
                  { 1e300, "1e+300" },
                  { 5e-324, "5e-324" },
                  { 23.976, "23.976" },
                  { 1234567.25, "1234567.25" } };
    WadiText text = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        wadi_text_clear(&text);
        wadi_text_append_number(&text, cases[i].value);
        assert_string_equal(wadi_text_cstr(&text), cases[i].text);
        assert_true(strtod(wadi_text_cstr(&text), NULL) == cases[i].value);
    }
    wadi_text_free(&text);
}

static void typos_find_their_word(void **unused)
{
    (void)unused;
    const char *names[] = { "resolution", "frames", "materials", NULL, "bodies" };
    assert_string_equal(wadi_text_nearest("resolutoin", names, 5), "resolution");
    assert_string_equal(wadi_text_nearest("frame", names, 5), "frames");
    assert_null(wadi_text_nearest("xylophone", names, 5));
    static const char *const solvers[] = { "flip", "sph" };
    assert_null(wadi_text_nearest("mpm", solvers, 2));
    assert_string_equal(wadi_text_nearest("sp", solvers, 2), "sph");
    assert_int_equal(wadi_text_distance("ab", "ba"), 1);
    assert_int_equal(wadi_text_distance("kitten", "sitting"), 3);
}

static void hash_sees_every_byte(void **unused)
{
    (void)unused;
    unsigned char bytes[100] = { 0 };
    uint64_t base = wadi_hash_bytes(0, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; ++i) {
        bytes[i] = 1;
        assert_true(wadi_hash_bytes(0, bytes, sizeof bytes) != base);
        bytes[i] = 0;
        assert_true(wadi_hash_bytes(0, bytes, i) != base);
    }
    assert_true(wadi_hash_bytes(0, bytes, sizeof bytes) == base);
}

static void random_numbers_are_uniform_and_independent(void **unused)
{
    (void)unused;
    enum { N = 100000 };
    double mean = 0.0, square = 0.0, product = 0.0;
    for (int i = 0; i < N; ++i) {
        double u = wadi_random_unit(7, (uint64_t)i, WADI_RANDOM_TEST);
        double w = wadi_random_unit(7, (uint64_t)i, WADI_RANDOM_JITTER);
        assert_true(u >= 0.0 && u < 1.0);
        mean += u / N;
        square += u * u / N;
        product += (u - 0.5) * (w - 0.5) / N;
    }
    /* Standard errors: 0.0009, 0.0009, 0.00026. */
    CHECK_NEAR(mean, 0.5, 0.004);
    CHECK_NEAR(square, 1.0 / 3.0, 0.004);
    CHECK_NEAR(product, 0.0, 0.0012);
}

static void count_visits(void *context, int64_t first, int64_t end)
{
    int *visits = context;
    for (int64_t i = first; i < end; ++i) {
        visits[i] += 1;
    }
}

/* Whoever does it: fewer blocks than threads, one more, a last one that is short. */
static void loops_visit_everything_once(void **unused)
{
    (void)unused;
    enum { MOST = 4099 };
    const int64_t counts[] = { 0, 1, 2, 5, 6, 1000, MOST }, blocks[] = { 1, 7, 512, MOST + 1 };
    for (int threads = 1; threads <= 7; ++threads) {
        wadi_parallel_set_threads(threads);
        for (int n = 0; n < 7 * 4; ++n) {
            int visits[MOST + 1] = { 0 };
            wadi_parallel_for(counts[n / 4], blocks[n % 4], count_visits, visits);
            for (int i = 0; i <= MOST; ++i) {
                assert_int_equal(visits[i], i < counts[n / 4]);
            }
        }
    }
    wadi_parallel_set_threads(0);
}

static double sum_of_inverses(void *context, int64_t first, int64_t end)
{
    (void)context;
    double sum = 0.0;
    for (int64_t i = first; i < end; ++i) {
        sum += 1.0 / (double)(i + 1);
    }
    return sum;
}

static void sums_do_not_depend_on_threads(void **unused)
{
    (void)unused;
    enum { N = 1000003, BLOCK = 4096 };
    double *partials = malloc(sizeof(double) * (size_t)wadi_parallel_block_count(N, BLOCK));
    double sums[3];
    int threads[3] = { 1, 2, 5 };
    for (int i = 0; i < 3; ++i) {
        wadi_parallel_set_threads(threads[i]);
        sums[i] = wadi_parallel_sum(N, BLOCK, sum_of_inverses, NULL, partials);
    }
    wadi_parallel_set_threads(0);
    free(partials);
    /* Harmonic number: ln N + gamma + 1/2N. */
    CHECK_NEAR(sums[0], log((double)N) + 0.57721566490153286 + 0.5 / N, 1e-11);
    assert_memory_equal(&sums[0], &sums[1], sizeof(double));
    assert_memory_equal(&sums[0], &sums[2], sizeof(double));
}

static void a_state_keeps_its_arrays(void **unused)
{
    (void)unused;
    WadiError error;
    WadiState state = { 0 };
    float values[6] = { 1, 2, 3, 4, 5, 6 };
    CHECK_OK(wadi_state_put(&state, "velocity", WADI_TYPE_F32, 3, 2, values, &error), error);
    uint64_t hash = wadi_state_hash(&state, WADI_USE_BOTH);
    const WadiStateArray *array = NULL;
    CHECK_OK(wadi_state_expect(&state, "velocity", WADI_TYPE_F32, 3, 2, &array, &error), error);
    assert_memory_equal(array->data, values, sizeof values);
    assert_int_equal(wadi_state_expect(&state, "velocity", WADI_TYPE_F64, 3, 2, &array, &error),
                     WADI_ERR_FORMAT);
    assert_non_null(strstr(error.text, "f64"));
    assert_int_equal(wadi_state_expect(&state, "mass", WADI_TYPE_F64, 3, 2, &array, &error), WADI_ERR_FORMAT);
    size_t calls = wadi_alloc_call_count();
    wadi_state_clear(&state);
    values[5] = 7;
    CHECK_OK(wadi_state_put(&state, "velocity", WADI_TYPE_F32, 3, 2, values, &error), error);
    assert_int_equal(wadi_alloc_call_count(), calls);
    assert_true(wadi_state_hash(&state, WADI_USE_BOTH) != hash);
    wadi_state_free(&state);
}

static void stage_times_add_up_by_name(void **unused)
{
    (void)unused;
    WadiStageTimes times = { 0 };
    wadi_stage_times_add(&times, "sort", 1.0);
    wadi_stage_times_add(&times, "move", 2.0);
    wadi_stage_times_add(&times, "sort", 0.5);
    assert_int_equal(times.count, 2);
    assert_string_equal(times.name[0], "sort");
    CHECK_NEAR(times.seconds[0], 1.5, 0.0);
    assert_true(wadi_memory_peak_rss() > 100000 && wadi_memory_rss() > 100000);
}

static void prefix_sum_starts_at_zero(void **unused)
{
    (void)unused;
    int32_t counts[5] = { 3, 0, 2, 1, 99 };
    assert_int_equal(wadi_prefix_sum(counts, 4), 6);
    int32_t expected[5] = { 0, 3, 3, 5, 6 };
    assert_memory_equal(counts, expected, sizeof expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(memory_is_zeroed_aligned_and_accounted),
        cmocka_unit_test(a_warm_arena_does_not_allocate),
        cmocka_unit_test(released_scratch_is_used_again),
#ifdef WADI_ASAN
        cmocka_unit_test(released_scratch_is_poisoned),
#endif
        cmocka_unit_test(temporaries_go_before_results),
        cmocka_unit_test(an_arena_shrinks_to_what_is_needed),
        cmocka_unit_test(renewed_arrays_fit),
        cmocka_unit_test(fitted_arrays_keep_their_content),
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(json_text_is_escaped),
        cmocka_unit_test(numbers_are_short_and_read_back),
        cmocka_unit_test(typos_find_their_word),
        cmocka_unit_test(hash_sees_every_byte),
        cmocka_unit_test(random_numbers_are_uniform_and_independent),
        cmocka_unit_test(loops_visit_everything_once),
        cmocka_unit_test(sums_do_not_depend_on_threads),
        cmocka_unit_test(a_state_keeps_its_arrays),
        cmocka_unit_test(stage_times_add_up_by_name),
        cmocka_unit_test(prefix_sum_starts_at_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
