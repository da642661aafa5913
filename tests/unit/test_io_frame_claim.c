/* io: claims of frames. Processes are stood for by claims of the same folder: all they share is its files. */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"
#include "io/run/frame_claim.h"
#include "io_scratch.h"
#include "stop_flag.h"

static const double STALE = 2.0; /* s */

static bool take(WadiClaims *claims, int item)
{
    WadiError error = { 0 };
    WadiLockHolder holder;
    bool is_mine;
    CHECK_OK(wadi_claim_take(claims, item, &is_mine, &holder, &error), error);
    if (!is_mine) {
        char pid[24];
        snprintf(pid, sizeof pid, "%ld", (long)getpid());
        assert_string_equal(holder.pid, pid);
    }
    return is_mine;
}

static void open_two(WadiClaims *one, WadiClaims *two)
{
    WadiError error = { 0 };
    CHECK_OK(wadi_claims_open(one, scratch, "scene", STALE, (WadiStop){ 0 }, &error), error);
    CHECK_OK(wadi_claims_open(two, scratch, "scene", STALE, (WadiStop){ 0 }, &error), error);
}

static void a_frame_has_one_owner_until_it_is_released(void **unused)
{
    (void)unused;
    WadiClaims one, two;
    open_two(&one, &two);
    assert_true(take(&one, 1));
    assert_false(take(&two, 1));
    assert_true(take(&two, 2));
    assert_true(take(&two, WADI_CLAIM_PLAN) && take(&one, WADI_CLAIM_PRODUCTS));
    wadi_claim_release(&one, 1);
    assert_true(take(&two, 1));
    wadi_claims_close(&two); /* releases its frames */
    assert_true(take(&one, 1) && take(&one, 2));
    wadi_claims_close(&one);
    assert_int_equal(scratch_count(scratch, ".wadi-claim"), 0);
}

static void a_claim_in_use_does_not_become_stale(void **unused)
{
    (void)unused;
    WadiClaims one, two;
    open_two(&one, &two);
    assert_true(take(&one, 1));
    const struct timespec longer = { .tv_sec = 2, .tv_nsec = 600000000 };
    nanosleep(&longer, NULL);
    assert_false(take(&two, 1));
    wadi_claims_close(&one);
    wadi_claims_close(&two);
}

/* Of the processes that find a stale claim one gets the frame, and a second that dies is followed by a
 * third. */
static void a_stale_claim_is_taken_over_once(void **unused)
{
    (void)unused;
    WadiClaims one, two;
    open_two(&one, &two);
    for (int generation = 1; generation <= 2; ++generation) {
        char path[4096];
        struct timespec old[2];
        snprintf(path, sizeof path, "%s/.wadi-claim-scene.0007-%d", scratch, generation);
        const int fd = open(path, O_CREAT | O_WRONLY, (mode_t)0666);
        assert_true(fd >= 0);
        clock_gettime(CLOCK_REALTIME, &old[0]);
        old[0].tv_sec -= 5;
        old[1] = old[0];
        assert_int_equal(futimens(fd, old), 0);
        close(fd);
    }
    assert_true(take(&one, 7));
    assert_false(take(&two, 7));
    assert_int_equal(scratch_count(scratch, ".wadi-claim-scene.0007-"), 3);
    wadi_claim_release(&one, 7);
    assert_int_equal(scratch_count(scratch, ".wadi-claim"), 0);
    assert_true(take(&two, 7));
    wadi_claims_close(&one);
    wadi_claims_close(&two);
}

static void a_stop_releases_the_claims(void **unused)
{
    (void)unused;
    WadiClaims claims;
    WadiError error = { 0 };
    atomic_bool stop = false;
    CHECK_OK(wadi_claims_open(&claims, scratch, "scene", 100.0, stop_when(&stop), &error), error);
    assert_true(take(&claims, 1) && take(&claims, 2));
    assert_int_equal(scratch_count(scratch, ".wadi-claim"), 2);
    stop = true;
    const struct timespec moment = { .tv_nsec = 10000000 };
    for (int i = 0; i < 500 && scratch_count(scratch, ".wadi-claim") > 0; ++i) {
        nanosleep(&moment, NULL);
    }
    assert_int_equal(scratch_count(scratch, ".wadi-claim"), 0);
    wadi_claims_close(&claims);
}

static void a_folder_that_is_gone_is_an_error(void **unused)
{
    (void)unused;
    WadiClaims claims;
    WadiError error = { 0 };
    WadiLockHolder holder;
    bool is_mine;
    CHECK_OK(wadi_claims_open(&claims, "/nowhere", "scene", STALE, (WadiStop){ 0 }, &error), error);
    assert_int_equal(wadi_claim_take(&claims, 1, &is_mine, &holder, &error), WADI_ERR_IO);
    assert_false(is_mine);
    assert_non_null(strstr(error.text, "/nowhere"));
    wadi_claims_close(&claims);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_has_one_owner_until_it_is_released),
        cmocka_unit_test(a_claim_in_use_does_not_become_stale),
        cmocka_unit_test(a_stale_claim_is_taken_over_once),
        cmocka_unit_test(a_stop_releases_the_claims),
        cmocka_unit_test(a_folder_that_is_gone_is_an_error),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
