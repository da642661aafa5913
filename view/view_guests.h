/* Connections that are not let in. When there are too many, the oldest idle one is dropped for a new one, so
 * that connections which nobody uses keep nobody out. */
#ifndef WADI_VIEW_GUESTS_H
#define WADI_VIEW_GUESTS_H

#include <stdbool.h>

enum {
    WADI_VIEW_GUESTS = 24,         /* at once */
    WADI_VIEW_GUESTS_DROPPED = 24, /* besides, until they are closed */
};

typedef struct WadiViewGuest {
    const void *connection;
    bool is_busy;    /* a file is being sent to it, or it is about to greet */
    bool is_dropped; /* it is being closed */
} WadiViewGuest;

/* Oldest first. A zeroed one is valid and empty. */
typedef struct WadiViewGuests {
    WadiViewGuest list[WADI_VIEW_GUESTS + WADI_VIEW_GUESTS_DROPPED];
    int count;
} WadiViewGuests;

/* False: too many are still being closed. */
bool wadi_view_guests_have_room(const WadiViewGuests *guests);
/* Returns the connection that must be closed for it; NULL: none. */
const void *wadi_view_guests_add(WadiViewGuests *guests, const void *connection);
/* It is closed, or let in. */
void wadi_view_guests_remove(WadiViewGuests *guests, const void *connection);
/* False: it is being closed, and gets nothing. */
bool wadi_view_guests_set_busy(WadiViewGuests *guests, const void *connection, bool is_busy);

#endif
