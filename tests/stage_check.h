/* What a check between the stages of a step must say. */
#ifndef WADI_TESTS_STAGE_CHECK_H
#define WADI_TESTS_STAGE_CHECK_H

#include <string.h>

#include "expect.h"

/* `expected` is part of the message, NULL: no error; a build without checks finds nothing. */
static inline void expect_stage(WadiStatus status, const WadiError *error, const char *stage,
                                const char *expected)
{
#ifdef WADI_CHECKS
    assert_int_equal(status, expected != NULL ? WADI_ERR_NUMERIC : WADI_OK);
    if (expected != NULL) {
        assert_non_null(strstr(error->text, expected));
        assert_non_null(strstr(error->text, stage));
    }
#else
    (void)error, (void)stage, (void)expected;
    assert_int_equal(status, WADI_OK);
#endif
}

#endif
