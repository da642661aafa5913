/* core/background: work beside the caller's is done when it was waited for, one after the other. */
#include "core/background.h"
#include "core/parallel.h"
#include "expect.h"

typedef struct Tape {
    int text[8], length, threads;
} Tape;

static void write_one(void *context)
{
    Tape *tape = context;
    tape->text[tape->length] = tape->length;
    ++tape->length;
    tape->threads = wadi_parallel_threads();
}

static void work_is_done_in_the_order_it_was_given(void **unused)
{
    (void)unused;
    Tape tape = { 0 };
    WadiBackground background = { 0 };
    wadi_background_join(&background);
    for (int i = 0; i < 8; ++i) {
        wadi_background_start(&background, write_one, &tape);
    }
    wadi_background_join(&background);
    assert_int_equal(tape.length, 8);
    for (int i = 0; i < 8; ++i) {
        assert_int_equal(tape.text[i], i);
    }
    assert_int_equal(tape.threads, 1);
    wadi_background_join(&background);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(work_is_done_in_the_order_it_was_given) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
