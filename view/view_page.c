/* What a page has, and the message from there to the next picture. */
#include <stdlib.h>
#include <string.h>

#include "view_picture.h"

/* A tile that the page has; count 0: a free place of the table. */
typedef struct WadiViewHeld {
    int32_t at[3];
    uint32_t count;
    uint64_t hash;
    uint32_t seen; /* sequence of the picture that had it last */
    uint32_t *chunks;
    uint32_t chunk_count, chunk_capacity;
} WadiViewHeld;

void wadi_view_page_free(WadiViewPage *page)
{
    for (size_t i = 0; i < page->held_capacity; ++i) {
        free(page->held[i].chunks);
    }
    free(page->held);
    free(page->free_chunks);
    *page = (WadiViewPage){ 0 };
}

static size_t place_of(const WadiViewPage *page, const int32_t at[3])
{
    uint64_t h = (uint32_t)at[0] * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (h >> 29) ^ (uint32_t)at[1]) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 32) ^ (uint32_t)at[2]) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(h ^ (h >> 31)) & (page->held_capacity - 1);
}

/* The place of a tile: its own, or a free one. */
static WadiViewHeld *find(const WadiViewPage *page, const int32_t at[3])
{
    size_t i = place_of(page, at);
    while (page->held[i].count != 0 && memcmp(page->held[i].at, at, sizeof page->held[i].at) != 0) {
        i = (i + 1) & (page->held_capacity - 1);
    }
    return &page->held[i];
}

static bool reserve(WadiViewPage *page, size_t wanted)
{
    size_t size = page->held_capacity > 0 ? page->held_capacity : 256;
    while (2 * wanted > size) {
        size *= 2;
    }
    if (size == page->held_capacity) {
        return true;
    }
    WadiViewPage larger = *page;
    larger.held = calloc(size, sizeof *larger.held);
    if (larger.held == NULL) {
        return false;
    }
    larger.held_capacity = size;
    for (size_t i = 0; i < page->held_capacity; ++i) {
        if (page->held[i].count > 0) {
            *find(&larger, page->held[i].at) = page->held[i];
        }
    }
    free(page->held);
    *page = larger;
    return true;
}

/* Lowest numbers first keep the list of chunks short. The free ones are a heap. */
static void sift_down(uint32_t *heap, size_t count)
{
    for (size_t i = 0; 2 * i + 1 < count;) {
        size_t child = 2 * i + 1;
        child += child + 1 < count && heap[child + 1] < heap[child];
        if (heap[i] <= heap[child]) {
            return;
        }
        const uint32_t other = heap[i];
        heap[i] = heap[child];
        heap[child] = other;
        i = child;
    }
}

static uint32_t take_chunk(WadiViewPage *page)
{
    if (page->free_count == 0) {
        return page->chunk_count++;
    }
    const uint32_t lowest = page->free_chunks[0];
    page->free_chunks[0] = page->free_chunks[--page->free_count];
    sift_down(page->free_chunks, page->free_count);
    return lowest;
}

static bool give_chunk(WadiViewPage *page, uint32_t chunk)
{
    if (page->free_count == page->free_capacity) {
        const size_t capacity = 2 * page->free_capacity + 256;
        uint32_t *grown = realloc(page->free_chunks, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        page->free_chunks = grown;
        page->free_capacity = capacity;
    }
    size_t i = page->free_count++;
    for (; i > 0 && page->free_chunks[(i - 1) / 2] > chunk; i = (i - 1) / 2) {
        page->free_chunks[i] = page->free_chunks[(i - 1) / 2];
    }
    page->free_chunks[i] = chunk;
    return true;
}

/* The parts of a message while it is made. */
typedef struct Parts {
    WadiViewBytes records, words, values;
    uint32_t record_count;
} Parts;

static bool add_record(Parts *parts, uint32_t chunk, uint32_t count, const int32_t at[3])
{
    const uint32_t record[5] = { chunk, count, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2] };
    parts->record_count += 1;
    return wadi_view_bytes_add(&parts->records, record, sizeof record);
}

