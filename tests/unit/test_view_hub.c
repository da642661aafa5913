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

/* A long drag while the simulation is busy: the newest part of it and every click arrive. */
static void a_drag_does_not_fill_the_inbox(void **state)
{
    (void)state;
    WadiViewHub hub;
    WadiViewMessage taken[WADI_VIEW_INBOX];
    const WadiViewMessage click = { .kind = WADI_VIEW_PAUSE };
    wadi_view_hub_init(&hub);
    wadi_view_hub_connect(&hub, NULL);
    assert_true(wadi_view_hub_receive(&hub, &click));
    for (int i = 0; i < 500; ++i) {
        const WadiViewMessage pour = { .kind = WADI_VIEW_POUR, .number = i };
        assert_true(wadi_view_hub_receive(&hub, &pour));
    }
    assert_true(wadi_view_hub_receive(&hub, &click));
    assert_int_equal(wadi_view_hub_take(&hub, taken, 0.0), WADI_VIEW_INBOX);
    assert_int_equal(taken[0].kind, WADI_VIEW_PAUSE);
    assert_int_equal(taken[WADI_VIEW_INBOX - 1].kind, WADI_VIEW_PAUSE);
    for (int i = 1; i < WADI_VIEW_INBOX - 1; ++i) { /* 126 pours, the last ones in their order */
        assert_int_equal(taken[i].number, 500 - (WADI_VIEW_INBOX - 1) + i);
    }
    wadi_view_hub_free(&hub);
}

/* What takes longer than a second is told; nothing else is. */
static void a_page_hears_what_takes_long(void **state)
{
    (void)state;
    WadiViewHub hub;
    WadiViewOut out;
    wadi_view_hub_init(&hub);
    wadi_view_hub_connect(&hub, NULL);
    wadi_view_hub_tell_busy(&hub);
    wadi_view_hub_do(&hub, "pouring");
    wadi_view_hub_tell_busy(&hub);
    assert_false(wadi_view_hub_next(&hub, &out));
    hub.doing_since = wadi_view_now() - 12.2;
    wadi_view_hub_tell_busy(&hub);
    check_next(&hub, "{\"type\":\"busy\",\"what\":\"pouring\",\"seconds\":12}");
    wadi_view_hub_do(&hub, NULL);
    hub.doing_since = 0.0;
    wadi_view_hub_tell_busy(&hub);
    assert_false(wadi_view_hub_next(&hub, &out));
    wadi_view_hub_free(&hub);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_page_gets_its_greeting_first),
                                        cmocka_unit_test(boxes_are_bounded),
                                        cmocka_unit_test(a_drag_does_not_fill_the_inbox),
                                        cmocka_unit_test(a_page_hears_what_takes_long) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
