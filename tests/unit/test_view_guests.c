/* Connections of the view that are not let in: which one is dropped for a new one. */
#include <string.h>

#include "expect.h"
#include "view_guests.h"

static char connections[200];

static void the_oldest_idle_one_is_dropped_first(void **unused)
{
    (void)unused;
    WadiViewGuests guests = { 0 };
    for (int i = 0; i < WADI_VIEW_GUESTS; ++i) {
        assert_null(wadi_view_guests_add(&guests, &connections[i]));
    }
    assert_true(wadi_view_guests_set_busy(&guests, &connections[0], true));
    assert_true(wadi_view_guests_set_busy(&guests, &connections[2], true));
    assert_ptr_equal(wadi_view_guests_add(&guests, &connections[50]), &connections[1]);
    assert_false(wadi_view_guests_set_busy(&guests, &connections[1], true)); /* it gets nothing more */
    assert_ptr_equal(wadi_view_guests_add(&guests, &connections[51]), &connections[3]);
    wadi_view_guests_remove(&guests, &connections[4]); /* let in: there is room */
    assert_null(wadi_view_guests_add(&guests, &connections[52]));
    /* When all are busy, the oldest. */
    for (int i = 0; i < 100; ++i) {
        wadi_view_guests_set_busy(&guests, &connections[i], true);
    }
    assert_ptr_equal(wadi_view_guests_add(&guests, &connections[53]), &connections[0]);
}

static void those_that_are_being_closed_are_bounded(void **unused)
{
    (void)unused;
    WadiViewGuests guests = { 0 };
    int added = 0;
    while (wadi_view_guests_have_room(&guests)) {
        wadi_view_guests_add(&guests, &connections[added++]);
    }
    assert_int_equal(added, WADI_VIEW_GUESTS + WADI_VIEW_GUESTS_DROPPED);
    wadi_view_guests_add(&guests, &connections[added]); /* not kept, and nothing else is changed */
    assert_int_equal(guests.count, added);
    wadi_view_guests_remove(&guests, &connections[added]);
    wadi_view_guests_remove(&guests, &connections[0]);
    assert_int_equal(guests.count, added - 1);
    assert_true(wadi_view_guests_have_room(&guests));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_idle_one_is_dropped_first),
        cmocka_unit_test(those_that_are_being_closed_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