static bool resize_chunks(WadiViewPage *page, WadiViewHeld *held, uint32_t wanted, Parts *parts)
{
    if (wanted > held->chunk_capacity) {
        uint32_t *grown = realloc(held->chunks, (wanted + 4) * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        held->chunks = grown;
        held->chunk_capacity = wanted + 4;
    }
    while (held->chunk_count < wanted) {
        held->chunks[held->chunk_count++] = take_chunk(page);
    }
    bool is_good = true;
    while (held->chunk_count > wanted && is_good) {
        const uint32_t chunk = held->chunks[--held->chunk_count];
        is_good = give_chunk(page, chunk) && add_record(parts, chunk, 0, held->at);
    }
    return is_good;
}

static bool send_tile(WadiViewPage *page, WadiViewHeld *held, const WadiViewPicture *picture,
                      const WadiViewTile *tile, Parts *parts)
{
    const uint32_t wanted = (tile->count + WADI_VIEW_CHUNK - 1) / WADI_VIEW_CHUNK;
    page->held_count += held->count == 0;
    memcpy(held->at, tile->at, sizeof held->at);
    held->count = tile->count;
    held->hash = tile->hash;
    bool is_good = resize_chunks(page, held, wanted, parts);
    for (uint32_t c = 0; c < wanted && is_good; ++c) {
        const uint32_t first = c * WADI_VIEW_CHUNK;
        const uint32_t count = tile->count - first < WADI_VIEW_CHUNK ? tile->count - first : WADI_VIEW_CHUNK;
        const size_t from = (size_t)tile->first + first;
        is_good = add_record(parts, held->chunks[c], count, tile->at) &&
                  wadi_view_bytes_add(&parts->words, picture->words + from, count * sizeof(uint32_t)) &&
                  wadi_view_bytes_add(&parts->values, picture->values + from, count);
    }
    return is_good;
}

/* Takes the tiles away that the picture does not have. Their places are freed by a new table, since others
 * may lie behind them. */
static bool drop_unseen(WadiViewPage *page, Parts *parts)
{
    bool is_good = true, has_dropped = false;
    for (size_t i = 0; i < page->held_capacity && is_good; ++i) {
        WadiViewHeld *held = &page->held[i];
        if (held->count > 0 && held->seen != page->sequence) {
            is_good = resize_chunks(page, held, 0, parts);
            free(held->chunks);
            *held = (WadiViewHeld){ 0 };
            page->held_count -= 1;
            has_dropped = true;
        }
    }
    if (!has_dropped || !is_good) {
        return is_good;
    }
    WadiViewPage fresh = *page;
    fresh.held = calloc(page->held_capacity, sizeof *fresh.held);
    if (fresh.held == NULL) {
        return false;
    }
    for (size_t i = 0; i < page->held_capacity; ++i) {
        if (page->held[i].count > 0) {
            *find(&fresh, page->held[i].at) = page->held[i];
        }
    }
    free(page->held);
    *page = fresh;
    return true;
}

static bool join(WadiViewPage *page, const WadiViewPicture *picture, bool is_reset, const Parts *parts,
                 WadiViewBytes *message)
{
    const uint32_t head[12] = { 1u | (is_reset ? 256u : 0u),
                                page->sequence,
                                parts->record_count,
                                (uint32_t)(parts->words.size / sizeof(uint32_t)),
                                page->chunk_count,
                                picture->frame,
                                (uint32_t)picture->steps,
                                (uint32_t)picture->particles,
                                (uint32_t)picture->count,
                                0,
                                0,
                                0 };
    const float range[2] = { picture->low, picture->high };
    const double reals[2] = { picture->time, picture->tile_size };
    uint32_t all[12];
    memcpy(all, head, sizeof all);
    memcpy(all + 9, range, sizeof range);
    message->size = 0;
    return wadi_view_bytes_add(message, all, sizeof all) &&
           wadi_view_bytes_add(message, reals, sizeof reals) &&
           wadi_view_bytes_add(message, parts->records.data, parts->records.size) &&
           wadi_view_bytes_add(message, parts->words.data, parts->words.size) &&
           wadi_view_bytes_add(message, parts->values.data, parts->values.size);
}

bool wadi_view_page_send(WadiViewPage *page, const WadiViewPicture *picture, WadiViewBytes *message)
{
    Parts parts = { 0 };
    /* Mostly free chunks: the page starts again with a short list. */
    const bool is_reset = page->sequence == 0 || page->free_count > 64 + 3 * (size_t)page->chunk_count / 4;
    if (is_reset) {
        const uint32_t sequence = page->sequence;
        wadi_view_page_free(page);
        page->sequence = sequence;
    }
    page->sequence += 1;
    bool is_good = reserve(page, page->held_count + picture->tile_count + 1);
    for (size_t t = 0; t < picture->tile_count && is_good; ++t) {
        const WadiViewTile *tile = &picture->tiles[t];
        WadiViewHeld *held = find(page, tile->at);
        held->seen = page->sequence;
        if (held->count != tile->count || held->hash != tile->hash) {
            is_good = send_tile(page, held, picture, tile, &parts);
        }
    }
    is_good = is_good && drop_unseen(page, &parts) && join(page, picture, is_reset, &parts, message);
    free(parts.records.data);
    free(parts.words.data);
    free(parts.values.data);
    return is_good;
}
