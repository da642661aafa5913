/* core/processor: which instructions are missing, for processors made up here. */
#include <stdbool.h>
#include <string.h>

#include "core/machine/processor.h"
#include "expect.h"
#include "wadi/base.h"

static const char *no_needs[WADI_PROCESSOR_FEATURE_COUNT], *all_needs[WADI_PROCESSOR_FEATURE_COUNT];
static const WadiProcessor everything = { ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~(uint64_t)0 };

static int fill_needs(void **unused)
{
    (void)unused;
    for (int i = 0; i < WADI_PROCESSOR_FEATURE_COUNT; ++i) {
        no_needs[i] = "__AVX__"; /* what an undefined macro leaves */
        all_needs[i] = "1";
    }
    return 0;
}

static void portable_code_runs_everywhere(void **unused)
{
    (void)unused;
    WadiProcessor oldest = { 0 };
    char text[64] = "old";
    assert_int_equal(wadi_processor_missing(&oldest, no_needs, text, sizeof text), 0);
    assert_string_equal(text, "");
}

static void a_processor_with_everything_lacks_nothing(void **unused)
{
    (void)unused;
    char text[64];
    assert_int_equal(wadi_processor_missing(&everything, all_needs, text, sizeof text), 0);
}

static void missing_instructions_are_named(void **unused)
{
    (void)unused;
    char text[1024];
    WadiProcessor processor = everything;
    processor.leaf_7_ebx &= ~(1u << 5 | 1u << 8); /* AVX2 and BMI2 */
    assert_int_equal(wadi_processor_missing(&processor, all_needs, text, sizeof text), 2);
    assert_string_equal(text, "AVX2, BMI2");
    WadiProcessor oldest = { 0 };
    assert_int_equal(wadi_processor_missing(&oldest, all_needs, text, sizeof text),
                     WADI_PROCESSOR_FEATURE_COUNT);
    assert_non_null(strstr(text, "SSE3, SSSE3, SSE4.1"));
    assert_non_null(strstr(text, ", AVX512F, "));
    char little[6];
    assert_int_equal(wadi_processor_missing(&oldest, all_needs, little, sizeof little),
                     WADI_PROCESSOR_FEATURE_COUNT);
    assert_string_equal(little, "SSE3,");
}

/* An operating system, or a virtual machine, that does not keep the wide registers makes AVX unusable. */
static void registers_that_are_not_kept_are_missing(void **unused)
{
    (void)unused;
    char text[1024];
    WadiProcessor processor = everything;
    processor.saved_state = 0x6;
    int missing = wadi_processor_missing(&processor, all_needs, text, sizeof text);
    assert_in_range(missing, 10, 20);
    assert_memory_equal(text, "AVX512F", 7);
    processor.saved_state = 0x2;
    assert_true(wadi_processor_missing(&processor, all_needs, text, sizeof text) > missing);
    assert_memory_equal(text, "AVX, ", 5);
}

static void the_tests_run_where_they_were_built(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    assert_int_equal(wadi_check_processor(&error), WADI_OK);
    assert_int_equal(wadi_check_processor(NULL), WADI_OK);
    /* Compiled with the flags of the library, this file sees the same macros. */
#ifdef __AVX2__
    bool has_avx2 = true;
#else
    bool has_avx2 = false;
#endif
    WadiProcessor without = everything;
    without.leaf_7_ebx &= ~(1u << 5);
    char text[64];
    assert_int_equal(wadi_processor_missing(&without, wadi_processor_needs, text, sizeof text),
                     has_avx2 ? 1 : 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portable_code_runs_everywhere),
        cmocka_unit_test(a_processor_with_everything_lacks_nothing),
        cmocka_unit_test(missing_instructions_are_named),
        cmocka_unit_test(registers_that_are_not_kept_are_missing),
        cmocka_unit_test(the_tests_run_where_they_were_built),
    };
    return cmocka_run_group_tests(tests, fill_needs, NULL);
}
