/* The command's numbers for people, words for shells and JSON for programs. The command is a program, not a
 * library, so its source files are included. */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#include "../../cli/human.c"
#include "../../cli/json_out.c"

static char text[WADI_CLI_HUMAN_SIZE];

static void counts_have_thousands_separators(void **unused)
{
    (void)unused;
    assert_string_equal(wadi_cli_human_count(text, 0), "0");
    assert_string_equal(wadi_cli_human_count(text, 999), "999");
    assert_string_equal(wadi_cli_human_count(text, 1000), "1,000");
    assert_string_equal(wadi_cli_human_count(text, 53214), "53,214");
    assert_string_equal(wadi_cli_human_count(text, 123456789), "123,456,789");
    assert_string_equal(wadi_cli_human_count(text, -123456), "-123,456");
    assert_string_equal(wadi_cli_human_count(text, INT64_MIN), "-9,223,372,036,854,775,808");
}

static void sizes_change_their_unit_where_they_would_round_up_to_it(void **unused)
{
    (void)unused;
    assert_string_equal(wadi_cli_human_bytes(text, 0.0), "0 bytes");
    assert_string_equal(wadi_cli_human_bytes(text, 1023.0), "1023 bytes");
    assert_string_equal(wadi_cli_human_bytes(text, 1024.0), "1.0 KiB");
    assert_string_equal(wadi_cli_human_bytes(text, 210.0 * 1024.0 * 1024.0), "210 MiB");
    assert_string_equal(wadi_cli_human_bytes(text, 1.5 * 1024.0 * 1024.0 * 1024.0), "1.5 GiB");
    assert_string_equal(wadi_cli_human_bytes(text, 1023.9 * 1024.0), "1.0 MiB");
    assert_string_equal(wadi_cli_human_bytes(text, 5e18), "4441 PiB");
}

static void times_fit_their_length(void **unused)
{
    (void)unused;
    assert_string_equal(wadi_cli_human_duration(text, 0.17), "0.17 s");
    assert_string_equal(wadi_cli_human_duration(text, 12.34), "12.3 s");
    assert_string_equal(wadi_cli_human_duration(text, 245.0), "4 min 05 s");
    assert_string_equal(wadi_cli_human_duration(text, 7980.0), "2 h 13 min");
    assert_string_equal(wadi_cli_human_duration(text, (double)NAN), "?");
    assert_string_equal(wadi_cli_human_remaining(text, 0.4), "0:00");
    assert_string_equal(wadi_cli_human_remaining(text, 65.0), "1:05");
    assert_string_equal(wadi_cli_human_remaining(text, 7985.0), "2:13:05");
    assert_string_equal(wadi_cli_human_remaining(text, 3.0 * 86400.0 + 4.0 * 3600.0), "3 d 4 h");
    assert_string_equal(wadi_cli_human_remaining(text, 1e300), "?");
    assert_string_equal(wadi_cli_human_clock(text, -1.0), "?");
    assert_int_equal(strlen(wadi_cli_human_clock(text, 1.0)), strlen("14:32:10"));
    assert_int_equal(strlen(wadi_cli_human_clock(text, 3600.0)), strlen("14:32"));
}

static void small_numbers_get_a_prefix(void **unused)
{
    (void)unused;
    assert_string_equal(wadi_cli_human_small(text, 1.0, "m"), "1 m");
    assert_string_equal(wadi_cli_human_small(text, 0.0625, "m"), "62.5 mm");
    assert_string_equal(wadi_cli_human_small(text, 0.00083, "s"), "830 us");
    assert_string_equal(wadi_cli_human_small(text, 0.9999, "s"), "1 s");
    assert_string_equal(wadi_cli_human_small(text, 0.0, "s"), "0 s");
    assert_string_equal(wadi_cli_human_small(text, 1500.0, "m"), "1500 m");
    assert_string_equal(wadi_cli_human_number(text, 999.6), "1000");
    assert_string_equal(wadi_cli_human_number(text, 12.345), "12.3");
}

typedef void WriteFunction(FILE *out, const void *argument);

/* The text that the function writes; the caller frees it. */
static char *written_by(WriteFunction *write_it, const void *argument)
{
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);
    assert_non_null(out);
    write_it(out, argument);
    assert_int_equal(fclose(out), 0);
    return written;
}

static void write_shell_word(FILE *out, const void *word)
{
    wadi_cli_print_shell_word(out, word);
}

