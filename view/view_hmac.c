#include "view_hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

bool wadi_view_hmac(const char *key, const char *text, char proof[WADI_VIEW_PROOF + 1])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    proof[0] = '\0';
    if (HMAC(EVP_sha256(), key, (int)strlen(key), (const unsigned char *)text, strlen(text), digest, &size) ==
            NULL ||
        2 * size != WADI_VIEW_PROOF) {
        return false;
    }
    for (unsigned i = 0; i < size; ++i) {
        snprintf(proof + 2 * i, 3, "%02x", digest[i]);
    }
    return true;
}
