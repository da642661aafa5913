/* Who is let in: Hosts and Origins, tokens, and pages that come back. */
#include <string.h>

#include "expect.h"
#include "view_access.h"

/* RFC 4231, cases 1 and 2 (keys of ASCII). */
static void proofs_are_those_of_the_standard(void **unused)
{
    (void)unused;
    char proof[WADI_VIEW_PROOF + 1];
    wadi_view_hmac("\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b",
                   "Hi There", proof);
    assert_string_equal(proof, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    wadi_view_hmac("Jefe", "what do ya want for nothing?", proof);
    assert_string_equal(proof, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void secrets_are_those_of_one_server(void **unused)
{
    (void)unused;
    WadiViewAccess one, two;
    assert_true(wadi_view_access_init(&one, NULL) && wadi_view_access_init(&two, NULL));
    assert_string_not_equal(one.key, two.key);
    assert_string_not_equal(one.key, one.token);
    assert_true(wadi_view_access_token(&one, one.token));
    assert_false(wadi_view_access_token(&one, one.key));
    assert_false(wadi_view_access_token(&one, two.token));
    assert_false(wadi_view_access_token(&one, ""));
    char before[WADI_VIEW_TOKEN + 1];
    memcpy(before, one.token, sizeof before);
    assert_true(wadi_view_access_renew(&one));
    assert_false(wadi_view_access_token(&one, before));
}

static void both_sides_prove_that_they_have_the_key(void **unused)
{
    (void)unused;
    WadiViewAccess access, other;
    WadiViewChallenge challenge, again, none = { 0 };
    char text[200], proof[WADI_VIEW_PROOF + 1];
    assert_true(wadi_view_access_init(&access, NULL) && wadi_view_access_init(&other, NULL));
    assert_true(wadi_view_access_challenge(&access, "question", &challenge));
    snprintf(text, sizeof text, "wadi server question %s", challenge.nonce);
    wadi_view_hmac(access.key, text, proof);
    assert_string_equal(challenge.proof, proof);
    assert_false(wadi_view_access_proof(&access, &challenge, proof)); /* sent back */
    snprintf(text, sizeof text, "wadi page question %s", challenge.nonce);
    wadi_view_hmac(access.key, text, proof);
    assert_true(wadi_view_access_proof(&access, &challenge, proof));
    assert_false(wadi_view_access_proof(&other, &challenge, proof));
    assert_true(wadi_view_access_challenge(&access, "question", &again)); /* repeated later */
    assert_false(wadi_view_access_proof(&access, &again, proof));
    assert_false(wadi_view_access_proof(&access, &challenge, ""));
    /* Without a challenge there is no proof. */
    wadi_view_hmac(access.key, "wadi page  ", proof);
    assert_false(wadi_view_access_proof(&access, &none, proof));
    assert_false(wadi_view_access_challenge(&access, "", &again));
}

static void hosts_and_origins_must_be_this_machine(void **unused)
{
    (void)unused;
    static const char *const good[] = { "127.0.0.1:8585", "localhost:1", "LocalHost", "[::1]:80",
                                        "127.0.0.1" };
    static const char *const bad[] = { "",
                                       "evil.example",
                                       "127.0.0.1.evil.example:8585",
                                       "localhost.evil",
                                       "[::1",
                                       "[::1]x",
                                       "127.0.0.1:80a",
                                       "127.0.0.1:123456",
                                       ":8585",
                                       "10.0.0.2:8585",
                                       "127.0.0.1:80:80" };
    WadiViewAccess access = { .address = "" };
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        assert_true(wadi_view_access_host(&access, good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        assert_false(wadi_view_access_host(&access, bad[i]));
    }
    strcpy(access.address, "10.0.0.2");
    assert_true(wadi_view_access_host(&access, "10.0.0.2:8585"));
    assert_true(wadi_view_access_origin("http://127.0.0.1:8585", "127.0.0.1:8585"));
    assert_false(wadi_view_access_origin("http://127.0.0.1:8586", "127.0.0.1:8585"));
    assert_false(wadi_view_access_origin("https://evil.example", "127.0.0.1:8585"));
    assert_false(wadi_view_access_origin("null", "127.0.0.1:8585"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_are_those_of_the_standard),
        cmocka_unit_test(secrets_are_those_of_one_server),
        cmocka_unit_test(both_sides_prove_that_they_have_the_key),
        cmocka_unit_test(hosts_and_origins_must_be_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
