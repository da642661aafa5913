#include "view_guests.h"

#include <stddef.h>
#include <string.h>

bool wadi_view_guests_have_room(const WadiViewGuests *guests)
{
    return guests->count < WADI_VIEW_GUESTS + WADI_VIEW_GUESTS_DROPPED;
}

static WadiViewGuest *find(WadiViewGuests *guests, const void *connection)
{
    for (int i = 0; i < guests->count; ++i) {
        if (guests->list[i].connection == connection) {
            return &guests->list[i];
        }
    }
    return NULL;
}

/* The oldest; the oldest idle one where there is one. */
static WadiViewGuest *choose(WadiViewGuests *guests)
{
    WadiViewGuest *chosen = NULL;
    for (int i = guests->count - 1; i >= 0; --i) {
        WadiViewGuest *guest = &guests->list[i];
        if (!guest->is_dropped && (chosen == NULL || chosen->is_busy || !guest->is_busy)) {
            chosen = guest;
        }
    }
    return chosen;
}

const void *wadi_view_guests_add(WadiViewGuests *guests, const void *connection)
{
    int staying = 0;
    for (int i = 0; i < guests->count; ++i) {
        staying += !guests->list[i].is_dropped;
    }
    WadiViewGuest *dropped = staying >= WADI_VIEW_GUESTS ? choose(guests) : NULL;
    if (dropped != NULL) {
        dropped->is_dropped = true;
    }
    if (wadi_view_guests_have_room(guests)) {
        guests->list[guests->count++] = (WadiViewGuest){ .connection = connection };
    }
    return dropped != NULL ? dropped->connection : NULL;
}

void wadi_view_guests_remove(WadiViewGuests *guests, const void *connection)
{
    WadiViewGuest *guest = find(guests, connection);
    if (guest != NULL) {
        const ptrdiff_t after = guests->list + guests->count - (guest + 1);
        memmove(guest, guest + 1, (size_t)after * sizeof *guest);
        guests->count -= 1;
    }
}

bool wadi_view_guests_set_busy(WadiViewGuests *guests, const void *connection, bool is_busy)
{
    WadiViewGuest *guest = find(guests, connection);
    if (guest != NULL) {
        guest->is_busy = is_busy;
    }
    return guest != NULL && !guest->is_dropped;
}
