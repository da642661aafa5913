/* Who may use the server: addresses of loopback, pages of this server, holders of a token or of the key. */
#ifndef WADI_VIEW_ACCESS_H
#define WADI_VIEW_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "view_hmac.h"

enum { WADI_VIEW_TOKEN = 32 }; /* characters: 160 bits */

/* Secrets of one server: they are in its memory only and end with it. */
typedef struct WadiViewAccess {
    char token[WADI_VIEW_TOKEN + 1]; /* lets one page in, then it is replaced */
    char key[WADI_VIEW_TOKEN + 1];   /* of pages that were let in: they may come back */
    char address[256];               /* that --listen gave; "": loopback only */
} WadiViewAccess;

/* A page that comes back, and the server, show each other that they have the key, and not the key. */
typedef struct WadiViewChallenge {
    char question[2 * WADI_VIEW_TOKEN]; /* random, of the page; "": none */
    char nonce[WADI_VIEW_TOKEN + 1];    /* random, of the server */
    char proof[WADI_VIEW_PROOF + 1];    /* that this server has the key */
} WadiViewChallenge;

/* False: the system has no random numbers. */
bool wadi_view_access_init(WadiViewAccess *access, const char *address);
/* A new token. */
bool wadi_view_access_renew(WadiViewAccess *access);

/* The Host of a request: a loopback address or localhost, or the address listened on, with any port. */
bool wadi_view_access_host(const WadiViewAccess *access, const char *host);
/* The Origin of a connection: the page itself, http:// and the Host. */
bool wadi_view_access_origin(const char *origin, const char *host);
bool wadi_view_access_token(const WadiViewAccess *access, const char *word);
/* Answers the question of a page that has the key. False: no random numbers or memory, or too long a
 * question. */
bool wadi_view_access_challenge(const WadiViewAccess *access, const char *question,
                                WadiViewChallenge *challenge);
/* The page's own proof for the challenge. */
bool wadi_view_access_proof(const WadiViewAccess *access, const WadiViewChallenge *challenge,
                            const char *proof);

#endif
