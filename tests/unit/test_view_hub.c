/* The boxes between the server of the view and its simulation. */
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "view_hub.h"

static void send_text(WadiViewHub *hub, const char *text)
{
    wadi_view_hub_send(hub, (unsigned char *)strdup(text), strlen(text), false, false);
}

static void check_next(WadiViewHub *hub, const char *text)
{
    WadiViewOut out = { 0 };
    assert_true(wadi_view_hub_next(hub, &out));
    assert_int_equal(out.size, strlen(text));
    assert_memory_equal(out.data, text, out.size);
    free(out.data);
}

static void a_page_gets_its_greeting_first(void **state)
{
    (void)state;
    WadiViewHub hub;
    WadiViewOut out;
    wadi_view_hub_init(&hub);
    send_text(&hub, "no page is there");
    assert_false(wadi_view_hub_next(&hub, &out));
    wadi_view_hub_connect(&hub, strdup("one"));
    send_text(&hub, "for the first page");
    check_next(&hub, "one");
    wadi_view_hub_connect(&hub, strdup("two"));
    send_text(&hub, "for the second page");
    check_next(&hub, "two");
    check_next(&hub, "for the second page");
    assert_false(wadi_view_hub_next(&hub, &out));
    wadi_view_hub_free(&hub);
}

static void boxes_are_bounded(void **state)
{
    (void)state;
    WadiViewHub hub;
    WadiViewMessage message = { .kind = WADI_VIEW_PLAY }, taken[WADI_VIEW_INBOX];
    WadiViewOut out;
    wadi_view_hub_init(&hub);
    wadi_view_hub_connect(&hub, NULL);
    for (int i = 0; i < WADI_VIEW_INBOX; ++i) {
        assert_true(wadi_view_hub_receive(&hub, &message));
    }
    assert_false(wadi_view_hub_receive(&hub, &message));
    assert_int_equal(wadi_view_hub_take(&hub, taken, 0.0), WADI_VIEW_INBOX);
    int count = 0;
    for (int i = 0; i < WADI_VIEW_OUTBOX + 10; ++i) {
        send_text(&hub, "x");
    }
    while (wadi_view_hub_next(&hub, &out)) {
        free(out.data);
        count += 1;
    }
    assert_int_equal(count, WADI_VIEW_OUTBOX);
    wadi_view_hub_free(&hub);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_page_gets_its_greeting_first),
                                        cmocka_unit_test(boxes_are_bounded) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
