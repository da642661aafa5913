/* HMAC-SHA-256 (RFC 2104, FIPS 180-4): proves that one has a key without showing it. */
#ifndef WADI_VIEW_HMAC_H
#define WADI_VIEW_HMAC_H

enum { WADI_VIEW_PROOF = 64 }; /* hexadecimal digits */

/* Of `text` with `key`, which has at most 64 characters. */
void wadi_view_hmac(const char *key, const char *text, char proof[WADI_VIEW_PROOF + 1]);

#endif
