#include "view_access.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

static bool make_token(char token[WADI_VIEW_TOKEN + 1])
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789"; /* 32: five bits each */
    uint8_t bytes[WADI_VIEW_TOKEN];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    for (int i = 0; i < WADI_VIEW_TOKEN; ++i) {
        token[i] = letters[bytes[i] & 31];
    }
    token[WADI_VIEW_TOKEN] = '\0';
    return true;
}

bool wadi_view_access_init(WadiViewAccess *access, const char *address)
{
    memset(access, 0, sizeof *access);
    snprintf(access->address, sizeof access->address, "%s", address != NULL ? address : "");
    return make_token(access->token) && make_token(access->key);
}

bool wadi_view_access_renew(WadiViewAccess *access)
{
    return make_token(access->token);
}

bool wadi_view_access_host(const WadiViewAccess *access, const char *host)
{
    char name[300];
    const char *end = host[0] == '[' ? strchr(host, ']') : host + strcspn(host, ":");
    if (end == NULL || host[0] == '\0') {
        return false;
    }
    end += host[0] == '[';
    const size_t length = (size_t)(end - host);
    const char *port = *end == ':' ? end + 1 : end;
    if (length == 0 || length >= sizeof name || (*end != ':' && *end != '\0') ||
        strspn(port, "0123456789") != strlen(port) || strlen(port) > 5) {
        return false;
    }
    memcpy(name, host, length);
    name[length] = '\0';
    return strcmp(name, "127.0.0.1") == 0 || strcmp(name, "[::1]") == 0 ||
           strcasecmp(name, "localhost") == 0 ||
           (access->address[0] != '\0' && strcasecmp(name, access->address) == 0);
}

bool wadi_view_access_origin(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return strncmp(origin, scheme, strlen(scheme)) == 0 && strcasecmp(origin + strlen(scheme), host) == 0;
}

/* Takes as long for every wrong word of the right length. */
static bool is_equal(const char *a, const char *b)
{
    unsigned differences = 0;
    const size_t length = strlen(b);
    if (strlen(a) != length) {
        return false;
    }
    for (size_t i = 0; i < length; ++i) {
        differences |= (unsigned char)(a[i] ^ b[i]);
    }
    return differences == 0;
}

bool wadi_view_access_token(const WadiViewAccess *access, const char *word)
{
    return is_equal(word, access->token);
}

/* The two sides prove different texts: neither can send back what the other one sent. */
static bool prove(const WadiViewAccess *access, const WadiViewChallenge *challenge, const char *side,
                  char proof[WADI_VIEW_PROOF + 1])
{
    char text[200];
    snprintf(text, sizeof text, "wadi %s %s %s", side, challenge->question, challenge->nonce);
    return wadi_view_hmac(access->key, text, proof);
}

bool wadi_view_access_challenge(const WadiViewAccess *access, const char *question,
                                WadiViewChallenge *challenge)
{
    *challenge = (WadiViewChallenge){ 0 };
    if (question[0] == '\0' || strlen(question) >= sizeof challenge->question ||
        !make_token(challenge->nonce)) {
        return false;
    }
    strcpy(challenge->question, question);
    return prove(access, challenge, "server", challenge->proof);
}

bool wadi_view_access_proof(const WadiViewAccess *access, const WadiViewChallenge *challenge,
                            const char *proof)
{
    char expected[WADI_VIEW_PROOF + 1];
    return challenge->question[0] != '\0' && prove(access, challenge, "page", expected) &&
           is_equal(proof, expected);
}
