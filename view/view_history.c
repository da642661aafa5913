#include "view_history.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LIMIT = 256 << 20 };

void wadi_view_history_clear(WadiViewHistory *history)
{
    for (size_t i = 0; i < history->count; ++i) {
        wadi_view_picture_free(&history->pictures[i]);
    }
    free(history->pictures);
    *history = (WadiViewHistory){ .limit = history->limit };
}

static bool copy(WadiViewPicture *to, const WadiViewPicture *from)
{
    *to = *from;
    to->tiles = malloc((from->tile_count + 1) * sizeof *to->tiles);
    to->words = malloc((from->count + 1) * sizeof *to->words);
    to->values = malloc(from->count + 1);
    to->tile_capacity = from->tile_count + 1;
    to->capacity = from->count + 1;
    if (to->tiles == NULL || to->words == NULL || to->values == NULL) {
        wadi_view_picture_free(to);
        return false;
    }
    memcpy(to->tiles, from->tiles, from->tile_count * sizeof *to->tiles);
    memcpy(to->words, from->words, from->count * sizeof *to->words);
    memcpy(to->values, from->values, from->count);
    return true;
}

static void halve(WadiViewHistory *history)
{
    size_t kept = 0;
    history->every *= 2;
    history->bytes = 0;
    for (size_t i = 0; i < history->count; ++i) {
        if ((history->pictures[i].frame - 1) % history->every == 0) {
            history->bytes += wadi_view_picture_bytes(&history->pictures[i]);
            history->pictures[kept++] = history->pictures[i];
        } else {
            wadi_view_picture_free(&history->pictures[i]);
        }
    }
    history->count = kept;
}

void wadi_view_history_add(WadiViewHistory *history, const WadiViewPicture *picture)
{
    const size_t limit = history->limit > 0 ? history->limit : DEFAULT_LIMIT;
    history->every = history->every > 0 ? history->every : 1;
    while (history->bytes + wadi_view_picture_bytes(picture) > limit && history->count > 1) {
        halve(history);
    }
    const bool is_later = history->count == 0 || history->pictures[history->count - 1].frame < picture->frame;
    if (!is_later || (picture->frame - 1) % history->every != 0) {
        return;
    }
    if (history->count == history->capacity) {
        const size_t capacity = 2 * history->capacity + 64;
        WadiViewPicture *grown = realloc(history->pictures, capacity * sizeof *grown);
        if (grown == NULL) {
            return;
        }
        history->pictures = grown;
        history->capacity = capacity;
    }
    if (copy(&history->pictures[history->count], picture)) {
        history->bytes += wadi_view_picture_bytes(&history->pictures[history->count]);
        history->count += 1;
    }
}

void wadi_view_history_cut(WadiViewHistory *history, uint32_t frame)
{
    while (history->count > 0 && history->pictures[history->count - 1].frame > frame) {
        WadiViewPicture *last = &history->pictures[--history->count];
        history->bytes -= wadi_view_picture_bytes(last);
        wadi_view_picture_free(last);
    }
}

const WadiViewPicture *wadi_view_history_find(const WadiViewHistory *history, uint32_t frame)
{
    const WadiViewPicture *found = history->count > 0 ? &history->pictures[0] : NULL;
    for (size_t i = 0; i < history->count && history->pictures[i].frame <= frame; ++i) {
        found = &history->pictures[i];
    }
    return found;
}
