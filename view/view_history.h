/* Pictures of past frames, for the scrubber: as many as fit in a bounded memory. */
#ifndef WADI_VIEW_HISTORY_H
#define WADI_VIEW_HISTORY_H

#include "view_picture.h"

/* In order of their frames. When full, every second picture goes, so that the whole past stays reachable. */
typedef struct WadiViewHistory {
    WadiViewPicture *pictures;
    size_t count, capacity, bytes;
    size_t limit;   /* bytes; 0: 256 MiB */
    uint32_t every; /* frames between two pictures that are kept; 0: 1 */
} WadiViewHistory;

void wadi_view_history_clear(WadiViewHistory *history);
/* Keeps a copy, if the frame is one of those kept. Without memory it is not kept. */
void wadi_view_history_add(WadiViewHistory *history, const WadiViewPicture *picture);
/* Removes the pictures of later frames. */
void wadi_view_history_cut(WadiViewHistory *history, uint32_t frame);
/* The last one up to `frame`, or the first; NULL: there is none. */
const WadiViewPicture *wadi_view_history_find(const WadiViewHistory *history, uint32_t frame);

#endif
