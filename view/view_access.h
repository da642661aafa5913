/* Who may use the server: addresses of loopback, pages of this server, holders of a token. */
#ifndef WADI_VIEW_ACCESS_H
#define WADI_VIEW_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

enum { WADI_VIEW_TOKEN = 32 }; /* characters: 160 bits */

typedef struct WadiViewAccess {
    char token[WADI_VIEW_TOKEN + 1];   /* lets one page in, then it is replaced */
    char session[WADI_VIEW_TOKEN + 1]; /* of pages that were let in: they may come back */
    char address[256];                 /* that --listen gave; "": loopback only */
} WadiViewAccess;

/* `port` names the file that keeps the session key for the next server, readable by its owner only; without a
 * folder for it pages do not come back after a restart. False: the system has no random numbers. */
bool wadi_view_access_init(WadiViewAccess *access, const char *address, int port);
/* A new token. */
bool wadi_view_access_renew(WadiViewAccess *access);

/* The Host of a request: a loopback address or localhost, or the address listened on, with any port. */
bool wadi_view_access_host(const WadiViewAccess *access, const char *host);
/* The Origin of a connection: the page itself, http:// and the Host. */
bool wadi_view_access_origin(const char *origin, const char *host);
/* The words of a greeting: the token, which is then used up, or the session key. */
bool wadi_view_access_greeting(WadiViewAccess *access, const char *word, bool *is_token);

#endif
