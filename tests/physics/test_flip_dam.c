/* flip: a dam break against measurements. */
#include "dam_break.h"

static void the_front_and_the_column_follow_martin_and_moyce(void **unused)
{
    (void)unused;
    check_dam_break("flip", 16, 0.06, 0.04, 0.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_front_and_the_column_follow_martin_and_moyce) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
