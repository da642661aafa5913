/* Messages of the page: what they mean, and what is no message. */
#include <string.h>

#include "expect.h"
#include "view_message.h"

static bool reads(const char *text, WadiViewMessage *message)
{
    return wadi_view_message_read(text, strlen(text), message);
}

static void messages_are_read(void **unused)
{
    (void)unused;
    WadiViewMessage m;
    assert_true(reads("play", &m) && m.kind == WADI_VIEW_PLAY);
    assert_true(reads("seek 17", &m) && m.kind == WADI_VIEW_SEEK && m.number == 17);
    assert_true(reads("set gravity=[0, 0, -1]", &m) && m.kind == WADI_VIEW_SET);
    assert_string_equal(m.text, "gravity=[0, 0, -1]");
    assert_true(reads("pour wet_sand-2 0.5 -1e-2 3 0.1 0 0 -2 0.5", &m) && m.kind == WADI_VIEW_POUR);
    assert_string_equal(m.name, "wet_sand-2");
    CHECK_NEAR(m.value[1], -0.01, 0.0);
    CHECK_NEAR(m.value[7], 0.5, 0.0);
    assert_true(reads("push 1 2 3 4", &m) && m.value[3] == 4.0);
}

static void what_is_no_message_is_refused(void **unused)
{
    (void)unused;
    static const char *const bad[] = {
        "",
        " ",
        "plays",
        "play ",
        "play now",
        "seek",
        "seek -1",
        "seek 1.5",
        "seek 9999999999",
        "seek 1 2",
        "set",
        "set ",
        "pour",
        "pour sand",
        "pour sand 1 2 3 4 5 6 7",
        "pour s/d 1 2 3 4 5 6 7 8",
        "pour {a} 1 2 3 4 5 6 7 8",
        "push nan 0 0 1",
        "push inf 0 0 1",
        "push 0x10 0 0 1",
        "push 1e300 0 0 1",
        "push 1 2 3",
        "push 1 2 3 4 5",
        "scene ../etc",
        "scene a b",
        "surface yes",
        "PLAY",
        "play\n",
        "set a=\x01",
        "set a=\xff",
        "hello",
    };
    WadiViewMessage m;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        if (reads(bad[i], &m)) {
            fail_msg("accepted: '%s'", bad[i]);
        }
        assert_int_equal(m.text[0], '\0');
    }
    char large[4 * WADI_VIEW_MESSAGE_MAX];
    memset(large, 'a', sizeof large);
    memcpy(large, "set ", 4);
    assert_false(wadi_view_message_read(large, sizeof large, &m));
    assert_false(wadi_view_message_read(large, WADI_VIEW_MESSAGE_MAX, &m));
    assert_true(wadi_view_message_read(large, WADI_VIEW_MESSAGE_MAX - 1, &m));
    assert_false(wadi_view_message_read("play\0play", 9, &m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_read),
        cmocka_unit_test(what_is_no_message_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
