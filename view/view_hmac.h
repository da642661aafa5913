/* HMAC-SHA-256 (OpenSSL, which libwebsockets needs too): proves that one has a key without showing it. */
#ifndef WADI_VIEW_HMAC_H
#define WADI_VIEW_HMAC_H

#include <stdbool.h>

enum { WADI_VIEW_PROOF = 64 }; /* hexadecimal digits */

/* Of `text` with `key`. False, with an empty proof: out of memory. */
bool wadi_view_hmac(const char *key, const char *text, char proof[WADI_VIEW_PROOF + 1]);

#endif