static void check_written(WriteFunction *write_it, const void *argument, const char *expected)
{
    char *written = written_by(write_it, argument);
    assert_string_equal(written, expected);
    free(written);
}

static void shell_words_are_quoted_where_they_must_be(void **unused)
{
    (void)unused;
    check_written(write_shell_word, "scenes/demo.yaml", "scenes/demo.yaml");
    check_written(write_shell_word, "resolution=64", "resolution=64");
    check_written(write_shell_word, "", "''");
    check_written(write_shell_word, "my demo.run", "'my demo.run'");
    check_written(write_shell_word, "it's", "'it'\\''s'");
    check_written(write_shell_word, "$HOME;`x`\n", "'$HOME;`x`\n'");
    check_written(write_shell_word, "~/a", "'~/a'");
}

static void write_json_text(FILE *out, const void *value)
{
    WadiCliJson json = wadi_cli_json_open(out);
    wadi_cli_json_text(&json, "k", value);
    wadi_cli_json_close(&json);
}

static void json_texts_are_valid_whatever_they_hold(void **unused)
{
    (void)unused;
    check_written(write_json_text, "", "{\"k\":\"\"}\n");
    check_written(write_json_text, "a\"b\\c\nd\te", "{\"k\":\"a\\\"b\\\\c\\nd\\te\"}\n");
    check_written(write_json_text, "d\xc3\xbcne", "{\"k\":\"d\xc3\xbcne\"}\n");
    check_written(write_json_text, "\xf0\x9f\x8f\x9c", "{\"k\":\"\xf0\x9f\x8f\x9c\"}\n");
    /* Not UTF-8: a lone byte, a truncated sequence, an overlong form, a surrogate, past the last
     * character. */
    check_written(write_json_text, "\xff", "{\"k\":\"\\ufffd\"}\n");
    check_written(write_json_text, "\xe2\x82", "{\"k\":\"\\ufffd\\ufffd\"}\n");
    check_written(write_json_text, "\xc0\xaf", "{\"k\":\"\\ufffd\\ufffd\"}\n");
    check_written(write_json_text, "\xed\xa0\x80", "{\"k\":\"\\ufffd\\ufffd\\ufffd\"}\n");
    check_written(write_json_text, "\xf4\x90\x80\x80", "{\"k\":\"\\ufffd\\ufffd\\ufffd\\ufffd\"}\n");
}

static void write_json_number(FILE *out, const void *value)
{
    WadiCliJson json = wadi_cli_json_open(out);
    wadi_cli_json_number(&json, "k", *(const double *)value);
    wadi_cli_json_close(&json);
}

static void json_numbers_read_back_to_the_same_value(void **unused)
{
    (void)unused;
    check_written(write_json_number, &(double){ 0.1 }, "{\"k\":0.1}\n");
    check_written(write_json_number, &(double){ 24.0 }, "{\"k\":24}\n");
    check_written(write_json_number, &(double){ 0.1 + 0.2 }, "{\"k\":0.30000000000000004}\n");
    check_written(write_json_number, &(double){ HUGE_VAL }, "{\"k\":null}\n");
}

static void write_json_members(FILE *out, const void *unused)
{
    (void)unused;
    static const char *const texts[] = { "a", "b" };
    WadiCliJson json = wadi_cli_json_open(out);
    wadi_cli_json_integer(&json, "i", INT64_MAX);
    wadi_cli_json_bool(&json, "b", true);
    wadi_cli_json_hash(&json, "h", 0xabcu);
    wadi_cli_json_texts(&json, "t", texts, 2);
    wadi_cli_json_texts(&json, "e", texts, 0);
    wadi_cli_json_close(&json);
}

static void json_members_are_separated(void **unused)
{
    (void)unused;
    check_written(
        write_json_members, NULL,
        "{\"i\":9223372036854775807,\"b\":true,\"h\":\"0000000000000abc\",\"t\":[\"a\",\"b\"],\"e\":[]}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_have_thousands_separators),
        cmocka_unit_test(sizes_change_their_unit_where_they_would_round_up_to_it),
        cmocka_unit_test(times_fit_their_length),
        cmocka_unit_test(small_numbers_get_a_prefix),
        cmocka_unit_test(shell_words_are_quoted_where_they_must_be),
        cmocka_unit_test(json_texts_are_valid_whatever_they_hold),
        cmocka_unit_test(json_numbers_read_back_to_the_same_value),
        cmocka_unit_test(json_members_are_separated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
